"""Exact selection over blocks: the k-th largest of values that stay where they are.

Floats are mapped to integers in the same order. Each round adds up histograms of the next 16 bits of those that
share the bits known so far, so that at most four rounds find the value; as soon as few are left, they are gathered. The
result is exact, whatever the distribution and however many values are tied. O(n) per round; a block sends the bins that
occur, at most 1 MB.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from headrank._types import BoolVector, IntVector, Vector

_BITS = 16
_BINS = 1 << _BITS
_FEW = 100_000
"""Values that are gathered rather than counted once more."""

Map = Callable[..., list[Any]]


def kth_largest(map_values: Map, values: Sequence[Any], marked: Sequence[Any], k: int) -> float:
    """Return the k-th largest value of the rows that are not marked.

    Parameters
    ----------
    map_values : callable
        ``map_values(function, *each, same=...)`` returns ``function(*each_of_block, *same)`` of all blocks.
    values, marked : handles of arrays, one for each block
        The values, and which of them to leave out.
    k : int
        From 1 to the number of values that are not marked.

    >>> def map_values(function, *each, same):
    ...     return [function(*args, *same) for args in zip(*each)]
    >>> values, marked = [np.array([3.0, 9.0, 1.0]), np.array([2.0, 3.0])], [np.array([False, True, False])] + [False]
    >>> [kth_largest(map_values, values, marked, k) for k in (1, 2, 3, 4)]
    [3.0, 3.0, 2.0, 1.0]
    """
    prefix, left = 0, k
    for known in range(0, 64, _BITS):
        counts = np.zeros(_BINS, dtype=np.int64)
        for bins, numbers in map_values(_histogram, values, marked, same=(prefix, known)):
            counts[bins] += numbers
        from_top = np.cumsum(counts[::-1])
        at = int(np.searchsorted(from_top, left))
        left -= int(from_top[at] - counts[::-1][at])
        prefix = (prefix << _BITS) | (_BINS - 1 - at)
        if counts[::-1][at] <= _FEW:
            few = np.concatenate(map_values(_sharing, values, marked, same=(prefix, known + _BITS)))
            return float(np.partition(few, few.size - left)[few.size - left])
    return float(_floats(np.array([prefix], dtype=np.uint64))[0])


def next_largest(map_values: Map, values: Sequence[Any], kth: float, k: int) -> float:
    """Return the value after the k-th largest one, which is known, of at least k + 1 values: itself if they are tied.

    >>> def map_values(function, *each, same):
    ...     return [function(*args, *same) for args in zip(*each)]
    >>> values = [np.array([3.0, 9.0, 1.0]), np.array([2.0, 3.0])]
    >>> [next_largest(map_values, values, kth, k) for kth, k in ((9.0, 1), (3.0, 2), (3.0, 3))]
    [3.0, 3.0, 2.0]
    """
    numbers, lower = zip(*map_values(_split_at, values, same=(kth,)), strict=True)
    return kth if sum(numbers) > k else float(max(lower))


def _split_at(values: Vector, value: float) -> tuple[int, float]:
    """Return how many values are at least this one, and the largest of the others."""
    lower = values < value
    return values.size - int(np.count_nonzero(lower)), float(np.max(values, initial=-np.inf, where=lower))


def _keys(values: Vector) -> npt.NDArray[np.uint64]:
    """Return integers in the order of the values."""
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)  # adding 0 makes -0.0 equal to 0.0
    return np.where(bits >> np.uint64(63), ~bits, bits | np.uint64(1 << 63))


def _floats(keys: npt.NDArray[np.uint64]) -> Vector:
    bits = np.where(keys >> np.uint64(63), keys & np.uint64((1 << 63) - 1), ~keys)
    return np.asarray(bits.view(np.float64))


def _histogram(values: Vector, marked: BoolVector, prefix: int, known: int) -> tuple[IntVector, IntVector]:
    """Return the next bits that occur, and how often."""
    keys = _keys(values[~np.broadcast_to(marked, values.shape)])
    if known:
        keys = keys[keys >> np.uint64(64 - known) == np.uint64(prefix)]
    bins = (keys >> np.uint64(64 - known - _BITS)) & np.uint64(_BINS - 1)
    counts = np.bincount(bins.astype(np.intp), minlength=_BINS)
    present = np.flatnonzero(counts)
    return present, counts[present]


def _sharing(values: Vector, marked: BoolVector, prefix: int, known: int) -> Vector:
    kept = values[~np.broadcast_to(marked, values.shape)]
    return np.asarray(kept[_keys(kept) >> np.uint64(64 - known) == np.uint64(prefix)])

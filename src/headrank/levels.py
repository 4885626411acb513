"""From rows to levels: which rows a head contains, and the number of rows per class at each distinct score."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from headrank._types import BoolVector, Counts, Vector
from headrank.labels import Sample

_EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Depth:
    """Depth of a head: the minimum number of negatives, positives and rows (by weight)."""

    n_neg: float = 0
    n_pos: float = 0
    n_rows: float = 0

    def deeper(self) -> Depth:
        """Return a depth that almost always suffices for bounds of one range or point that ends at this depth.

        They read a few standard deviations beyond the end; this is eight, and 50 rows.

        >>> Depth(n_neg=100).deeper()
        Depth(n_neg=230, n_pos=0, n_rows=0)
        """
        return Depth(*(ceil(k + 8 * sqrt(k) + 50) if k else 0 for k in (self.n_neg, self.n_pos, self.n_rows)))


class FirstRows(NamedTuple):
    """Counts in the first rows of a list, by weight."""

    tp: float
    fp: float
    pairs: float
    """Pairs among them with the positive ranked above the negative, ties counting half."""


def head_of(sample: Sample, depth: Depth) -> tuple[Sample, float]:
    """Rows of a head of this depth, and the lowest score; all rows and -inf if it contains them all.

    O(n): one partition of all scores if the head and the rarer class are small. With weights a sort.
    """
    n = sample.scores.size
    n_pos = int(np.count_nonzero(sample.positive))
    limits = ((depth.n_neg, n - n_pos, False), (depth.n_pos, n_pos, True), (depth.n_rows, n, None))
    wanted = [limit for limit in limits if limit[0] > 0]
    if sample.weights is None:
        if any(weight >= total for weight, total, _ in wanted):
            return sample, -inf
        # Even if all rows of the other class come first, the head is among the first ``enough`` rows.
        enough = max(ceil(weight) + n - total for weight, total, _ in wanted)
        if enough < n / 2:
            sample = sample.take(np.flatnonzero(sample.scores >= _score_at_weight(sample, enough)))
    lowest = min(
        _score_at_weight(sample if of_class is None else sample.take(sample.positive == of_class), weight)
        for weight, _, of_class in wanted
    )
    kept = sample.take(np.flatnonzero(sample.scores >= lowest))
    return kept, lowest if kept.scores.size < n else -inf


def levels_of(sample: Sample) -> tuple[Vector, Counts, Counts]:
    """Distinct scores, descending, with the positives and negatives at each. O(n log n)."""
    if sample.weights is not None:
        order = np.argsort(-sample.scores)
        scores, positive, weights = sample.scores[order], sample.positive[order], sample.weights[order]
        starts = starts_of_runs(scores)
        if not starts.size:
            return scores, weights, weights
        pos = np.add.reduceat(np.where(positive, weights, 0.0), starts)
        neg = np.add.reduceat(np.where(positive, 0.0, weights), starts)
        return scores[starts], pos, neg
    # Sorting values is several times faster than an argsort. The classes are then counted by looking up the rarer
    # class only.
    ascending = np.sort(sample.scores)
    starts = starts_of_runs(ascending)
    rows = np.diff(starts, append=ascending.size)
    distinct = ascending if starts.size == ascending.size else ascending[starts]
    del ascending, starts  # as large as the sample: free the memory for what follows
    pos_is_rarer = 2 * np.count_nonzero(sample.positive) <= sample.positive.size
    rare_scores = np.sort(sample.scores[sample.positive == pos_is_rarer])
    rare = np.bincount(np.searchsorted(distinct, rare_scores), minlength=distinct.size)
    rows -= rare
    pos, neg = (rare, rows) if pos_is_rarer else (rows, rare)
    return distinct[::-1], pos[::-1], neg[::-1]


def starts_of_runs(ordered: Vector) -> Counts:
    """Position at which each run of equal values starts."""
    if not ordered.size:
        return np.zeros(0, dtype=np.intp)
    return np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1])


def sums_of_runs(counts: Counts, starts: Counts) -> Counts:
    """Sum of each run, given where it starts; whole numbers by differences of sums, several times as fast.

    >>> sums_of_runs(np.array([1, 2, 3]), np.array([0, 2]))
    array([3, 3])
    """
    if starts.size == counts.size:
        return counts
    if counts.dtype.kind == "f":  # differences of sums of weights would lose digits
        return np.asarray(np.add.reduceat(counts, starts))
    return np.diff(np.cumsum(counts)[np.append(starts[1:], counts.size) - 1], prepend=0)


def _score_at_weight(part: Sample, wanted: float) -> float:
    """Highest score with at least the weight ``wanted`` at or above it; -inf if this takes the whole weighted part."""
    scores, weights = part.scores, part.weights
    if weights is not None:
        order = np.argsort(-scores)
        last = int(np.searchsorted(np.cumsum(weights[order]), wanted))
        return float(scores[order[last]]) if last + 1 < scores.size else -inf
    k = ceil(wanted)
    return float(np.partition(scores, scores.size - k)[scores.size - k])


def share(fraction: float, total: float) -> float:
    """Return ``fraction * total``, rounded to a multiple of 1/2 if it differs from one by rounding error only.

    ``share(0.29, 100)`` is 29 and not 28.999999999999996, ``share(1 / 3, 3)`` is 1. Rounding error must not decide
    whether a row is included.
    """
    return float(shares(fraction, np.float64(total)))


def shares(fraction: float, totals: Any) -> Any:
    """Compute `share` for an array of totals."""
    products = fraction * totals
    nearest = np.rint(2 * products) / 2
    return np.where(np.abs(products - nearest) <= 4 * _EPSILON * products, nearest, products)


def bends(fp: Counts, tp: Counts) -> BoolVector:
    """Return which points to keep if those between two equal steps are dropped: scikit-learn's rule.

    The origin and the points of the highest and of the lowest score are always kept.
    """
    kept: BoolVector = np.ones(fp.size, dtype=bool)
    kept[2:-1] = (np.diff(fp[1:], 2) != 0) | (np.diff(tp[1:], 2) != 0)
    return kept

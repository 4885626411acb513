"""Columns of a matrix one by one, read some at a time: a CSR matrix is passed once for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headrank._types import IntVector, Vector
from headrank.rows import open_rows

_BLOCK_VALUES = 1_000_000


def in_blocks(X: Any, numbers: IntVector) -> Iterator[Vector]:
    """Yield some columns as float64, in blocks of about a million values.

    >>> import numpy as np
    >>> [column.tolist() for column in in_blocks(np.eye(3), np.array([2, 0]))]
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    rows, n_block = open_rows(X), max(1, _BLOCK_VALUES // max(X.shape[0], 1))
    for start in range(0, numbers.size, n_block):
        yield from rows.columns(numbers[start : start + n_block]).T

"""Rows of blocks for LightGBM, a batch at a time, with one block in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from headrank._types import IntVector, Vector
from headrank.rows import Blocks

_BATCH_ROWS, _BATCH_VALUES = 4096, 4_000_000
"""Most rows, and values, that are taken at a time; of sparse blocks, so many are dense."""


class BlockReader:
    """Reads rows in the order of the blocks. Going back to an earlier block loads it again.

    Parameters
    ----------
    blocks : Blocks
        Dense or sparse.
    kept : int array, optional
        Numbers of the rows to read, ascending; default: all.

    Attributes
    ----------
    sizes : list of int
        Number of rows to read of each block.
    n_features : int
        Number of features.
    batch_rows : int
        Number of rows to take at a time.
    """

    _number: int
    _start: int
    _X: Any
    _batch: Any

    def __init__(self, blocks: Blocks, kept: IntVector | None = None) -> None:
        self._blocks = blocks
        self._kept: list[IntVector] | None = None
        sizes = [one.n_rows for one in blocks.facts]
        if kept is not None:
            is_kept = np.zeros(blocks.n_rows, dtype=bool)
            is_kept[kept] = True
            self._kept = [np.flatnonzero(each) for each in blocks.cut(is_kept)]
            sizes = [each.size for each in self._kept]
        self.sizes: list[int] = sizes
        self.n_features = blocks.n_features
        self.batch_rows = max(min(_BATCH_ROWS, _BATCH_VALUES // blocks.n_features), 1)
        self.release()

    def rows(self, number: int, some: slice) -> Vector:
        """Some rows of a block, in the precision of the block."""
        X = self._block(number)
        X = X[some] if self._kept is None else X[self._kept[number][some]]
        dense: Vector = X.toarray() if hasattr(X, "toarray") else X
        return np.ascontiguousarray(dense)

    def row(self, number: int, at: int) -> Vector:
        """One row of a block, in double precision."""
        start = at - at % self.batch_rows
        if (number, start) != (self._number, self._start):
            self._batch = self.rows(number, slice(start, start + self.batch_rows)).astype(np.float64)
            self._start = start
        row: Vector = self._batch[at - start]
        return row

    def release(self) -> None:
        """Forget the block that was read last."""
        self._number, self._start, self._X, self._batch = -1, -1, None, None

    def _block(self, number: int) -> Any:
        if number != self._number:
            self.release()  # one block at a time
            self._X = self._blocks.load(number).X
            self._number = number
        return self._X

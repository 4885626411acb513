"""TreeRank: split regions again and again, only in the head of the list, and keep them in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from headrank._types import BoolVector, IntVector
from headrank.estimators.ranking_trees.bins import BinnedRows
from headrank.estimators.ranking_trees.cells import Cells, Part, Test, split_region
from headrank.estimators.ranking_trees.head import Head, Tally
from headrank.estimators.ranking_trees.region_tree import RankingTree


@dataclass(frozen=True)
class Growth:
    """How far trees grow; the names are those of the parameters of `TreeRanker`."""

    max_depth: int
    min_samples_split: int
    min_samples_leaf: int
    max_cells: int
    max_features: int


def grown_tree(
    rows: BinnedRows, positive: BoolVector, drawn: IntVector, growth: Growth, head: Head, rng: Any
) -> RankingTree:
    """Grow a tree on some rows, which may be drawn several times.

    The rows before a region are known when it is made: splits on its left leave their number as it is. So whether a
    region reaches into the head is decided once, and the others are never looked at again.
    """
    is_pos = positive[drawn]
    root = Part(drawn[is_pos], drawn[~is_pos])
    total = _tally(rows, root)
    waiting = [(root, Tally(0, 0), 0, -1)]  # a region, what comes before it, its depth, and its parent if on the right
    left: list[int] = []
    right: list[int] = []
    tallies: list[Tally] = []
    splits: list[Cells | None] = []
    while waiting:
        region, before, depth, parent = waiting.pop()
        here = _tally(rows, region)
        number = len(left)
        if parent >= 0:
            right[parent] = number
        cells = None
        wanted = depth < growth.max_depth and region.size >= growth.min_samples_split and here.pos and here.neg
        if wanted and head.reaches(before, here, total):
            cells = split_region(
                rows,
                region,
                max_cells=growth.max_cells,
                min_samples_leaf=growth.min_samples_leaf,
                max_features=growth.max_features,
                rng=rng,
            )
        left.append(number + 1 if cells is not None else -1)
        right.append(-1)
        tallies.append(here)
        splits.append(cells)
        if cells is not None:
            waiting.append((cells.right, before + _tally(rows, cells.left), depth + 1, number))
            waiting.append((cells.left, before, depth + 1, -1))
    return _as_arrays(rows, left, right, tallies, splits)


def _tally(rows: BinnedRows, part: Part) -> Tally:
    return Tally(rows.weight(part.pos), rows.weight(part.neg))


def _as_arrays(
    rows: BinnedRows, left: list[int], right: list[int], tallies: list[Tally], splits: list[Cells | None]
) -> RankingTree:
    first: list[int] = []
    low: list[int] = []
    high: list[int] = []
    tests: list[Test] = []
    for cells in splits:
        start = len(tests)
        first.append(-1 if cells is None else start)
        if cells is not None:
            tests += cells.tests
            low += [after + start if after >= 0 else after for after in cells.low]
            high += [after + start if after >= 0 else after for after in cells.high]
    numbers = np.int64 if rows.weights is None else np.float64
    return RankingTree(
        left=np.array(left, dtype=np.intp),
        right=np.array(right, dtype=np.intp),
        pos=np.array([tally.pos for tally in tallies], dtype=numbers),
        neg=np.array([tally.neg for tally in tallies], dtype=numbers),
        first=np.array(first, dtype=np.intp),
        feature=np.array([test.feature for test in tests], dtype=np.intp),
        threshold=np.array([rows.threshold(test.feature, test.code) for test in tests], dtype=np.float64),
        missing_low=np.array([test.missing_low for test in tests], dtype=bool),
        low=np.array(low, dtype=np.intp),
        high=np.array(high, dtype=np.intp),
    )

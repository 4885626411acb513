"""Scores of all rows that stay with their blocks: order statistics and heads of them, without gathering them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from headrank._types import Vector
from headrank.curve import RocCurve
from headrank.labels import Sample
from headrank.levels import Depth
from headrank.rows.block_scores import HeadScores, every, extent, head_scores, itself, marked_scores, n_outranked
from headrank.rows.blocks import Blocks
from headrank.rows.selection import kth_largest, next_largest

_SAMPLED = 16_384
"""About this many negatives are sampled to guess a floor of the head."""
_WIDEST_BAND = 4
"""At most so many times the head travels if the floor is guessed, before it is found exactly."""


@dataclass(frozen=True, eq=False)
class HeldScores:
    """One score per row; what is returned is small, or the head that is asked for.

    Attributes
    ----------
    blocks : Blocks
        Where the scores are.
    scores, marked : lists of handles
        Of the scores of each block, and of which of its rows are positive.
    n_pos, n_neg : int
        Numbers of positives and negatives.
    """

    blocks: Blocks
    scores: list[Any]
    marked: list[Any]
    n_pos: int
    n_neg: int

    def ask(self, function: Callable[..., Any], *each: Sequence[Any], same: Sequence[Any] = ()) -> list[Any]:
        """Return ``function(scores, marked, *each_of_block, *same)`` of all blocks."""
        return self.blocks.map_values(function, self.scores, self.marked, *each, same=same)

    def moved(self, scores: list[Any]) -> HeldScores:
        """Return other scores of the same rows."""
        return replace(self, scores=scores)

    def gathered(self) -> Vector:
        """Return the scores of all rows."""
        return np.concatenate(self.blocks.map_values(itself, self.scores))

    def extent(self) -> tuple[float, float]:
        """Return the standard deviation of the scores, and their largest absolute value."""
        sizes, sums, squares, largest = (np.array(column) for column in zip(*self.ask(extent), strict=True))
        mean = sums.sum() / sizes.sum()
        means = np.divide(sums, sizes, out=np.zeros(sizes.size), where=sizes > 0)
        variance = (squares.sum() + float(sizes @ (means - mean) ** 2)) / sizes.sum()
        return float(np.sqrt(variance)), float(largest.max())

    def threshold(self) -> float:
        """Return the score above which as many rows lie as there are positives: half way between two rows."""
        nothing_marked = [False] * len(self.scores)
        above = kth_largest(self.blocks.map_values, self.scores, nothing_marked, self.n_pos)
        return (next_largest(self.blocks.map_values, self.scores, above, self.n_pos) + above) / 2

    def head(self, n_head: int) -> tuple[float, list[HeadScores]]:
        """Return a floor, and of each block the scores of positives and of negatives above it.

        This many negatives are above or at the floor, and few more: it is guessed from a sample, or else selected.
        """
        some = np.concatenate(self.ask(every, same=(max(self.n_neg // _SAMPLED, 1),)))
        if some.size:  # where positives come at regular distances, a sample may have met nothing else
            likely = some.size * n_head / self.n_neg
            at = min(int(likely + 4 * likely**0.5) + 1, some.size)  # four standard errors below the border
            guess, most = float(np.partition(some, some.size - at)[some.size - at]), _WIDEST_BAND * n_head
            heads = self.ask(head_scores, same=(guess, most))
            above, tied = sum(head.n_above for head in heads), sum(head.n_at_floor for head in heads)
            if above <= most and above + tied >= n_head:
                return guess, heads
        floor = kth_largest(self.blocks.map_values, self.scores, self.marked, n_head)
        return floor, self.ask(head_scores, same=(floor, n_head))

    def auc(self) -> float:
        """Return the area under the whole curve: positives go to the blocks, and a sum comes back from each."""
        ascending = np.sort(np.concatenate(self.ask(marked_scores)))
        return float(sum(self.ask(n_outranked, same=(ascending,)))) / (self.n_pos * self.n_neg)

    def curve(self, depth: Depth | None) -> RocCurve:
        """Return the curve, or its head of this depth. The whole curve gathers all scores, a head only that."""
        if depth is None or depth.n_neg >= self.n_neg or depth.n_rows >= self.n_neg or depth.n_pos > 0:
            labels = np.concatenate(self.blocks.map_values(itself, self.marked))
            whole = RocCurve.of_sample(Sample(labels, self.gathered()))
            return whole if depth is None else whole.head(depth.n_neg, n_pos=depth.n_pos, n_rows=depth.n_rows)
        floor, heads = self.head(ceil(max(depth.n_neg, depth.n_rows, 1)))  # among so many rows may be no positive
        pos = np.concatenate([head.marked for head in heads])
        neg = np.concatenate([head.above for head in heads] + [np.full(sum(head.n_at_floor for head in heads), floor)])
        pos = pos[pos >= floor]
        labels = np.repeat([True, False], [pos.size, neg.size])
        levels = RocCurve.of_sample(Sample(labels, np.concatenate([pos, neg])))
        head = replace(levels, n_pos=self.n_pos, n_neg=self.n_neg, floor=floor)
        return head.head(depth.n_neg, n_pos=depth.n_pos, n_rows=depth.n_rows)

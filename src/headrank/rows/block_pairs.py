"""Pairs of a marked row and another over blocks: marked scores go to the blocks, numbers of pairs come back."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from headrank._types import BoolVector, IntVector, Vector


@dataclass(frozen=True, eq=False)
class Overtaken:
    """Scores of marked rows, each with the rows that overtake it: others whose score plus a margin exceeds it.

    Attributes
    ----------
    ascending : array
        The scores of the marked rows, sorted and less ``centre``.
    centre : float
        What is subtracted from all scores before they are compared.
    margin : float
        What is added to the scores of other rows.
    of_pair : float
        The coefficient of a row that overtakes, for each row that it does.
    below : float
        Only rows below this score overtake.
    """

    ascending: Vector
    centre: float
    margin: float
    of_pair: float
    below: float = inf

    def overtaking(self, scores: Vector, marked: BoolVector) -> tuple[BoolVector, IntVector]:
        """Return which rows may overtake, and how many marked rows each of them does."""
        others = ~marked if self.below == inf else ~marked & (scores < self.below)
        return others, np.searchsorted(self.ascending, scores[others] - self.centre + self.margin)


def overtakings(
    scores: Vector, marked: BoolVector, overtaken: Overtaken, sums: Vector
) -> tuple[float, IntVector, IntVector]:
    """Return the sum over all pairs of what the marked row lacks, and numbers of overtaken rows with how often each is.

    ``sums`` are those of the first 0, 1, 2, ... of the marked scores.
    """
    others, n = overtaken.overtaking(scores, marked)
    counts = np.bincount(n, minlength=1)
    places = np.flatnonzero(counts)
    lacking = n @ (scores[others] - overtaken.centre + overtaken.margin) - sums[n].sum()
    return float(lacking), places, counts[places]

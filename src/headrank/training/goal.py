"""Goal: the part of the list that matters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headrank._format import shown
from headrank._numbers import ordered, rate
from headrank._types import BoolVector, Vector
from headrank.bounds.threshold import Budget
from headrank.curve import shares
from headrank.measures import LocalAUC, Measure, PartialAUC, PrecisionAt, TPRAtFPR


@dataclass(frozen=True)
class Goal:
    """A range of false positive rates, or a best fraction of all rows; exactly one of ``max_fpr`` and ``top``.

    Attributes
    ----------
    max_fpr, min_fpr : float
        The range of false positive rates; the ranker is trained for the partial AUC over it.
    top : float
        The best fraction of all rows; the ranker is trained for the local AUC.

    Examples
    --------
    >>> str(Goal(max_fpr=0.02).measure), str(Goal(top=0.01).measure)
    ('pauc@0.02', 'locauc@0.01')
    """

    max_fpr: float | None = None
    min_fpr: float = 0.0
    top: float | None = None

    def __post_init__(self) -> None:
        if (self.max_fpr is None) == (self.top is None):
            raise ValueError("pass either max_fpr, for a range of false positive rates, or top, for a best fraction")
        if self.top is not None:
            object.__setattr__(self, "top", rate("top", self.top, above_zero=True))
            if self.min_fpr:
                raise ValueError("min_fpr applies only to a range of false positive rates, not to a best fraction")
        else:
            low, high = ordered("fpr", self.min_fpr, self.max_fpr)
            object.__setattr__(self, "min_fpr", low)
            object.__setattr__(self, "max_fpr", high)

    @property
    def measure(self) -> Measure:
        """The measure for which models are trained and by which they are compared."""
        if self.top is not None:
            return LocalAUC(self.top)
        return PartialAUC(min_fpr=self.min_fpr, max_fpr=self._max_fpr)

    @property
    def headline(self) -> Measure:
        """The headline measure: the share of positives in the best fraction, or the TPR at the largest FPR."""
        return PrecisionAt(self.top) if self.top is not None else TPRAtFPR(self._max_fpr)

    @property
    def budget(self) -> Budget:
        """The budget of a threshold."""
        return Budget("top", self.top) if self.top is not None else Budget("max_fpr", self._max_fpr)

    def n_rows(self, scores: Vector, positive: BoolVector) -> int:
        """Number of the first rows of a sample that are in the part of the list that matters."""
        if self.top is not None:
            return int(shares(self.top, scores.size))
        n_spared = int(shares(self._max_fpr, np.count_nonzero(~positive)))
        negatives = np.sort(scores[~positive])[::-1]
        # Rows above the first negative that is one too many.
        return scores.size if n_spared >= negatives.size else int(np.count_nonzero(scores > negatives[n_spared]))

    @property
    def option(self) -> str:
        """The goal as options of the command line."""
        if self.top is not None:
            return f"--top {shown(self.top)}"
        return f"--fpr {shown(self.min_fpr)}:{shown(self._max_fpr)}"

    def __str__(self) -> str:
        if self.top is not None:
            return f"the best {shown(self.top)} of all rows"
        return f"false positive rates from {shown(self.min_fpr)} to {shown(self._max_fpr)}"

    @property
    def _max_fpr(self) -> float:
        assert self.max_fpr is not None
        return self.max_fpr

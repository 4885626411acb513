"""What `BoostedRankerCV` selects among, and the trees that it keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from headrank._types import Vector
from headrank.estimators.trees.engine import Trees
from headrank.estimators.trees.settings import Settings


@dataclass(frozen=True)
class BoostedCandidate:
    """One way to boost trees: settings, objective, and the number of trees that the folds have chosen."""

    settings: Settings
    objective: str
    power: float | None
    n_trees: int
    C: ClassVar[None] = None
    bandwidth: ClassVar[None] = None

    def __str__(self) -> str:
        return f"{self.n_trees} trees ({self.settings}{self._push})"

    @property
    def label(self) -> str:
        """All but the number of trees, for the legend of a plot."""
        return f"{self.settings.label}{self._push}"

    @property
    def _push(self) -> str:
        return "" if self.power is None else f", push with power {self.power:g}"

    @property
    def surrogate(self) -> str:
        """What is minimised."""
        return self.objective


@dataclass(frozen=True)
class BoostedAverage:
    """Several candidates as one: the mean of their scores, each scaled to variance 1 out of fold."""

    members: tuple[BoostedCandidate, ...]
    C: ClassVar[None] = None
    bandwidth: ClassVar[None] = None
    surrogate: ClassVar[str] = "average"

    def __str__(self) -> str:
        *others, last = map(str, self.members)
        return f"the average of {', '.join(others)} and {last}"


@dataclass(frozen=True, eq=False)
class Member:
    """Trees of one candidate, grown on several sets of rows, and what their mean is divided by.

    Attributes
    ----------
    trees : tuple of Trees
        One for each set of rows.
    spread : float
        What the mean of their scores is divided by.
    shares : tuple of float
        The weight of each in the mean; empty if all have the same.
    """

    trees: tuple[Trees, ...]
    spread: float
    shares: tuple[float, ...] = ()

    @property
    def weighted(self) -> list[tuple[Trees, float]]:
        """The trees, and what the scores of each are multiplied by."""
        shares = self.shares or (1 / len(self.trees),) * len(self.trees)
        return [(each, share / self.spread) for each, share in zip(self.trees, shares, strict=True)]

    def scores(self, X: Any) -> Vector:
        """Weighted mean over the trees."""
        total: Vector = np.sum([weight * each.scores(X) for each, weight in self.weighted], axis=0)
        return total

    def contributions(self, X: Any) -> Vector:
        """The same, by features, with the rest in the last column."""
        total: Vector = np.sum([weight * each.contributions(X) for each, weight in self.weighted], axis=0)
        return total

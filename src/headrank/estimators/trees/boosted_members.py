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
    """Trees of one candidate, whose scores are averaged, and what they are divided by."""

    trees: tuple[Trees, ...]
    spread: float

    def scores(self, X: Any) -> Vector:
        """Mean over the trees of the folds."""
        mean: Vector = np.mean([each.scores(X) for each in self.trees], axis=0)
        return mean / self.spread

    def contributions(self, X: Any) -> Vector:
        """The same, by features, with the rest in the last column."""
        mean: Vector = np.mean([each.contributions(X) for each in self.trees], axis=0)
        return mean / self.spread

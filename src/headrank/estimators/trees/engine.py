"""Which library grows the trees: LightGBM, or scikit-learn where it cannot be loaded."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from headrank._types import IntVector, Vector
from headrank.estimators._labelled import Labelled
from headrank.estimators.trees.histogram_trees import HistogramRows
from headrank.estimators.trees.lightgbm_trees import LightGBMRows, why_not


class Trees(Protocol):
    """Trees that have grown."""

    @property
    def n_trees(self) -> int:
        """Number of trees."""

    @property
    def learned_nothing(self) -> bool:
        """Whether no tree has a split."""

    def scores(self, X: Any) -> Vector:
        """Score rows."""

    def staged(self, X: Any, *, every: int) -> Iterator[Vector]:
        """Score rows after ``every`` trees, after twice as many, and so on to the end."""

    def contributions(self, X: Any) -> Vector:
        """What each feature adds to the score of each row, and in the last column the rest."""


class Growing(Protocol):
    """Trees that are still growing."""

    @property
    def n_trees(self) -> int:
        """Trees so far."""

    def grow(self, n_trees: int) -> None:
        """Add trees."""

    def added(self, X: Any, start: int) -> Vector:
        """What the trees from this one on add to the scores of some rows."""

    def trees(self, n_trees: int) -> Trees:
        """The first trees, as they are kept."""


class TreeRows(Protocol):
    """Rows to grow trees on."""

    def part(self, kept: IntVector) -> TreeRows:
        """Some of the rows, in their order."""

    def growing(self, settings: Any, **options: Any) -> Growing:
        """Trees to be grown on these rows."""


def ranking_rows_for(X: Any, labelled: Labelled, categorical: list[int], n_threads: int) -> LightGBMRows:
    """Return the rows for LightGBM's lambdarank, query after query. X is copied unless its rows are in this order."""
    assert labelled.queries is not None
    order, sizes = np.argsort(labelled.queries, kind="stable"), np.unique(labelled.queries, return_counts=True)[1]
    if np.any(order[1:] < order[:-1]):
        X, labelled = X[order], labelled.take(order)
    grades = (labelled.positive if labelled.grades is None else labelled.grades).astype(np.float64)
    return LightGBMRows.of(X, grades, labelled.counts, categorical, n_threads, group=sizes)


def rows_for(X: Any, labelled: Labelled, categorical: list[int], n_threads: int) -> tuple[str, Any]:
    """Return the name of the library that will grow the trees, and the rows as it wants them."""
    target = labelled.positive.astype(np.float64)
    if reason := why_not():
        warnings.warn(
            f"LightGBM could not be loaded ({reason}); scikit-learn's histogram boosting stands in for it, with the "
            "log loss",
            RuntimeWarning,
            stacklevel=3,
        )
        return "scikit-learn", HistogramRows.of(X, target, labelled.counts, categorical, n_threads)
    return "lightgbm", LightGBMRows.of(X, target, labelled.counts, categorical, n_threads)

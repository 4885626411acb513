"""Trees grown by scikit-learn's histogram boosting: the stand-in where LightGBM's library cannot be loaded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from headrank._types import IntVector, Vector
from headrank.estimators.trees.lightgbm_trees import threads_for
from headrank.estimators.trees.settings import Settings

_MOST_CATEGORIES = 255


class TooManyCategoriesError(ValueError):
    """A column has more categories than scikit-learn's trees take."""


@dataclass(frozen=True, eq=False)
class HistogramTrees:
    """Grown trees; as `LightGBMTrees`, without contributions."""

    model: Any
    n_trees: int

    def scores(self, X: Any) -> Vector:
        """Scores of the rows after the first ``n_trees`` trees."""
        return next(self.staged(X, every=self.n_trees))

    def staged(self, X: Any, *, every: int) -> Iterator[Vector]:
        """The scores after ``every`` trees, after twice as many, and so on to the end."""
        stages = self.model.staged_decision_function(_dense(X))
        for i in range(1, self.n_trees + 1):
            with _limit_threads(threads_for(X)):
                scores = next(stages)
            if i % every == 0 or i == self.n_trees:
                yield scores

    def contributions(self, X: Any) -> Vector:
        """Not available."""
        raise NotImplementedError(
            "contributions of boosted trees need LightGBM, which could not be loaded when this model was trained"
        )

    @property
    def learned_nothing(self) -> bool:
        """Whether no tree has a split."""
        return all(tree.get_n_leaf_nodes() == 1 for (tree,) in self.model._predictors[: self.n_trees])


@dataclass(frozen=True, eq=False)
class HistogramRows:
    """Rows to grow trees on."""

    X: Any
    target: Vector
    weights: Vector | None
    categorical: list[int]
    n_threads: int

    @classmethod
    def of(
        cls, X: Any, target: Vector, weights: Vector | None, categorical: list[int], n_threads: int
    ) -> HistogramRows:
        """Take the rows as they are, or raise if a column has too many categories; sparse rows are made dense."""
        for column in categorical:
            codes = X[:, [column]].toarray() if hasattr(X, "toarray") else X[:, column]
            if (n_codes := np.unique(codes[np.isfinite(codes)]).size) > _MOST_CATEGORIES:
                raise TooManyCategoriesError(
                    f"column {column} has {n_codes:,} categories, but LightGBM could not be loaded, and scikit-learn's "
                    f"trees take at most {_MOST_CATEGORIES}: group the rare ones"
                )
        return cls(_dense(X), target, weights, categorical, n_threads)

    def part(self, kept: IntVector) -> HistogramRows:
        """Some of the rows."""
        weights = None if self.weights is None else self.weights[kept]
        return replace(self, X=self.X[kept], target=self.target[kept], weights=weights)

    def growing(
        self,
        settings: Settings,
        *,
        derivatives: Any = None,
        start: Vector | None = None,
        monotonic: list[int] | None = None,
        random_state: int = 0,
    ) -> HistogramGrowing:
        """Trees to be grown on these rows for the log loss."""
        if derivatives is not None or start is not None:
            raise NotImplementedError("scikit-learn's histogram boosting knows no objective but the log loss")
        model = HistGradientBoostingClassifier(
            **settings.for_scikit_learn,
            early_stopping=False,
            warm_start=True,
            max_iter=1,
            categorical_features=self.categorical or None,
            monotonic_cst=monotonic,
            random_state=random_state,
        )
        return HistogramGrowing(model, self)


@dataclass(eq=False)
class HistogramGrowing:
    """Trees that are still growing."""

    model: Any
    rows: HistogramRows
    n_trees: int = 0

    def grow(self, n_trees: int) -> None:
        """Add trees."""
        self.n_trees += n_trees
        with _limit_threads(self.rows.n_threads):
            self.model.set_params(max_iter=self.n_trees).fit(self.rows.X, self.rows.target, self.rows.weights)

    def added(self, X: Any, start: int) -> Vector:
        """What the trees from this one on add to the scores of some rows."""
        stages = self.model.staged_decision_function(_dense(X))
        with _limit_threads(self.rows.n_threads):
            before = np.zeros(X.shape[0]) if start == 0 else next(islice(stages, start - 1, None))
            scores: Vector = self.model.decision_function(_dense(X))
        return scores - before

    def trees(self, n_trees: int) -> HistogramTrees:
        """The first trees, as they are kept."""
        return HistogramTrees(self.model, n_trees)


def _limit_threads(n_threads: int) -> threadpool_limits:
    """Limit scikit-learn's threads within a ``with`` block; 0 leaves their number to OpenMP.

    On few rows they wait for each other, on a busy machine for seconds per tree.
    """
    return threadpool_limits(limits=n_threads or None, user_api="openmp")


def _dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else X

"""The mean of a measure over headrank's folds as an Optuna objective."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headrank._extras import needs_extra
from headrank._types import ArrayLike, BoolVector, IntVector
from headrank.integrations._rows import Rows
from headrank.labels import check_labels
from headrank.measures import Measure
from headrank.measures import measure as measure_of

__all__ = ["objective"]


def objective(
    measure: Measure | str,
    make: Callable[[Any], Any],
    X: Any,
    y: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    cv: Any = 5,
    random_state: Any = 0,
) -> Objective:
    """Return an objective for ``study.optimize``: the mean of the measure over the folds of headrank's rankers.

    Pass its ``direction`` to ``optuna.create_study``. After each fold the mean so far is reported, so that the pruner
    of the study may end a trial early. The values of the folds are kept as the user attribute ``"folds"`` of a trial.

    Parameters
    ----------
    measure : Measure or str
        What to optimise. The first k rows of all become the same share of a fold's rows, as in `RankerCV`.
    make : callable
        Takes a trial and returns an estimator with ``decision_function`` or ``predict_proba``.
    X : array, sparse matrix or data frame of shape (n_rows, n_features)
        The rows.
    y : array-like of shape (n_rows,)
        0/1, -1/+1 or bool.
    qid : array-like of shape (n_rows,), optional
        Query of each row: no query is split between folds, and the measure is the mean over queries. The estimator is
        not given the queries.
    cv : int, splitter or iterable of (train, test), default=5
        As in `RankerCV`; all trials are measured on the same folds.
    random_state : int or RandomState, default=0
        Of the folds.
    """
    from headrank.estimators._labelled import Labelled
    from headrank.estimators.cv.folds import of_any_size, splits_of

    labelled = Labelled.of(check_labels(y), None, qid)
    splits = splits_of(labelled, cv, X, y, None, qid, random_state=random_state)
    target = measure_of(measure)
    target = target if qid is not None else of_any_size(target, labelled.size)
    return Objective(target, make, X, labelled.positive, labelled.queries, splits)


@dataclass(frozen=True, eq=False)
class Objective:
    """The mean of a measure over folds as a function of a trial, made by `objective`."""

    measure: Measure
    make: Callable[[Any], Any]
    X: Any
    positive: BoolVector
    queries: IntVector | None
    splits: Sequence[tuple[IntVector, IntVector]]

    @property
    def direction(self) -> str:
        """The direction of the study."""
        return "maximize" if self.measure.greater_is_better else "minimize"

    def __call__(self, trial: Any) -> float:
        """Fit and measure on each fold, and return the mean."""
        with needs_extra("optuna"):
            from optuna import TrialPruned
        from sklearn.utils import _safe_indexing

        values: list[float] = []
        for fold, (train, test) in enumerate(self.splits):
            estimator = self.make(trial).fit(_safe_indexing(self.X, train), self.positive[train].astype(np.intp))
            queries = None if self.queries is None else self.queries[test]
            scores = _scores(estimator, _safe_indexing(self.X, test))
            values.append(Rows(self.positive[test], qid=queries).value(self.measure, scores))
            trial.set_user_attr("folds", values)
            trial.report(float(np.mean(values)), fold)
            if trial.should_prune():
                raise TrialPruned
        return float(np.mean(values))


def _scores(estimator: Any, X: Any) -> Any:
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(X)
    return estimator.predict_proba(X)[:, 1]

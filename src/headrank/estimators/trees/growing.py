"""Trees grown on all folds at once, and stopped where the measure out of fold no longer rises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from headrank._types import Vector
from headrank.estimators.cv.fold_rows import FoldRows
from headrank.estimators.trees.engine import Growing, TreeRows, Trees
from headrank.estimators.trees.lightgbm_trees import Derivatives
from headrank.estimators.trees.settings import Settings

EVERY = 10
"""Trees between two measurements."""
_LEAST_PATIENCE, _PATIENCE = 5, 0.5
"""Measurements without a new best after which growing ends: at least 5, and half as many as there were before it."""


@dataclass(frozen=True, eq=False)
class Grown:
    """Trees of one setting, grown on every fold.

    Attributes
    ----------
    n_trees : int
        The number with the best mean over the folds, smoothed over neighbours.
    scores : tuple of arrays
        Of the rows left out, fold by fold.
    values : array
        The measure of these scores, one value per fold; negated if lower is better.
    trees : tuple of Trees
        Of each fold.
    path : array
        Mean over the folds after `EVERY` trees, after twice as many, and so on.
    """

    settings: Settings
    n_trees: int
    scores: tuple[Vector, ...]
    values: Vector
    trees: tuple[Trees, ...]
    path: Vector


def grown_on(
    folds: FoldRows,
    parts: Sequence[TreeRows],
    X_left_out: Sequence[Any],
    settings: Settings,
    *,
    derivatives: Sequence[Derivatives | None],
    most_trees: int,
    n_jobs: int | None,
    is_over: Callable[[], bool] = lambda: False,
    **options: Any,
) -> Grown:
    """Grow trees on every fold, some at a time on all of them, until the measure has stopped rising.

    Parameters
    ----------
    folds : FoldRows
        The folds.
    parts : sequence of TreeRows
        The rows to learn from, fold by fold.
    X_left_out : sequence of matrices
        The rows left out.
    settings : Settings
        Of the trees.
    derivatives : sequence of callable or None
        Of what is minimised, fold by fold; None for the log loss.
    most_trees : int
        Where to stop at the latest.
    n_jobs : int or None
        Threads over the folds.
    is_over : callable
        Asked between measurements; if true, growing ends with the trees there are.
    **options
        For `TreeRows.growing`.
    """
    growing = [
        part.growing(settings, derivatives=of_fold, **options) for part, of_fold in zip(parts, derivatives, strict=True)
    ]
    stages: list[list[Vector]] = [[np.zeros(X.shape[0])] for X in X_left_out]
    values: list[Vector] = []
    with Parallel(n_jobs=n_jobs, prefer="threads") as workers:
        for _ in range(-(-most_trees // EVERY)):
            added = workers(delayed(_more)(each, X) for each, X in zip(growing, X_left_out, strict=True))
            for of_fold, more in zip(stages, added, strict=True):
                of_fold.append(of_fold[-1] + more)
            values.append(folds.values([of_fold[-1] for of_fold in stages]))
            best = _best_of(values)
            if len(values) - 1 - best >= max(_LEAST_PATIENCE, _PATIENCE * (best + 1)) or is_over():
                break
            if all(each.n_trees < EVERY * len(values) for each in growing):  # no split is left on any fold
                break
    n_trees = EVERY * (best + 1)
    return Grown(
        settings,
        n_trees,
        tuple(of_fold[best + 1] for of_fold in stages),
        values[best],
        tuple(each.trees(min(n_trees, each.n_trees)) for each in growing),
        np.array([each.mean() for each in values]),
    )


def _more(growing: Growing, X: Any) -> Vector:
    start = growing.n_trees
    growing.grow(EVERY)
    return growing.added(X, start)


def _best_of(values: Sequence[Vector]) -> int:
    """Where the mean over the folds is highest, smoothed over neighbours."""
    means = np.array([each.mean() for each in values])
    padded = np.pad(means, 1, mode="edge")
    return int(np.argmax(padded[:-2] + padded[1:-1] + padded[2:]))

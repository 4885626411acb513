"""How many rounds, with which setting? Chosen on folds by the measure, round by round."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from headrank._numbers import listed, whole
from headrank._types import IntVector, Vector
from headrank.estimators.cv.fold_rows import FoldRows
from headrank.measures import Measure

Run = Callable[[float, IntVector, IntVector], Iterator[Vector]]
"""Learns with a setting on some rows, and yields the scores of other rows after each round; it may end early."""

_LEAST_PATIENCE = 20


@dataclass(frozen=True, eq=False)
class StagedChoice:
    """What each setting is worth after each round, and the best of them.

    Attributes
    ----------
    settings : tuple of float
        The settings tried.
    values : array of shape (n_settings, n_rounds, n_folds)
        The measure on the rows left out; negated if lower is better. NaN for rounds that were not made.
    setting : float
        The best setting; the first one if several are.
    n_rounds : int
        The number of rounds with the highest mean over the folds; the smallest if several have it.
    """

    settings: tuple[float, ...]
    values: Vector
    setting: float
    n_rounds: int

    def mean_values(self, measure: Measure) -> Vector:
        """Means over the folds, of shape (n_settings, n_rounds), in the units of the measure."""
        means: Vector = self.values.mean(axis=2)
        return means if measure.greater_is_better else -means


def staged_choice(
    folds: FoldRows, settings: Sequence[float], run: Run, *, max_rounds: int, n_jobs: int | None
) -> StagedChoice:
    """Run every setting on all folds, and choose setting and number of rounds by the mean of the measure.

    A setting is given up when its mean has not risen for half as many rounds as its best one took, and at least 20. A
    run that ends early keeps its last scores. ``n_jobs`` threads run settings side by side.
    """
    if n_jobs is not None:
        whole("n_jobs", n_jobs, at_least=-1)
    paths = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_path)(folds, setting, run, max_rounds) for setting in settings
    )
    values = np.full((len(settings), max_rounds, len(folds.splits)), np.nan)
    for of_setting, path in zip(values, paths, strict=True):
        of_setting[: len(path)] = path
    best = int(np.nanargmax(values.mean(axis=2)))
    return StagedChoice(tuple(settings), values, settings[best // max_rounds], best % max_rounds + 1)


def _path(folds: FoldRows, setting: float, run: Run, max_rounds: int) -> list[Vector]:
    """The values on the folds after each round."""
    runs = [run(setting, train, test) for train, test in folds.splits]
    scores: list[Vector] = [np.zeros(test.size) for _, test in folds.splits]
    values: list[Vector] = []
    best = 0
    while len(values) < max_rounds:
        went_on = [next(each, None) for each in runs]
        if values and all(each is None for each in went_on):
            break
        scores = [old if new is None else new for old, new in zip(scores, went_on, strict=True)]
        values.append(folds.values(scores))
        if values[-1].mean() > values[best].mean():
            best = len(values) - 1
        if len(values) - 1 - best >= max(_LEAST_PATIENCE, (best + 1) // 2):
            break
    return values


def settings_of(name: str, given: Any, checked: Callable[[str, Any], float], *, is_chosen: bool) -> tuple[float, ...]:
    """Return the settings to try, or raise; without cross-validation there must be exactly one."""
    settings = tuple(checked(name, each) for each in listed(name, given))
    if not settings or (not is_chosen and len(settings) > 1):
        needed = "at least one number" if is_chosen else "exactly one number, as cv=None chooses none"
        raise ValueError(f"{name} must have {needed}, got {len(settings)}")
    return settings

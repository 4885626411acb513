"""How many rounds, with which setting? Chosen on folds by the measure, round by round."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from headrank._numbers import listed
from headrank._types import IntVector, Vector
from headrank.estimators.cv.fold_rows import FoldRows
from headrank.measures import Measure

Run = Callable[[float, IntVector, IntVector], Iterator[Vector]]
"""Learns with a setting on some rows, and yields the scores of other rows after each round; it may end early."""


@dataclass(frozen=True, eq=False)
class StagedChoice:
    """What each setting is worth after each round, and the best of them.

    Attributes
    ----------
    settings : tuple of float
        The settings tried.
    values : array of shape (n_settings, n_rounds, n_folds)
        The measure on the rows left out; negated if lower is better.
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
    """Run every setting on every fold, and choose setting and number of rounds by the mean of the measure.

    A run that ends early keeps its last scores. Cost: one run and ``max_rounds`` measurements for each setting and
    fold.
    """

    def path(setting: float, k: int) -> Vector:
        train, test = folds.splits[k]
        left_out = folds.labelled.take(test)
        worth = [
            folds.measure.of_sample(left_out.sample(scores)) for scores in islice(run(setting, train, test), max_rounds)
        ]
        return np.array(worth + worth[-1:] * (max_rounds - len(worth)))

    jobs = (delayed(path)(setting, k) for setting in settings for k in range(len(folds.splits)))
    paths = np.array(Parallel(n_jobs=n_jobs, prefer="threads")(jobs))
    values = paths.reshape(len(settings), len(folds.splits), max_rounds).transpose(0, 2, 1)
    values = values if folds.measure.greater_is_better else -values
    best = int(np.argmax(values.mean(axis=2)))
    return StagedChoice(tuple(settings), values, settings[best // max_rounds], best % max_rounds + 1)


def settings_of(name: str, given: Any, checked: Callable[[str, Any], float], *, is_chosen: bool) -> tuple[float, ...]:
    """Return the settings to try, or raise; without cross-validation there must be exactly one."""
    settings = tuple(checked(name, each) for each in listed(name, given))
    if not settings or (not is_chosen and len(settings) > 1):
        needed = "at least one number" if is_chosen else "exactly one number, as cv=None chooses none"
        raise ValueError(f"{name} must have {needed}, got {len(settings)}")
    return settings

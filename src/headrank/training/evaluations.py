"""Progress of a fit over all rows of a stored table, evaluation by evaluation."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import ceil, isnan, log

from headrank.solvers import Step
from headrank.training.progress import Note, Progress

_LEAST_LIMIT, _TIMES_DONE = 10, 2
"""Evaluations that are expected at most: so many, or a multiple of those that are done. A gap may fall all at once."""


class Evaluations:
    """Called with each step of a solver, and shows the gap, the speed and an estimate of what is left.

    The gap falls at a nearly constant rate in most fits, so that the evaluations that are left follow from the rate so
    far. Where there is no gap, as many again as are done are expected. The selection may have several members, which
    are fitted one after the other.

    Parameters
    ----------
    name : str
        Of the step of the training.
    n_rows : int
        Rows of an evaluation.
    tol : float
        Gap at which the solver stops.
    progress : Progress
        Shows it.

    Examples
    --------
    >>> times = iter([0.0, 2.0, 4.0])
    >>> def show(name, done, total, note):
    ...     print(done, "of", total, note.detail)
    >>> told = Evaluations("fitting", 1_000_000, 1e-3, show, clock=lambda: next(times))
    >>> told(Step(1, 1.0, 0.9, 1, 2.0)), told(Step(2, 1.0, 0.99, 2, 4.0))  # doctest: +NORMALIZE_WHITESPACE
    1 of 2 gap 0.1, 500,000 rows per second
    2 of 3 gap 0.01, 500,000 rows per second
    (None, None)
    """

    def __init__(
        self,
        name: str,
        n_rows: int,
        tol: float,
        progress: Progress,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name, self._n_rows, self._tol, self._progress = name, n_rows, tol, progress
        self._clock, self._began, self._n_done = clock, clock(), 0
        self._first_gap = float("nan")

    def __call__(self, step: Step) -> None:
        """Show the state after an evaluation."""
        self._n_done += 1
        if step.n_iter == 1:
            self._first_gap = step.gap
        elapsed = max(self._clock() - self._began, 1e-9)
        speed = f"{self._n_rows * self._n_done / elapsed:,.0f} rows per second"
        gap = "" if isnan(step.gap) else f"gap {step.gap:.2g}, "
        self._progress(self._name, self._n_done, self._n_done + self._n_left(step), Note(detail=f"{gap}{speed}"))

    def _n_left(self, step: Step) -> int:
        if not (step.gap > 0 and step.n_iter > 1 and step.gap < self._first_gap):
            return step.n_iter
        if step.gap <= self._tol:
            return 0
        rate = (log(self._first_gap) - log(step.gap)) / (step.n_iter - 1)
        left = ceil((log(step.gap) - log(self._tol)) / rate - 1e-9)
        return min(left, max(_LEAST_LIMIT, _TIMES_DONE * step.n_iter))

"""The trace of a solver and its result."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import isnan, nan

from headrank._types import Vector
from headrank.solvers.bundle import Bundle

STOPS = (KeyboardInterrupt, OSError)
"""What ends a search with the best weights so far. It is stored without its traceback, which refers to all scores."""


@dataclass(frozen=True)
class Step:
    """The state after one evaluation: best objective, best lower bound, number of cuts, seconds since the start."""

    n_iter: int
    objective: float
    lower: float
    n_cuts: int
    seconds: float

    @property
    def gap(self) -> float:
        """The relative gap (objective - lower) / objective; NaN without a lower bound."""
        if isnan(self.lower):
            return nan
        return (self.objective - self.lower) / self.objective if self.objective > 0 else 0.0


@dataclass(frozen=True, eq=False)
class Solution:
    """The best weights found, with their certificate and the trace of the search.

    Attributes
    ----------
    weights : array of shape (n_features,)
        The best weights.
    trace : tuple of Step
        One step per evaluation, each a pass over the data. The last has the final objective and lower bound.
    bundle : Bundle
        All cuts; they can be reused for another C.
    converged : bool
        Whether the stopping criterion was met.
    stopped_by : KeyboardInterrupt, OSError or None
        What ended the search early: an interrupt, or rows that can no longer be read.
    point : Point or None
        The risk evaluated at the weights, if available.
    """

    weights: Vector
    trace: tuple[Step, ...]
    bundle: Bundle
    converged: bool = True
    stopped_by: BaseException | None = None
    point: object = None

    @property
    def interrupted(self) -> bool:
        """Whether a keyboard interrupt ended the search."""
        return isinstance(self.stopped_by, KeyboardInterrupt)

    def raise_if_stopped(self) -> None:
        """Raise what ended the search early, for callers that have no use for an unfinished one."""
        if self.stopped_by is not None:
            raise self.stopped_by

    @property
    def objective(self) -> float:
        """1/2 |w|^2 + C risk(w) at the weights."""
        return self.trace[-1].objective

    @property
    def lower(self) -> float:
        """A proven lower bound of the objective; NaN if the risk is not convex."""
        return self.trace[-1].lower

    @property
    def gap(self) -> float:
        """The relative gap (objective - lower) / objective; NaN without a lower bound."""
        return self.trace[-1].gap

    @property
    def n_iter(self) -> int:
        """Number of evaluations."""
        return len(self.trace)


class Record:
    """Collects the steps of a search."""

    def __init__(self, callback: Callable[[Step], None] | None) -> None:
        self.steps: list[Step] = []
        self._callback = callback
        self._began = time.perf_counter()

    def add(self, objective: float, lower: float, n_cuts: int) -> Step:
        """Add a step and call the callback."""
        step = self._noted(objective, lower, n_cuts)
        if self._callback is not None:
            self._callback(step)
        return step

    def interrupt(self, objective: float, lower: float, n_cuts: int) -> None:
        """Add a last step if the objective has improved since. The callback is not called after an interrupt."""
        if not self.steps or self.steps[-1].objective != objective:
            self._noted(objective, lower, n_cuts)

    def _noted(self, objective: float, lower: float, n_cuts: int) -> Step:
        lower = min(lower, objective)  # by rounding it may be slightly above; NaN stays NaN
        step = Step(len(self.steps) + 1, objective, lower, n_cuts, time.perf_counter() - self._began)
        self.steps.append(step)
        return step

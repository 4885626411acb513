"""What a solver did, step by step, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import isnan, nan

from headrank._types import Vector
from headrank.solvers.bundle import Bundle


@dataclass(frozen=True)
class Step:
    """The state after one evaluation: best objective, best lower bound, cuts held, seconds since the start."""

    n_iter: int
    objective: float
    lower: float
    n_cuts: int
    seconds: float

    @property
    def gap(self) -> float:
        """Share of the objective that can still be gained, at most: (objective - lower) / objective; NaN if unknown."""
        if isnan(self.lower):
            return nan
        return (self.objective - self.lower) / self.objective if self.objective > 0 else 0.0


@dataclass(frozen=True, eq=False)
class Solution:
    """The best weights found, the proof of how good they are, and how they were found.

    Attributes
    ----------
    weights : array of shape (n_features,)
        The best weights.
    trace : tuple of Step
        One per evaluation, each of which is a pass over the data. The last gives the objective and its lower bound.
    bundle : Bundle
        All cuts, of use for another C.
    converged : bool
        Whether it is as good as was asked for.
    interrupted : bool
        Whether the search was ended from the keyboard.
    point : Point or None
        The risk at the weights, as the risk itself evaluated it.
    """

    weights: Vector
    trace: tuple[Step, ...]
    bundle: Bundle
    converged: bool = True
    interrupted: bool = False
    point: object = None

    @property
    def objective(self) -> float:
        """1/2 |w|^2 + C risk(w) at the weights."""
        return self.trace[-1].objective

    @property
    def lower(self) -> float:
        """No weights have a lower objective than this; NaN where the risk is not convex and nothing is proved."""
        return self.trace[-1].lower

    @property
    def gap(self) -> float:
        """Share of the objective that can still be gained, at most."""
        return self.trace[-1].gap

    @property
    def n_iter(self) -> int:
        """Evaluations."""
        return len(self.trace)


class Record:
    """The trace in the making."""

    def __init__(self, callback: Callable[[Step], None] | None) -> None:
        self.steps: list[Step] = []
        self._callback = callback
        self._began = time.perf_counter()

    def add(self, objective: float, lower: float, n_cuts: int) -> Step:
        """Note one evaluation, and tell whoever listens."""
        step = self._noted(objective, lower, n_cuts)
        if self._callback is not None:
            self._callback(step)
        return step

    def interrupt(self, objective: float, lower: float, n_cuts: int) -> None:
        """Note what was found since the last step, if anything; nobody is told, as somebody has just said stop."""
        if not self.steps or self.steps[-1].objective != objective:
            self._noted(objective, lower, n_cuts)

    def _noted(self, objective: float, lower: float, n_cuts: int) -> Step:
        lower = min(lower, objective)  # a bound above it is one to within rounding; NaN stays NaN
        step = Step(len(self.steps) + 1, objective, lower, n_cuts, time.perf_counter() - self._began)
        self.steps.append(step)
        return step

"""Componentwise boosting: one weak learner moves per round, as long as the penalised objective rises."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headrank._types import BoolVector, IntVector, Vector
from headrank.estimators._labelled import Labelled
from headrank.rivals.shapes import Shapes
from headrank.surrogates import Surrogate
from headrank.surrogates.smooth import ConstantScoresError

_TRIAL, _LONGEST = 0.1, 1.0
"""Steps in standard deviations of the scores: the one that tells the curvature, and the longest before shrinkage."""
_STEEPEST = 5
"""Weak learners tried in a round until one raises the objective."""
_HALVINGS = 8
_ROUNDING = 1e-9
"""A weak learner is constant on some rows if its standard deviation is at most this share of its largest value."""


@dataclass(frozen=True, eq=False)
class Stage:
    """The additive score after a round.

    Attributes
    ----------
    weights : array of shape (n_functions,)
        Of the functions, in their own units; the training scores have variance 1.
    objective : float
        Minus the smooth risk, minus the penalty.
    """

    weights: Vector
    objective: float


@dataclass(frozen=True, eq=False)
class Ascent:
    """Functions of labelled rows, and the objective to raise.

    The objective is -R(F + noise) - penalty * roughness(F), with R headrank's smooth risk and F a score of variance 1.

    Attributes
    ----------
    functions : array of shape (n_functions, n_rows)
        Every weak learner at every row.
    shapes : sequence of Shapes
        Of each column, in the order of the functions.
    noise : array of shape (n_rows,)
        Orders rows that F does not.
    """

    functions: Vector
    shapes: Sequence[Shapes]
    labelled: Labelled
    surrogate: Surrogate
    penalty: float
    learning_rate: float
    noise: Vector

    def stages(self) -> Iterator[Stage]:
        """Yield the score after each round, the first being the best single start; end when no step rises.

        Cost of a round: one pass over the functions, and three evaluations of the risk or a few more.
        """
        started = self._start()
        if started is None:
            return
        here = started
        while True:
            yield Stage(here.weights / self._spreads, here.objective)
            there = self._round(here)
            if there is None:
                return
            here = there

    def _start(self) -> _State | None:
        """Return the best single function, with its better sign; of a spline, only the line is tried."""
        best = None
        for number in np.flatnonzero(self._is_start & self._varies).tolist():
            for sign in (1.0, -1.0):
                weights = np.zeros(self._spreads.size)
                weights[number] = sign
                state = self._state(weights, sign * self._column(number))
                if state is not None and (best is None or state.objective > best.objective):
                    best = state
        return best

    def _round(self, here: _State) -> _State | None:
        slopes = self._slopes(here)
        for number in np.argsort(-np.abs(slopes), kind="stable")[:_STEEPEST]:
            there = self._moved(here, int(number), float(slopes[number]))
            if there is not None:
                return there
        return None

    def _moved(self, here: _State, number: int, slope: float) -> _State | None:
        """Take a Newton step along one function, times the learning rate, halved until the objective rises."""
        if slope == 0 or not np.isfinite(slope):
            return None
        sign, column = np.sign(slope), self._column(number)
        trial = self._along(here, number, column, sign * _TRIAL)
        step = _LONGEST
        if trial is not None:
            bend = 2 * (trial.objective - here.objective - abs(slope) * _TRIAL) / _TRIAL**2
            step = min(abs(slope) / -bend, _LONGEST) if bend < 0 else _LONGEST
        step *= self.learning_rate
        for _ in range(_HALVINGS):
            there = self._along(here, number, column, sign * step)
            if there is not None and there.objective > here.objective:
                return there
            step /= 2
        return None

    def _along(self, here: _State, number: int, column: Vector, step: float) -> _State | None:
        weights = here.weights.copy()
        weights[number] += step
        return self._state(weights, here.scores + step * column)

    def _state(self, weights: Vector, scores: Vector) -> _State | None:
        """Return the state of an additive score, with variance 1; None if it is constant."""
        spread = float(np.sqrt(self._shares @ scores**2))
        if not spread > 0:
            return None
        weights, scores = weights / spread, scores / spread
        try:
            noisy = scores + self.noise
            cut = self.surrogate(noisy[self._pos], noisy[self._neg])
        except ConstantScoresError:
            return None
        slopes = np.empty(scores.size)
        slopes[self._pos], slopes[self._neg] = cut.pos_coef, cut.neg_coef
        rough = self._rough(weights) if self.penalty else np.zeros(weights.size)
        return _State(weights, scores, -cut.risk - self.penalty * float(weights @ rough), slopes, rough)

    def _slopes(self, here: _State) -> Vector:
        """The derivative of the objective along each function, at scores of variance 1."""
        # The scale of the scores is fixed, so steps along them do not count.
        scaling = float(here.slopes @ here.scores) + 2 * self.penalty * float(here.weights @ here.rough)
        along = here.slopes - scaling * self._shares * here.scores
        slopes = -(self.functions @ along - self._means * along.sum()) / self._spreads
        return np.where(self._varies, slopes - 2 * self.penalty * here.rough, 0.0)

    def _column(self, number: int) -> Vector:
        column: Vector = (self.functions[number] - self._means[number]) / self._spreads[number]
        return column

    def _rough(self, weights: Vector) -> Vector:
        """The roughness matrix, which has a block for each column, times the weights."""
        rough = np.zeros(weights.size)
        for j in np.unique(self._owner[np.flatnonzero(weights)]):
            own = slice(self._ends[j] - self.shapes[j].size, self._ends[j])
            rough[own] = self._blocks[j] @ (weights[own] / self._spreads[own]) / self._spreads[own]
        return rough

    @cached_property
    def _blocks(self) -> list[Vector]:
        return [shapes.roughness() for shapes in self.shapes]

    @cached_property
    def _ends(self) -> IntVector:
        return np.cumsum([shapes.size for shapes in self.shapes])

    @cached_property
    def _owner(self) -> IntVector:
        """The column of each function."""
        return np.repeat(np.arange(len(self.shapes)), [shapes.size for shapes in self.shapes])

    @cached_property
    def _is_start(self) -> BoolVector:
        """Which functions are steps, or lines."""
        return np.concatenate([(np.arange(shapes.size) == 0) | shapes.steps for shapes in self.shapes])

    @cached_property
    def _shares(self) -> Vector:
        """The weights of the rows, as shares of all."""
        weights = np.ones(self.labelled.size) if self.labelled.weights is None else self.labelled.weights
        shares: Vector = weights / weights.sum()
        return shares

    @cached_property
    def _means(self) -> Vector:
        means: Vector = self.functions @ self._shares
        return means

    @cached_property
    def _moments(self) -> tuple[Vector, BoolVector]:
        """Standard deviation of each function, 1 if it is constant; and which ones are not."""
        of_functions = zip(self.functions, self._means, strict=True)
        spreads = np.array([np.sqrt(self._shares @ (values - mean) ** 2) for values, mean in of_functions])
        varies = spreads > _ROUNDING * np.array([np.abs(values).max() for values in self.functions])
        return np.where(varies, spreads, 1.0), varies

    @property
    def _spreads(self) -> Vector:
        return self._moments[0]

    @property
    def _varies(self) -> BoolVector:
        return self._moments[1]

    @cached_property
    def _pos(self) -> IntVector:
        return np.flatnonzero(self.labelled.positive)

    @cached_property
    def _neg(self) -> IntVector:
        return np.flatnonzero(~self.labelled.positive)


@dataclass(frozen=True, eq=False)
class _State:
    """Weights of the standardised functions, their scores, the objective, and what its derivatives are made of."""

    weights: Vector
    scores: Vector
    objective: float
    slopes: Vector
    rough: Vector

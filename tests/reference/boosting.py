"""Boosting of single columns by brute force: every function and both signs are tried in each round, pair by pair.

The objective is minus the slow smooth risk of scores with variance 1 plus noise, minus a penalty by quadrature. It is
computed anew for each trial, and its slopes are differences.
"""

from collections.abc import Callable, Iterator, Sequence
from math import sqrt
from typing import NamedTuple

import headrank as hr
from reference.smooth import Row, risk


class Boosting(NamedTuple):
    """A problem: functions are lists with one value per row, and ``rough`` is the penalty of weights in their units."""

    labels: Sequence[int]
    functions: Sequence[Sequence[float]]
    starts: Sequence[int]
    noise: Sequence[float]
    measure: hr.Measure
    h: float
    learning_rate: float
    rough: Callable[[list[float]], float]

    def spread(self, values: Sequence[float]) -> float:
        centre = sum(values) / len(values)
        return sqrt(sum((value - centre) ** 2 for value in values) / len(values))

    def scores(self, weights: Sequence[float]) -> list[float]:
        return [sum(w * f[i] for w, f in zip(weights, self.functions, strict=True)) for i in range(len(self.labels))]

    def scaled(self, weights: Sequence[float]) -> list[float]:
        """The weights with which the scores have variance 1."""
        spread = self.spread(self.scores(weights))
        return [w / spread for w in weights]

    def objective(self, weights: Sequence[float]) -> float:
        """Of weights whose scores are first given variance 1."""
        weights = self.scaled(weights)
        scores = self.scores(weights)
        centre = sum(scores) / len(scores)
        rows = [Row(label, s - centre + e) for label, s, e in zip(self.labels, scores, self.noise, strict=True)]
        return -risk(self.measure, rows, self.h) - self.rough(weights)

    def along(self, weights: Sequence[float], number: int, step: float) -> list[float]:
        """Move the weight of one function by a step in standard deviations of the function."""
        moved = list(weights)
        moved[number] += step / self.spread(self.functions[number])
        return self.scaled(moved)

    def slope(self, weights: Sequence[float], number: int, step: float = 1e-5) -> float:
        ahead, behind = (self.objective(self.along(weights, number, by)) for by in (step, -step))
        return (ahead - behind) / (2 * step)


def boosted(problem: Boosting) -> Iterator[list[float]]:
    """The weights after each round, until no step raises the objective."""
    zeros = [0.0] * len(problem.functions)
    singles = [problem.along(zeros, number, sign) for number in problem.starts for sign in (1, -1)]
    here = max(singles, key=problem.objective)
    while True:
        yield here
        slopes = [problem.slope(here, number) for number in range(len(zeros))]
        steepest = sorted(range(len(zeros)), key=lambda number: -abs(slopes[number]))[:5]
        risen = (moved(problem, here, number, slopes[number]) for number in steepest)
        there = next((weights for weights in risen if weights is not None), None)
        if there is None:
            return
        here = there


def moved(problem: Boosting, here: list[float], number: int, slope: float) -> list[float] | None:
    """Step to the top of the parabola with this slope that goes through the value at 0.1, at most 1; then shrink."""
    sign, value = (1 if slope > 0 else -1), problem.objective(here)
    bend = 2 * (problem.objective(problem.along(here, number, 0.1 * sign)) - value - 0.1 * abs(slope)) / 0.1**2
    step = problem.learning_rate * (min(abs(slope) / -bend, 1) if bend < 0 else 1)
    for halving in range(8):
        there = problem.along(here, number, sign * step / 2**halving)
        if problem.objective(there) > value:
            return there
    return None

"""All cuts seen so far: a model of the risk from below, and the best lower bound it proves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headrank._types import Vector
from headrank.solvers.qp import solve_dual

ROUNDING = 1e-13
"""A lower bound is a difference of two numbers: what is proved is less by this share of them, whatever was rounded."""
_IDLE_LIMIT = 20
"""A cut that has carried no weight for so many solves in a row is taken to be dead."""
_MOST_CUTS = 300


@dataclass(frozen=True, eq=False)
class Model:
    """The minimum of 1/2 |w|^2 + C max(0, cuts): where it is, and its value, which no objective can undercut."""

    weights: Vector
    lower: float
    proved: float
    """The same, lowered by what rounding may have added."""


class Bundle:
    """Cuts ``risk(w) >= normal @ w + offset``. They do not depend on C, so they serve a whole path of C."""

    def __init__(self) -> None:
        self.normals: list[Vector] = []
        self.offsets: list[float] = []
        self._gram = np.zeros((0, 0))
        self._idle: list[int] = []

    def __len__(self) -> int:
        return len(self.offsets)

    def add(self, normal: Vector, offset: float) -> None:
        """Take in one cut. O(cuts x features)."""
        products = np.array([normal @ other for other in self.normals] + [normal @ normal])
        size = len(self)
        gram = np.empty((size + 1, size + 1))
        gram[:size, :size] = self._gram
        gram[size, :] = gram[:, size] = products
        self._gram = gram
        self.normals.append(normal)
        self.offsets.append(offset)
        self._idle.append(0)

    def model(self, C: float) -> Model:
        """Minimise the model of the objective exactly, and forget cuts that have long been dead."""
        coefficients = solve_dual(self._gram, np.array(self.offsets), C)
        weights = np.zeros_like(self.normals[0])
        for coefficient, normal in zip(coefficients, self.normals, strict=True):
            if coefficient:
                weights -= coefficient * normal
        # The bound is computed from the weights themselves: it holds for any coefficients >= 0 with sum <= C,
        # however well or badly the quadratic program was solved.
        height, descent = float(coefficients @ self.offsets), float(weights @ weights) / 2
        lower = height - descent
        self._forget_dead(coefficients)
        return Model(weights, lower, lower - ROUNDING * (abs(height) + descent))

    def gains_at_zero(self, C: float, lower: float) -> tuple[float, float]:
        """What any weights can gain over w = 0 at most, and what the steepest single cut would promise.

        The first is near 0 if and only if w = 0 is optimal, but so is the second if C is small; their ratio tells.
        """
        offsets = np.array(self.offsets)
        squares = self._gram.diagonal()
        steps = np.minimum(C, offsets / np.maximum(squares, 1e-300))
        promised = C * offsets - (offsets * steps - steps**2 * squares / 2)
        return C * float(offsets.max()) - lower, float(promised.max())

    def _forget_dead(self, coefficients: Vector) -> None:
        alive = coefficients > 1e-12 * coefficients.max(initial=0.0)
        self._idle = [0 if lives else idle + 1 for lives, idle in zip(alive, self._idle, strict=True)]
        keep = [i for i, idle in enumerate(self._idle) if idle < _IDLE_LIMIT]
        if len(keep) > _MOST_CUTS:  # the program grows with the cube of its size
            heaviest = np.argsort(-coefficients[keep], kind="stable")[:_MOST_CUTS]
            keep = sorted(keep[i] for i in heaviest)
        if len(keep) < len(self):
            self.normals = [self.normals[i] for i in keep]
            self.offsets = [self.offsets[i] for i in keep]
            self._idle = [self._idle[i] for i in keep]
            self._gram = self._gram[np.ix_(keep, keep)]

"""The cuts collected so far: a model of the risk from below, and the lower bound it proves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headrank._types import Vector
from headrank.solvers.qp import solve_dual

ROUNDING = 1e-13
"""Relative rounding error allowed for: a lower bound is a difference of two numbers and is reduced by this share."""
_IDLE_LIMIT = 20
"""A cut without weight in this many consecutive solves is dropped."""
_MOST_CUTS = 300


@dataclass(frozen=True, eq=False)
class Model:
    """The minimum of 1/2 |w|^2 + C max(0, cuts): where it is, and its value, a lower bound of the objective."""

    weights: Vector
    lower: float
    proved: float
    """The lower bound minus the possible rounding error."""


class Bundle:
    """Cuts ``risk(w) >= normal @ w + offset``. They do not depend on C, so a whole path of C can share them."""

    def __init__(self) -> None:
        self.normals: list[Vector] = []
        self.offsets: list[float] = []
        self._gram = np.zeros((0, 0))
        self._idle: list[int] = []

    def __len__(self) -> int:
        return len(self.offsets)

    def add(self, normal: Vector, offset: float) -> None:
        """Add a cut. O(cuts x features)."""
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
        """Minimise the model of the objective and drop cuts that have long had no weight. O(cuts^3)."""
        coefficients = solve_dual(self._gram, np.array(self.offsets), C)
        weights = np.zeros_like(self.normals[0])
        for coefficient, normal in zip(coefficients, self.normals, strict=True):
            if coefficient:
                weights -= coefficient * normal
        # The bound is computed from the weights, so it is valid for any coefficients >= 0 with sum <= C, however
        # accurately the quadratic program was solved.
        height, descent = float(coefficients @ self.offsets), float(weights @ weights) / 2
        lower = height - descent
        self._forget_dead(coefficients)
        return Model(weights, lower, lower - ROUNDING * (abs(height) + descent))

    def gains_at_zero(self, C: float, lower: float) -> tuple[float, float]:
        """Return an upper bound on the gain of any weights over w = 0, and the gain that the best single cut promises.

        The first is near 0 if w = 0 is optimal. For a small C, however, both are near 0: only their ratio tells.
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

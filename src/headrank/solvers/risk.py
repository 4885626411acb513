"""The interface between solvers and what they minimise: a convex function of the weights.

The *value* at a point of a known ray is cheap. A *ray* and a *subgradient* each cost half a pass over the data, so they
are separate methods. Several subgradients, computed together, cost little more than one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from headrank._types import Vector


class Point(Protocol):
    """The risk at one vector of weights."""

    @property
    def value(self) -> float:
        """The risk."""

    @property
    def offset(self) -> float:
        """The height of the tangent plane at w = 0: a lower bound of the risk there, by convexity."""


P = TypeVar("P", bound=Point)


class Ray(Protocol, Generic[P]):
    """The risk along a direction."""

    def at(self, step: float) -> P:
        """The point at this step along the ray."""

    def slope(self, point: P) -> float:
        """Derivative of the risk along the ray at one of its points, by the subgradient of that point."""


class Risk(Protocol, Generic[P]):
    """A convex, nonnegative function of the weights."""

    def at(self, weights: Vector) -> P:
        """Evaluate at these weights."""

    def ray(self, point: P, direction: Vector) -> Ray[P]:
        """The points ``point + step * direction``."""

    def subgradients(self, points: Sequence[P]) -> Vector:
        """A subgradient at each of the points, one per row."""


class CurvedRisk(Risk[P], Protocol):
    """A risk with a Hessian."""

    def hessian(self, point: P) -> Vector:
        """The matrix of second derivatives at a point; where the gradient has a kink, that of one side."""


@dataclass(frozen=True, eq=False)
class FunctionPoint:
    """Value and subgradient of a function."""

    weights: Vector
    value: float
    subgradient: Vector

    @property
    def offset(self) -> float:
        """The height of the tangent plane at w = 0."""
        return self.value - float(self.subgradient @ self.weights)


@dataclass(frozen=True)
class FunctionRisk:
    """A risk given as ``weights -> (value, subgradient)``."""

    function: Callable[[Vector], tuple[float, Vector]]

    def at(self, weights: Vector) -> FunctionPoint:
        """Evaluate at these weights."""
        return FunctionPoint(weights, *self.function(weights))

    def ray(self, point: FunctionPoint, direction: Vector) -> FunctionRay:
        """The points ``point + step * direction``."""
        return FunctionRay(self, point, direction)

    def subgradients(self, points: Sequence[FunctionPoint]) -> Vector:
        """A subgradient at each of the points, one per row."""
        return np.array([point.subgradient for point in points])


@dataclass(frozen=True, eq=False)
class FunctionRay:
    """A function along a direction."""

    risk: FunctionRisk
    origin: FunctionPoint
    direction: Vector

    def at(self, step: float) -> FunctionPoint:
        """The point at this step along the ray."""
        return self.risk.at(self.origin.weights + step * self.direction)

    def slope(self, point: FunctionPoint) -> float:
        """Derivative of the risk along the ray at one of its points."""
        return float(point.subgradient @ self.direction)

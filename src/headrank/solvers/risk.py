"""What a solver is given: a convex function of the weights, of which it knows nothing else.

The *value* at a point of a known ray is cheap; a *ray*, and a *subgradient*, each cost half a pass over the data. So
the solver asks for them separately, and for several subgradients at once, which cost little more than one.
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
        """The risk at weights of 0 as the subgradient here foretells it: at most the risk there, as it is convex."""


P = TypeVar("P", bound=Point)


class Ray(Protocol, Generic[P]):
    """The risk along a direction."""

    def at(self, step: float) -> P:
        """The point so far along the ray."""

    def slope(self, point: P) -> float:
        """Derivative of the risk along the ray at one of its points, by the subgradient of that point."""


class Risk(Protocol, Generic[P]):
    """A convex function of the weights, nowhere negative."""

    def at(self, weights: Vector) -> P:
        """Evaluate at these weights."""

    def ray(self, point: P, direction: Vector) -> Ray[P]:
        """All points that are the given one plus a step times the direction."""

    def subgradients(self, points: Sequence[P]) -> Vector:
        """A subgradient at each of the points, one per row."""


class CurvedRisk(Risk[P], Protocol):
    """A risk that also knows its curvature."""

    def hessian(self, point: P) -> Vector:
        """The matrix of second derivatives at a point; of a kinked gradient, that of one of its sides."""


@dataclass(frozen=True, eq=False)
class FunctionPoint:
    """A function's value and subgradient."""

    weights: Vector
    value: float
    subgradient: Vector

    @property
    def offset(self) -> float:
        """The height of the tangent at weights of 0."""
        return self.value - float(self.subgradient @ self.weights)


@dataclass(frozen=True)
class FunctionRisk:
    """A risk given as ``weights -> (value, subgradient)``."""

    function: Callable[[Vector], tuple[float, Vector]]

    def at(self, weights: Vector) -> FunctionPoint:
        """Evaluate at these weights."""
        return FunctionPoint(weights, *self.function(weights))

    def ray(self, point: FunctionPoint, direction: Vector) -> FunctionRay:
        """All points that are the given one plus a step times the direction."""
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
        """The point so far along the ray."""
        return self.risk.at(self.origin.weights + step * self.direction)

    def slope(self, point: FunctionPoint) -> float:
        """Derivative of the risk along the ray at one of its points."""
        return float(point.subgradient @ self.direction)

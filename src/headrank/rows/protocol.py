"""The interface of every storage of rows."""

from typing import Protocol

from headrank._types import Vector


class Rows(Protocol):
    """A matrix X used only for products, and never copied, split, converted or densified."""

    @property
    def n_features(self) -> int:
        """Number of columns of X."""

    def scores(self, weights: Vector) -> Vector:
        """X @ weights, float64 of shape (n_rows,). One pass over X."""

    def combine(self, coef: Vector) -> Vector:
        """The product coef @ X, float64: (n_features,) for one vector, (k, n_features) for k. One pass over X."""

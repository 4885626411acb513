"""What every storage of rows can do."""

from typing import Protocol

from headrank._types import Vector


class Rows(Protocol):
    """A matrix X that is only asked for products, and never copied, split, converted or densified."""

    @property
    def n_features(self) -> int:
        """Columns of X."""

    def scores(self, weights: Vector) -> Vector:
        """X @ weights, float64 of shape (n_rows,). One pass over X."""

    def combine(self, coef: Vector) -> Vector:
        """The product coef @ X, float64: (n_features,) for one vector, (k, n_features) for k. One pass over X."""

    def gram(self, coef: Vector) -> Vector:
        """X.T @ diag(coef) @ X, float64 of shape (n_features, n_features), for coef >= 0.

        Rows whose coefficient is 0 cost nothing. For few features: O(n_rows n_features^2), or, of sparse rows, the sum
        of the squares of their lengths.
        """

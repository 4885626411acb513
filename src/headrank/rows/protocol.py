"""The interface of every storage of rows."""

from typing import Protocol

from headrank._types import IntVector, Vector


class Rows(Protocol):
    """A matrix X used only for products, and never copied, split, converted or densified."""

    @property
    def n_features(self) -> int:
        """Number of columns of X."""

    def scores(self, weights: Vector) -> Vector:
        """X @ weights, float64 of shape (n_rows,). One pass over X."""

    def combine(self, coef: Vector) -> Vector:
        """The product coef @ X, float64: (n_features,) for one vector, (k, n_features) for k. One pass over X."""

    def gram(self, coef: Vector) -> Vector:
        """X.T @ diag(coef) @ X, float64 of shape (n_features, n_features), for coef >= 0.

        Rows whose coefficient is 0 are skipped. For few features: O(n_rows n_features^2); for sparse rows, the sum of
        their squared numbers of nonzeros.
        """


class StoredRows(Rows, Protocol):
    """Rows as they are stored, whose features can be looked at."""

    def ends(self) -> tuple[Vector, Vector]:
        """Lowest and highest value of each feature, float64. One pass over X."""

    def columns(self, features: IntVector) -> Vector:
        """A copy of some features, float64 of shape (n_rows, n)."""

"""One block of rows, and what is computed from it where it is stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from headrank._types import IntVector, Vector
from headrank.rows.open import open_rows

_CHUNK_VALUES = 1_000_000


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows, with their labels, weights and queries where they have any.

    Attributes
    ----------
    X : float array or CSR matrix of shape (n_rows, n_features)
        The features.
    y, sample_weight, qid : arrays of shape (n_rows,), or None
        One value per row.
    name : str
        Where the rows come from, for messages.
    """

    X: Any
    y: Any = None
    sample_weight: Any = None
    qid: Any = None
    name: str = "a block"

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])


@dataclass(frozen=True, eq=False)
class Summary:
    """Statistics of the features of some rows, which merge; and the rows' labels, weights and queries.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    total : float
        Sum of their weights.
    mean, squares : arrays of shape (n_features,)
        Weighted mean of each feature, and weighted sum of squared distances from it.
    low, high : arrays of shape (n_features,)
        Lowest and highest value of each feature; infinity and minus infinity for no rows.
    """

    n_rows: int
    total: float
    mean: Vector
    squares: Vector
    low: Vector
    high: Vector

    def merge(self, other: Summary) -> Summary:
        """Summarise the rows of both (Chan, Golub & LeVeque 1983). Exact for the ends, else up to rounding."""
        total = self.total + other.total
        share = other.total / total if total > 0 else 0.0
        apart = other.mean - self.mean
        return Summary(
            self.n_rows + other.n_rows,
            total,
            self.mean + share * apart,
            self.squares + other.squares + (self.total * share) * apart**2,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    @classmethod
    def of_nothing(cls, n_features: int) -> Summary:
        """The summary of no rows."""
        zeros, far = np.zeros(n_features), np.full(n_features, np.inf)
        return cls(0, 0.0, zeros, zeros, far, -far)

    @classmethod
    def of(cls, block: Block) -> Summary:
        """Summarise a block, in chunks of rows, without copying it."""
        n_rows, n_features = block.X.shape
        n_chunk = max(_CHUNK_VALUES // max(n_features, 1), 1)
        summary = cls.of_nothing(n_features)
        weights = np.ones(n_rows) if block.sample_weight is None else np.asarray(block.sample_weight, dtype=np.float64)
        with np.errstate(all="ignore"):  # what is not finite is refused by name later
            for start in range(0, n_rows, n_chunk):
                chunk = slice(start, start + n_chunk)
                summary = summary.merge(_of_chunk(block.X[chunk], weights[chunk]))
        return summary


def _of_chunk(X: Any, weights: Vector) -> Summary:
    rows, total = open_rows(X), float(weights.sum())
    low, high = rows.ends()
    if isinstance(X, np.ndarray):
        wide = X.astype(np.float64)
        mean = weights @ wide / total if total > 0 else np.zeros(X.shape[1])
        wide -= mean
        return Summary(X.shape[0], total, mean, weights @ np.square(wide, out=wide), low, high)
    wide = X.astype(np.float64)
    mean = np.asarray(wide.T @ weights) / total if total > 0 else np.zeros(X.shape[1])
    squares = np.asarray(wide.power(2).T @ weights) - total * mean**2
    return Summary(X.shape[0], total, mean, np.maximum(squares, 0.0), low, high)


@dataclass(frozen=True, eq=False)
class Facts:
    """What is learned of a block when it is read for the first time."""

    summary: Summary
    n_bad: IntVector
    """How many values of each feature are missing or infinite."""
    y: Any
    sample_weight: Any
    qid: Any
    name: str


def facts_of(block: Block) -> Facts:
    """Summarise a block, and count the values that are not finite."""
    summary = Summary.of(block)
    n_bad = np.zeros(block.X.shape[1], dtype=np.intp)
    for j in np.flatnonzero(~(np.isfinite(summary.low) & np.isfinite(summary.high))) if block.n_rows else ():
        column = block.X[:, [j]]
        values = column if isinstance(column, np.ndarray) else column.data
        n_bad[j] = np.count_nonzero(~np.isfinite(values))
    return Facts(summary, n_bad, block.y, block.sample_weight, block.qid, block.name)


def scores_of(block: Block, weights: Vector) -> Vector:
    """Return X @ weights."""
    return open_rows(block.X).scores(weights) if block.n_rows else np.zeros(0)


def combined(block: Block, coef: Vector) -> Vector:
    """Return coef @ X, for one vector or several."""
    if not block.n_rows:
        return np.zeros((*coef.shape[:-1], block.X.shape[1]))
    return open_rows(block.X).combine(coef)


def moments_of(block: Block, coef: Vector) -> tuple[Vector, Vector]:
    """Return coef @ X and X.T @ diag(coef) @ X."""
    return open_rows(block.X).moments(coef)


def columns_of(block: Block, features: IntVector) -> Vector:
    """Return a copy of some features."""
    return open_rows(block.X).columns(features)


def taken(block: Block, rows: IntVector) -> Any:
    """Return some rows."""
    return block.X[rows]

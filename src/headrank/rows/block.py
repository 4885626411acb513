"""One block of rows, and what is computed from it where it is stored."""

from __future__ import annotations

from collections.abc import Sequence
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
    last_of : str, or None
        The file that these are the last rows of, if it is not needed once they are copied.
    """

    X: Any
    y: Any = None
    sample_weight: Any = None
    qid: Any = None
    name: str = "a block"
    last_of: str | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    def __sizeof__(self) -> int:
        """Bytes of the features, by which a cluster distributes work and memory."""
        dense = isinstance(self.X, np.ndarray)
        return sum(part.nbytes for part in ((self.X,) if dense else (self.X.data, self.X.indices, self.X.indptr)))


@dataclass(frozen=True, eq=False)
class Spread:
    """Mean and spread of the features of some rows, which merge.

    Attributes
    ----------
    total : float
        Sum of the weights of the rows.
    mean, squares : arrays of shape (n_features,)
        Weighted mean of each feature, and weighted sum of squared distances from it.
    """

    total: float
    mean: Vector
    squares: Vector

    def merge(self, other: Spread) -> Spread:
        """Return the spread of the rows of both (Chan, Golub & LeVeque 1983)."""
        total = self.total + other.total
        share = other.total / total if total > 0 else 0.0
        apart = other.mean - self.mean
        squares = self.squares + other.squares + (self.total * share) * apart**2
        return Spread(total, self.mean + share * apart, squares)


def spread_of(block: Block) -> Spread:
    """Compute the spread of a block, in chunks of rows, without copying it."""
    n_rows, n_features = block.X.shape
    n_chunk = max(_CHUNK_VALUES // max(n_features, 1), 1)
    spread = Spread(0.0, np.zeros(n_features), np.zeros(n_features))
    weights = np.ones(n_rows) if block.sample_weight is None else np.asarray(block.sample_weight, dtype=np.float64)
    for start in range(0, n_rows, n_chunk):
        chunk = slice(start, start + n_chunk)
        spread = spread.merge(_of_chunk(block.X[chunk], weights[chunk]))
    return spread


def _of_chunk(X: Any, weights: Vector) -> Spread:
    total, wide = float(weights.sum()), X.astype(np.float64)
    mean = np.asarray(wide.T @ weights) / total if total > 0 else np.zeros(X.shape[1])
    if isinstance(X, np.ndarray):
        wide -= mean
        return Spread(total, mean, weights @ np.square(wide, out=wide))
    return Spread(total, mean, np.maximum(np.asarray(wide.power(2).T @ weights) - total * mean**2, 0.0))


@dataclass(frozen=True, eq=False)
class Facts:
    """What is learned of a block when it is read for the first time.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    low, high : arrays of shape (n_features,)
        Lowest and highest value of each feature; infinity and minus infinity for no rows.
    n_bad : int array of shape (n_features,)
        How many values of each feature are missing or infinite.
    y, sample_weight, qid, name
        As in `Block`.
    """

    n_rows: int
    low: Vector
    high: Vector
    n_bad: IntVector
    y: Any
    sample_weight: Any
    qid: Any
    name: str


def facts_of(block: Block) -> Facts:
    """Find the ends of all features, and count the values that are not finite."""
    far = np.full(block.X.shape[1], np.inf)
    n_bad = np.zeros(block.X.shape[1], dtype=np.intp)
    low, high = open_rows(block.X).ends() if block.n_rows else (far, -far)
    for j in np.flatnonzero(~(np.isfinite(low) & np.isfinite(high))) if block.n_rows else ():
        column = block.X[:, [j]]
        values = column if isinstance(column, np.ndarray) else column.data
        n_bad[j] = np.count_nonzero(~np.isfinite(values))
    return Facts(block.n_rows, low, high, n_bad, block.y, block.sample_weight, block.qid, block.name)


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """How many rows have each label, and what else the rows have.

    Attributes
    ----------
    y : array of shape (n_labels,), or None
        Labels; one that occurs in several blocks may occur several times.
    counts : int array of shape (n_labels,)
        How many rows have each.
    weighted, queried : bool
        Whether the rows have weights and queries.
    n_rows, name
        As in `Facts`.
    """

    y: Any
    counts: IntVector
    weighted: bool
    queried: bool
    n_rows: int
    name: str

    @classmethod
    def of(cls, block: Block | Facts) -> LabelCounts:
        """Count the rows of each label of a block."""
        y, counts = block.y, np.zeros(0, dtype=np.intp)
        if y is not None:
            try:
                y, counts = np.unique(y, return_counts=True, equal_nan=False)
            except TypeError:  # labels without an order are refused later, with all of them in the message
                counts = np.ones(block.n_rows, dtype=np.intp)
        beside = block.sample_weight is not None, block.qid is not None
        return cls(y, counts, *beside, block.n_rows, block.name)

    @classmethod
    def merged(cls, each: Sequence[LabelCounts]) -> LabelCounts:
        """Return the counts of all blocks."""
        filled = [one for one in each if one.n_rows] or each[:1]
        counts = np.concatenate([one.counts for one in filled])
        first, n_rows = filled[0], sum(one.n_rows for one in each)
        return cls(joined("y", each), counts, first.weighted, first.queried, n_rows, "all blocks")


def joined(name: str, each: Sequence[Any]) -> Any:
    """Return the values of this name of all blocks as one array, or raise if only some of them are text."""
    filled = [one for one in each if one.n_rows] or each[:1]
    parts = [getattr(one, name) for one in filled]
    if parts[0] is None:
        return None
    are_text = [part.dtype.kind in "OSU" for part in parts]
    if any(are_text) and not all(are_text):
        odd = filled[are_text.index(not are_text[0])].name
        raise ValueError(f"{name} is {'text' if are_text[0] else 'numbers'} in the first block, but not in {odd}")
    return np.concatenate(parts)


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

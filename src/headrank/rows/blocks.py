"""Blocks: rows in several pieces, larger than memory if they are files, mapped over and added up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from headrank._numbers import real, short_repr, whole
from headrank._types import IntVector, Vector
from headrank.rows.arrays import array_loaders
from headrank.rows.block import (
    Block,
    Facts,
    LabelCounts,
    Spread,
    columns_of,
    combined,
    facts_of,
    joined,
    moments_of,
    scores_of,
    spread_of,
    taken,
)
from headrank.rows.block_scores import itself
from headrank.rows.files import csv_loaders, npy_loaders, parquet_loaders
from headrank.rows.pool import FoundBlocks, LocalPool, Pool

_KEPT_OF_MADE = 5e8
"""Bytes of blocks made of others, such as scaled ones, that stay in memory."""
Paths = str | PathLike[str] | Sequence[str | PathLike[str]]


class Blocks:
    """Rows in blocks, with labels, weights and queries: a data set that need not fit in memory.

    `LinearRanker`, `LinearRankerCV`, `RankerCV` and `BoostedRankerCV` take it where they take X. Each pass loads one
    block per thread at a time; only labels, scores and coefficients of all rows are in memory, some 100 bytes per row.
    Above 1e7 rows, scores stay with their blocks if the surrogate allows it: on disk if there is a ``folder``.

    Attributes
    ----------
    n_rows, n_features, n_blocks : int
        The rows are counted in the first pass, which also finds their labels and the ends of each feature.
    feature_names : tuple of str, or None
        The names of the features, if these have any.
    y, sample_weight, qid : arrays of shape (n_rows,), or None
        Labels, weights and queries of all rows, in the order of the blocks.

    Examples
    --------
    >>> import headrank as hr
    >>> from headrank.datasets import coarse_eights
    >>> X, y = coarse_eights()
    >>> blocks = hr.Blocks.from_arrays([X[:700], X[700:]], [y[:700], y[700:]])
    >>> over_blocks = hr.LinearRanker("pauc@0.3", C=10, standardize=True).fit(blocks)
    >>> in_memory = hr.LinearRanker("pauc@0.3", C=10, standardize=True).fit(X, y)
    >>> blocks
    <Blocks: 1797 rows in 2 blocks, 16 features>
    >>> bool(abs(over_blocks.coef_ - in_memory.coef_).max() < 1e-6)
    True
    """

    def __init__(
        self,
        pool: Pool,
        *,
        n_features: int,
        dtype: Any,
        feature_names: Sequence[str] | None = None,
        dense: bool = True,
    ) -> None:
        self._pool = pool
        self.n_features = n_features
        self.dtype = np.dtype(dtype)
        self.dense = dense
        self.feature_names = None if feature_names is None else tuple(feature_names)

    # -- making ------------------------------------------------------------------------------------------------

    @classmethod
    def from_arrays(
        cls,
        X: Sequence[Any],
        y: Sequence[Any] | None = None,
        *,
        sample_weight: Sequence[Any] | None = None,
        qid: Sequence[Any] | None = None,
        feature_names: Sequence[str] | None = None,
        n_jobs: int = 1,
    ) -> Blocks:
        """Make blocks of arrays in memory, dense or CSR; float32 and float64 are not copied.

        Parameters
        ----------
        X : sequence of arrays of shape (n_rows of the block, n_features)
            The features of each block. A block may be empty, or have one class only.
        y, sample_weight, qid : sequences of arrays, optional
            One array for each block.
        feature_names : sequence of str, optional
            The names of the features.
        n_jobs : int, default=1
            Number of blocks to work on at the same time, in threads.
        """
        return cls._of_found(array_loaders(X, y, sample_weight, qid, feature_names), n_jobs)

    @classmethod
    def from_npy(
        cls,
        X: Paths,
        y: Paths | None = None,
        *,
        sample_weight: Paths | None = None,
        qid: Paths | None = None,
        rows_per_block: int | None = None,
        n_jobs: int = 1,
    ) -> Blocks:
        """Make blocks of ``.npy`` files, mapped into memory: float32 or float64 of shape (n_rows, n_features).

        Parameters
        ----------
        X : path, pattern or list of paths
            ``"days/*.npy"`` stands for all these files in sorted order.
        y, sample_weight, qid : path, pattern or list of paths, optional
            As many files as X, each with one value per row of its file.
        rows_per_block : int, optional
            Default: about 64 MB of features.
        n_jobs : int, default=1
            Number of blocks to work on at the same time, in threads.
        """
        return cls._of_found(npy_loaders(X, y, sample_weight, qid, rows_per_block), n_jobs)

    @classmethod
    def from_parquet(
        cls,
        paths: Paths,
        *,
        target: str | None = None,
        features: Sequence[str] | None = None,
        sample_weight: str | None = None,
        qid: str | None = None,
        rows_per_block: int | None = None,
        memory: float = 5e8,
        folder: str | PathLike[str] | None = None,
        n_jobs: int = 2,
    ) -> Blocks:
        """Make blocks of Parquet files, which are read with polars in each pass.

        Parameters
        ----------
        paths : path, pattern, folder or list of paths
            ``"days/*.parquet"`` stands for all these files in sorted order, a folder for its Parquet files.
        target, sample_weight, qid : str, optional
            The columns of labels, weights and queries. Rows to score need no target.
        features : sequence of str, optional
            The columns of features, all of them numbers. Default: all other columns.
        rows_per_block : int, optional
            Default: a file is one block; one with more than 256 MB of features is read in parts of about that size.
        memory : float, default=5e8
            Bytes of features that stay in memory after the first pass; the other blocks are read in each pass.
        folder : path, optional
            Where the other blocks are copied in the first pass; later ones read the copies, which is faster than
            reading the files. Scores that stay with their blocks are there, too, if they are large. All is removed with
            the blocks.
        n_jobs : int, default=2
            Number of blocks to read at the same time, in threads. Each takes about twice the memory of its features.
        """
        found = parquet_loaders(paths, target, features, sample_weight, qid, rows_per_block)
        return cls._of_found(found, n_jobs, memory, folder)

    @classmethod
    def from_csv(
        cls,
        paths: Paths,
        *,
        target: str | None = None,
        features: Sequence[str] | None = None,
        sample_weight: str | None = None,
        qid: str | None = None,
        memory: float = 5e8,
        folder: str | PathLike[str] | None = None,
        n_jobs: int = 2,
    ) -> Blocks:
        """Make blocks of CSV files, one of each file, which is parsed in each pass; Parquet is many times faster.

        Parameters are those of `from_parquet`. Column types are inferred from the whole file.
        """
        return cls._of_found(csv_loaders(paths, target, features, sample_weight, qid), n_jobs, memory, folder)

    @classmethod
    def from_dask(
        cls, X: Any, y: Any = None, *, sample_weight: Any = None, qid: Any = None, client: Any = None
    ) -> Blocks:
        """Make a block of each partition of a Dask data frame or array, on the workers of a cluster.

        The partitions are computed once and stay on the workers; each pass sends them the weights, or one coefficient
        for each row, and gets back one score for each row, or one number for each feature. `LinearRanker.fit` makes
        such blocks if it is given Dask collections.

        Parameters
        ----------
        X : dask.dataframe.DataFrame or dask.array.Array of shape (n_rows, n_features), or list of futures
            Numbers; the lengths of partitions need not be known. Futures are of data frames, arrays or CSR matrices.
        y, sample_weight, qid : dask.dataframe.Series or dask.array.Array, or list of futures, optional
            Partitioned as X.
        client : distributed.Client, optional
            Default: the current one.
        """
        from headrank.rows.dask import dask_blocks

        found = dask_blocks(X, y, sample_weight, qid, client)
        return cls._in_pool(found.pool, found)

    @classmethod
    def _of_found(
        cls, found: FoundBlocks, n_jobs: int, memory: float = 0, folder: str | PathLike[str] | None = None
    ) -> Blocks:
        if real("memory", memory) < 0:
            raise ValueError(f"memory must be a number of bytes, at least 0, got {memory:g}")
        if folder is not None and not Path(folder).is_dir():
            raise NotADirectoryError(f"folder must be an existing folder, got {short_repr(folder)}")
        pool = LocalPool(found.loaders, whole("n_jobs", n_jobs, at_least=1), memory, folder=folder)
        return cls._in_pool(replace(pool, spare=_KEPT_OF_MADE) if folder is None else pool.kept(), found)

    @classmethod
    def _in_pool(cls, pool: Pool, found: Any) -> Blocks:
        shared = {name: getattr(found, name) for name in ("n_features", "dtype", "feature_names", "dense")}
        return cls(pool, **shared)

    # -- what is in them ---------------------------------------------------------------------------------------

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return self._pool.n_blocks

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._borders[-1]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        return self.n_rows, self.n_features

    @property
    def size(self) -> int:
        """Number of values."""
        return self.n_rows * self.n_features

    @property
    def y(self) -> Any:
        """Labels of all rows."""
        return joined("y", self.facts)

    @property
    def sample_weight(self) -> Any:
        """Weights of all rows."""
        return joined("sample_weight", self.facts)

    @property
    def qid(self) -> Any:
        """Queries of all rows."""
        return joined("qid", self.facts)

    @cached_property
    def facts(self) -> list[Facts]:
        """What the first pass tells of each block."""
        return self.map(facts_of)

    @cached_property
    def label_counts(self) -> LabelCounts:
        """How many rows have each label. One pass, unless there was one already; no labels are gathered."""
        known = "facts" in vars(self)
        return LabelCounts.merged([*map(LabelCounts.of, self.facts)] if known else self.map(LabelCounts.of))

    def require_finite(self) -> None:
        """Raise if a feature is missing or infinite anywhere."""
        for one in self.facts:
            if one.n_bad.any():
                j = int(np.argmax(one.n_bad > 0))
                name = f"feature {j}" if self.feature_names is None else f"column {self.feature_names[j]!r}"
                raise ValueError(
                    f"{name} of {one.name} has {one.n_bad[j]:,} missing or infinite values among its "
                    f"{one.n_rows:,} rows; fill them in, leave the feature out, or use RankerCV, which takes them"
                )

    def mapped(self, make: Callable[..., Block], *given: Sequence[Any], n_features: int, dtype: Any) -> Blocks:
        """Return dense blocks made of these, ``make(block, *given_of_block)``, which are `kept`."""
        return Blocks(self._pool.mapped(make, *given).kept(), n_features=n_features, dtype=dtype)

    def variances(self, shift: Vector | None = None) -> Vector:
        """Return the weighted variance of each feature; 0 if it is only rounding, given what is subtracted from it.

        One pass over the rows, once.
        """
        spread, rounding = self._spread, self.n_rows * float(np.finfo(np.float64).eps)
        variances = spread.squares / spread.total
        far = rounding * (spread.mean if shift is None else spread.mean - shift)
        return np.where(variances <= rounding * variances + far**2, 0.0, variances)

    # -- rows --------------------------------------------------------------------------------------------------

    def map(self, function: Callable[..., Any], *each: Sequence[Any], same: Sequence[Any] = ()) -> list[Any]:
        """Return ``function(block, *each_of_block, *same)`` of all blocks, in their order."""
        return self._pool.collect(self._pool.start(function, *each, same=same))

    def reduce(self, function: Callable[..., Any], merge: Callable[..., Any], *, same: Sequence[Any] = ()) -> Any:
        """Merge ``function(block, *same)`` of all blocks in pairs, where these are; few results exist at a time."""
        return self._pool.reduce(function, merge, same=same)

    def keep(self, function: Callable[..., Any], *each: Sequence[Any], same: Sequence[Any] = ()) -> list[Any]:
        """Map as `map` does, but leave the results where the blocks are, and return handles of them."""
        return self._pool.start(function, *each, same=same, stays=True)

    def map_values(self, function: Callable[..., Any], *each: Sequence[Any], same: Sequence[Any] = ()) -> list[Any]:
        """Return ``function(*each_of_block, *same)`` of all blocks, without loading them."""
        return self._pool.collect(self._pool.start_without(function, *each, same=same))

    def keep_values(self, function: Callable[..., Any], *each: Sequence[Any], same: Sequence[Any] = ()) -> list[Any]:
        """Map as `map_values` does, but leave the results where the blocks are, and return handles of them."""
        return self._pool.start_without(function, *each, same=same, stays=True)

    def load(self, number: int) -> Block:
        """Return one block, in this process."""
        block: Block = self._pool.load(number)
        return block

    def put(self, values: Sequence[Any]) -> list[Any]:
        """Send a value to each block, once; return handles."""
        return self._pool.start_without(itself, values)

    def cut(self, values: Any) -> list[Any]:
        """Cut values, one for each row along the last axis, into those of the blocks."""
        return [values[..., start:stop] for start, stop in pairwise(self._borders)]

    def scores(self, weights: Vector) -> Vector:
        """X @ weights."""
        return np.concatenate(self.map(scores_of, same=(weights,)))

    def combine(self, coef: Vector) -> Vector:
        """The product coef @ X, for one vector or several; added up in the order of the blocks."""
        return np.asarray(sum(self.map(combined, self.cut(coef))))

    def moments(self, coef: Vector) -> tuple[Vector, Vector]:
        """The products coef @ X and X.T @ diag(coef) @ X."""
        first, second = np.zeros(self.n_features), np.zeros((self.n_features, self.n_features))
        for one, two in self.map(moments_of, self.cut(coef)):
            first += one
            second += two
        return first, second

    def ends(self) -> tuple[Vector, Vector]:
        """Lowest and highest value of each feature; raises if one is missing or infinite anywhere."""
        self.require_finite()
        lows, highs = ([getattr(one, name) for one in self.facts] for name in ("low", "high"))
        return np.min(lows, axis=0), np.max(highs, axis=0)

    def columns(self, features: IntVector) -> Vector:
        """A copy of some features of all rows, as float64."""
        return np.concatenate(self.map(columns_of, same=(features,)))

    def take(self, rows: IntVector) -> Any:
        """Return the rows with these numbers, ascending, as one array or CSR matrix in memory."""
        rows = np.asarray(rows)
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or np.any(rows[1:] < rows[:-1]):
            raise ValueError(f"rows must be whole numbers in ascending order, got {short_repr(rows)}; sort them")
        if rows.size and not 0 <= rows[0] <= rows[-1] < self.n_rows:
            raise ValueError(f"rows must lie between 0 and {self.n_rows - 1}, got {rows[0]} to {rows[-1]}")
        ends = np.searchsorted(rows, self._borders)
        each = [rows[i:j] - start for (i, j), start in zip(pairwise(ends), self._borders, strict=False)]
        parts = self.map(taken, each)
        if self.dense:
            return np.concatenate(parts)
        from scipy.sparse import vstack

        return vstack(parts, format="csr")

    def __repr__(self) -> str:
        rows = f"{self.n_rows} rows in " if "facts" in vars(self) else ""
        blocks = "1 block" if self.n_blocks == 1 else f"{self.n_blocks} blocks"
        return f"<Blocks: {rows}{blocks}, {self.n_features} feature{'s' * (self.n_features != 1)}>"

    @cached_property
    def _spread(self) -> Spread:
        spreads: list[Spread] = self.map(spread_of)
        return reduce(Spread.merge, spreads)

    @cached_property
    def _borders(self) -> list[int]:
        return [0, *np.cumsum([one.n_rows for one in self.facts]).tolist()]

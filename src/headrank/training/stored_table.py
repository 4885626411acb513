"""StoredTable: a table that stays in its files and is read part by part; what is asked of a part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from headrank._types import IntVector, Vector
from headrank.estimators.trees.regrowing import MOST_BYTES
from headrank.exceptions import InvalidSampleError
from headrank.rows.block import Block
from headrank.rows.pool import Pool
from headrank.training.columns import Column, Kind, conformed, kind_of, listed
from headrank.training.features import BLOCK_ROWS, blocks

if TYPE_CHECKING:
    import polars as pl

PartRows = npt.NDArray[np.int32]
"""Numbers of rows of a part; those of all parts are kept, so they take half the memory of others."""


@dataclass(frozen=True, eq=False)
class StoredTable:
    """Parts of a table, each loaded when it is needed, here or on the workers of a cluster.

    Attributes
    ----------
    loaders : tuple of callables
        Each loads a part: an object with a ``frame``, the ``name`` of its file and its ``first_row`` there.
    sizes : tuple of int
        Number of rows of each part.
    pool_of : callable
        Where loaders are called: makes a `Pool` of them.
    place : str
        Where that is, in words.
    memory : float
        Bytes that trees may take while they grow on all rows.
    """

    loaders: tuple[Callable[[], Any], ...]
    sizes: tuple[int, ...]
    pool_of: Callable[[tuple[Callable[[], Any], ...]], Pool]
    place: str
    memory: float = MOST_BYTES

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self.sizes)

    @property
    def borders(self) -> IntVector:
        """Number of the first row of each part, and the number of rows."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.intp)

    @property
    def pool(self) -> Pool:
        """The parts, to be mapped over."""
        return self.pool_of(self.loaders)

    def joined(self, other: StoredTable) -> StoredTable:
        """Return the rows of both tables, in this order."""
        return replace(self, loaders=(*self.loaders, *other.loaders), sizes=(*self.sizes, *other.sizes))

    def map(self, function: Callable[..., Any], *each: Sequence[Any], same: Sequence[Any] = ()) -> list[Any]:
        """Return ``function(part, *each_of_part, *same)`` of all parts, in their order."""
        pool = self.pool
        return pool.collect(pool.start(function, *each, same=same))

    def within_parts(self, rows: IntVector) -> list[PartRows]:
        """Return, of ascending row numbers, those in each part, counted from its first row."""
        borders = self.borders
        ends = np.searchsorted(rows, borders)
        return [(rows[i:j] - start).astype(np.int32) for (i, j), start in zip(pairwise(ends), borders, strict=False)]

    def values_of(self, rows: IntVector, values: Any) -> list[Any]:
        """Cut values of ascending row numbers into those of the parts; None for each without values."""
        if values is None:
            return [None] * len(self.sizes)
        ends = np.searchsorted(rows, self.borders)
        return [values[i:j] for i, j in pairwise(ends)]

    def take(self, rows: IntVector) -> pl.DataFrame:
        """Return the rows with these numbers, ascending, as they are in the files."""
        return _stacked(self.map(_rows_of, self.within_parts(rows)))

    def columns(self) -> tuple[Column, ...]:
        """Determine the kind of each column from all rows, as `columns_of` does. One pass.

        ``n_distinct`` is 0, 1 or 2: whether there are no values, one or more.
        """
        described = self.map(_described)
        return tuple(_merged(of_parts) for of_parts in zip(*described, strict=True))


class _PartColumn(NamedTuple):
    """A column of a part: its kind, None if it has no value that tells; missing values; the one value, if it is one."""

    name: str
    kind: Kind | None
    n_missing: int
    n_distinct: int
    value: Any


def _described(part: Any) -> list[_PartColumn]:
    """Describe the columns of a part. O(rows) each."""
    import polars as pl

    found = []
    for series in part.frame:
        kind = kind_of(series)
        if kind is None:
            raise InvalidSampleError(
                f"features must be numbers, text, true/false or dates, but {part.name} has "
                f"{listed([f'{series.name!r} ({series.dtype})'])}; convert it, or leave it out with --drop"
            )
        values = series.drop_nulls().drop_nans() if series.dtype.is_float() else series.drop_nulls()
        n_missing = series.len() - values.len()
        first = values[0] if values.len() else None
        n_distinct = 0 if first is None else 1 if (values == first).all() else 2
        if series.dtype in (pl.String, pl.Categorical, pl.Enum, pl.Null):
            tells = bool((values.cast(pl.String).str.strip_chars() != "").any())
            kind = kind if tells else None
        elif not n_distinct:
            kind = None
        found.append(_PartColumn(series.name, kind, n_missing, n_distinct, str(first) if n_distinct == 1 else None))
    return found


def _merged(parts: Sequence[_PartColumn]) -> Column:
    """Return a column of the whole table: text if its parts are of different kinds."""
    kinds = {part.kind for part in parts if part.kind is not None}
    kind: Kind = kinds.pop() if len(kinds) == 1 else "text"
    n_distinct = max(part.n_distinct for part in parts)
    if n_distinct == 1:
        n_distinct = min(len({part.value for part in parts if part.n_distinct}), 2)
    return Column(parts[0].name, kind, sum(part.n_missing for part in parts), n_distinct)


def _rows_of(part: Any, rows: PartRows) -> pl.DataFrame:
    frame: pl.DataFrame = part.frame[rows]
    return frame


def _stacked(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Join rows of parts; a column that is text in some and not in others becomes text."""
    import polars as pl

    types = {name: {frame.schema[name] for frame in frames if frame.height} for name in frames[0].columns}
    mixed = [name for name, kinds in types.items() if len(kinds) > 1 and not all(kind.is_numeric() for kind in kinds)]
    filled = [frame for frame in frames if frame.height] or frames[:1]
    return pl.concat([frame.with_columns(pl.col(mixed).cast(pl.String)) for frame in filled], how="vertical_relaxed")


def conformed_rows(part: Any, rows: PartRows, columns: Sequence[Column]) -> pl.DataFrame:
    """Return some rows of a part, each column as its kind, or raise with the name of the file."""
    try:
        return conformed(part.frame, columns, ignored=part.frame.columns, first_row=part.first_row)[rows]
    except InvalidSampleError as error:
        raise InvalidSampleError(f"{part.name}: {error}") from None


def encoded_rows(part: Any, rows: PartRows, columns: Sequence[Column], encoder: Any) -> Vector:
    """Return the features of some rows of a part, in single precision."""
    if not rows.size:
        return np.empty((0, len(encoder.names_)), dtype=np.float32)
    features: Vector = encoder.transform(conformed_rows(part, rows, columns))
    return features


def encoded_block(part: Any, rows: PartRows, y: Any, qid: Any, columns: Sequence[Column], encoder: Any) -> Block:
    """Return some rows of a part as a block, with their labels and queries."""
    return Block(encoded_rows(part, rows, columns, encoder), y, None, qid, part.name)


def scored_rows(part: Any, rows: PartRows, columns: Sequence[Column], encoder: Any, model: Any) -> Vector:
    """Return the scores of some rows of a part, computed in double precision as those of a table in memory are."""
    scores = np.empty(rows.size)
    for some in blocks(rows.size, BLOCK_ROWS):
        features = encoded_rows(part, rows[some], columns, encoder)
        scores[some] = model.decision_function(features.astype(np.float64))
    return scores


@dataclass(frozen=True, eq=False)
class StoredRows:
    """Features of some rows of a stored table, encoded when they are needed; used like a matrix.

    Attributes
    ----------
    table : StoredTable
        The table.
    rows : int array
        Ascending numbers of the rows.
    columns : tuple of Column
        The columns and their kinds.
    encoder : TableEncoder
        Fitted to a sample.
    """

    table: StoredTable
    rows: IntVector
    columns: tuple[Column, ...]
    encoder: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        return self.rows.size, len(self.encoder.names_)

    def __getitem__(self, places: IntVector) -> Vector:
        """Return the features of the rows at these places, in any order."""
        order = np.argsort(places, kind="stable")
        wanted = self.table.within_parts(self.rows[places[order]])
        found = np.concatenate(self.table.map(encoded_rows, wanted, same=(self.columns, self.encoder)))
        result = np.empty_like(found)
        result[order] = found
        return result

    def part(self, places: IntVector) -> StoredRows:
        """Return the rows at these places, ascending, without reading them."""
        return StoredRows(self.table, self.rows[places], self.columns, self.encoder)

    def scores(self, model: Any) -> Vector:
        """Return the scores of all rows. One pass over the parts."""
        wanted = self.table.within_parts(self.rows)
        return np.concatenate(self.table.map(scored_rows, wanted, same=(self.columns, self.encoder, model)))

"""Blocks of files: Parquet and CSV tables, read with polars, and mapped ``.npy`` arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from glob import glob
from math import ceil
from os import PathLike, fspath, stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from headrank._extras import needs_extra
from headrank._numbers import listed, short_repr, whole
from headrank.exceptions import InvalidSampleError
from headrank.rows.block import Block
from headrank.rows.on_disk import StoredArray
from headrank.rows.pool import FoundBlocks

if TYPE_CHECKING:
    import polars as pl

_MAPPED_BYTES = 64_000_000
_READ_BYTES = 256_000_000


@dataclass(frozen=True)
class StampedFile:
    """A file, and its size and time of change when it was first looked at."""

    path: str
    size: int
    changed_ns: int

    @classmethod
    def of(cls, path: str) -> StampedFile:
        """Look at a file."""
        facts = stat(path)
        return cls(path, facts.st_size, facts.st_mtime_ns)

    def require_unchanged(self) -> None:
        """Raise if the file has been written or replaced since."""
        if StampedFile.of(self.path) != self:
            raise InvalidSampleError(
                f"{self.path} was changed while it was read: each pass must find the same rows. Start again when it is "
                "complete, or copy the files first"
            )


@dataclass(frozen=True)
class _Roles:
    """The columns of a table to read."""

    features: tuple[str, ...]
    target: str | None
    sample_weight: str | None
    qid: str | None
    dtype: Any

    @property
    def others(self) -> list[str]:
        return [name for name in (self.target, self.sample_weight, self.qid) if name is not None]


def files_of(paths: Any, suffix: str) -> list[str]:
    """Return the files that a path, a pattern, a folder or a list of paths means, or raise.

    >>> files_of(["b.npy", "a.npy"], ".npy")
    ['b.npy', 'a.npy']
    """
    if not isinstance(paths, str | PathLike):
        if not isinstance(paths, Sequence) or not paths:
            raise TypeError(f"expected a path, a pattern or a list of paths, got {short_repr(paths)}")
        return [fspath(path) for path in paths]
    text = fspath(paths)
    if Path(text).is_dir():
        found = sorted(map(str, Path(text).glob(f"*{suffix}")))
    else:
        found = [text] if Path(text).exists() else sorted(glob(text))
    if not found:
        raise FileNotFoundError(f"no file matches {text!r}; give a file, a folder with {suffix} files, or a pattern")
    return found


def parquet_loaders(
    paths: Any,
    target: str | None,
    features: Sequence[str] | None,
    sample_weight: str | None,
    qid: str | None,
    rows_per_block: int | None,
) -> FoundBlocks:
    """Check the columns of all files, and return how to load each block."""
    with needs_extra("cli"):
        import polars as pl

    files = [StampedFile.of(path) for path in files_of(paths, ".parquet")]
    schemas = [_schema_of(pl.scan_parquet(file.path, glob=False), file, "Parquet") for file in files]
    roles = _roles(files, schemas, target, features, sample_weight, qid)
    loaders = []
    for file in files:
        n_rows = pl.scan_parquet(file.path, glob=False).select(pl.len()).collect().item()
        for start, stop in parts_of(n_rows, rows_per_block, len(roles.features) * roles.dtype.itemsize, _READ_BYTES):
            loaders.append(partial(_load_parquet, file, roles, start, stop, n_rows))
    return FoundBlocks(tuple(loaders), len(roles.features), roles.dtype, roles.features)


def csv_loaders(
    paths: Any, target: str | None, features: Sequence[str] | None, sample_weight: str | None, qid: str | None
) -> FoundBlocks:
    """Check the columns of all files, and return how to load each of them."""
    with needs_extra("cli"):
        import polars as pl

    files = [StampedFile.of(path) for path in files_of(paths, ".csv")]
    tables = [pl.scan_csv(file.path, glob=False, infer_schema_length=None) for file in files]
    schemas = [_schema_of(table, file, "CSV") for table, file in zip(tables, files, strict=True)]
    # Whole numbers in one file and fractions in another are the same type, except for labels and queries, of which
    # large ones would be rounded. A file without rows has no types.
    schemas = [
        {name: pl.Float64() if kind == pl.Int64 and name not in (target, qid) else kind for name, kind in each.items()}
        for each in schemas
    ]
    filled = [number for number, table in enumerate(tables) if table.head(1).collect().height] or [0]
    known = schemas[filled[0]]
    schemas = [
        each if number in filled else {name: known.get(name, kind) for name, kind in each.items()}
        for number, each in enumerate(schemas)
    ]
    roles = _roles(files, schemas, target, features, sample_weight, qid)
    loaders = tuple(partial(_load_csv, file, schema, roles) for file, schema in zip(files, schemas, strict=True))
    return FoundBlocks(loaders, len(roles.features), roles.dtype, roles.features)


def npy_loaders(X: Any, y: Any, sample_weight: Any, qid: Any, rows_per_block: int | None) -> FoundBlocks:
    """Check the shapes of all arrays, and return how to load each block."""
    files = [StampedFile.of(path) for path in files_of(X, ".npy")]
    given = {"y": y, "sample_weight": sample_weight, "qid": qid}
    others = {
        name: [StampedFile.of(path) for path in files_of(paths, ".npy")]
        for name, paths in given.items()
        if paths is not None
    }
    first = StoredArray.of_npy(files[0].path)
    loaders = []
    for number, file in enumerate(files):
        array = StoredArray.of_npy(file.path)
        if len(array.shape) != 2 or array.dtype not in (np.float32, np.float64):
            raise TypeError(
                f"{file.path} must be an array of float32 or float64 of shape (n_rows, n_features), got {array.dtype} "
                f"of shape {array.shape}"
            )
        if array.dtype != first.dtype or array.shape[1] != first.shape[1]:
            raise ValueError(
                f"{file.path} has {array.shape[1]} features of {array.dtype}, {files[0].path} has {first.shape[1]} of "
                f"{first.dtype}; all files need the same"
            )
        beside = {}
        for name, its in others.items():
            if len(its) != len(files):
                raise ValueError(f"{name} has {len(its)} files, X has {len(files)}; pass one for each")
            beside[name] = its[number], StoredArray.of_npy(its[number].path)
            if (shape := beside[name][1].shape) != array.shape[:1]:
                raise ValueError(f"{its[number].path} has shape {shape} for the {array.shape[0]} rows of {file.path}")
        width = array.shape[1] * array.dtype.itemsize
        for start, stop in parts_of(array.shape[0], rows_per_block, width, _MAPPED_BYTES):
            loaders.append(partial(_load_npy, (file, array), beside, start, stop))
    return FoundBlocks(tuple(loaders), first.shape[1], first.dtype)


def parts_of(n_rows: int, rows_per_block: int | None, row_bytes: int, most_bytes: int) -> Iterator[tuple[int, int]]:
    """Split rows into equal parts of at most the given number, or else of about the given size."""
    if rows_per_block is None:
        n_parts = max(ceil(n_rows * row_bytes / most_bytes), 1)
    else:
        n_parts = max(ceil(n_rows / whole("rows_per_block", rows_per_block, at_least=1)), 1)
    for part in range(n_parts):
        yield n_rows * part // n_parts, n_rows * (part + 1) // n_parts


def _roles(
    files: Sequence[StampedFile],
    schemas: Sequence[dict[str, pl.DataType]],
    target: str | None,
    features: Sequence[str] | None,
    sample_weight: str | None,
    qid: str | None,
) -> _Roles:
    """Return which columns to read, or raise if a file lacks one or has it in another type than the first file."""
    first, schema = files[0], schemas[0]
    known = [name for name in (target, sample_weight, qid) if name is not None]
    names = tuple(listed("features", [name for name in schema if name not in known] if features is None else features))
    if not names:
        raise ValueError(f"{first.path} has no column of features besides {', '.join(known)}")
    if twice := [name for name, n in Counter((*names, *known)).items() if n > 1]:
        raise ValueError(
            f"column {twice[0]!r} is named twice: a column is one feature, or the target, the weights or the queries"
        )
    for file, columns in zip(files, schemas, strict=True):
        for name in (*names, *known):
            if name not in columns:
                raise ValueError(f"{file.path} has no column {name!r}; it has {', '.join(list(columns)[:20])}")
            if columns[name] != schema[name]:
                raise ValueError(
                    f"column {name!r} of {file.path} is {columns[name]}, in {first.path} it is {schema[name]}; all "
                    "files need the same types"
                )
    for name in names:
        if not (schema[name].is_numeric() or schema[name] == _kinds().Boolean):
            raise ValueError(
                f"column {name!r} of {first.path} is {schema[name]}, not a number; encode it, or name the features to "
                "use: features=[...]"
            )
    narrow = {getattr(_kinds(), kind) for kind in ("Float32", "Int8", "Int16", "UInt8", "UInt16", "Boolean")}
    single = all(schema[name] in narrow for name in names)
    return _Roles(names, target, sample_weight, qid, np.dtype(np.float32 if single else np.float64))


def _schema_of(table: pl.LazyFrame, file: StampedFile, kind: str) -> dict[str, pl.DataType]:
    from polars.exceptions import PolarsError

    try:
        return dict(table.collect_schema())
    except PolarsError as error:
        raise ValueError(f"{file.path} cannot be read as {kind}: {error}") from error


def _kinds() -> Any:
    import polars as pl

    return pl


def _load_parquet(file: StampedFile, roles: _Roles, start: int, stop: int, n_rows: int) -> Block:
    import polars as pl

    file.require_unchanged()
    frame = pl.scan_parquet(file.path, glob=False).select([*roles.features, *roles.others])
    name = file.path if stop - start == n_rows else f"{file.path}, rows {start:,} to {stop:,}"
    return _block_of(frame.slice(start, stop - start).collect(), file, roles, name, last=stop == n_rows)


def _load_csv(file: StampedFile, schema: dict[str, pl.DataType], roles: _Roles) -> Block:
    import polars as pl

    file.require_unchanged()
    frame = pl.read_csv(file.path, columns=[*roles.features, *roles.others], schema_overrides=schema, glob=False)
    return _block_of(frame, file, roles, file.path, last=True)


def _block_of(frame: pl.DataFrame, file: StampedFile, roles: _Roles, name: str, *, last: bool) -> Block:
    import polars as pl

    file.require_unchanged()
    for column in roles.others:
        if n_missing := frame[column].null_count():
            raise ValueError(f"column {column!r} of {name} has {n_missing:,} missing values; drop or fill these rows")
    kind = pl.Float32() if roles.dtype == np.float32 else pl.Float64()
    X = frame.select(pl.col(roles.features).cast(kind)).to_numpy()

    def values(column: str | None) -> Any:
        if column is None:
            return None
        series = frame[column]
        return (series.cast(pl.String()) if series.dtype in (pl.Categorical, pl.Enum) else series).to_numpy()

    others = values(roles.target), values(roles.sample_weight), values(roles.qid)
    return Block(X, *others, name, last_of=file.path if last else None)


def _load_npy(
    features: tuple[StampedFile, StoredArray], beside: dict[str, tuple[StampedFile, StoredArray]], start: int, stop: int
) -> Block:
    for file, _ in (features, *beside.values()):
        file.require_unchanged()
    others: dict[str, Any] = {name: np.array(array.mapped()[start:stop]) for name, (_, array) in beside.items()}
    name = f"{features[0].path}, rows {start:,} to {stop:,}"
    return Block(features[1].mapped()[start:stop], name=name, **others)

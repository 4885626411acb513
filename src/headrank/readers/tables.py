"""Read CSV, TSV, Parquet and Excel tables. Errors name the file and the column, and say how to fix them."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy.typing as npt

from headrank._extras import needs_extra
from headrank._types import BoolVector
from headrank.exceptions import InvalidSampleError
from headrank.readers.decimals import refuse_other_decimals
from headrank.readers.empty_lines import has_empty_lines, without_empty_lines
from headrank.readers.opening import (
    MISSING,
    UNPACKING_ERRORS,
    Layout,
    TableFile,
    Tables,
    TableSource,
    disk_failed,
    tables_of,
)
from headrank.readers.stacking import refuse_different_columns, stacked
from headrank.readers.table_faults import (
    not_utf8,
    refuse_other_separator,
    refuse_repeated_names,
    require_columns,
    why_unreadable,
)
from headrank.readers.targets import target_of

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of a table, from `read_table`.

    Attributes
    ----------
    features : polars.DataFrame
        All columns except the target, the ids and the dropped ones, with their types and missing values.
    y : bool array of shape (n_rows,)
        Which rows are positive.
    positive : str
        The positive value of the target, as printed.
    qid : array of shape (n_rows,) or None
        Query of each row, if requested, printed as in the file.
    ids : array of shape (n_rows,) or None
        Id of each row, if requested, printed as in the file: integers if that does not change them, else text. If some
        are missing, text in which those are empty.
    groups, folds : array of shape (n_rows,) or None
        Group and fold of each row, if requested, printed as in the file.
    times : polars.Series or None
        Column of times, if requested, as read.
    """

    features: pl.DataFrame
    y: BoolVector
    positive: str
    qid: npt.NDArray[Any] | None = None
    ids: npt.NDArray[Any] | None = None
    groups: npt.NDArray[Any] | None = None
    folds: npt.NDArray[Any] | None = None
    times: pl.Series | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.y.size


def read_table(
    path: TableSource,
    *,
    target: str,
    qid: str | None = None,
    id: str | None = None,  # noqa: A002  # what the column is called in every table
    group: str | None = None,
    time: str | None = None,
    fold: str | None = None,
    drop: Iterable[str] = (),
    pos_label: Any = None,
    missing: Sequence[str] = MISSING,
    separator: str | None = None,
    decimal: Literal[".", ","] | None = None,
    sheet: str | None = None,
) -> Table:
    r"""Read a CSV, TSV, Parquet or Excel table and split off its labels.

    Parameters
    ----------
    path : path or list of paths
        A file with the suffix ``.csv``, ``.tsv``, ``.csv.gz``, ``.tsv.gz``, ``.parquet`` or ``.xlsx``, or several with
        the same columns, which are read as one table. Text is UTF-8 with a header line. Fields missing at the end of a
        row are missing values. Empty lines are skipped, except in a table of one column. A workbook is read as if it
        had been saved as CSV.
    target : str
        Column of the labels: 0/1, -1/+1, true/false, t/f, yes/no, y/n, or any values with ``pos_label``.
    qid : str, optional
        Column of the query ids.
    id : str, optional
        Column of the row ids, not used as a feature.
    group, time, fold : str, optional
        Columns of groups, times and folds, not used as features.
    drop : names
        Columns not to use as features.
    pos_label : optional
        The positive value of the target, in the type of the column or as text, such as 2, ``"2"`` or ``"true"``. All
        other values are negative.
    missing : strings
        Strings for a missing value in a text file, in addition to the empty field.
    separator : str, optional
        The character between fields of a text file; by default that of its suffix.
    decimal : {".", ","}, optional
        The decimal mark of a text file; by default a point, and a column of numbers with decimal commas raises.
    sheet : str, optional
        The sheet of a workbook that has several.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "patients.csv"
    ...     _ = path.write_text("id,age,sex,ill\n1,71,f,yes\n2,,m,no\n")
    ...     table = read_table(path, target="ill", id="id")
    >>> table.features.columns, table.y, table.ids, table.positive
    (['age', 'sex'], array([ True, False]), array([1, 2]), 'yes')
    """
    roles = _Roles(target, qid, id, group, time, fold, _names_to_drop(drop))
    tables = tables_of(path, Layout(separator, decimal, sheet))
    columns = roles.checked(tables)
    frame = _read_all(tables, missing=missing, columns=columns, as_text=roles.named)
    return roles.split(tables, frame, pos_label)


def read_roles(
    path: TableSource,
    *,
    target: str,
    qid: str | None = None,
    id: str | None = None,  # noqa: A002
    group: str | None = None,
    time: str | None = None,
    fold: str | None = None,
    drop: Iterable[str] = (),
    pos_label: Any = None,
    missing: Sequence[str] = MISSING,
) -> Table:
    """Read labels, ids, queries, groups, times and folds as `read_table` does, but no features.

    For a table whose features do not fit in memory. The memory is that of these columns.
    """
    roles = _Roles(target, qid, id, group, time, fold, _names_to_drop(drop))
    tables = tables_of(path)
    roles.checked(tables)
    used = [name for name in roles.special if name not in roles.drop]
    return roles.split(tables, _read_all(tables, missing=missing, columns=used, as_text=roles.named), pos_label)


@dataclass(frozen=True)
class _Roles:
    """The columns of a table that are not features."""

    target: str
    qid: str | None
    id: str | None
    group: str | None
    time: str | None
    fold: str | None
    drop: tuple[str, ...]

    @property
    def named(self) -> list[str]:
        """Columns of names, which are read as they are printed."""
        return [name for name in (self.qid, self.id, self.group, self.fold) if name is not None]

    @property
    def special(self) -> list[str]:
        """All columns that are not features."""
        others = (self.qid, self.id, self.group, self.time, self.fold)
        return [self.target, *(name for name in others if name is not None), *self.drop]

    def checked(self, tables: Tables) -> list[str]:
        """Return all columns of the tables, or raise if a role has none, or one has two roles."""
        file, columns = tables.first, table_columns(tables)
        require_columns(file, columns, self.special)
        repeated = [name for name, count in Counter(self.special).items() if count > 1]
        if repeated:
            raise ValueError(
                f"target, qid, id, group, time, fold and drop must name different columns of {file}, got "
                f"{repeated[0]!r} more than once"
            )
        if len(self.special) == len(columns):
            raise ValueError(
                f"{file} has no feature left besides {', '.join(map(repr, self.special))}; drop fewer columns"
            )
        return columns

    def split(self, tables: Tables, frame: pl.DataFrame, pos_label: Any) -> Table:
        """Split off the columns of a frame that are not features."""
        labels = target_of(frame[self.target], pos_label=pos_label, where=f"column {self.target!r} of {tables}")
        return Table(
            frame.drop(self.special, strict=False),
            labels.y,
            labels.positive,
            ids=None if self.id is None else _names_of(tables, _ids(tables, frame[self.id])),
            times=None if self.time is None else frame[self.time],
            **{
                name: None if column is None else _names_of(tables, _without_gaps(tables, frame[column]))
                for name, column in (("qid", self.qid), ("groups", self.group), ("folds", self.fold))
            },
        )


def _names_to_drop(drop: Iterable[str]) -> tuple[str, ...]:
    if isinstance(drop, str):
        raise TypeError(f"drop must be a list of names, got the string {drop!r}; write drop=[{drop!r}]")
    return tuple(drop)


def _ids(tables: Tables, column: pl.Series) -> pl.Series:
    """Return the ids exactly as in the file. "NA" may be an id, so text with missing values is read again."""
    if not column.null_count() or any(file.is_parquet for file in tables.files):
        return column
    return _read_all(tables, missing=(), columns=[column.name], as_text=[column.name])[column.name]


def read_columns(
    path: TableSource,
    names: Iterable[str],
    *,
    missing: Sequence[str] = MISSING,
    separator: str | None = None,
    decimal: Literal[".", ","] | None = None,
    sheet: str | None = None,
) -> pl.DataFrame:
    r"""Read only some columns of a table, or of several, in the order of ``names``. Files are those of `read_table`.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "scores.csv"
    ...     _ = path.write_text("id,y,score\n1,1,0.5\n2,0,0.25\n")
    ...     read_columns(path, ["score", "y"]).rows()
    [(0.5, 1), (0.25, 0)]
    """
    tables, wanted = tables_of(path, Layout(separator, decimal, sheet)), list(dict.fromkeys(names))
    for file in tables.files:
        require_columns(file, _columns(file), wanted)
    return _read_all(tables, missing=missing, columns=wanted).select(wanted)


def table_columns(path: TableSource) -> list[str]:
    """Read the column names of a table, but no rows. Duplicate names raise, and so do files with different columns."""
    tables = tables_of(path)
    columns = _columns(tables.first)
    for file in tables.files[1:]:
        refuse_different_columns(tables.first, columns, file, _columns(file))
    return columns


def _columns(file: TableFile) -> list[str]:
    with needs_extra("cli"):
        import polars as pl

    try:
        if file.is_parquet:
            columns = pl.scan_parquet(file.path, glob=False).collect_schema().names()
        else:
            with file.open() as stream:
                header = first_record(stream)
            try:
                header.decode()
            except UnicodeDecodeError:  # polars would insert replacement characters
                raise ValueError(not_utf8(file, header, 1)) from None
            if not header.strip():
                raise pl.exceptions.NoDataError
            columns = pl.read_csv(header, separator=file.separator, infer_schema=False).columns
    except pl.exceptions.NoDataError:
        raise ValueError(f"{file} is empty; expected a header line and rows") from None
    except (pl.exceptions.PolarsError, *UNPACKING_ERRORS) as error:
        if disk_failed(error):
            raise
        raise why_unreadable(file, error) from error
    refuse_repeated_names(file, columns)
    refuse_other_separator(file, columns)
    return columns


def first_record(stream: Any) -> bytes:
    """Read the first row of a text. It may contain quoted line breaks and be preceded by empty lines."""
    record: bytes = stream.readline()
    while record and (not record.strip() or record.count(b'"') % 2):
        line = stream.readline()
        if not line:
            break
        record = line if not record.strip() else record + line
    return record


def refuse_names_of_bytes(file: TableFile | Tables, column: pl.Series) -> None:
    """Raise if ids or query ids cannot be printed: bytes, lists and structs."""
    with needs_extra("cli"):
        import polars as pl

    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        raise InvalidSampleError(
            f"column {column.name!r} of {file} identifies rows or queries, but is of type {column.dtype}; expected "
            "text or numbers: convert it"
        )


def _read_all(
    tables: Tables, *, missing: Sequence[str], columns: list[str], as_text: Sequence[str] = ()
) -> pl.DataFrame:
    """Read some columns of all files."""
    frames = [_read(file, missing=missing, columns=columns, as_text=as_text) for file in tables.files]
    if len(frames) == 1:
        return frames[0]
    return stacked(tables.files, frames, lambda file, names: _read(file, missing=missing, columns=names, as_text=names))


def _read(file: TableFile, *, missing: Sequence[str], columns: list[str], as_text: Sequence[str] = ()) -> pl.DataFrame:
    """Read some columns; in a text file, some of them unchanged."""
    with needs_extra("cli"):
        import polars as pl

    try:
        if file.is_parquet:
            frame = pl.read_parquet(file.path, columns=columns, glob=False)
        else:
            # Types are inferred from all rows: a string in row 1,000,000 makes the column one of strings.
            frame = pl.read_csv(
                _text(file),
                columns=columns,
                schema_overrides={name: pl.String for name in as_text if name in columns},
                separator=file.separator,
                decimal_comma=file.has_decimal_commas,
                null_values=list(missing),
                infer_schema_length=None,
                glob=False,
            )
            refuse_other_decimals(file, frame, as_text)
    except (pl.exceptions.PolarsError, *UNPACKING_ERRORS) as error:
        if disk_failed(error):
            raise
        raise why_unreadable(file, error) from error
    if not frame.height:
        raise ValueError(f"{file} has a header but no rows; check that it is the right file")
    return frame


def _text(file: TableFile) -> Any:
    """Return a text without empty lines: its path, or its bytes if they had to be changed."""
    one_column = len(_columns(file)) == 1
    if file.is_excel:
        with file.raw() as stream:
            return stream.read()
    if file.path.suffix.lower() == ".gz":  # older polars take a truncated archive for text
        unpacked = gzip.decompress(file.path.read_bytes())
        return unpacked if one_column else without_empty_lines(unpacked)
    return file.path if one_column or not has_empty_lines(file) else without_empty_lines(file.path.read_bytes())


def _without_gaps(file: Tables, column: pl.Series) -> pl.Series:
    if n_missing := column.null_count():
        raise InvalidSampleError(
            f"column {column.name!r} of {file} has {n_missing:,} missing values in {column.len():,} rows; drop or fill "
            "them"
        )
    return column


def _names_of(file: Tables, column: pl.Series) -> npt.NDArray[Any]:
    """Return ids as printed. Text that consists only of integers is converted, which saves memory."""
    with needs_extra("cli"):
        import polars as pl

    refuse_names_of_bytes(file, column)
    if column.dtype == pl.String and not column.null_count():
        numbers = column.cast(pl.Int64, strict=False)
        if (numbers.cast(pl.String) == column).fill_null(value=False).all():
            return numbers.to_numpy()
    return (column.cast(pl.String).fill_null("") if column.null_count() else column).to_numpy()

"""Read tables larger than memory in blocks, in the order of the rows.

Text files are split here and not by polars: its batched reader is declared unstable, and for compressed files its
batches grow with the file. A line break ends a row if an even number of quotation marks precedes it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from os import SEEK_END, PathLike
from typing import TYPE_CHECKING, Any, Literal

from headrank.readers.decimals import HOW, as_float
from headrank.readers.empty_lines import without_empty_lines
from headrank.readers.opening import (
    MISSING,
    UNPACKING_ERRORS,
    TableFile,
    Tables,
    TableSource,
    disk_failed,
    existing,
    opened,
    tables_of,
)
from headrank.readers.svmlight import SvmlightBlock, load_lines, some_queries
from headrank.readers.table_faults import not_utf8, require_columns, why_unreadable
from headrank.readers.tables import first_record, refuse_names_of_bytes, table_columns

if TYPE_CHECKING:
    import polars as pl

Kind = Literal["number", "text", "boolean", "date"]
"""The kind of a column. Integers are numbers, categories are text."""

_FIRST_READ = 1 << 18  # bytes, to estimate the length of rows
_LARGEST_READ = 1 << 26


def table_blocks(
    path: TableSource,
    kinds: Mapping[str, Kind],
    *,
    keep: Sequence[str] = (),
    n_rows: int = 100_000,
    missing: Sequence[str] = MISSING,
    advance: Callable[[float], None] = lambda _share: None,
) -> Iterator[pl.DataFrame]:
    r"""Read some columns of a table, or of several, in blocks of rows; memory does not grow with the number of rows.

    In a text file, a column is read as numbers if ``kinds`` says so and else as text, so that its type is the same in
    all blocks. Parquet columns keep their types. Empty lines are skipped, except in a table of one column.

    Parameters
    ----------
    path : path or list of paths
        As for `read_table`. A Parquet file takes the memory of its largest row group, a workbook that of its sheet.
    kinds : mapping of name to {"number", "text", "boolean", "date"}
        The columns to read and their kinds.
    keep : names
        More columns to read, as unchanged text in which only an empty field is a missing value.
    n_rows : int, default=100_000
        Maximum number of rows per block.
    missing : strings
        Strings for a missing value in a text file, in addition to the empty field.
    advance : callable, optional
        Called after each block with the share of the file read so far.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "patients.csv"
    ...     _ = path.write_text("id,age,sex\n1,71,f\n2,,m\n3,44,f\n")
    ...     [block.rows() for block in table_blocks(path, {"age": "number"}, keep=["id"], n_rows=2)]
    [[(71.0, '1'), (None, '2')], [(44.0, '3')]]
    """
    tables = tables_of(path)
    names = list(dict.fromkeys([*kinds, *keep]))
    require_columns(tables.first, table_columns(tables), names)
    sizes = [file.path.stat().st_size or 1 for file in tables.files]
    for number, file in enumerate(tables.files):
        before, size = sum(sizes[:number]), sizes[number]

        def advance_all(share: float, before: int = before, size: int = size) -> None:
            advance((before + share * size) / sum(sizes))

        if file.is_parquet:
            yield from _parquet_blocks(file, names, keep, n_rows, advance_all)
        else:
            yield from _text_blocks(file, names, kinds, missing, n_rows, advance_all)


def _text_blocks(
    file: TableFile,
    names: list[str],
    kinds: Mapping[str, Kind],
    missing: Sequence[str],
    n_rows: int,
    advance: Callable[[float], None],
) -> Iterator[pl.DataFrame]:
    columns, n_before = table_columns(Tables((file,))), 0
    for piece in row_pieces(file, n_rows, advance):
        text = piece if len(columns) == 1 else without_empty_lines(piece)
        if not text:
            continue
        frame = _parsed(file, text, columns, names, kinds, missing, n_before)
        n_before += frame.height
        yield from frame.iter_slices(n_rows)


def svmlight_blocks(
    path: str | PathLike[str],
    *,
    n_rows: int = 100_000,
    advance: Callable[[float], None] = lambda _share: None,
) -> Iterator[SvmlightBlock]:
    """Read an svmlight or LETOR file in blocks of rows.

    Column j is feature j, whether the file counts from 0 or 1. A block has columns up to its highest feature.
    """
    file = existing(path)
    with file.open("rb") as raw, opened(file, raw) as stream:
        size = file.stat().st_size or 1
        n_before = 0
        queries: bool | None = None
        try:
            while lines := list(islice(stream, n_rows)):
                rows = load_lines(file, lines, first_row=n_before + 1)
                n_before += rows.grades.size
                if rows.grades.size:
                    if queries is not None and queries != (rows.qid is not None):
                        raise ValueError(some_queries(file))
                    queries = rows.qid is not None
                    yield rows
                advance(raw.tell() / size)
        except UNPACKING_ERRORS as error:
            if disk_failed(error):
                raise
            raise ValueError(
                f"{file} is not a complete {file.suffix} file ({error}); fetch or compress it again"
            ) from error


def _parquet_blocks(
    file: TableFile, names: list[str], keep: Sequence[str], n_rows: int, advance: Callable[[float], None]
) -> Iterator[pl.DataFrame]:
    import polars as pl

    for column in pl.read_parquet(file.path, columns=list(keep), n_rows=0, glob=False) if keep else ():
        refuse_names_of_bytes(file, column)
    try:
        frame = pl.scan_parquet(file.path, glob=False).select(names)
        total = frame.select(pl.len()).collect().item()
        for start in range(0, total, n_rows):
            yield frame.slice(start, n_rows).collect()
            advance(min(start + n_rows, total) / total)
    except pl.exceptions.PolarsError as error:
        raise why_unreadable(file, error) from error


def row_pieces(
    file: TableFile, n_rows: int = 100_000, advance: Callable[[float], None] = lambda _share: None
) -> Iterator[bytes]:
    """Split a text, without its header, into blocks of about ``n_rows`` whole rows."""
    with file.raw() as raw, opened(file.path, raw) as stream:
        size = raw.seek(0, SEEK_END) or 1
        raw.seek(0)
        n_lines = first_record(stream).count(b"\n")
        rest, to_read = b"", _FIRST_READ
        try:
            while new := stream.read(to_read):
                text = rest + new
                cut = _end_of_last_row(text)
                piece, rest = text[:cut], text[cut:]
                if piece:
                    _require_utf8(file, piece, n_lines)
                    lines = piece.count(b"\n")
                    n_lines += lines
                    to_read = min(max(len(piece) * n_rows // lines, 1 << 10), _LARGEST_READ)
                    yield piece
                elif len(rest) > _LARGEST_READ:
                    raise ValueError(
                        f"{file} has a quotation mark after line {n_lines:,} that is not closed within "
                        f"{_LARGEST_READ:,} bytes; close or remove it"
                    )
                advance(raw.tell() / size)
            if rest.strip():
                _require_utf8(file, rest, n_lines)
                yield rest
        except UNPACKING_ERRORS as error:
            if disk_failed(error):
                raise
            raise why_unreadable(file, error) from error


def _end_of_last_row(text: bytes) -> int:
    """Return where the last complete row ends; 0 if there is none."""
    cut = text.rfind(b"\n") + 1
    n_marks = text.count(b'"', 0, cut)
    while cut and n_marks % 2:
        before = text.rfind(b"\n", 0, cut - 1) + 1
        n_marks -= text.count(b'"', before, cut)
        cut = before
    return cut


def _require_utf8(file: TableFile, piece: bytes, n_lines: int) -> None:
    if piece.isascii():
        return
    try:
        piece.decode()
    except UnicodeDecodeError as error:
        start = piece.rfind(b"\n", 0, error.start) + 1
        line = piece[start:].split(b"\n", 1)[0]
        raise ValueError(not_utf8(file, line, n_lines + piece.count(b"\n", 0, error.start) + 1)) from None


def _parsed(
    file: TableFile,
    text: bytes,
    columns: list[str],
    names: list[str],
    kinds: Mapping[str, Kind],
    missing: Sequence[str],
    n_before: int,
) -> pl.DataFrame:
    import polars as pl

    numbers = [name for name in names if kinds.get(name) == "number"]
    as_they_stand = [name for name in names if name not in kinds]

    def read(as_numbers: Collection[str]) -> pl.DataFrame:
        schema = {name: pl.Float64() if name in as_numbers else pl.String() for name in columns}
        layout: dict[str, Any] = {"has_header": False, "schema": schema, "separator": file.separator}
        frame = pl.read_csv(text, null_values=list(missing), **layout).select(names)
        return frame.with_columns(pl.read_csv(text, **layout).select(as_they_stand)) if as_they_stand else frame

    try:
        if not file.has_decimal_commas:  # polars would take 1.500 for 1.5, which it is not where decimals have commas
            return read(set(numbers))
        as_text = read(())
    except pl.exceptions.PolarsError as error:
        try:
            as_text = read(())
        except pl.exceptions.PolarsError:
            raise why_unreadable(file, error) from error
    commas = file.has_decimal_commas
    return as_text.with_columns(text_as_numbers(file, as_text[name], n_before, commas=commas) for name in numbers)


def text_as_numbers(file: TableFile | Tables, column: pl.Series, n_before: int, *, commas: bool) -> pl.Series:
    """Convert text to numbers, with surrounding spaces allowed; raise with the first value that is not a number."""
    text = column.str.strip_chars()
    numbers = as_float(text, commas=commas)
    if (bad := (numbers.is_null() & (text != "")).arg_true()).len():
        how = f"; read decimal commas {HOW}" if "," in column[bad[0]] and not commas else ""
        raise ValueError(
            f"column {column.name!r} of {file} has {column[bad[0]]!r} in row {n_before + bad[0] + 1:,}; expected a "
            f"number: correct it, or leave the field empty{how}"
        )
    return numbers

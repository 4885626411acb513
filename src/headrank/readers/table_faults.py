"""Error messages for tables that cannot be read: the file, the position and the remedy."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from headrank._suggestions import did_you_mean
from headrank.readers.opening import UNPACKING_ERRORS, TableFile, disk_failed

_LINES_PER_BLOCK = 10_000
_NAMES_SHOWN = 30
_SEPARATORS = ";\t|,"


def why_unreadable(file: TableFile, error: BaseException) -> ValueError:
    """Return why polars could not read a table, in more detail than polars, by reading the file again."""
    first_line = (str(error).strip().splitlines() or [type(error).__name__])[0]
    if file.is_parquet:
        return ValueError(_why_no_parquet(file.path, first_line))
    try:
        reason = _not_utf8(file) or _too_many_fields(file)
    except UNPACKING_ERRORS as unpacking:
        if disk_failed(unpacking):
            raise
        return ValueError(f"{file} is not a complete .gz file ({unpacking}); fetch or compress it again")
    return ValueError(
        reason
        or f"{file} cannot be read as {file.suffix}: {first_line}; expected UTF-8 text with one field per column "
        "in each row, and every quotation mark closed"
    )


def not_utf8(file: TableFile, line: bytes, number: int) -> str:
    """Return which line is not UTF-8 and how to convert the file."""
    try:
        line.decode()
    except UnicodeDecodeError as error:
        byte = f"0x{line[error.start]:02x}"
    name = file.path.name
    files = "" if file.label else f" {name} > {file.path.stem}-utf8{file.path.suffix}"
    encoding = "UTF-16" if line.startswith((b"\xff\xfe", b"\xfe\xff")) else "WINDOWS-1252"
    return (
        f"{file} is not UTF-8 text: line {number:,} has the byte {byte}; convert it first, for instance with "
        f"'iconv -f {encoding} -t UTF-8{files}'"
    )


def refuse_repeated_names(file: TableFile, columns: Sequence[str]) -> None:
    """Raise if two columns have the same name.

    polars renames the second one, so a second target column would be used as a feature.
    """
    for name in columns:
        renamed = re.fullmatch(r"(.*)_duplicated_\d+", name)
        if renamed and renamed[1] in columns:
            raise ValueError(f"{file} has two columns named {renamed[1]!r}; rename or remove one")


def require_columns(file: TableFile, columns: Sequence[str], names: Iterable[str]) -> None:
    """Raise if one of these columns is missing, and list the columns of the table."""
    for name in names:
        if name in columns:
            continue
        if other := _other_separator(file, columns, name):
            raise ValueError(f"{file} has no column {name!r}; {_separated_by(other, file)}")
        question = did_you_mean(name, columns)
        raise ValueError(f"{file} has no column {name!r}; {question + ' ' if question else ''}it has {listed(columns)}")


def refuse_other_separator(file: TableFile, columns: Sequence[str]) -> None:
    """Raise if the only column of a text looks like several, unless the separator was given."""
    if file.layout.separator is None and len(columns) == 1 and (other := _other_separator(file, columns)):
        raise ValueError(f"{file} seems to have only one column, {columns[0][:60]!r}; {_separated_by(other, file)}")


def _other_separator(file: TableFile, columns: Sequence[str], name: str | None = None) -> str:
    """Return the separator that the header seems to have: by it, there is a column of this name, or several columns."""
    if not file.is_text:
        return ""
    header = file.separator.join(columns)
    for other in _SEPARATORS:
        fields = [field.strip(' "') for field in header.split(other)]
        if other != file.separator and len(fields) > 1 and (len(columns) == 1 or name in fields):
            return other
    return ""


def _separated_by(other: str, file: TableFile) -> str:
    typed = "tab" if other == "\t" else other
    return (
        f"its fields seem to be separated by {other!r}, not by {file.separator!r}: read it with separator={typed!r}, "
        f"on the command line --separator '{typed}'"
    )


def listed(names: Sequence[str]) -> str:
    """Join the first few names."""
    return ", ".join(map(repr, names[:_NAMES_SHOWN])) + (", ..." if len(names) > _NAMES_SHOWN else "")


def _why_no_parquet(path: Path, first_line: str) -> str:
    with path.open("rb") as stream:
        start = stream.read(4)
        stream.seek(max(path.stat().st_size - 4, 0))
        end = stream.read(4)
    if start == b"PAR1" and end != b"PAR1":
        return f"{path} cannot be read as .parquet: it is cut off; fetch or write it again"
    if start != b"PAR1":
        return f"{path} cannot be read as .parquet: it is not a Parquet file"
    return f"{path} cannot be read as .parquet: {first_line}; it is damaged, fetch or write it again"


def _not_utf8(file: TableFile) -> str:
    n_before = 0
    with file.open() as stream:
        while block := list(islice(stream, _LINES_PER_BLOCK)):
            for number, line in enumerate(block, n_before + 1):
                try:
                    line.decode()
                except UnicodeDecodeError:
                    return not_utf8(file, line, number)
            n_before += len(block)
    return ""


def _too_many_fields(file: TableFile) -> str:
    with file.open() as stream:
        rows = csv.reader(codecs.iterdecode(stream, "utf-8-sig"), delimiter=file.separator)
        try:
            n_names = len(next(rows, []))
            for row in rows:
                if len(row) > n_names:
                    return (
                        f"{file} cannot be read as {file.suffix}: line {rows.line_num:,} has {len(row)} fields, but "
                        f"the header has {n_names}; expected one field per column: put fields that contain "
                        f"{file.separator!r} in quotation marks"
                    )
        except csv.Error:  # a field of more than 131,072 characters: a quotation mark that is never closed
            return ""
    return ""

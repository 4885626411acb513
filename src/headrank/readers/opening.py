"""Find and open a table: its path, compression, format and layout."""

from __future__ import annotations

import bz2
import gzip
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from io import BufferedIOBase, BytesIO
from os import PathLike
from pathlib import Path
from typing import Literal

from headrank._whole_files import as_path
from headrank.readers.excel import sheet_as_csv

_SEPARATORS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
_EXCEL = ".xlsx"
_COMMA = ","
SUFFIXES = (*_SEPARATORS, ".parquet", _EXCEL)
"""Suffixes of the supported tables."""

MISSING = ("NA", "NaN", "nan", "null")
"""Strings for a missing value in a text file, in addition to the empty field."""

UNPACKING_ERRORS = (OSError, EOFError, zlib.error)
"""Errors of the decompressors. An `OSError` with an ``errno`` is an error of the disk instead."""


@dataclass(frozen=True)
class Layout:
    """How a text file is written, and which sheet of a workbook is read. Nothing is guessed.

    Attributes
    ----------
    separator : str or None
        The character between fields, ``"tab"`` for a tab; None for that of the suffix: a comma in ``.csv``, a tab in
        ``.tsv``. With a separator, a file with any other suffix is read as text, too.
    decimal : {".", ","} or None
        The decimal mark. With None it is a point, and a column of numbers with decimal commas raises; with ``"."`` such
        a column is text.
    sheet : str or None
        The name of the sheet; None if the workbook has only one.

    Examples
    --------
    >>> Layout(separator=";", decimal=",")
    Layout(separator=';', decimal=',', sheet=None)
    """

    separator: str | None = None
    decimal: Literal[".", ","] | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        if self.separator is not None:
            if self.separator in ("tab", "\\t"):  # how a tab is typed in a shell
                object.__setattr__(self, "separator", "\t")
            if len(self.separator) != 1 or not self.separator.isascii() or self.separator in '"\r\n':
                raise ValueError(f"separator must be one character such as ';', or 'tab', got {self.separator!r}")
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"decimal must be '.' or ',', got {self.decimal!r}")


PLAIN = Layout()
"""The layout that follows from the suffix."""


@dataclass(frozen=True)
class TableFile:
    """A table on disk.

    Attributes
    ----------
    path : Path
        Path of an existing file.
    suffix : str
        One of `SUFFIXES`, or any other if the layout has a separator.
    layout : Layout
        How it is written.
    label : str
        What it is called in messages; empty for its path.
    """

    path: Path
    suffix: str
    layout: Layout = PLAIN
    label: str = ""

    @property
    def separator(self) -> str:
        """The separator of fields; a workbook becomes text with commas."""
        return (self.layout.separator if self.is_text else None) or _SEPARATORS.get(self.suffix, ",")

    @property
    def has_decimal_commas(self) -> bool:
        """Whether numbers are written with decimal commas."""
        return self.layout.decimal == _COMMA and self.is_text

    @property
    def is_parquet(self) -> bool:
        """Whether the file is Parquet and not text."""
        return self.suffix == ".parquet"

    @property
    def is_text(self) -> bool:
        """Whether the file is text, so that it has a separator and a decimal mark."""
        return not (self.is_parquet or self.is_excel)

    @property
    def is_excel(self) -> bool:
        """Whether the file is a workbook, which is read as if it had been saved as CSV."""
        return self.suffix == _EXCEL

    def raw(self) -> BufferedIOBase:
        """Open the file as it is on disk; a workbook as the text of its sheet."""
        if self.is_excel:
            return BytesIO(sheet_as_csv(self.path, self.layout.sheet))
        return self.path.open("rb")

    def open(self) -> BufferedIOBase:
        """Open the text for reading, with decompression."""
        return self.raw() if self.is_excel else opened(self.path)

    def __str__(self) -> str:
        return self.label or str(self.path)


@dataclass(frozen=True)
class Tables:
    """Tables that are read one after the other as if they were one; at least one."""

    files: tuple[TableFile, ...]

    @property
    def first(self) -> TableFile:
        """The first file; the others have its columns."""
        return self.files[0]

    def __str__(self) -> str:
        more = len(self.files) - 1
        return f"{self.first} and {more} more {'file' if more == 1 else 'files'}" if more else str(self.first)


TableSource = str | PathLike[str] | Sequence[str | PathLike[str]] | Tables
"""A path, several paths, or tables already found."""


def existing(path: str | PathLike[str]) -> Path:
    """Return the path of an existing file, or raise."""
    file = as_path(path)
    if file.is_dir():
        raise IsADirectoryError(f"{file} is a folder; expected a file")
    if not file.exists():
        raise FileNotFoundError(f"there is no file {file}; check the path (looked from {Path.cwd()})")
    return file


def table_file(path: str | PathLike[str], layout: Layout = PLAIN, label: str = "") -> TableFile:
    """Return the table format of this path by its suffix, or raise."""
    file = existing(path)
    suffix = next((known for known in SUFFIXES if file.name.lower().endswith(known)), None)
    if suffix is None and layout.separator is not None:
        suffix = file.suffix or ".csv"
    if suffix is None:
        raise ValueError(
            f"{file} ends in {file.suffix or 'nothing'!r}, but tables are read from {', '.join(SUFFIXES)}; "
            "convert it, name the separator of a text file, or read svmlight and LETOR files with read_svmlight"
        )
    return TableFile(file, suffix, layout, label)


def tables_of(source: TableSource, layout: Layout = PLAIN) -> Tables:
    """Return the tables of one path or several, or raise."""
    if isinstance(source, Tables):
        return source
    paths = [source] if isinstance(source, str | PathLike) or not isinstance(source, Sequence) else list(source)
    if not paths:
        raise ValueError("expected at least one path, got an empty list")
    tables = Tables(tuple(table_file(path, layout) for path in paths))
    for name, value, used in (
        ("separator", layout.separator, any(file.is_text for file in tables.files)),
        ("decimal", layout.decimal, any(file.is_text for file in tables.files)),
        ("sheet", layout.sheet, any(file.is_excel for file in tables.files)),
    ):
        if value is not None and not used:
            raise ValueError(
                f"{tables} is no {'workbook' if name == 'sheet' else 'text file'}, so it has no {name}; omit "
                f"{name}={value!r}"
            )
    return tables


def opened(file: Path, raw: BufferedIOBase | None = None) -> BufferedIOBase:
    """Open for reading, with decompression. ``raw`` is the same file, already open, to track the position in it."""
    if file.suffix.lower() == ".gz":
        return gzip.open(raw or file)
    if file.suffix.lower() == ".bz2":
        return bz2.open(raw or file)
    return raw or file.open("rb")


def disk_failed(error: BaseException) -> bool:
    """Whether the disk has failed, as opposed to invalid content of the file."""
    return getattr(error, "errno", None) is not None

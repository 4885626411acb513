"""Find and open a table: its path, compression and format."""

from __future__ import annotations

import bz2
import gzip
import zlib
from dataclasses import dataclass
from io import BufferedIOBase
from os import PathLike
from pathlib import Path

from headrank._whole_files import as_path

_SEPARATORS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
SUFFIXES = (*_SEPARATORS, ".parquet")
"""Suffixes of the supported tables."""

MISSING = ("NA", "NaN", "nan", "null")
"""Strings for a missing value in a text file, in addition to the empty field."""

UNPACKING_ERRORS = (OSError, EOFError, zlib.error)
"""Errors of the decompressors. An `OSError` with an ``errno`` is an error of the disk instead."""


@dataclass(frozen=True)
class TableFile:
    """A table on disk.

    Attributes
    ----------
    path : Path
        Path of an existing file.
    suffix : str
        One of `SUFFIXES`.
    """

    path: Path
    suffix: str

    @property
    def separator(self) -> str:
        """The separator of fields, for text files."""
        return _SEPARATORS[self.suffix]

    @property
    def is_parquet(self) -> bool:
        """Whether the file is Parquet and not text."""
        return self.suffix == ".parquet"

    def __str__(self) -> str:
        return str(self.path)


def existing(path: str | PathLike[str]) -> Path:
    """Return the path of an existing file, or raise."""
    file = as_path(path)
    if file.is_dir():
        raise IsADirectoryError(f"{file} is a folder; expected a file")
    if not file.exists():
        raise FileNotFoundError(f"there is no file {file}; check the path (looked from {Path.cwd()})")
    return file


def table_file(path: str | PathLike[str]) -> TableFile:
    """Return the table format of this path by its suffix, or raise."""
    file = existing(path)
    suffix = next((known for known in SUFFIXES if file.name.lower().endswith(known)), None)
    if suffix is None:
        raise ValueError(
            f"{file} ends in {file.suffix or 'nothing'!r}, but tables are read from {', '.join(SUFFIXES)}; "
            "convert it, or read svmlight and LETOR files with read_svmlight"
        )
    return TableFile(file, suffix)


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

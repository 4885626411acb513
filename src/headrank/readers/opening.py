"""Where is the file, how is it packed, and what kind of table is it?"""

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
"""How the names of tables end."""

MISSING = ("NA", "NaN", "nan", "null")
"""Strings that mean a missing value in a text file, besides the empty field."""

UNPACKING_ERRORS = (OSError, EOFError, zlib.error)
"""What the decompressors raise; an `OSError` that has an ``errno`` is the disk's complaint, not theirs."""


@dataclass(frozen=True)
class TableFile:
    """A table on disk.

    Attributes
    ----------
    path : Path
        Of a file that is there.
    suffix : str
        Which of `SUFFIXES` its name ends in.
    """

    path: Path
    suffix: str

    @property
    def separator(self) -> str:
        """What stands between two fields; only text has one."""
        return _SEPARATORS[self.suffix]

    @property
    def is_parquet(self) -> bool:
        """Whether it is no text."""
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
    """Open for reading, unpacked; ``raw`` is the same file, open already, to be asked how far it has been read."""
    if file.suffix.lower() == ".gz":
        return gzip.open(raw or file)
    if file.suffix.lower() == ".bz2":
        return bz2.open(raw or file)
    return raw or file.open("rb")


def disk_failed(error: BaseException) -> bool:
    """Whether the disk has failed, and not the content of the file."""
    return getattr(error, "errno", None) is not None

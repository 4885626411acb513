"""The tables that a command reads: one file, several, those of a folder, or standard input."""

from __future__ import annotations

import hashlib
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

import typer

from headrank.cli._failures import CommandError, about_option, about_output

if TYPE_CHECKING:
    from headrank.readers.opening import Layout, Tables

_DASH, _STANDARD_INPUT = Path("-"), "standard input"
_NAMES_SHOWN = 3
_FOREIGN = (".xls", ".ods", ".json", ".jsonl", ".feather", ".arrow", ".orc", ".dta", ".zip", ".html")
"""Suffixes of common table formats that are not supported."""
_NO_TEXT = (".parquet", ".xlsx")

_at_the_end: ContextVar[ExitStack] = ContextVar("at_the_end")
"""What is closed or removed at the end of the command, also after an interrupt."""
_read_once: ContextVar[list[Path]] = ContextVar("read_once")
"""The copy of standard input, if the command has read it."""
_T = TypeVar("_T")


@contextmanager
def temporary_files() -> Iterator[None]:
    """Remove at the end of the command what it has stored, and close what it has opened `until_the_end`."""
    with ExitStack() as ending:
        tokens = _at_the_end.set(ending), _read_once.set([])
        try:
            yield
        finally:
            _at_the_end.reset(tokens[0])
            _read_once.reset(tokens[1])


def until_the_end(context: AbstractContextManager[_T]) -> _T:
    """Enter a context that is left at the end of the command."""
    return _at_the_end.get().enter_context(context)


def temporary_folder(beside: Path | None = None) -> Path:
    """Make a folder that is removed at the end of the command, on the disk of a path if one is given.

    The usual place of temporary files may be in memory.
    """
    there = None if beside is None else next(each for each in beside.absolute().parents if each.is_dir())
    return Path(until_the_end(TemporaryDirectory(prefix="headrank-", dir=there)))


@dataclass(frozen=True)
class Input:
    """Files that are read one after the other as one table, or as one svmlight file.

    Attributes
    ----------
    typed : tuple of Path
        The paths as typed, ``-`` for standard input.
    given : tuple of Path
        The same with the tables of each folder in its place.
    paths : tuple of Path
        Where they are; standard input is stored in a temporary file.
    layout : Layout
        How text files are written.
    """

    typed: tuple[Path, ...]
    given: tuple[Path, ...]
    paths: tuple[Path, ...]
    layout: Layout

    @property
    def name(self) -> str:
        """The names of the files, without folders."""
        names = [_STANDARD_INPUT if path == _DASH else path.name for path in self.given]
        shown, more = names[:_NAMES_SHOWN], len(names) - _NAMES_SHOWN
        return ", ".join(shown) + (f" and {more} more" if more > 0 else "")

    def __str__(self) -> str:
        first = _STANDARD_INPUT if self.given[0] == _DASH else str(self.given[0])
        more = len(self.given) - 1
        return f"{first} and {more} more {'file' if more == 1 else 'files'}" if more else first

    @property
    def words(self) -> list[str]:
        """The files and folders as typed in a command, without the folders above them."""
        return ["-" if path == _DASH else path.resolve().name if path.is_dir() else path.name for path in self.typed]

    @property
    def is_table(self) -> bool:
        """Whether the files are tables, by their suffixes. Unsupported suffixes raise; anything else is svmlight."""
        kinds = {self._is_table(path) for path in self.given}
        if len(kinds) > 1:
            raise CommandError(f"{self.name} cannot be read together: some are tables, others svmlight files by suffix")
        return kinds.pop()

    def _is_table(self, path: Path) -> bool:
        from headrank.readers.opening import SUFFIXES

        if path.suffix.lower() in _FOREIGN:
            raise CommandError(
                f"{path} cannot be read: {path.suffix} files are not supported; save the table as .csv, .parquet or "
                ".xlsx"
            )
        return path == _DASH or self.layout.separator is not None or path.name.lower().endswith(SUFFIXES)

    @property
    def tables(self) -> Tables:
        """The files as tables; raises if one does not exist or is none."""
        from headrank.readers.opening import Tables, table_file

        return Tables(
            tuple(
                table_file(path, self.layout, _STANDARD_INPUT if given == _DASH else "")
                for given, path in zip(self.given, self.paths, strict=True)
            )
        )

    @property
    def sha256(self) -> str:
        """The hash of all files, one after the other."""
        digest = hashlib.sha256()
        for path in self.paths:
            with path.open("rb") as stream:
                while block := stream.read(1 << 20):
                    digest.update(block)
        return digest.hexdigest()

    def contains(self, file: Path) -> bool:
        """Whether a file is one of these."""
        return file.exists() and any(path.exists() and file.samefile(path) for path in self.paths)


def layout_of(separator: str | None, decimal: str | None, sheet: str | None, files: Sequence[Path]) -> Layout:
    """Return the layout of text files, or raise; an option that applies to none of the files raises, too."""
    from headrank.readers.opening import Layout

    given = {"--separator": separator, "--decimal": decimal, "--sheet": sheet}
    for option, value in given.items():
        if value is None:
            continue
        with about_option(option):
            Layout(**{option.removeprefix("--"): value})  # type: ignore[arg-type]
            for_text = option != "--sheet"
            if all(
                (file.suffix.lower() in _NO_TEXT) if for_text else (file.suffix.lower() != ".xlsx")
                for file in _without_folders(files)
            ):
                raise ValueError(f"none of the files is {'text' if for_text else 'a workbook (.xlsx)'}; omit it")
    return Layout(separator, decimal, sheet)  # type: ignore[arg-type]


def input_of(files: Sequence[Path], layout: Layout | None = None) -> Input:
    """Return the files to read; standard input is stored first, since tables are read more than once."""
    from headrank.readers.opening import PLAIN

    given = _without_folders(files)
    return Input(tuple(files), given, tuple(_stored() if file == _DASH else file for file in given), layout or PLAIN)


def _without_folders(files: Sequence[Path]) -> tuple[Path, ...]:
    return tuple(each for file in files for each in (_tables_in(file) if file.is_dir() else [file]))


def _tables_in(folder: Path) -> list[Path]:
    """Return the tables of a folder, sorted by name, or raise if it has none, or tables of several formats."""
    from headrank.readers.opening import SUFFIXES

    found = {
        path: suffix
        for path in sorted(folder.iterdir())
        for suffix in SUFFIXES
        if path.name.lower().endswith(suffix) and not path.name.startswith(".")
    }
    if not found:
        raise CommandError(
            f"{folder} is a folder without tables ({', '.join(SUFFIXES)}); give files, or another folder"
        )
    first = next(iter(found))
    if other := next((path for path, suffix in found.items() if suffix != found[first]), None):
        raise CommandError(
            f"{folder} is a folder with tables of several formats, such as {first.name} and {other.name}, which may be "
            "the same rows; give the files to read"
        )
    return [*found]


def _stored() -> Path:
    if _read_once.get():
        raise typer.BadParameter("standard input can be read only once", param_hint="'-'")
    path = temporary_folder() / "input.csv"
    _read_once.get().append(path)
    with about_output(f"a copy of standard input in {path.parent}"), path.open("wb") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
    return path

"""What went wrong? One line on stderr and an exit code; commands raise, and only `run` prints."""

from __future__ import annotations

import errno
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

import typer

from headrank.cli._interrupts import interruptible
from headrank.exceptions import InvalidSampleError, TooFewRowsError

ALL_WELL, BUG, WRONG_USE, BAD_INPUT, NOT_WRITTEN, TOO_FEW_ROWS, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130
EXIT_CODES = {
    ALL_WELL: "all well",
    BUG: "an error inside headrank, HEADRANK_TRACEBACK=1 shows where",
    WRONG_USE: "wrong use of the command line",
    BAD_INPUT: "the input cannot be used",
    NOT_WRITTEN: "the output cannot be written",
    TOO_FEW_ROWS: "too few rows for what was asked to be certain",
    INTERRUPTED: "interrupted",
}
"""What the exit codes mean."""

TRACEBACK = "HEADRANK_TRACEBACK"

# typer carries a copy of click in late versions and imports it in early ones; its public error descends from both.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]
_ClickException: type[Exception] = typer.BadParameter.__mro__[2]

_WAYS_OUT = {
    errno.ENOSPC: "the disk is full; free some space, or write to another disk",
    errno.EDQUOT: "your share of the disk is used up; free some space, or write to another disk",
    errno.EFBIG: "the file grew larger than it may; write to another disk, or raise the limit (ulimit -f)",
    errno.EACCES: "permission denied; choose a folder that you may write to",
    errno.EPERM: "permission denied; choose a folder that you may write to",
    errno.EROFS: "the disk can only be read; choose a folder that you may write to",
    errno.ENOTDIR: "a part of the path is a file and no folder; check the path",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
}


class Refusal(Exception):  # noqa: N818  # it refuses; nothing has gone wrong inside
    """Something that the user can mend, in a sentence that names cause and remedy, with its exit code."""

    def __init__(self, message: str, code: int = BAD_INPUT) -> None:
        super().__init__(message)
        self.code = code


@contextmanager
def about_input(path: str | os.PathLike[str] | None = None) -> Iterator[None]:
    """Within this block a `ValueError` or `OSError` means that the input cannot be used.

    >>> with about_input("scores.csv"):
    ...     raise PermissionError(13, "Permission denied", "scores.csv")
    Traceback (most recent call last):
        ...
    headrank.cli._failures.Refusal: scores.csv cannot be read: Permission denied; check the file and who may read it
    """
    try:
        yield
    except TooFewRowsError:
        raise
    except ValueError as error:
        raise Refusal(str(error), BAD_INPUT) from error
    except OSError as error:
        if error.errno is None:
            raise Refusal(str(error), BAD_INPUT) from error
        name = path or error.filename or "the input"
        raise Refusal(
            f"{name} cannot be read: {error.strerror}; check the file and who may read it", BAD_INPUT
        ) from error


@contextmanager
def about_output(path: str | os.PathLike[str]) -> Iterator[None]:
    """Within this block an `OSError` means that the output cannot be written; a `Refusal` passes through.

    Reading inside the block stands in an `about_input` of its own.

    >>> with about_output("scores.csv"):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
        ...
    headrank.cli._failures.Refusal: scores.csv cannot be written: the disk is full; free some space, or write to another
    disk; nothing was written
    """
    try:
        yield
    except OSError as error:
        if error.errno is None:
            reason = str(error)
        else:
            reason = _WAYS_OUT.get(error.errno, f"{error.strerror}; write it somewhere else")
        raise Refusal(f"{path} cannot be written: {reason}; nothing was written", NOT_WRITTEN) from error


@contextmanager
def after_writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Within this block the output is complete, which an interrupt then says."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        raise KeyboardInterrupt(f"{path} was already written") from interrupt


@contextmanager
def about_option(option: str | None = None) -> Iterator[None]:
    """Within this block a `ValueError` or `TypeError` means that an option was given a wrong value."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise typer.BadParameter(str(error), param_hint=f"'{option}'" if option else None) from error


def run(command: Callable[[], Any]) -> int:
    """Run a command and return its exit code; print one line on stderr if it fails."""
    with _own_warnings_in_a_line(), interruptible() as received:
        try:
            command()
            sys.stdout.flush()
            if received.interrupt:
                raise KeyboardInterrupt("all was already done")
        except BaseException as error:
            if isinstance(error, GeneratorExit):
                raise
            if received.interrupt and not isinstance(error, KeyboardInterrupt):
                error = KeyboardInterrupt()  # a library has made something else of it
            return _reported(error)
    return ALL_WELL


def _reported(error: BaseException) -> int:
    if isinstance(error, typer.Exit):
        return error.exit_code
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else BUG
    if isinstance(error, BrokenPipeError):
        # Whoever read the output has seen enough. Python would complain when it flushes what is left at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ALL_WELL
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error, file=sys.stderr)
    message, code = _judged(error)
    _print(message)
    return code


def _judged(error: BaseException) -> tuple[str, int]:
    """Return the message and the exit code of an error."""
    if isinstance(error, Refusal):
        return str(error), error.code
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return f"interrupted; {str(error) or 'nothing was written'}", INTERRUPTED
    if isinstance(error, _ClickException):
        return _usage(error)
    if isinstance(error, TooFewRowsError):
        return str(error), TOO_FEW_ROWS
    if isinstance(error, InvalidSampleError):
        return str(error), BAD_INPUT
    if isinstance(error, MemoryError):
        return (
            "there is not enough memory for this; use fewer columns or rows, or a machine with more memory",
            BAD_INPUT,
        )
    if isinstance(error, OSError) and error.filename is None and error.errno in (errno.ENOSPC, errno.EIO):
        return f"the output cannot be written: {_WAYS_OUT.get(error.errno, error.strerror)}", NOT_WRITTEN
    hint = "" if os.environ.get(TRACEBACK) else f"; {TRACEBACK}=1 shows where"
    return f"this is a bug in headrank, please report it: {type(error).__name__}: {error}{hint}", BUG


def _usage(error: Any) -> tuple[str, int]:
    path = error.ctx.command_path if getattr(error, "ctx", None) is not None else "headrank"
    if type(error).__name__ == "NoArgsIsHelpError":
        return f"a command is missing (see '{path} --help')", WRONG_USE
    message = error.format_message().rstrip().rstrip(".")
    return f"{message} (see '{path} --help')", error.exit_code


def _print(message: str) -> None:
    """Print on one line, whatever the message holds; who does not listen is not told."""
    with suppress(BrokenPipeError):
        print(f"headrank: {' '.join(message.split())}", file=sys.stderr, flush=True)


@contextmanager
def _own_warnings_in_a_line() -> Iterator[None]:
    """Show each warning of headrank once and in a line, and none of the libraries': a user cannot mend those."""
    package = str(Path(__file__).parents[1])
    seen: set[str] = set()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,  # noqa: ARG001  # the signature is Python's
        file: TextIO | None = None,  # noqa: ARG001
        line: str | None = None,  # noqa: ARG001
    ) -> None:
        own = category.__module__.startswith("headrank") or filename.startswith(package)
        if own and str(message) not in seen:
            seen.add(str(message))
            _print(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield

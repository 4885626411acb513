"""Errors of the command line: one line on stderr and an exit code. Commands raise; only `run` prints."""

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

ALL_WELL, BUG, WRONG_USE, BAD_INPUT, NOT_WRITTEN, TOO_FEW_ROWS, DRIFT, INTERRUPTED = 0, 1, 2, 3, 4, 5, 6, 130
EXIT_CODES = {
    ALL_WELL: "success",
    BUG: "internal error (HEADRANK_TRACEBACK=1 shows the traceback)",
    WRONG_USE: "usage error",
    BAD_INPUT: "invalid input",
    NOT_WRITTEN: "the output cannot be written",
    TOO_FEW_ROWS: "too few rows for the requested guarantee",
    DRIFT: "drift (score --fail-on-drift)",
    INTERRUPTED: "interrupted",
}
"""Meaning of the exit codes."""

TRACEBACK = "HEADRANK_TRACEBACK"

# Recent versions of typer bundle click, earlier ones import it; typer's public error derives from it in both.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]
_ClickException: type[Exception] = typer.BadParameter.__mro__[2]

_WRITE_ERRORS = {
    errno.ENOSPC: "the disk is full; free some space, or write to another disk",
    errno.EDQUOT: "the disk quota is exceeded; free some space, or write to another disk",
    errno.EFBIG: "the file exceeds the size limit; write to another disk, or raise the limit (ulimit -f)",
    errno.EACCES: "permission denied; choose a folder that you can write to",
    errno.EPERM: "permission denied; choose a folder that you can write to",
    errno.EROFS: "the disk is read-only; choose a folder that you can write to",
    errno.ENOTDIR: "part of the path is a file, not a folder; check the path",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
}


class CommandError(Exception):
    """An error that the user can fix: a message with its cause and remedy, and an exit code."""

    def __init__(self, message: str, code: int = BAD_INPUT) -> None:
        super().__init__(message)
        self.code = code


@contextmanager
def about_input(path: object | None = None) -> Iterator[None]:
    """Turn a `ValueError` or `OSError` in this block into an error about the input.

    >>> with about_input("scores.csv"):
    ...     raise PermissionError(13, "Permission denied", "scores.csv")
    Traceback (most recent call last):
        ...
    headrank.cli._failures.CommandError: scores.csv cannot be read: Permission denied; check the file and its
    permissions
    """
    try:
        yield
    except TooFewRowsError:
        raise
    except ValueError as error:
        raise CommandError(str(error), BAD_INPUT) from error
    except OSError as error:
        if error.errno is None:
            raise CommandError(str(error), BAD_INPUT) from error
        name = path or error.filename or "the input"
        raise CommandError(f"{name} cannot be read: {error.strerror}; check the file and its permissions") from error


@contextmanager
def about_output(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn an `OSError` in this block into an error about the output; a `CommandError` passes through.

    Reading inside the block needs an `about_input` of its own.

    >>> with about_output("scores.csv"):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
        ...
    headrank.cli._failures.CommandError: scores.csv cannot be written: the disk is full; free some space, or write to
    another disk; nothing was written
    """
    try:
        yield
    except OSError as error:
        if error.errno is None:
            reason = str(error)
        else:
            reason = _WRITE_ERRORS.get(error.errno, f"{error.strerror}; choose another location")
        raise CommandError(f"{path} cannot be written: {reason}; nothing was written", NOT_WRITTEN) from error


@contextmanager
def after_writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Make an interrupt in this block say that the output is complete."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        raise KeyboardInterrupt(f"{path} was already written") from interrupt


@contextmanager
def about_option(option: str | None = None) -> Iterator[None]:
    """Turn a `ValueError` or `TypeError` in this block into an error about the value of an option."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise typer.BadParameter(str(error), param_hint=f"'{option}'" if option else None) from error


def run(command: Callable[[], Any]) -> int:
    """Run a command and return its exit code; print one line on stderr if it fails."""
    with _one_line_warnings(), interruptible() as received:
        try:
            command()
            sys.stdout.flush()
            if received.interrupt:
                raise KeyboardInterrupt("the command had already finished")
        except BaseException as error:
            if isinstance(error, GeneratorExit):
                raise
            if received.interrupt and not isinstance(error, KeyboardInterrupt):
                error = KeyboardInterrupt()  # a library has converted it
            return _reported(error)
    return ALL_WELL


def _reported(error: BaseException) -> int:
    if isinstance(error, typer.Exit):
        return error.exit_code
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else BUG
    if isinstance(error, BrokenPipeError):
        # The reader closed the pipe. Python would complain when it flushes the remaining output at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ALL_WELL
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error, file=sys.stderr)
    message, code = _classified(error)
    _print(message)
    return code


def _classified(error: BaseException) -> tuple[str, int]:
    """Return the message and the exit code of an error."""
    if isinstance(error, CommandError):
        return str(error), error.code
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return f"interrupted; {str(error) or 'nothing was written'}", INTERRUPTED
    if isinstance(error, _ClickException):
        return _usage(error)
    if isinstance(error, TooFewRowsError):
        return str(error), TOO_FEW_ROWS
    if isinstance(error, InvalidSampleError):
        return str(error), BAD_INPUT
    if isinstance(error, ModuleNotFoundError) and "headrank[" in str(error):  # it says which extra to install
        return str(error), WRONG_USE
    if isinstance(error, MemoryError):
        return (
            "out of memory; use fewer columns or rows, or a machine with more memory",
            BAD_INPUT,
        )
    if isinstance(error, OSError) and error.filename is None and error.errno in (errno.ENOSPC, errno.EIO):
        return f"the output cannot be written: {_WRITE_ERRORS.get(error.errno, error.strerror)}", NOT_WRITTEN
    hint = "" if os.environ.get(TRACEBACK) else f"; {TRACEBACK}=1 shows the traceback"
    return f"this is a bug in headrank, please report it: {type(error).__name__}: {error}{hint}", BUG


def _usage(error: Any) -> tuple[str, int]:
    path = error.ctx.command_path if getattr(error, "ctx", None) is not None else "headrank"
    if type(error).__name__ == "NoArgsIsHelpError":
        return f"missing command (see '{path} --help')", WRONG_USE
    message = error.format_message().rstrip().rstrip(".").replace(": Value error, ", ": ")  # of a choice
    return f"{message} (see '{path} --help')", error.exit_code


def _print(message: str) -> None:
    """Print the message in one line; ignore a closed stderr."""
    with suppress(BrokenPipeError):
        print(f"headrank: {' '.join(message.split())}", file=sys.stderr, flush=True)


@contextmanager
def _one_line_warnings() -> Iterator[None]:
    """Show each warning of headrank once, in one line. Warnings of libraries are hidden: users cannot fix those."""
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

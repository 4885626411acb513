"""Failures: one line, the right code, whatever goes wrong and whoever raised it."""

import errno
import os
import signal
import sys
import time
import warnings

import pytest
import typer

from cli.running import Done, refused, run
from headrank.cli import _failures as failures
from headrank.cli._failures import EXIT_CODES, CommandError, about_input, about_option, about_output
from headrank.cli._program import app
from headrank.exceptions import CollapsedFitWarning, InvalidSampleError, TooFewRowsError
from platforms import posix_signals


def outcome(capsys, command):
    code = failures.run(command)
    printed = capsys.readouterr()
    return Done(code, printed.out, printed.err)


def raising(error):
    def command():
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (CommandError("the file is odd; mend it"), 3, "the file is odd; mend it"),
        (CommandError("no room", failures.NOT_WRITTEN), 4, "no room"),
        (InvalidSampleError("y is odd"), 3, "y is odd"),
        (TooFewRowsError("needs 9 rows", 9, 3), 5, "needs 9 rows"),
        (KeyboardInterrupt(), 130, "interrupted; nothing was written"),
        (typer.Abort(), 130, "interrupted"),
        (MemoryError(), 3, "out of memory"),
        (typer.BadParameter("odd", param_hint="'--top'"), 2, "Invalid value for '--top': odd (see 'headrank --help')"),
        (
            typer.BadParameter("Value error, 'x' is not one of 'a', 'b'", param_hint="'--models'"),
            2,
            "Invalid value for '--models': 'x' is not one of 'a', 'b' (see 'headrank --help')",
        ),
        (OSError(errno.ENOSPC, "No space left on device"), 4, "the disk is full"),
        (ValueError("two\nlines"), 1, "this is a bug in headrank, please report it: ValueError: two lines"),
        (ZeroDivisionError("x"), 1, "HEADRANK_TRACEBACK=1 shows the traceback"),
        (RuntimeError(), 1, "RuntimeError"),
    ],
)
def test_every_error_is_a_line_and_a_code(capsys, error, code, words):
    assert refused(outcome(capsys, raising(error)), code, words)
    assert code in EXIT_CODES


def test_all_well(capsys):
    assert outcome(capsys, lambda: print("fine")) == Done(0, "fine\n", "")


@pytest.mark.parametrize("code", [0, 3])
def test_a_command_may_end_early(capsys, code):
    assert outcome(capsys, raising(typer.Exit(code))) == Done(code, "", "")
    assert outcome(capsys, raising(SystemExit(code))) == Done(code, "", "")


def test_the_traceback_can_be_asked_for(capsys, monkeypatch):
    monkeypatch.setenv("HEADRANK_TRACEBACK", "1")
    done = outcome(capsys, raising(ZeroDivisionError("x")))
    assert "Traceback (most recent call last)" in done.err
    assert done.err.splitlines()[-1] == "headrank: this is a bug in headrank, please report it: ZeroDivisionError: x"


@posix_signals
def test_being_terminated_is_being_interrupted(capsys):
    before = signal.getsignal(signal.SIGTERM)
    done = outcome(capsys, lambda: os.kill(os.getpid(), signal.SIGTERM))
    assert refused(done, 130, "interrupted; nothing was written")
    assert signal.getsignal(signal.SIGTERM) is before


class Fleeting:
    """An object during whose end something happens, which Python does not let out."""

    def __init__(self, happens):
        self.happens = happens

    def __del__(self):
        self.happens()


@pytest.fixture
def ctrl_c():
    """Ctrl-C as Python has it, which it has not in a process that was started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def no_ctrl_c():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


@posix_signals
@pytest.mark.parametrize(
    ("sign", "started"), [(signal.SIGINT, "ctrl_c"), (signal.SIGTERM, "ctrl_c"), (signal.SIGTERM, "no_ctrl_c")]
)
def test_an_interrupt_that_python_swallows_is_heeded_all_the_same(capsys, request, sign, started):
    request.getfixturevalue(started)
    hook = sys.unraisablehook

    def command():
        Fleeting(lambda: os.kill(os.getpid(), sign))
        while True:  # the interrupt ends it, or the time limit of the test
            time.sleep(0.001)

    assert refused(outcome(capsys, command), 130, "interrupted; nothing was written")
    assert sys.unraisablehook is hook


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_other_errors_that_python_swallows_are_not_interrupts(capsys):
    done = outcome(capsys, lambda: Fleeting(raising(ZeroDivisionError("x"))))
    assert done.code == 0
    assert "interrupted" not in done.err


@pytest.mark.filterwarnings("always")
def test_own_warnings_are_a_line_each_and_foreign_ones_are_not_shown(capsys):
    def command():
        for _ in range(2):
            warnings.warn("learned nothing;\nuse more rows", CollapsedFitWarning, stacklevel=1)
            warnings.warn("a library changes its mind", FutureWarning, stacklevel=1)

    shown_before = warnings.showwarning
    done = outcome(capsys, command)
    assert done == Done(0, "", "headrank: warning: learned nothing; use more rows\n")
    assert warnings.showwarning is shown_before


# -- what an error is about -------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [ValueError("odd"), OSError("odd"), InvalidSampleError("odd")])
def test_errors_about_the_input(capsys, error):
    def command():
        with about_input("t.csv"):
            raise error

    assert refused(outcome(capsys, command), 3, "odd")


def test_what_the_disk_says_about_the_input_is_put_in_words(capsys):
    def command():
        with about_input("t.csv"):
            raise PermissionError(errno.EACCES, "Permission denied", "t.csv")

    assert refused(outcome(capsys, command), 3, "t.csv cannot be read: Permission denied; check")


def test_too_few_rows_are_not_bad_input(capsys):
    def command():
        with about_input("t.csv"):
            raise TooFewRowsError("few", 9, 3)

    assert refused(outcome(capsys, command), 5, "few")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "the disk is full; free some space"),
        (
            PermissionError(errno.EACCES, "Permission denied"),
            "permission denied; choose a folder that you can write to",
        ),
        (NotADirectoryError(errno.ENOTDIR, "Not a directory"), "part of the path is a file"),
        (FileNotFoundError("there is no folder x; make it first"), "there is no folder x; make it first"),
        (OSError(errno.EIO, "Input/output error"), "Input/output error; choose another location"),
    ],
)
def test_errors_about_the_output(capsys, error, words):
    def command():
        with about_output("o.csv"):
            raise error

    assert refused(outcome(capsys, command), 4, f"o.csv cannot be written: {words}", "nothing was written")


def test_reading_inside_writing_is_about_the_input(capsys):
    def command():
        with about_output("o.csv"), about_input("t.csv"):
            raise OSError(errno.EIO, "Input/output error")

    assert refused(outcome(capsys, command), 3, "t.csv cannot be read")


def test_errors_about_an_option(capsys):
    def command():
        with about_option("--top"):
            raise ValueError("odd")

    assert refused(outcome(capsys, command), 2, "Invalid value for '--top': odd")


# -- the whole command line ----------------------------------------------------------------------------------


def test_version(capsys):
    import headrank

    assert run(capsys, "--version") == Done(0, f"headrank {headrank.__version__}\n", "")


def test_help_names_the_commands_and_ends_with_the_exit_codes(capsys):
    done = run(capsys, "--help")
    text = " ".join(done.out.split())
    assert (done.code, done.err) == (0, "")
    for command in ("fit", "score", "evaluate", "compare", "threshold", "plan", "demo"):
        assert f" {command} " in text
    for code, meaning in EXIT_CODES.items():
        assert f"{code} {meaning}" in text.partition("Exit codes:")[2]


@pytest.mark.parametrize("command", [command.name for command in app.registered_commands])
def test_every_command_has_an_example(capsys, command):
    done = run(capsys, command, "--help")
    assert done.code == 0
    assert f"Example: headrank {command}" in " ".join(done.out.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["thresh"], "Did you mean 'threshold'?"),
        (["plan", "--epsilom", "1"], "--epsilon"),
        (["plan", "--epsilon", "x", "--positive-rate", "0.1"], "Invalid value for '--epsilon'"),
        (["evaluate"], "(see 'headrank evaluate --help')"),
    ],
)
def test_wrong_use_is_a_line(capsys, arguments, words):
    assert refused(run(capsys, *arguments), 2, words)


def test_no_arguments_show_the_help(capsys):
    done = run(capsys)
    assert done.code == 2
    assert "Usage: headrank" in done.out
    assert "Traceback" not in done.err

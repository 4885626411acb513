"""Running the command line: in this process for most tests, as the installed command for some."""

import os
import re
import signal
import subprocess
import sys
import sysconfig
import time
from dataclasses import dataclass
from pathlib import Path

from headrank.cli import main
from platforms import POSIX


@dataclass(frozen=True)
class Done:
    """What a run left behind."""

    code: int
    out: str
    err: str

    @property
    def complaint(self):
        """The one line that a failure prints, besides progress if it took long."""
        lines = [line for line in self.err.splitlines() if not re.match(r"\[[0-9:]+\] ", line)]
        assert len(lines) == 1, self.err
        assert lines[0].startswith("headrank: ")
        assert "Traceback" not in self.err
        return lines[0]


def run(capsys, *arguments):
    """Run the command line in this process."""
    capsys.readouterr()
    code = main([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    return Done(code, printed.out, printed.err)


def installed_command():
    """Return how to start the installed command: the console script, or the module where there is no script."""
    script = Path(sysconfig.get_path("scripts")) / ("headrank" if POSIX else "headrank.exe")
    return [str(script)] if script.exists() else [sys.executable, "-m", "headrank"]


def heed_ctrl_c():
    """Let a process to come hear Ctrl-C, though the tests themselves may run in the background, where it is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(*arguments, cwd=None, command=None, preexec_fn=heed_ctrl_c, **options):
    """Start the installed command, or another ``command``, as a process of its own."""
    command = installed_command() if command is None else command
    return subprocess.Popen(
        [*command, *map(str, arguments)],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "200", "HEADRANK_TRACEBACK": ""},
        preexec_fn=preexec_fn if POSIX else None,
        **options,
    )


STANDING = """
import importlib, sys, time
from pathlib import Path
from headrank.cli import main
module, kind, method, calls, mark = sys.argv[1:6]
kind = getattr(importlib.import_module(module), kind)
original, left = getattr(kind, method), int(calls)
def standing(*arguments, **options):
    global left
    left -= 1
    if left == 0:
        Path(mark).touch()
        while True:  # short waits: one that a library's handler of signals restarts would never end
            time.sleep(0.01)
    return original(*arguments, **options)
setattr(kind, method, standing)
sys.exit(main(sys.argv[6:]))
"""


def start_and_stand(method, mark, *arguments, calls=1, cwd=None):
    """Start the command and wait until it stands still at the given call of a method, where it would stay for ever.

    It writes the file ``mark`` then, so that nothing depends on how fast this machine is.
    """
    where = [method.__module__, *method.__qualname__.split("."), str(calls), str(mark)]
    process = start(*arguments, cwd=cwd, command=[sys.executable, "-c", STANDING, *where])
    while not mark.exists():  # a poll; the time limit of the test ends it
        assert process.poll() is None, finish(process)
        time.sleep(0.01)
    return process


def finish(process, *, timeout=300):
    """Wait for a process and return what it left behind."""
    out, err = process.communicate(timeout=timeout)
    return Done(process.returncode, out, err)


def refused(done, code, *words):
    """Assert that a run failed as it should: one line that says all of these words, nothing on stdout, this code."""
    assert done.code == code, done
    assert not done.out
    for word in words:
        assert word in done.complaint, done.complaint
    return True


def left_in(folder):
    """Return the names of all files in a folder, hidden ones too."""
    return sorted(path.name for path in Path(folder).iterdir())

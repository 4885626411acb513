"""Running the command line: in this process for most tests, as the installed command for some."""

import os
import signal
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from headrank.cli import main


@dataclass(frozen=True)
class Done:
    """What a run left behind."""

    code: int
    out: str
    err: str

    @property
    def complaint(self):
        """The one line that a failure prints."""
        lines = self.err.splitlines()
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
    script = Path(sysconfig.get_path("scripts")) / "headrank"
    return [str(script)] if script.exists() else [sys.executable, "-m", "headrank"]


def heed_ctrl_c():
    """Let a process to come hear Ctrl-C, though the tests themselves may run in the background, where it is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(*arguments, cwd=None, as_module=False, preexec_fn=heed_ctrl_c, **options):
    """Start the installed command as a process of its own."""
    command = [sys.executable, "-m", "headrank"] if as_module else installed_command()
    return subprocess.Popen(
        [*command, *map(str, arguments)],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "200", "HEADRANK_TRACEBACK": ""},
        preexec_fn=preexec_fn,
        **options,
    )


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

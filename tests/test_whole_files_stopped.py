"""Files and folders written by a process that is stopped at each of its file operations."""

import os
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and signals")

SITUATIONS = ("new", "empty", "exchanged", "moved", "inside", "with a folder", "new file", "old file")
INCOMPLETE = ("moved", "inside", "with a folder")
"""Where the folder cannot be replaced in one step: after a kill, files may be missing until the next run."""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and POSIX signals")
@pytest.mark.parametrize("situation", SITUATIONS)
def test_stopped_at_each_file_operation(situation):
    # A process of its own, since only one without threads can be forked safely.
    command, environment = [sys.executable, __file__, situation], {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    n_stops, n_old, n_new = map(int, done.stdout.split())
    assert n_stops >= 15
    assert n_old
    assert n_new


def _deny(*_args, **_options):
    raise PermissionError(13, "Permission denied")


class Situation:
    """One folder or file before, during and after a run."""

    def __init__(self, name, root):
        from headrank import _whole_files

        self.name, self.root = name, root
        self.is_file = name.endswith("file")
        self.out = root / "out" if name != "new" else root / "n1" / "out"
        self.others = {"mine": "precious"} if name in ("exchanged", *INCOMPLETE) else {}
        self.old = {"a": "old", "b": "old"} if self.others else {"out": "old"} if name == "old file" else {}
        self.whole = _whole_files
        _whole_files.os.fsync = lambda _descriptor: None  # slow, and of no account unless the power fails
        if name == "moved":
            _whole_files._exchange = _deny
        if name == "inside":
            _whole_files._beside = lambda _final: Path("/proc/headrank")

    def prepare(self):
        """Bring about how it is before the run."""
        import shutil

        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir()
        if self.is_file:
            for name, text in self.old.items():
                (self.root / name).write_text(text)
        elif self.name != "new":
            self.out.mkdir()
            for name, text in {**self.old, **self.others}.items():
                (self.out / name).write_text(text)
            if self.name == "with a folder":
                (self.out / "notes").mkdir()

    def write(self, text="new", *, overwrite=None):
        """Run; without a text it fails halfway."""

        def fill(unfinished):
            for name in [""] if self.is_file else ["a", "b", "c"]:
                (unfinished / name).write_text(text or "half")
            if text is None:
                raise ZeroDivisionError

        if self.is_file:
            return self.whole.write_file(self.out, fill)
        return self.whole.write_folder(self.out, fill, overwrite=bool(self.old) if overwrite is None else overwrite)

    def found(self, *, hidden):
        """The files of runs, and whether all others are as they were."""
        folder = self.root if self.is_file else self.out
        files = {path.name: path for path in folder.iterdir()} if folder.exists() else {}
        if hidden:
            files = {name: path for name, path in files.items() if not name.startswith(".")}
        if self.name == "with a folder":
            assert files.pop("notes").is_dir()
        texts = {name: path.read_text() for name, path in files.items()}
        for name, text in self.others.items():
            assert texts.pop(name) == text
        return texts

    def complete(self, text):
        """What is there when a run is done."""
        return {"out": text} if self.is_file else dict.fromkeys("abc", text)

    def left(self):
        """Names of all that is not the output."""
        return [str(path) for path in self.root.rglob("*") if path.name.startswith(".") or path.name == "lock"]


def _check(name, root):
    import signal

    from headrank.cli._failures import run
    from stopping import outcomes

    states = Counter()
    for sign in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
        situation = Situation(name, root)
        old, new = situation.old, situation.complete("new")
        for code in outcomes(lambda s=situation: run(s.write), sign, root=root, prepare=situation.prepare):
            found = situation.found(hidden=sign == signal.SIGKILL)
            states["stops"] += 1
            states["old"] += found == old
            states["new"] += found == new
            if sign == signal.SIGKILL:
                assert code == -sign, code
                one_run = found.items() <= old.items() or found.items() <= new.items()
                assert found in (old, new) or (name in INCOMPLETE and one_run), found
                with suppress(ZeroDivisionError):
                    situation.write(None, overwrite=True)
                assert situation.found(hidden=False) in (old, new), situation.found(hidden=False)
                situation.write("next", overwrite=True)
                assert situation.found(hidden=False) == situation.complete("next"), situation.found(hidden=False)
            else:
                assert code == 130, (code, states)
                assert found in (old, new), found
                assert situation.out.exists() or not any(root.iterdir()), list(root.rglob("*"))
                assert situation.out.exists() == bool(found) or name == "empty", list(root.rglob("*"))
            assert not situation.left(), situation.left()
    print(states["stops"], states["old"], states["new"])


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    with tempfile.TemporaryDirectory() as folder:
        _check(sys.argv[1], Path(folder).resolve() / "root space")

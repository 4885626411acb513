"""``headrank fit`` stopped at many of its file operations: all files of one run, of the old or of the new one."""

import os
import pickle
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="needs fork and signals"),
]

STEP = 7
"""Each operation is tried in ``test_whole_files_stopped.py``, where a run takes milliseconds."""


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A table, and what training on it with two seeds gives: only the writing is repeated."""
    import headrank.training.train as module
    from cli.tables import clean
    from headrank.cli import main

    folder, train = tmp_path_factory.mktemp("trained"), module.train
    clean().write_csv(folder / "parts.csv")
    for seed in (0, 1):

        def kept(*args, seed=seed, **options):
            contest = train(*args, **options)
            (folder / f"contest{seed}").write_bytes(pickle.dumps(contest))
            return contest

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "train", kept)
            assert main(fit(folder, seed, folder / f"run{seed}")) == 0
    return folder


@pytest.mark.parametrize("overwrite", [True, False])
def test_stopped_at_file_operations(trained, tmp_path, overwrite):
    # A process of its own, since only one without threads can be forked safely.
    command = [sys.executable, __file__, str(trained), str(tmp_path / "here"), "overwrite" if overwrite else "new"]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    n_stops, n_old, n_new = map(int, done.stdout.splitlines()[-1].split())
    assert n_stops >= 12
    assert n_old
    assert n_new


def fit(folder, seed, out, *options):
    """Arguments of the command line."""
    words = ["fit", folder / "parts.csv", "--target", "broken", "--models", "linear", "--seed", seed, "--out", out]
    return [str(word) for word in (*words, *options)]


def _contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


def _check(trained, root, overwrite):
    # What the command imports when it needs it is imported here, once for all forks.
    import skops.io  # noqa: F401
    import skrub  # noqa: F401

    import headrank.model_io
    import headrank.readers.tables
    import headrank.reports
    import headrank.training.outputs
    import headrank.training.train as module
    from headrank.cli import main
    from stopping import outcomes

    out, options = root / "out", ["--overwrite"] if overwrite else []
    old, new = _contents(trained / "run0") if overwrite else {}, _contents(trained / "run1")
    assert not set(old.values()) & set(new.values())
    assert len(new) == 4

    os.fsync = lambda _descriptor: None  # slow, and of no account unless the power fails

    def prepare():
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir()
        if overwrite:
            shutil.copytree(trained / "run0", out)

    def job(*more):
        headrank.reports.render_html = lambda _summary: new["report.html"].decode()
        module.train = lambda *_args, **_options: pickle.loads((trained / "contest1").read_bytes())
        return main(fit(trained, 1, out, *options, *more))

    states = Counter()
    for sign in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
        for code in outcomes(job, sign, root=root, prepare=prepare, step=STEP):
            found = _contents(out)
            if sign == signal.SIGKILL:
                found.pop(".headrank.probe", None)  # empty and hidden; the next run removes it
            assert found in (old, new), sorted(found)
            states["stops"] += 1
            states["old"] += found == old
            states["new"] += found == new
            if sign == signal.SIGKILL:
                assert code == -sign
                child = os.fork()
                if child == 0:
                    os._exit(job("--overwrite"))
                assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
                assert _contents(out) == new
                assert os.listdir(root) == ["out"]
            else:
                assert code == 130
                assert os.listdir(root) == (["out"] if found else [])
    print(states["stops"], states["old"], states["new"])


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    _check(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] == "overwrite")

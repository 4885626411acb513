"""The installed command as a process of its own: what a shell sees, also when it is interrupted or the disk is full."""

import json
import signal
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from skrub import TableVectorizer

from cli.running import Done, finish, installed_command, left_in, refused, start, start_and_stand
from headrank.model_io import save
from headrank.training.columns import Column
from headrank.training.goal import Goal
from headrank.training.table_model import TableModel
from platforms import dev_full, file_size_limits, posix_signals


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model, a short table and a long one."""
    folder = tmp_path_factory.mktemp("installed")
    rng = np.random.default_rng(0)
    X = pl.DataFrame(rng.normal(size=(100_000, 2)), schema=["a", "b"])
    pipeline = make_pipeline(TableVectorizer(), LogisticRegression()).fit(X[:200], np.arange(200) % 2)
    columns = (Column("a", "number"), Column("b", "number"))
    model = TableModel(
        name="plain",
        estimator=pipeline,
        columns=columns,
        n_features=2,
        target="y",
        positive="1",
        goal=Goal(top=0.1),
        threshold=0.0,
        promise="no promise",
    )
    save(model, folder / "model")
    X.write_csv(folder / "long.csv")
    X[:500].write_csv(folder / "short.csv")
    return folder


@pytest.fixture
def out(folder):
    """A folder for the output."""
    path = folder / "out"
    path.mkdir()
    yield path
    for file in path.iterdir():
        file.unlink()
    path.rmdir()


@pytest.mark.parametrize("command", [[sys.executable, "-m", "headrank"], None], ids=["python -m headrank", "headrank"])
def test_the_command_is_there(command):
    done = finish(start("plan", "--epsilon", "0.1", "--positive-rate", "0.1", "--json", command=command))
    assert done.code == 0
    assert json.loads(done.out)["command"] == "plan"


@pytest.mark.slow  # below, it is interrupted or the disk is full; `test_fit.py` fits in a process of its own
def test_score_as_a_process(folder, out):
    done = finish(start("score", "model", "short.csv", "--out", "out/o.csv", cwd=folder))
    assert (done.code, done.err) == (0, "")
    assert pl.read_csv(out / "o.csv").height == 500


def test_evaluate_as_a_process(scores):
    done = finish(start("evaluate", scores, "--target", "ill", "--score", "good", "--json"))
    assert done.code == 0
    assert json.loads(done.out)["n_rows"] == 1200


def test_a_refusal_as_a_process(scores):
    assert refused(finish(start("evaluate", scores, "--target", "il", "--score", "good")), 3, "did you mean 'ill'")


@posix_signals
@pytest.mark.parametrize("sign", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_interrupted_in_the_middle(folder, out, sign, tmp_path):
    arguments = ["score", "model", "short.csv", "--out", "out/o.csv", "--block", 100]
    process = start_and_stand(TableModel.decision_function, tmp_path / "mark", *arguments, calls=3, cwd=folder)
    assert left_in(out) != []  # rows are being written
    process.send_signal(sign)
    assert refused(finish(process), 130, "interrupted; nothing was written")
    assert left_in(out) == []


@file_size_limits
def test_a_full_disk(folder, out):
    import resource

    def small_files_only():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    process = start("score", "model", "long.csv", "--out", "out/o.csv", cwd=folder, preexec_fn=small_files_only)
    assert refused(finish(process), 4, "out/o.csv cannot be written", "nothing was written")
    assert left_in(out) == []


PLAN = ["plan", "--epsilon", "0.1", "--positive-rate", "0.1"]


@dev_full
def test_output_that_goes_to_a_full_disk():
    command = [*installed_command(), *PLAN]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert refused(Done(done.returncode, "", done.stderr), 4, "the output cannot be written: the disk is full; free")


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_reader_who_has_seen_enough(options):
    with start(*PLAN, *options) as process:
        process.stdout.close()
        assert process.wait(300) == 0
        assert "Traceback" not in process.stderr.read()


def test_interrupted_while_importing():
    code = (
        "import sys, headrank.cli\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'typer': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "sys.exit(headrank.cli.main(['--help']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert refused(Done(done.returncode, done.stdout, done.stderr), 130, "interrupted; nothing was written")


def test_help_does_not_load_what_commands_need():
    code = (
        "import sys; from headrank.cli import main; main(['--help']); main(['fit', '--help']);"
        "print({'polars', 'scipy', 'sklearn', 'skrub', 'matplotlib', 'pandas'} & set(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "set()"

"""The experiments run, on rows few enough to wait for, and their frames make sense."""

import importlib
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from experiments import convergence as conv
from experiments import rivals as riv
from experiments import run_time as rt


@pytest.fixture(scope="module")
def sample():
    return rt.large_sample(1000, 4, positive_rate=0.1)


def is_png(path):
    return path.read_bytes().startswith(b"\x89PNG")


def test_run_time_counts_calls_and_both_solvers_agree(sample):
    result = rt.run_time(*sample, max_fprs=[0.1, 0.5, 1.0])
    frame = result.to_frame()
    assert frame.height == 6
    assert set(frame["solver"]) == {"cutting-plane", "hybrid"}
    assert frame["certified"].all()
    assert (frame["calls"] >= frame["passes"]).all()
    assert (frame["ms_per_call"] > 0).all()
    paper = frame.filter(frame["solver"] == "cutting-plane")
    assert paper["calls"].to_list() == paper["passes"].to_list()
    for _, both in frame.group_by("max_fpr"):
        assert np.ptp(both["risk"].to_numpy()) < 0.02
    assert (paper.sort("max_fpr")["risk"].diff().drop_nulls() < 0).all()  # the wider the range, the easier
    assert "epsilon" in str(result)


def test_run_time_says_when_it_ran_out(sample):
    result = rt.run_time(*sample, max_fprs=[0.1], solvers=["cutting-plane"], max_iter=2)
    assert result.to_frame()["certified"].to_list() == [False]
    assert "ran out" in str(result)
    assert rt.plot_run_time(result).axes


def test_run_time_command_writes_a_figure(tmp_path, capsys):
    rt.main(["--out", str(tmp_path / "new"), "--rows", "1000", "--features", "3", "--max-iter", "30"])
    assert is_png(tmp_path / "new" / "run_time.png")
    assert "ms per call" in capsys.readouterr().out


def test_convergence_gaps_fall_and_the_true_one_is_the_smaller(sample):
    result = conv.convergence(*sample, settings=conv.SETTINGS[:2], tol=1e-2)
    runs = result.runs()
    assert len(runs) == 4
    for steps in runs.values():
        assert steps[-1].proven_gap <= 1e-2
        for unit in ("n_iter", "passes", "seconds"):
            assert np.all(np.diff([getattr(step, unit) for step in steps]) > 0)
        assert np.all(np.diff([step.proven_gap for step in steps]) <= 1e-12)
        assert all(step.true_gap <= step.proven_gap + 1e-12 for step in steps)
    for (_, solver), steps in runs.items():
        if solver == "cutting-plane":
            assert steps[-1].passes == len(steps) - 0.5  # at w = 0 the scores are known
    assert result.to_frame().height == sum(map(len, runs.values()))
    assert len(conv.plot_convergence(result).axes) == 4


def test_convergence_command_writes_figure_and_steps(tmp_path, capsys):
    conv.main(["--out", str(tmp_path), "--rows", "600", "--features", "3", "--max-iter", "20"])
    assert is_png(tmp_path / "convergence.png")
    assert (tmp_path / "convergence.csv").read_text().startswith("setting,solver")
    assert "hybrid" in capsys.readouterr().out


def test_rivals_compare_on_dense_and_sparse_rows(sample):
    X, y = sample
    told = []
    result = riv.rivals(
        [("dense", X.astype(np.float32), y.astype(np.int8)), ("sparse", sp.csr_matrix(X), y.astype(np.int8))],
        ranges=[(0.0, 0.2), (0.05, 0.2)],
        n_splits=2,
        ranker_Cs=[1.0, 10.0],
        classifier_Cs=[0.1, 1.0],
        tell=told.append,
    )
    frame = result.to_frame()
    assert told[-1] == "sparse, split 2 of 2"
    assert frame.height == 2 * 2 * 4
    assert frame["test_pauc"].min() > 0.5  # chance is 0.1
    assert (frame["standard_error"] >= 0).all()
    assert (frame["n_collapsed"] == 0).all()
    assert result.outcomes_frame().height == 2 * frame.height
    assert str(result).count("*") >= 5
    assert "tight against LinearSVC" in str(result)


def test_rivals_report_a_collapse(sample):
    X, y = sample
    noise = np.random.default_rng(0).normal(size=X.shape)
    result = riv.rivals(
        [("noise", noise, y.astype(np.int8))], ranges=[(0.0, 0.05)], n_splits=1, ranker_Cs=[1.0], classifier_Cs=[1.0]
    )
    frame = result.to_frame()
    assert frame.filter(frame["method"] == "structural")["n_collapsed"].to_list() == [1]
    assert "w=0" in str(result)


def test_rivals_command_reads_a_folder_and_writes_tables(tmp_path, capsys):
    (tmp_path / "load.py").write_text(
        "import numpy as np\n"
        "def load(name):\n"
        "    rng = np.random.default_rng(0)\n"
        "    y = (rng.random(300) < 0.3).astype(np.int8)\n"
        "    return rng.normal(size=(300, 3)) + y[:, None], y, {}\n"
    )
    riv.main(["--data", str(tmp_path), "--out", str(tmp_path / "out"), "--sets", "toy", "--splits", "1"])
    assert (tmp_path / "out" / "rivals.csv").read_text().count("\n") == 1 + 3 * 4
    assert (tmp_path / "out" / "rivals_splits.csv").exists()
    assert "highest mean" in capsys.readouterr().out


def test_rivals_need_a_folder_with_a_loader(tmp_path):
    with pytest.raises(FileNotFoundError, match="--data"):
        list(riv.load_sets(tmp_path, ["toy"]))


NAMES = ["tables", *sorted(file.stem for file in Path(rt.__file__).parent.glob("*.py") if file.stem[0] != "_")]


@pytest.mark.parametrize("name", NAMES)
def test_help_says_what_it_does_and_how_long_it_takes(name, capsys):
    module = importlib.import_module(f"experiments.{name}.__main__" if name == "tables" else f"experiments.{name}")
    with pytest.raises(SystemExit) as stop:
        module.main(["--help"])
    assert stop.value.code == 0
    assert re.search(r"second|minute|hour", capsys.readouterr().out)

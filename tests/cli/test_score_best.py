"""``headrank score --best`` and ``--sorted``: the same rows as a stable sort of all, however they are read."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import headrank as hr
from cli.running import refused, run
from headrank.bounds.lists.certificate import at_least_in_head
from headrank.cli._best import BestRows
from headrank.model_io import save
from headrank.training.columns import Column
from headrank.training.features import Matrix
from headrank.training.goal import Goal
from headrank.training.holdout_scores import HoldoutScores
from headrank.training.table_model import TableModel
from platforms import POSIX

N_ROWS = 300


# -- the selection -------------------------------------------------------------------------------------------


@given(st.lists(st.lists(st.integers(-3, 3), min_size=1, max_size=8), min_size=1, max_size=6), st.integers(1, 12))
def test_the_best_are_those_of_a_stable_sort(blocks, n):
    found = BestRows(n, with_features=True)
    row = 0
    for block in blocks:
        numbers = np.arange(row, row + len(block))
        frame = pl.DataFrame({"row": numbers, "score": np.array(block, dtype=float)})
        found.add(frame, frame.select(feature="row"))
        row += len(block)
    every = [score for block in blocks for score in block]
    expected = sorted(range(row), key=lambda i: (-every[i], i))
    assert found.frame["row"].to_list() == expected[:n]
    assert found.features["feature"].to_list() == expected[:n]
    last = every[expected[:n][-1]]
    assert found.n_tied == sum(every[i] == last for i in expected[n:])


@given(
    st.lists(st.integers(-3, 3), min_size=1, max_size=14),
    st.lists(st.integers(-3, 5), min_size=1, max_size=12),
    st.sampled_from([0.2, 0.5, 0.8, 0.95]),
)
@pytest.mark.filterwarnings("ignore::headrank.exceptions.ShiftedScoresWarning")
def test_the_promise_for_the_best_is_that_for_the_whole_list(negatives, new, confidence):
    y, scores = np.append(np.zeros(len(negatives)), 1), np.append(negatives, 4.0)
    whole = hr.certify_list(y, scores, np.array(new, dtype=float), confidence=confidence)
    best_first = sorted(map(float, new), reverse=True)
    for k in range(1, len(new) + 1):
        assert at_least_in_head(y, scores, best_first[:k], len(new), confidence=confidence) == whole.at_least(k)


def test_a_head_longer_than_the_list_is_refused():
    with pytest.raises(ValueError, match="n_new"):
        at_least_in_head([0, 1], [0.0, 1.0], [1.0, 2.0, 3.0], 2)


# -- the command ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    size = rng.integers(0, 12, N_ROWS).astype(float)  # ties abound
    return pl.DataFrame({"id": [f"{i:04d}" for i in range(N_ROWS)], "size": size, "weight": np.zeros(N_ROWS)})


@pytest.fixture(scope="module")
def model(rows):
    rng = np.random.default_rng(1)
    X = pl.DataFrame({"size": rng.normal(6, 3, 200), "weight": rng.normal(size=200)})
    y = X["size"].to_numpy() + rng.normal(size=200) > 8
    ranker = hr.LinearRanker("auc", surrogate="logistic").fit(X.to_numpy(), y)
    holdout = rng.normal(6, 3, 500)
    scores = ranker.decision_function(np.column_stack([holdout, np.zeros(500)]))
    return TableModel(
        name="ranker",
        estimator=make_pipeline(Matrix(), ranker),
        columns=(Column("size", "number"), Column("weight", "number")),
        n_features=2,
        target="y",
        positive="1",
        id_column="id",
        goal=Goal(top=0.1),
        threshold=float(np.quantile(scores, 0.9)),
        promise="flag the best.",
        holdout_scores=HoldoutScores(
            scores=np.sort(scores), positive=np.sort(scores) > np.quantile(scores, 0.8), n_models=1, share=1.0, holds=""
        ),
    )


@pytest.fixture
def folder(tmp_path, monkeypatch, model, rows):
    monkeypatch.chdir(tmp_path)
    save(model, "model")
    rows.write_csv("t.csv")
    return tmp_path


def test_the_best_rows_of_the_file_are_written_best_first(capsys, folder, rows):
    assert run(capsys, "score", "model", "t.csv", "--out", "all.csv").code == 0
    every = pl.read_csv("all.csv", schema_overrides={"id": pl.String})
    expected = every[np.argsort(-every["score"].to_numpy(), kind="stable")]
    for block in (7, 100, 100_000):
        done = run(capsys, "score", "model", "t.csv", "--out", "best.csv", "--best", 40, "--block", block, "--json")
        assert done.code == 0, done.err
        assert pl.read_csv("best.csv", schema_overrides={"id": pl.String}).equals(expected[:40])
        said = json.loads(done.out)
        cut = expected["score"][39]
        n_tied = int((expected["score"][40:] == cut).sum())
        assert n_tied > 0
        assert (said["n_rows"], said["n_written"], said["n_tied_with_last"]) == (N_ROWS, 40, n_tied)
        assert said["n_flagged"] == int(every["flagged"].sum())
    assert f"Ties were cut by the order of the rows: {n_tied} more rows have the score of the last one" in done.err
    done = run(capsys, "score", "model", "t.csv", "--out", "sorted.csv", "--sorted", "--block", 70)
    assert done.code == 0
    assert "wrote them to sorted.csv, best first." in done.out
    assert pl.read_csv("sorted.csv", schema_overrides={"id": pl.String}).equals(expected)


@pytest.mark.filterwarnings("ignore::headrank.exceptions.ShiftedScoresWarning")
def test_what_is_promised_of_the_best_is_what_the_whole_list_promises(capsys, folder, model, rows):
    done = run(capsys, "score", "model", "t.csv", "--out", "best.csv", "--best", 25)
    scores = model.decision_function(rows.select("size", "weight"))
    least = model.holdout_scores.certify_list(scores).at_least(25)
    assert least > 0
    assert f"At least {least} of the 25 best rows are positive, with 95 % confidence" in done.out


def test_fewer_rows_than_asked_for_are_all_written(capsys, folder):
    done = run(capsys, "score", "model", "t.csv", "--out", "best.csv", "--best", 500)
    assert "wrote the best 300 to best.csv, best first, all there are instead of 500." in done.out
    assert "Ties were cut" not in done.out
    assert pl.read_csv("best.csv").height == N_ROWS


@pytest.mark.parametrize("options", [["--best", "0"], ["--best", "few"]])
def test_a_number_of_rows_is_needed(capsys, folder, options):
    assert refused(run(capsys, "score", "model", "t.csv", "--out", "o.csv", *options), 2, "Invalid value for '--best'")


def test_a_plain_logistic_regression_has_no_reasons_for_the_best_either(capsys, folder, model):
    plain = make_pipeline(Matrix(), LogisticRegression().fit(np.eye(2), [0, 1]))
    save(replace(model, estimator=plain), "plain")
    done = run(capsys, "score", "plain", "t.csv", "--out", "best.csv", "--best", 10, "--why", 2)
    assert refused(done, 3, "cannot say what each column adds")
    assert not (folder / "best.csv").exists()


@pytest.mark.slow
@pytest.mark.skipif(not POSIX, reason="peak memory is read from the resource module")
def test_memory_does_not_grow_with_the_file(folder):
    """Five times as many rows; all scores and flags of four million more would take 70 MB, and their table more."""
    rng = np.random.default_rng(2)
    peaks = []
    for n_blocks in (2, 10):
        with open("large.csv", "w", encoding="utf-8") as file:
            file.write("id,size,weight\n")
            for number in range(n_blocks):
                start = 500_000 * number
                part = {"id": np.arange(start, start + 500_000), "size": rng.normal(6, 3, 500_000).round(3)}
                file.write(pl.DataFrame(part | {"weight": np.zeros(500_000)}).write_csv(include_header=False))
        code = (
            "import resource; from headrank.cli import main; "
            "code = main(['score', 'model', 'large.csv', '--out', 'best.csv', '--best', '200']); "
            "print(code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        exit_code, peak = map(int, done.stdout.split()[-2:])
        assert exit_code == 0
        peaks.append(peak / (1e6 if sys.platform == "darwin" else 1e3))
    assert pl.read_csv("best.csv").height == 200
    assert peaks[1] < peaks[0] + 60

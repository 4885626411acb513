"""``headrank score`` of svmlight and LETOR files: labels, queries, comments and features beside the scores."""

import gzip
import json
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from cli.fitted import claims, claims_model, letor_model
from cli.running import refused, run
from cli.tables import letor
from headrank.model_io import save


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(letor_model(), "model")
    (tmp_path / "new.txt").write_text(letor(30, seed=4))
    return tmp_path


@pytest.mark.parametrize("block", [7, 100_000])
@pytest.mark.parametrize("packed", [False, True])
def test_labels_and_queries_are_carried_along(capsys, folder, block, packed):
    name = "new.txt"
    if packed:
        name = "new.txt.gz"
        (folder / name).write_bytes(gzip.compress((folder / "new.txt").read_bytes()))
    keep = ["--keep", "grade", "--keep", "comment", "--keep", "2", "--keep", "99", "--keep", "label"]
    done = run(capsys, "score", "model", name, "--out", "o.csv", "--block", block, *keep)
    assert (done.code, done.err) == (0, "")
    written = pl.read_csv("o.csv")
    assert written.columns == ["row", "score", "label", "qid", "grade", "comment", "2", "99"]
    lines = letor(30, seed=4).splitlines()
    grades = [int(line.split()[0]) for line in lines]
    assert written["grade"].to_list() == grades
    assert written["label"].to_list() == [int(grade >= 1) for grade in grades]  # as in training
    assert written["qid"].to_list() == [int(line.split()[1].removeprefix("qid:")) for line in lines]
    assert written["comment"].to_list() == [line.split("#")[1] for line in lines]
    assert written["2"].to_list() == [float(line.split(" 2:")[1].split()[0]) for line in lines]
    assert set(written["99"].to_list()) == {0.0}


def test_evaluate_can_follow(capsys, folder):
    assert run(capsys, "score", "model", "new.txt", "--out", "o.csv").code == 0
    done = run(capsys, "evaluate", "o.csv", "--target", "label", "--score", "score", "--qid", "qid", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["n_rows"] == 300


def test_the_best_of_a_sparse_file_are_explained(capsys, folder):
    assert run(capsys, "score", "model", "new.txt", "--out", "all.csv", "--why", 2).code == 0
    done = run(capsys, "score", "model", "new.txt", "--out", "best.csv", "--best", 15, "--why", 2, "--block", 40)
    assert done.code == 0, done.err
    whole = pl.read_csv("all.csv").sort("score", descending=True, maintain_order=True)
    best = pl.read_csv("best.csv")
    assert best.columns == ["row", "score", "why", "label", "qid"] == whole.columns
    assert best["row"].to_list() == whole["row"][:15].to_list()
    assert best["why"].to_list() == whole["why"][:15].to_list()
    assert np.allclose(best["score"], whole["score"][:15], rtol=1e-12)


def test_a_file_without_queries_is_scored_without_a_word_about_drift(capsys, folder):
    plain = "\n".join(" ".join(word for word in line.split() if "qid" not in word) for line in letor(9).splitlines())
    (folder / "plain.txt").write_text(plain)
    done = run(capsys, "score", "model", "plain.txt", "--out", "o.csv", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["drift"] is None
    assert pl.read_csv("o.csv").columns == ["row", "score", "label"]
    assert refused(run(capsys, "score", "model", "plain.txt", "--out", "p.csv", "--keep", "qid"), 2, "no 'qid'")


def test_drift_of_features_is_named(capsys, folder):
    text = re.sub(r" 3:\S+", " 3:9.5", (folder / "new.txt").read_text())
    (folder / "moved.txt").write_text(text)
    done = run(capsys, "score", "model", "moved.txt", "--out", "o.csv", "--fail-on-drift")
    assert done.code == 6
    assert "  feature 3: " in done.err


def test_queries_of_a_table_are_carried_along(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fitted = claims_model()
    save(replace(fitted, qid_column="customer", dropped=(), threshold=None), "model")
    claims(60, 5).write_csv("t.csv")
    assert run(capsys, "score", "model", "t.csv", "--out", "o.csv", "--keep", "fraud").code == 0
    written = pl.read_csv("o.csv")
    assert written.columns == ["claim", "score", "customer", "fraud"]
    assert written["customer"].to_list() == claims(60, 5)["customer"].to_list()

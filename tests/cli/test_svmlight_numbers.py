"""svmlight files from fit to score: features are known by their numbers, and those that do not occur cost nothing."""

import json

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import headrank as hr
from cli.running import refused, run


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    return (rng.normal(size=(80, 4)) + y[:, None]).round(3), y


def fitted(capsys, *options):
    assert run(capsys, "fit", "t.txt", "--models", "linear", "--out", "r", "--overwrite", *options).code == 0
    assert run(capsys, "score", "r/model", "t.txt", "--out", "s.csv").code == 0
    return hr.load("r/model"), pl.read_csv("s.csv")["score"].to_numpy()


@pytest.mark.parametrize("zero_based", [True, False])
def test_matrices_of_scikit_learn_score_as_the_file_does(capsys, tmp_path, monkeypatch, rows, zero_based):
    monkeypatch.chdir(tmp_path)
    dump_svmlight_file(*rows, "t.txt", zero_based=zero_based)
    model, scores = fitted(capsys)
    X, _ = load_svmlight_file("t.txt")
    assert X.shape[1] == model.n_features == 4
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-12)
    with pytest.raises(hr.exceptions.InvalidSampleError, match=rf"n_features=4, zero_based={zero_based}"):
        model.decision_function(X[:, 1:])


def test_zero_based_is_remembered_where_feature_0_never_occurs(capsys, tmp_path, monkeypatch, rows):
    monkeypatch.chdir(tmp_path)
    dump_svmlight_file(*rows, "t.txt", zero_based=False)
    model, scores = fitted(capsys, "--zero-based")
    X, _ = load_svmlight_file("t.txt", zero_based=True)
    assert X.shape[1] == model.n_features == 5
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-12)
    assert "--zero-based" in json.loads((tmp_path / "r/result.json").read_text())["reproduce"]["command"]


@pytest.mark.filterwarnings("default:.* did not occur in training")  # the row may be held out
def test_a_feature_of_a_huge_number_costs_no_more_than_another(capsys, tmp_path, monkeypatch, rows):
    monkeypatch.chdir(tmp_path)
    dump_svmlight_file(*rows, "t.txt", zero_based=False)
    text = (tmp_path / "t.txt").read_text().splitlines()
    text[0] += " 2147483647:1"
    (tmp_path / "t.txt").write_text("\n".join(text) + "\n")
    # Whatever is held per feature number would need gigabytes.
    model, scores = fitted(capsys)
    assert np.isfinite(scores).all()
    assert model.n_features == 2147483647
    assert set(model.feature_numbers()) <= {1, 2, 3, 4, 2147483647}


def test_tables_do_not_number_their_features(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("y,x\n1,2\n")
    assert refused(run(capsys, "fit", "t.csv", "--target", "y", "--zero-based", "--out", "r"), 2, "only svmlight")

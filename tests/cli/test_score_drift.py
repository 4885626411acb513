"""``headrank score`` and drift: what has changed is said, the exit code is that asked for, old models say nothing."""

import json
import shutil
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import headrank.model_io
from cli.fitted import claims, claims_model, drifted
from cli.running import refused, run
from headrank.cli._drift import DriftCounter
from headrank.cli._scoring import ScoredBlock
from headrank.model_io import load, save

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(claims_model(), "model")
    claims(400, 1).write_csv("new.csv")
    drifted(400, 1).write_csv("drifted.csv")
    return tmp_path


def test_rows_like_those_of_the_holdout_raise_no_warning(capsys, folder):
    done = run(capsys, "score", "model", "new.csv", "--out", "o.csv", "--fail-on-drift")
    assert (done.code, done.err) == (0, "")
    assert "No drift: 3 columns and the scores look like those of the holdout." in done.out
    profile = claims_model().profile.scores
    assert f"; of the holdout {100 * profile.n_flagged / profile.n_rows:.3g} %; promised: at most 10 %)." in done.out


def test_what_has_changed_is_said_and_the_scores_are_written(capsys, folder):
    done = run(capsys, "score", "model", "drifted.csv", "--out", "o.csv")
    assert done.code == 0
    first, *lines = done.err.splitlines()
    assert first.startswith("headrank: warning: drift in 3 of 3 columns")
    assert len(lines) == 3  # the three worst
    assert {line.split(":")[0].strip() for line in lines} <= {"Age", "make", "Year", "scores"}
    assert "make: 100 % not seen in training, such as 'Tesla' (holdout: 0 %)" in done.err
    assert pl.read_csv("o.csv").height == 400
    assert "No drift" not in done.out


def test_the_json_has_everything_that_has_changed(capsys, folder):
    done = run(capsys, "score", "model", "drifted.csv", "--out", "o.csv", "--json")
    found = json.loads(done.out)
    assert {each["column"] for each in found["drift"]["changes"]} >= {"Age", "make", "Year"}
    assert found["drift"]["n_reference"] == claims_model().profile.n_rows
    for each in found["drift"]["changes"]:
        assert each["p_value"] < 1e-12
    assert found["flagged_share"] == found["n_flagged"] / 400
    promise = found["list_promise"]
    assert promise is None or promise.endswith("which the drift puts in doubt")


def test_pipelines_can_fail_on_drift(capsys, folder):
    done = run(capsys, "score", "model", "drifted.csv", "--out", "o.csv", "--fail-on-drift")
    assert done.code == 6
    assert done.err.splitlines()[-1] == "headrank: drifted.csv differs from the holdout of the model; o.csv was written"
    assert pl.read_csv("o.csv").height == 400


@pytest.mark.parametrize("block", [37, 100_000])
def test_blocks_do_not_matter(capsys, folder, block):
    done = run(capsys, "score", "model", "drifted.csv", "--out", "o.csv", "--json", "--block", block)
    whole = run(capsys, "score", "model", "drifted.csv", "--out", "o.csv", "--json")
    assert json.loads(done.out)["drift"] == json.loads(whole.out)["drift"]


def test_only_the_best_rows_are_explained(capsys, folder, monkeypatch):
    loaded, explained = load("model"), []
    reasons = type(loaded).reasons

    def counted(self, features, **options):
        explained.append(features.height)
        return reasons(self, features, **options)

    monkeypatch.setattr(type(loaded), "reasons", counted)
    done = run(capsys, "score", "model", "new.csv", "--out", "best.csv", "--best", 10, "--why", 2, "--block", 90)
    assert done.code == 0, done.err
    best = pl.read_csv("best.csv")
    assert best.columns == ["claim", "score", "flagged", "why"]
    assert explained == [10]
    assert run(capsys, "score", "model", "new.csv", "--out", "all.csv", "--why", 2, "--keep", "Age").code == 0
    whole = pl.read_csv("all.csv").sort("score", descending=True, maintain_order=True)[:10]
    assert best["why"].to_list() == whole["why"].to_list()
    assert best["claim"].to_list() == whole["claim"].to_list()


# -- groups: rows of one customer are not independent draws --------------------------------------------------


def test_of_each_group_one_row_is_counted_once():
    counter = DriftCounter(claims_model(grouped=True))
    table = claims(400, 2)
    features = table.select("Age", "make", "Year")
    drawn = []
    for start in range(0, 400, 150):
        part = slice(start, start + 150)
        frame = pl.DataFrame({"score": np.zeros(table[part].height)})
        units = table["customer"][part]
        drawn += units[counter.add(ScoredBlock(frame, features[part], start + 1, units))].to_list()
    assert sorted(drawn) == sorted(table["customer"].unique())
    assert counter.drift().n_rows == len(drawn)


def test_a_file_of_a_grouped_model_needs_its_groups(capsys, folder):
    save(claims_model(grouped=True), "grouped")
    done = run(capsys, "score", "grouped", "new.csv", "--out", "o.csv", "--json")
    assert json.loads(done.out)["drift"]["n_rows"] == claims(400, 1)["customer"].n_unique()
    claims(400, 1).drop("customer").write_csv("alone.csv")
    done = run(capsys, "score", "grouped", "alone.csv", "--out", "o.csv", "--json")
    assert (done.code, json.loads(done.out)["drift"]) == (0, None)
    done = run(capsys, "score", "grouped", "alone.csv", "--out", "p.csv", "--fail-on-drift")
    assert refused(done, 3, "drift cannot be tested: alone.csv lacks the column 'customer'", "omit --fail-on-drift")
    assert not (folder / "p.csv").exists()


# -- models of earlier versions ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["table_v1", "table_v2"])
def test_earlier_models_score_without_a_word_about_drift(capsys, tmp_path, monkeypatch, name):
    def quiet(path):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".* was written with", UserWarning)
            return load(path)

    monkeypatch.setattr(headrank.model_io, "load", quiet)
    monkeypatch.chdir(tmp_path)
    shutil.copy(GOLDEN / f"{name}.headrank", "model")
    said = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    pl.DataFrame(said["rows"]).write_csv("t.csv")
    if name == "table_v1":
        pytest.importorskip("sklearn", minversion="1.8", reason="its SimpleImputer is of scikit-learn 1.9")
    done = run(capsys, "score", "model", "t.csv", "--out", "o.csv")
    assert (done.code, done.err) == (0, "")
    assert "drift" not in done.out.lower()
    np.testing.assert_allclose(pl.read_csv("o.csv")["score"], said["scores"], rtol=0, atol=1e-9)
    done = run(capsys, "score", "model", "t.csv", "--out", "o.csv", "--fail-on-drift")
    assert refused(done, 3, "drift cannot be tested: the model has no profile of its holdout", "fit it again")

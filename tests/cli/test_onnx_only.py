"""``headrank fit --onnx-only``: whatever it trains, ``headrank export`` writes, and what it leaves out is named."""

import json

import numpy as np
import polars as pl
import pytest

from cli.running import run
from cli.tables import of_all_kinds
from headrank.model_io import load
from model_io.running_onnx import assert_same, onnx_scores

OPTIONS = ("--target", "churned", "--fpr", "0:0.2", "--models", "linear")


@pytest.fixture
def customers(tmp_path):
    """A table with 600 names, 45 streets and 39 branches, of which some are missing: 40 values for the encoder."""
    rng = np.random.default_rng(0)
    table = of_all_kinds().with_columns(
        pl.Series("street", [f"{i} Oak street" for i in rng.integers(0, 45, 600)]),
        pl.Series("branch", [f"branch {i}" if i < 39 else None for i in np.arange(600) % 40]),
        pl.Series("shop", [f"shop {i}" for i in np.arange(600) % 39]),
    )
    table.write_csv(tmp_path / "customers.csv")
    return tmp_path / "customers.csv"


def test_text_with_many_values_is_left_out_and_the_rest_is_exported(customers, tmp_path, capsys):
    done = run(capsys, "fit", customers, *OPTIONS, "--out", tmp_path / "all")
    assert done.code == 0, done.err
    refused = run(capsys, "export", tmp_path / "all" / "model", "--out", tmp_path / "model.onnx")
    assert refused.code == 3
    assert "the columns 'customer', 'street', 'branch' have text with many values" in refused.complaint
    assert "--onnx-only" in refused.complaint

    done = run(capsys, "fit", customers, *OPTIONS, "--onnx-only", "--out", tmp_path / "some")
    assert done.code == 0, done.err
    said = " ".join(done.out.split())
    assert "Because of --onnx-only, the columns 'customer', 'street', 'branch' are not used" in said
    done = run(capsys, "export", tmp_path / "some" / "model", "--out", tmp_path / "model.onnx")
    assert done.code == 0, done.err
    model, table = load(tmp_path / "some" / "model"), pl.read_csv(customers)
    assert "shop" in [column.name for column in model.columns]
    expected = model.decision_function(table)
    assert_same(onnx_scores(tmp_path / "model.onnx", _as_kinds(table, model)), expected)
    np.testing.assert_array_equal(model.decision_function(table.drop("customer", "street", "branch")), expected)
    command = json.loads((tmp_path / "some" / "result.json").read_text())["reproduce"]["command"]
    assert " --onnx-only " in command


def _as_kinds(table, model):
    """Dates in the file are text for polars."""
    dates = [column.name for column in model.columns if column.kind == "date"]
    assert dates
    return table.with_columns(pl.col(dates).str.to_date())


def test_a_given_holdout_may_have_the_columns_left_out(customers, tmp_path, capsys):
    table = pl.read_csv(customers)
    table[:400].write_csv(tmp_path / "train.csv")
    table[400:].write_csv(tmp_path / "later.csv")
    options = (*OPTIONS, "--onnx-only", "--test", tmp_path / "later.csv", "--out", tmp_path / "result")
    done = run(capsys, "fit", tmp_path / "train.csv", *options)
    assert done.code == 0, done.err
    assert load(tmp_path / "result" / "model").dropped == ("customer", "street", "branch")


def test_nothing_is_said_where_nothing_is_left_out(tmp_path, capsys):
    of_all_kinds().drop("customer").write_csv(tmp_path / "t.csv")
    done = run(capsys, "fit", tmp_path / "t.csv", *OPTIONS, "--onnx-only", "--out", tmp_path / "result")
    assert done.code == 0, done.err
    warnings = json.loads((tmp_path / "result" / "result.json").read_text())["warnings"]
    assert not [each for each in warnings if "Because of" in each]


def test_no_column_left_is_an_error(tmp_path, capsys):
    of_all_kinds().select("customer", "churned").write_csv(tmp_path / "t.csv")
    done = run(capsys, "fit", tmp_path / "t.csv", *OPTIONS, "--onnx-only", "--out", tmp_path / "result")
    assert (done.code, "no column is left: --onnx-only leaves out text with 40 or more" in done.complaint) == (3, True)


def test_without_lightgbm_only_linear_models_are_trained(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("headrank.training.exportable.why_not", lambda: "no OpenMP")
    of_all_kinds().drop("customer").write_csv(tmp_path / "t.csv")
    arguments = ("fit", tmp_path / "t.csv", *OPTIONS[:-2], "--onnx-only", "--out", tmp_path / "result")
    done = run(capsys, *arguments, "--models", "trees")
    assert (done.code, "'--onnx-only'" in done.complaint, "no OpenMP" in done.complaint) == (2, True, True)
    done = run(capsys, *arguments)
    assert done.code == 0, done.err
    assert "no trees were trained: LightGBM could not be loaded (no OpenMP)" in " ".join(done.out.split())
    result = json.loads((tmp_path / "result" / "result.json").read_text())
    assert [each["name"] for each in result["entrants"]].count("gradient boosting") == 0

"""``headrank export``: the model as ONNX, or a clear refusal and no file."""

import sys

import numpy as np
import polars as pl
import pytest

from cli.running import run
from headrank.model_io import load, save
from model_io.running_onnx import assert_same, onnx_scores
from model_io.saved_models import made
from model_io.test_onnx_tables import fitted, table


@pytest.fixture
def model(tmp_path):
    frame, y = table()
    from headrank import BoostedRanker

    save(fitted(frame, y, BoostedRanker("pauc@0.3", n_estimators=5)), tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("options", [(), ("--precision", "float32")])
def test_the_file_scores_as_the_model_does(options, model, tmp_path, capsys):
    done = run(capsys, "export", model, "--out", tmp_path / "model.onnx", *options)
    assert done.code == 0, done.err
    assert "model.onnx" in done.out
    rows = table(seed=1)[0]
    assert isinstance(rows, pl.DataFrame)
    scores = onnx_scores(tmp_path / "model.onnx", rows)
    assert scores.dtype == (np.float32 if options else np.float64)
    assert_same(scores, load(model).decision_function(rows))


def test_what_cannot_be_exported_is_named(model, tmp_path, capsys, monkeypatch):
    save(made("what fit writes, trees")[0], tmp_path / "old")
    done = run(capsys, "export", tmp_path / "old", "--out", tmp_path / "model.onnx")
    assert (done.code, "old cannot be exported: TableVectorizer cannot be exported" in done.complaint) == (3, True)
    done = run(capsys, "export", model, "--out", tmp_path / "model.pb")
    assert (done.code, "expected a name ending in .onnx" in done.complaint) == (2, True)
    done = run(capsys, "export", tmp_path / "nowhere", "--out", tmp_path / "model.onnx")
    assert done.code == 3
    done = run(capsys, "export", model, "--out", tmp_path / "no" / "folder" / "model.onnx")
    assert done.code == 4
    monkeypatch.setitem(sys.modules, "onnx", None)
    done = run(capsys, "export", model, "--out", tmp_path / "model.onnx")
    assert (done.code, 'pip install "headrank[onnx]"' in done.complaint) == (2, True)
    assert not list(tmp_path.glob("*.onnx"))

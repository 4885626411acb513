"""Whole models of ``headrank fit`` in ONNX, on the tables of the stories: each score, on 10,000 fresh rows."""

import importlib
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from headrank.model_io import export_onnx
from headrank.training.goal import Goal
from headrank.training.models import FAMILIES
from headrank.training.outputs import table_model
from headrank.training.table_info import DataSource
from headrank.training.train import train
from model_io.running_onnx import assert_same, onnx_scores

pytestmark = pytest.mark.slow

STORIES = Path(__file__).parents[2] / "examples" / "stories"
N_TRAIN, N_NEW = 1500, 10_000
GOAL = Goal(max_fpr=0.1)


@pytest.fixture(params=["fraud", "active", "abuse"])
def tables(request, monkeypatch):
    """The target, rows to train on and fresh ones, with numbers, text, dates, true/false and missing values."""
    monkeypatch.syspath_prepend(str(STORIES))
    rng = np.random.default_rng(7)
    if request.param == "fraud":
        draw = importlib.import_module("fraud_desk").claims
        days = date(2024, 4, 1), date(2024, 12, 1)
        return request.param, draw(N_TRAIN, *days, rng), draw(N_NEW, *days, rng)
    story = {"active": ("chemist", "compounds"), "abuse": ("ml_engineer", "signups")}[request.param]
    draw = getattr(importlib.import_module(story[0]), story[1])
    return request.param, draw(N_TRAIN, rng), draw(N_NEW, rng)


def fitted(frame, target):
    """All models that `headrank fit` trains, as it would save them."""
    y = frame[target].cast(pl.String).is_in(["yes", "1", "true"]).to_numpy()
    source = DataSource(source="t.csv", target=target, positive="1")
    result = train(frame.drop(target), y, goal=GOAL, source=source, onnx_only=True)
    model = table_model(result)
    return [replace(model, name=each.name, estimator=each.estimator) for each in result.models]


def check(model, rows, path):
    for precision in ("float64", "float32"):
        export_onnx(model, path, precision=precision)
        assert_same(onnx_scores(path, rows), model.decision_function(rows))


def test_every_model_of_a_fit(tables, tmp_path):
    target, frame, rows = tables
    models = fitted(frame, target)
    assert [model.name for model in models] == ["ranker", "logistic regression", "gradient boosting"]
    kinds = {column.kind for column in models[0].columns}
    assert kinds == {"number", "text", "date", "boolean"}
    for model in models:
        check(model, rows, tmp_path / "model.onnx")


@pytest.mark.parametrize("family", FAMILIES["all"])
def test_every_family_of_the_ranker(tables, family, tmp_path, monkeypatch):
    monkeypatch.setitem(FAMILIES, "all", (family,))
    target, frame, rows = tables
    ranker = fitted(frame, target)[0]
    assert [part.family for part in ranker.estimator[-1].parts_] == [family]
    check(ranker, rows, tmp_path / "model.onnx")

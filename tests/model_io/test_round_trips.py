"""A model that was saved and loaded is the same model, and a file of the same model is the same file."""

import inspect
import os
import subprocess
import sys
from dataclasses import fields

import numpy as np
import polars as pl
import pytest
import skops.io
from sklearn.base import clone
from sklearn.cluster import Birch
from sklearn.utils.validation import check_is_fitted
from skops.io import _utils
from skops.io.exceptions import UnsupportedTypeException

import headrank as hr
import headrank.estimators
from fits import same_scores
from headrank.model_io import load, save
from headrank.model_io.contents import faults
from headrank.model_io.dumping import dumped
from headrank.model_io.payload import canonical
from headrank.model_io.trusted import names
from headrank.training.goal import Goal
from headrank.training.table_info import DataSource
from headrank.training.table_model import TableModel
from headrank.training.train import train
from model_io.saved_models import MAKERS, made, numbers


def test_scores_are_the_same(saved):
    model, rows, _, loaded = saved
    assert type(loaded) is type(model)
    assert same_scores(loaded.decision_function(rows), model.decision_function(rows))
    if isinstance(model, TableModel):
        others = ("estimator", "profile")  # whose arrays have no single equality; the next test compares all bytes
        kept = {field.name: getattr(model, field.name) for field in fields(model) if field.name not in others}
        assert {name: getattr(loaded, name) for name in kept} == kept
        model, loaded = model.estimator, loaded.estimator
    else:
        assert np.array_equal(loaded.predict(rows), model.predict(rows))
    assert str(clone(loaded)) == str(clone(model))
    check_is_fitted(loaded)


def test_a_model_has_one_file(saved, tmp_path):
    """Saved twice, and saved again after loading: the same bytes."""
    model, _, path, loaded = saved
    for each in (model, loaded):
        save(each, tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_large_numbers_dates_of_another_kind_and_empty_columns_score_the_same(tmp_path):
    y = numbers()[1]
    when = 1_700_000_000 + np.random.default_rng(0).permutation(y.size)
    rows = pl.DataFrame({"when": when, "day": [f"{1 + i % 28}.{1 + i % 12}.2024" for i in when.tolist()]})
    empty = rows.with_columns(nothing=pl.lit(None))
    source = DataSource(source="t.csv", target="y", positive="1")
    result = train(empty, y, goal=Goal(max_fpr=0.3), source=source, models="linear")
    for trained in result.models:
        model = TableModel(
            name=trained.name,
            estimator=trained.estimator,
            columns=result.table.columns,
            n_features=3,
            target="y",
            positive="1",
            id_column=None,
            qid_column=None,
            dropped=(),
            goal=result.goal,
            threshold=None,
            promise="",
        )
        save(model, tmp_path / "model")
        scores = load(tmp_path / "model").decision_function(rows)  # the empty column is not needed
        assert same_scores(scores, model.decision_function(empty))
        nearest = np.abs(np.subtract.outer(trained.scores, scores)).min(axis=1)
        assert nearest.max() <= 1e-9 * np.abs(scores).max()


def test_another_process_loads_them_and_writes_the_same_files(tmp_path):
    models = dict(enumerate(map(made, ("ranker by cross-validation", "table, ranker", "table, trees"))))
    code = "import numpy as np, polars as pl\nfrom headrank.model_io import load, save\n"
    for i, (model, rows) in models.items():
        save(model, tmp_path / f"model {i}")
        if isinstance(rows, np.ndarray):
            np.save(tmp_path / f"rows {i}.npy", rows)
            read = f"np.load('rows {i}.npy')"
        else:
            rows.write_parquet(tmp_path / f"rows {i}.parquet")
            read = f"pl.read_parquet('rows {i}.parquet')"
        code += f"model = load('model {i}'); save(model, 'again {i}')\n"
        code += f"np.save('scores {i}.npy', model.decision_function({read}))\n"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, env={**os.environ, "PYTHONHASHSEED": "7"})
    for i, (model, rows) in models.items():
        assert same_scores(np.load(tmp_path / f"scores {i}.npy"), model.decision_function(rows))
        assert (tmp_path / f"again {i}").read_bytes() == (tmp_path / f"model {i}").read_bytes()


def test_what_was_learned_besides_the_scores_is_kept(tmp_path):
    model, _ = made("ranker by cross-validation")
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.cv_results_.equals(model.cv_results_)
    assert (loaded.best_, loaded.choice_, loaded.best_score_) == (model.best_, model.choice_, model.best_score_)
    traces = ([ranker.trace_ for ranker in each.rankers_] for each in (loaded, model))
    assert len(set(map(str, traces))) == 1  # as text, for NaN is not NaN
    budget, _ = made("budget")
    save(budget, tmp_path / "budget")
    assert load(tmp_path / "budget").threshold_ == budget.threshold_


def test_a_measure_comes_back_equal(tmp_path):
    X, y = numbers()
    for measure in (hr.PartialAUC(min_fpr=0.1, max_fpr=0.4), hr.FROCArea(0.1, 0.3, images_per_negative=0.5), hr.AUC()):
        save(hr.LinearRanker(measure, surrogate="logistic").fit(X, y), tmp_path / "model")
        assert load(tmp_path / "model").measure == measure


def test_every_name_on_the_list_exists():
    from skops.io._utils import gettype

    for name in names():
        module, _, last = name.rpartition(".")
        assert gettype(module, last) is not None


def test_each_object_is_written_once():
    written_once(made("table, ranker")[0])


@pytest.mark.slow
def test_each_object_of_every_model_is_written_once(model_and_rows):
    written_once(model_and_rows[0])


def written_once(model):
    """skops alone writes what is referred to twice twice: the same payload comes of it, by way of far more text."""
    alone, ours = skops.io.dumps(model), dumped(model)
    assert canonical(alone) == canonical(ours)
    assert len(ours) <= len(alone)
    if "Pipeline" in str(model) and "TableVectorizer" in str(model):
        assert len(ours) < len(alone) / 3
        assert len(canonical(ours)) < 60_000


def test_skops_is_left_as_it_was():
    model, _ = made("scaled ranker")
    before = _utils._get_state
    dumped(model)
    assert _utils._get_state is before
    with pytest.raises(UnsupportedTypeException):
        dumped(Birch())
    assert _utils._get_state is before


def test_the_models_of_these_tests_are_without_fault(model_and_rows):
    assert faults(model_and_rows[0]) == []


def test_every_public_estimator_is_among_these_models():
    kinds = {type(made(name)[0]).__name__ for name in MAKERS}
    estimators = {name for name in hr.estimators.__all__ if inspect.isclass(getattr(hr.estimators, name))}
    assert kinds >= (estimators - {"RegularisationPath"}) | {"FPRBudgetClassifier", "TopFractionClassifier"}


def test_trees_score_the_same_to_the_last_bit(tmp_path):
    """Texts hold all digits."""
    for name in ("boosted trees", "boosted trees for the head", "boosted trees by cross-validation"):
        model, rows = made(name)
        save(model, tmp_path / "model")
        loaded = load(tmp_path / "model")
        assert np.array_equal(loaded.decision_function(rows), model.decision_function(rows))
        assert np.array_equal(loaded.contributions(rows), model.contributions(rows))
    model, rows = made("combination")
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert same_scores(loaded.contributions(rows), model.contributions(rows))
    assert (loaded.choice_, loaded.left_out_) == (model.choice_, model.left_out_)
    assert loaded.cv_results_.equals(model.cv_results_)

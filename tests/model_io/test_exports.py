"""Exports score as the model does: JSON to the last bit, ONNX to the precision it promises."""

import json
import sys

import numpy as np
import onnxruntime
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

import headrank as hr
from fits import same_scores
from headrank.exceptions import ModelFileError
from headrank.model_io import export_json, export_onnx
from model_io.saved_models import made, numbers

LINEAR = ["ranker", "smooth ranker", "ranker by cross-validation", "logistic regression"]


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def run(path, X):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    assert [each.name for each in session.get_inputs()] == ["features"]
    assert [each.name for each in session.get_outputs()] == ["score"]
    (scores,) = session.run(None, {"features": X})
    assert scores.shape == (len(X), 1)
    return scores.ravel()


@pytest.mark.parametrize("name", LINEAR)
def test_json_scores_are_those_of_the_model(name, tmp_path):
    model, X = made(name)
    export_json(model, tmp_path / "model.json")
    text = read(tmp_path / "model.json")
    scores = X @ np.array(text["coefficients"]) + text["intercept"]
    assert same_scores(scores, model.decision_function(X))
    assert (text["format"], text["version"], text["headrank"]) == ("headrank linear model", 1, hr.__version__)
    assert (text["classes"], text["positive"], text["features"], text["preparation"]) == ([0, 1], 1, None, [])
    assert text["measure"] == (None if name == "logistic regression" else str(model.measure))


def test_json_names_features_and_classes(tmp_path):
    model, _ = made("ranker with names")
    export_json(model, tmp_path / "model.json")
    text = read(tmp_path / "model.json")
    assert (text["features"], text["classes"], text["positive"]) == (["a", "b", "c"], ["no", "yes"], "yes")


def test_json_of_a_table_model_names_the_prepared_features_and_the_steps_that_are_not_in_it(tmp_path):
    model, rows = made("table, logistic regression")
    export_json(model, tmp_path / "model.json")
    text = read(tmp_path / "model.json")
    assert text["preparation"] == ["TableVectorizer", "SimpleImputer", "StandardScaler"]
    assert len(text["features"]) == len(text["coefficients"])
    assert {"size", "colour_red", "since_month"} <= set(text["features"])
    prepared = np.asarray(model[:-1].transform(rows))
    assert same_scores(prepared @ text["coefficients"] + text["intercept"], model.decision_function(rows))


def test_json_of_what_fit_writes(tmp_path):
    model, _ = made("what fit writes, ranker")
    export_json(model, tmp_path / "model.json")
    text = read(tmp_path / "model.json")
    assert text["preparation"] == ["TableVectorizer", "Matrix", "SquashingScaler", "SimpleImputer"]
    assert len(text["features"]) == len(text["coefficients"]) == model.estimator[-1].coef_.size
    assert {"size", "since_month", "missingindicator_size"} <= set(text["features"])


def test_scaled_numbers_without_names_get_none(tmp_path):
    export_json(made("scaled ranker")[0], tmp_path / "model.json")
    assert read(tmp_path / "model.json")["features"] is None


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize(("precision", "rtol"), [("float64", 1e-12), ("float32", 1e-5)])
def test_onnx_scores_are_those_of_the_model(name, precision, rtol, tmp_path):
    model, X = made(name)
    export_onnx(model, tmp_path / "model.onnx", precision=precision)
    scores = run(tmp_path / "model.onnx", X.astype(precision))
    assert scores.dtype == precision
    size = np.abs(X * np.ravel(model.coef_)).max()
    np.testing.assert_allclose(scores, model.decision_function(X), rtol=0, atol=rtol * size)


@pytest.mark.parametrize("scaler", [StandardScaler, MaxAbsScaler, MinMaxScaler, RobustScaler])
@pytest.mark.parametrize(("precision", "rtol"), [("float64", 1e-12), ("float32", 1e-5)])
def test_onnx_of_scaled_features(scaler, precision, rtol, tmp_path):
    X, y = numbers()
    X = X * [100, 1, 0.01] + [7, 0, 0]
    model = make_pipeline(scaler(), hr.LinearRanker("pauc@0.3", surrogate="logistic")).fit(X, y)
    export_onnx(model, tmp_path / "model.onnx", precision=precision)
    scores = run(tmp_path / "model.onnx", X.astype(precision))
    size = np.abs(model[0].transform(X) * model[1].coef_).max()
    np.testing.assert_allclose(scores, model.decision_function(X), rtol=0, atol=10 * rtol * size)


def test_onnx_of_several_scalers(tmp_path):
    model, X = made("scaled ranker")
    export_onnx(model, tmp_path / "model.onnx")
    np.testing.assert_allclose(run(tmp_path / "model.onnx", X), model.decision_function(X), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    ("export", "name", "words"),
    [
        (export_json, "trees", "HistGradientBoostingClassifier is not a linear model"),
        (export_json, "kernel ranker", "KernelRanker is not a linear model .*supported: LinearRanker"),
        (export_json, "table, trees", "HistGradientBoostingClassifier is not a linear model"),
        (export_json, "budget", "export its estimator_"),
        (export_onnx, "trees", "HistGradientBoostingClassifier cannot be exported to ONNX; supported: RankerCV"),
        (export_onnx, "kernel ranker", "KernelRanker cannot be exported to ONNX"),
        (export_onnx, "table, trees", "TableVectorizer cannot be exported to ONNX"),
        (export_onnx, "what fit writes, ranker", "TableVectorizer cannot be exported to ONNX"),
        (export_onnx, "budget", "FPRBudgetClassifier cannot be exported to ONNX; export its estimator_"),
    ],
)
def test_other_models_are_refused(export, name, words, tmp_path):
    with pytest.raises(ModelFileError, match=words):
        export(made(name)[0], tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("export", [export_json, export_onnx])
def test_unfitted_and_many_classes_are_refused(export, tmp_path):
    with pytest.raises(ModelFileError, match="LinearRanker is not fitted"):
        export(hr.LinearRanker(), tmp_path / "model")
    X, _ = numbers()
    many = LogisticRegression().fit(X, np.arange(len(X)) % 3)
    with pytest.raises(ModelFileError, match="3 classes"):
        export(many, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_onnx_refuses_steps_that_it_has_no_words_for(tmp_path):
    with pytest.raises(ModelFileError, match=r"TableVectorizer cannot be exported .* use export_json"):
        export_onnx(made("table, logistic regression")[0], tmp_path / "model")
    with pytest.raises(ValueError, match="precision must be"):
        export_onnx(made("ranker")[0], tmp_path / "model", precision="float16")


def test_onnx_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r'pip install "headrank\[onnx\]"'):
        export_onnx(made("ranker")[0], tmp_path / "model")
    assert not list(tmp_path.iterdir())

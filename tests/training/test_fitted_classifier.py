"""A TableModel is a classifier for scikit-learn: scorers, displays and inspection take it, and nothing refits it."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibrationDisplay
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.metrics import ConfusionMatrixDisplay, RocCurveDisplay, get_scorer
from sklearn.model_selection import FixedThresholdClassifier, cross_val_score
from sklearn.utils.validation import check_is_fitted

import headrank as hr
from headrank.training.outputs import table_model


@pytest.fixture
def model(messy):
    return table_model(messy.result)


@pytest.fixture
def rows(messy):
    return messy.features.to_pandas(), messy.y


def test_it_is_a_fitted_classifier(model):
    assert is_classifier(model)
    check_is_fitted(model)
    assert clone(model) is model
    assert model.classes_.tolist() == [False, True]


def test_scorers_score_what_the_methods_return(model, rows):
    X, y = rows
    scores, flagged, probabilities = model.decision_function(X), model.predict(X), model.predict_proba(X)[:, 1]
    assert get_scorer("roc_auc")(model, X, y) == pytest.approx(hr.AUC()(y, scores))
    assert get_scorer("accuracy")(model, X, y) == pytest.approx(np.mean(flagged == y))
    assert get_scorer("neg_brier_score")(model, X, y) == pytest.approx(-np.mean((probabilities - y) ** 2))
    head = hr.measure("pauc@0.1")
    assert head.scorer()(model, X, y.astype(int)) == pytest.approx(head(y, scores))
    assert model.score(X, y) == pytest.approx(model.goal.measure(y, scores))
    half = np.arange(y.size) % 2
    assert model.score(X, y, sample_weight=half) == pytest.approx(model.goal.measure(y[half == 1], scores[half == 1]))
    assert model.score(X, y, qid=half) == pytest.approx(model.goal.measure(y, scores, qid=half))


def test_displays_take_it(model, rows):
    plt.switch_backend("Agg")
    for display in (RocCurveDisplay, ConfusionMatrixDisplay, CalibrationDisplay):
        display.from_estimator(model, *rows)
    plt.close("all")


def test_inspection_finds_the_columns_that_matter(model, rows):
    X, y = (each[:200] for each in rows)
    found = permutation_importance(model, X, y, n_repeats=2, random_state=0)
    assert found.importances_mean[X.columns.get_loc("size")] > 0
    assert found.importances_mean[X.columns.get_loc("constant")] == 0


def test_it_is_not_fitted_again(model, rows):
    X, y = rows
    with pytest.raises(TypeError, match=r"fitted already.*FrozenEstimator"):
        model.fit(X, y)
    with pytest.raises(TypeError, match="fitted already"):
        cross_val_score(model, X, y, cv=2, error_score="raise")
    frozen = FixedThresholdClassifier(FrozenEstimator(model), threshold=0.5, response_method="predict_proba").fit(X, y)
    np.testing.assert_array_equal(frozen.predict(X), model.predict_proba(X)[:, 1] >= 0.5)


def test_it_is_printed_in_a_line(model):
    assert repr(model).startswith(f"<TableModel: {model.name} for ")
    assert len(repr(model)) < 150

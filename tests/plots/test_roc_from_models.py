"""RocDisplay asks estimators and cross-validations for the right scores, and refuses what it cannot draw."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import ShuffleSplit, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from headrank.exceptions import OneClassError
from headrank.measures import (
    AUC,
    PartialAUC,
)
from headrank.plots import RocDisplay

mpl.use("Agg")


def labels(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


# -- from scikit-learn -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        RandomForestClassifier(n_estimators=10, random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("pos_label", ["ham", "spam"])
def test_estimators_speak_for_the_positive_class(rows, model, pos_label):
    X, y = rows
    words = np.where(y == 1, "spam", "ham")
    model.fit(X[:400], words[:400])
    display = RocDisplay.from_estimator(model, X[400:], words[400:], pos_label=pos_label, measure=AUC())
    (name,) = display.curves
    assert name == type(model).__name__
    column = model.classes_.tolist().index(pos_label)
    expected = AUC()(words[400:], model.predict_proba(X[400:])[:, column], pos_label=pos_label)
    assert AUC().value(display.curves[name]) == pytest.approx(expected)
    assert expected > 0.6


def test_numbers_as_labels_need_no_pos_label_and_weights_are_used(rows):
    X, y = rows
    model = LogisticRegression().fit(X, 2 * y - 1)
    weights = np.random.default_rng(0).integers(0, 3, y.size)
    display = RocDisplay.from_estimator(model, X, 2 * y - 1, sample_weight=weights, name="mine")
    expected = AUC()(y, model.decision_function(X), sample_weight=weights)
    assert AUC().value(display.curves["mine"]) == pytest.approx(expected)


def test_a_worse_than_random_scorer_is_not_flipped(rows, scores):
    display = RocDisplay.from_predictions(rows[1], -scores["sum"], name="bad")
    assert AUC().value(display.curves["bad"]) < 0.3


def test_a_ranker_without_classes_is_taken_at_its_word(rows):
    class Ranker:
        def decision_function(self, X):
            return X[:, 0]

    display = RocDisplay.from_estimator(Ranker(), *rows)
    assert AUC().value(display.curves["Ranker"]) == AUC()(rows[1], rows[0][:, 0])


@pytest.fixture(scope="module")
def cv_results(rows):
    return cross_validate(LogisticRegression(), *rows, cv=4, return_estimator=True, return_indices=True)


def test_folds_are_drawn_alike_with_one_entry(rows, cv_results):
    X, y = rows
    display = RocDisplay.from_cv_results(cv_results, X, y)
    values = [
        AUC()(y[test], model.decision_function(X[test]))
        for model, test in zip(cv_results["estimator"], cv_results["indices"]["test"], strict=True)
    ]
    assert [AUC().value(curve) for curve in display.curves.values()] == pytest.approx(values)
    assert labels(display) == [
        f"LogisticRegression, auc = {np.mean(values):.3f} ± {np.std(values):.3f} (4 folds)",
        "chance",
    ]
    assert len({line.get_color() for line in display.lines_}) == 1
    assert display.shades_ == []


def test_folds_take_all_options(rows, cv_results):
    weights = np.ones(rows[1].size)
    display = RocDisplay.from_cv_results(
        cv_results,
        *rows,
        sample_weight=weights,
        name="logistic",
        measure=PartialAUC(max_fpr=0.1),
        max_fpr=0.2,
        top=0.1,
    )
    assert labels(display)[0].startswith("logistic, pauc@0.1 = ")
    assert len(display.points_) == 4
    assert not display.shades_  # shades of folds on top of each other are mud
    assert sum(label.startswith("best 0.1") for label in labels(display)) == 1


def test_folds_may_leave_rows_out(rows):
    splits = ShuffleSplit(n_splits=2, train_size=0.5, test_size=0.2, random_state=0)
    results = cross_validate(LogisticRegression(), *rows, cv=splits, return_estimator=True, return_indices=True)
    assert list(RocDisplay.from_cv_results(results, *rows).curves) == ["fold 1", "fold 2"]


# -- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("curves_given", "error", "message"),
    [({}, ValueError, "at least one curve"), ({"a": [1, 2]}, TypeError, "expected a RocCurve for 'a'")],
)
def test_only_curves_are_displayed(curves_given, error, message):
    with pytest.raises(error, match=message):
        RocDisplay(curves_given)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"measure": 5}, TypeError, "short name"),
        ({"max_fpr": 5}, ValueError, "not percent"),
        ({"top": 0}, ValueError, "top"),
        ({"log": True, "max_fpr": 1e-4}, ValueError, "first false positive"),
        ({"curve_kwargs": [{}]}, ValueError, "one per curve"),
        ({"colour": "red"}, TypeError, "colour"),
    ],
)
def test_a_refusal_leaves_no_figure_behind(curves, options, error, message):
    with pytest.raises(error, match=message):
        RocDisplay(curves).plot(**options)
    assert plt.get_fignums() == []


def test_several_scorers_are_named_by_their_keys(rows, scores):
    with pytest.raises(ValueError, match="for a single scorer"):
        RocDisplay.from_predictions(rows[1], scores, name="all")


def test_estimators_that_cannot_be_asked_are_refused(rows):
    X, y = rows
    with pytest.raises(TypeError, match="decision_function or predict_proba"):
        RocDisplay.from_estimator(LinearRegression().fit(X, y), X, y)
    words = np.where(y == 1, "spam", "ham")
    model = LogisticRegression().fit(X, words)
    with pytest.raises(ValueError, match="set pos_label to the positive class"):
        RocDisplay.from_estimator(model, X, words)
    with pytest.raises(ValueError, match="'egg' is not among the classes"):
        RocDisplay.from_estimator(model, X, words, pos_label="egg")
    with pytest.raises(ValueError, match="two classes, but LogisticRegression has 3"):
        RocDisplay.from_estimator(LogisticRegression().fit(X, np.arange(y.size) % 3), X, y)


def test_incomplete_cross_validations_are_refused(rows, cv_results):
    X, y = rows
    with pytest.raises(ValueError, match=r"lacks estimator and indices; run .* with return_estimator=True"):
        RocDisplay.from_cv_results({"test_score": [1]}, X, y)
    for wrong in (X[:-1], np.vstack([X, X])):
        with pytest.raises(ValueError, match="comes from 800 rows"):
            RocDisplay.from_cv_results(cv_results, wrong, y)
    one_class = np.where(np.isin(np.arange(y.size), cv_results["indices"]["test"][1]), 0, y)
    with pytest.raises(OneClassError) as caught:
        RocDisplay.from_cv_results(cv_results, X, one_class)
    assert caught.value.__notes__ == ["in fold 2 of 4"]

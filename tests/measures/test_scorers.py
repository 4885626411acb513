"""Measures as scikit-learn scorers, and the mean over queries."""

import pickle
from statistics import fmean

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import headrank as hr
from headrank.exceptions import OneClassError

X, Y = make_classification(n_samples=150, n_features=5, weights=[0.7], flip_y=0.1, random_state=0)
CV = StratifiedKFold(3)
MODELS = {
    "logistic": LogisticRegression(),
    "svm": LinearSVC(random_state=0),
    "forest": RandomForestClassifier(n_estimators=5, random_state=0),
    "boosting": HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=4, random_state=0),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
}
MEASURES = [
    hr.measure(name)
    for name in ("auc", "pauc@0.1:0.4", "locauc@0.2", "w@0.2", "p@10", "alpha@0.2", "mass@0.2", "fpr@tpr=0.7")
]


def confidence(model, x):
    """What a scorer should rank by: the decision function, or else the probability of the second class."""
    return model.decision_function(x) if hasattr(model, "decision_function") else model.predict_proba(x)[:, 1]


def folds(model):
    """The test rows of each fold, and what the model fitted to the others says of them."""
    return [(test, confidence(clone(model).fit(X[train], Y[train]), X[test])) for train, test in CV.split(X, Y)]


def by_hand(measured, measure, **options):
    """Measure each fold without a scorer."""
    sign = 1 if measure.greater_is_better else -1
    return [
        sign * measure(Y[test], scores, **{name: column[test] for name, column in options.items()})
        for test, scores in measured
    ]


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_scores_of_the_folds_are_measured(model):
    scoring = {str(measure): measure.scorer() for measure in MEASURES}
    scores, measured = cross_validate(model, X, Y, cv=CV, scoring=scoring), folds(model)
    for measure in MEASURES:
        assert scores[f"test_{measure}"] == pytest.approx(by_hand(measured, measure))


def test_better_is_greater_for_scikit_learn():
    lower = [measure for measure in MEASURES if not measure.greater_is_better]
    assert [str(measure) for measure in lower] == ["alpha@0.2", "mass@0.2", "fpr@tpr=0.7"]
    for measure in lower:
        assert (cross_val_score(MODELS["logistic"], X, Y, cv=CV, scoring=measure.scorer()) <= 0).all()


def test_agrees_with_scikit_learn():
    ours = cross_val_score(MODELS["forest"], X, Y, cv=CV, scoring=hr.AUC().scorer())
    assert ours.tolist() == pytest.approx(cross_val_score(MODELS["forest"], X, Y, cv=CV, scoring="roc_auc").tolist())


def test_grid_search_picks_by_the_measure():
    measure, grid = hr.PartialAUC(max_fpr=0.2), {"C": [1e-6, 1e-2, 1.0]}
    search = GridSearchCV(LogisticRegression(), grid, cv=CV, scoring=measure.scorer()).fit(X, Y)
    means = [fmean(by_hand(folds(LogisticRegression(C=c)), measure)) for c in grid["C"]]
    assert search.cv_results_["mean_test_score"].tolist() == pytest.approx(means)
    assert search.best_params_["C"] == grid["C"][int(np.argmax(means))]
    assert search.score(X, Y) == measure(Y, search.decision_function(X))


@pytest.mark.parametrize("name", ["logistic", "svm", "forest"])
@pytest.mark.parametrize("positive", ["ill", "well"])
def test_named_labels_in_both_directions(name, positive):
    # scikit-learn sorts the classes: "ill" is the first, so for it the sign of the decision function turns.
    model, measure = MODELS[name], hr.PartialAUC(max_fpr=0.5)
    words = np.where(Y == 1, "well", "ill")
    scores = cross_val_score(model, X, words, cv=CV, scoring=measure.scorer(pos_label=positive))
    values = []
    for train, test in CV.split(X, words):
        fitted = clone(model).fit(X[train], words[train])
        if hasattr(fitted, "decision_function"):
            ranked = fitted.decision_function(X[test]) * (1 if positive == "well" else -1)
        else:
            ranked = fitted.predict_proba(X[test])[:, list(fitted.classes_).index(positive)]
        values.append(measure(words[test] == positive, ranked))
    assert scores.tolist() == values
    assert (scores > 0.5).all()  # a flipped direction would fall below chance


def test_named_labels_without_pos_label_are_refused():
    words = np.where(Y == 1, "well", "ill")
    fitted = LogisticRegression().fit(X, words)
    with pytest.raises(ValueError, match="pos_label"):
        hr.AUC().scorer()(fitted, X, words)


def test_the_first_of_two_numbers_as_positive():
    fitted = LogisticRegression().fit(X, Y)
    assert hr.AUC().scorer(pos_label=0)(fitted, X, Y) == hr.AUC()(Y == 0, -fitted.decision_function(X))


def test_sample_weight_is_routed():
    weights = np.random.default_rng(1).uniform(0.1, 2, len(Y))
    measure = hr.PartialAUC(max_fpr=0.3)
    with sklearn.config_context(enable_metadata_routing=True):
        model = LogisticRegression().set_fit_request(sample_weight=False)
        scorer = measure.scorer().set_score_request(sample_weight=True)
        scores = cross_validate(model, X, Y, cv=CV, scoring=scorer, params={"sample_weight": weights})["test_score"]
    assert scores == pytest.approx(by_hand(folds(LogisticRegression()), measure, sample_weight=weights))
    assert scores != pytest.approx(by_hand(folds(LogisticRegression()), measure))


def test_qid_is_routed():
    queries = np.random.default_rng(2).integers(0, 4, len(Y))
    measure = hr.LocalAUC(0.3)
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = measure.scorer().set_score_request(qid=True)
        scores = cross_validate(LogisticRegression(), X, Y, cv=CV, scoring=scorer, params={"qid": queries})[
            "test_score"
        ]
        renamed = measure.scorer().set_score_request(qid="group")
        again = cross_validate(LogisticRegression(), X, Y, cv=CV, scoring=renamed, params={"group": queries})
    assert scores == pytest.approx(by_hand(folds(LogisticRegression()), measure, qid=queries))
    assert again["test_score"] == pytest.approx(scores)


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_scorers_travel_and_print(measure):
    scorer, fitted = measure.scorer(), LogisticRegression().fit(X, Y)
    for copy in (pickle.loads(pickle.dumps(scorer)), clone(scorer, safe=False)):
        assert copy(fitted, X, Y) == scorer(fitted, X, Y)
    assert str(measure) in repr(scorer)


def test_scorers_work_in_other_processes():
    scorer = hr.PartialAUC(max_fpr=0.2).scorer()
    alone = cross_val_score(LogisticRegression(), X, Y, cv=CV, scoring=scorer)
    assert cross_val_score(LogisticRegression(), X, Y, cv=CV, scoring=scorer, n_jobs=2).tolist() == alone.tolist()


QID = ["b", "a", "b", "a", "c", "c", "b", "d"]
QY = [1, 0, 0, 1, 1, 1, 1, 0]
QS = [5, 4, 3, 3, 2, 1, 0, 9]


@pytest.mark.parametrize("qid", [QID, [ord(q) for q in QID], np.array(QID), np.array(QID, dtype=object)])
@pytest.mark.parametrize("measure", MEASURES[:4], ids=str)
def test_mean_over_queries_with_both_classes(measure, qid):
    value = measure(QY, QS, qid=qid)
    parts = [[(y, s) for y, s, q in zip(QY, QS, QID, strict=True) if q == name] for name in "ab"]
    assert value == fmean(measure(*zip(*part, strict=True)) for part in parts)
    assert (value.n_queries, value.n_left_out) == (2, 2)
    assert isinstance(value, float)
    assert "2" in repr(value)
    again = pickle.loads(pickle.dumps(value))
    assert (again, again.n_queries, again.n_left_out) == (value, 2, 2)


def test_queries_of_one_class_only_are_refused():
    with pytest.raises(OneClassError, match=r"expected at least one query.*all 2 queries.*check qid"):
        hr.AUC()([1, 1, 0], [3, 2, 1], qid=[1, 1, 2])


def test_weights_count_within_their_query():
    value = hr.AUC()([1, 0, 0, 1, 0], [3, 2, 4, 1, 0], sample_weight=[1, 3, 1, 5, 1], qid=[1, 1, 1, 2, 2])
    assert value == fmean([0.75, 1.0])  # a query counts once, whatever its rows weigh
    assert hr.AUC()([1, 0, 1, 0], [2, 1, 2, 1], sample_weight=[1, 1, 0, 1], qid=[1, 1, 2, 2]).n_left_out == 1


def test_one_query_is_the_sample():
    for measure in MEASURES[:4]:
        assert measure(Y, X[:, 0], qid=np.zeros(len(Y))) == measure(Y, X[:, 0])


@pytest.mark.parametrize("scoring", ["pauc@0.01", ["auc", "pauc@0.01"]])
def test_scikit_learn_knows_no_short_names(scoring):
    """It has no function to add names. If this fails, it has one now, and the page "Other libraries" is out of date."""
    with pytest.raises(ValueError, match=r"scoring"):
        cross_validate(LogisticRegression(), X, Y, cv=CV, scoring=scoring)
    assert not [name for name in dir(sklearn.metrics) if "register" in name or "add_scorer" in name]

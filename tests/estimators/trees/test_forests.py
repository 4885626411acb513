"""Forests of scikit-learn written as LightGBM's text give scikit-learn's own probabilities."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

import headrank as hr
from headrank.estimators.trees import forests
from headrank.estimators.trees.forests import FoldForests, _sampled, _single, _text_of
from headrank.estimators.trees.lightgbm_trees import LightGBMTrees
from headrank.estimators.trees.tree_text import faults_of
from samples import gaussians

KINDS = [RandomForestClassifier, ExtraTreesClassifier]


def rows(n_features=4, *, missing=False):
    X, y = gaussians(40, 160, n_features)
    X = np.round(X, 1)  # ties, so that thresholds are met
    if missing:
        X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    return X.astype(np.float32), y.astype(bool)


def agrees(forest, X, X_scored=None):
    X_scored = X if X_scored is None else X_scored
    text = _text_of(forest, X.shape[1])
    assert list(faults_of(text)) == []
    np.testing.assert_allclose(
        LightGBMTrees.of(text).scores(X_scored), forest.predict_proba(X_scored)[:, 1], rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_probabilities_are_the_same(kind, missing, weighted):
    X, y = rows(missing=missing)
    weights = np.random.default_rng(2).integers(1, 5, y.size) / 3 if weighted else None
    forest = kind(20, random_state=0).fit(X, y, weights)
    agrees(forest, X)
    agrees(forest, X, rows(missing=False)[0][::-1])
    assert np.ptp(forest.predict_proba(X)[:, 1]) > 0.5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seen", ["one value", "none"])
def test_missing_values_go_where_scikit_learn_sends_them(kind, seen):
    """Where none was seen in a split, or in all of training, too."""
    X, y = rows()
    if seen == "one value":
        X[3, 2] = np.nan
    forest = kind(20, random_state=1).fit(X, y)
    agrees(forest, X, rows(missing=True)[0])


@pytest.mark.parametrize("to_the_right", [False, True])
def test_missing_values_that_all_go_one_way(to_the_right):
    """All missing values are of one class, on one side of every split."""
    X, y = np.arange(40, dtype=np.float32)[:, None], np.arange(40) >= 20
    X[(y if to_the_right else ~y) & (np.arange(40) % 2 == 0)] = np.nan
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    agrees(forest, X)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("storage", [csr_matrix, csr_array])
def test_sparse(kind, storage):
    X, y = rows()
    X[np.abs(X) < 0.7] = 0
    forest = kind(10, random_state=0).fit(storage(X), y)
    agrees(forest, X, storage(X))
    agrees(forest, X)


@pytest.mark.parametrize("kind", KINDS)
def test_trees_of_one_leaf(kind):
    X, y = rows()
    without_splits, mixed = kind(3, random_state=0).fit(np.ones_like(X), y), kind(3, random_state=0).fit(X, y)
    agrees(without_splits, X)
    mixed.estimators_[1] = without_splits.estimators_[1]
    assert [tree.tree_.node_count == 1 for tree in mixed.estimators_] == [False, True, False]
    agrees(mixed, X)


def test_single_precision():
    X = np.array([[1e300, -np.inf, np.nan], [np.inf, 0.1, -1e39]])
    single = _single(X)
    largest = np.finfo(np.float32).max
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, np.array([[largest, -largest, np.nan], [largest, 0.1, -largest]], np.float32))
    np.testing.assert_array_equal(_single(csr_matrix(X)).toarray(), single)
    plain = np.ones((2, 2), dtype=np.float32)
    assert _single(plain) is plain


def test_large_tables_are_sampled():
    assert _sampled(1000, 10) == {}
    assert _sampled(10**6, 100)["max_samples"] < 0.01
    assert 0 < _sampled(10**7, 10**6)["max_samples"] <= 1000 / 10**7 * (1 + 1e-9)
    assert _sampled(1001, 10**7)["max_samples"] <= 1


THREE_FOLDS = [(np.flatnonzero(np.arange(200) % 3 != k), np.flatnonzero(np.arange(200) % 3 == k)) for k in range(3)]
OF_NAME = {"random forest": RandomForestClassifier, "extra trees": ExtraTreesClassifier}


def share_of_positives(kind, X, y, X_scored, **options):
    """As scikit-learn gives it, with the seed that the ranker draws."""
    drawn = np.random.RandomState(0).randint(2**31 - 1)
    grown = OF_NAME[kind](100, random_state=drawn, max_leaf_nodes=400, **options).fit(X, y)
    return grown.predict_proba(X_scored)[:, 1]


@pytest.mark.parametrize("kind", OF_NAME)
def test_all_rows_score_and_folds_judge(kind):
    X, y = rows(missing=True)
    counts = []
    ranker = FoldForests("pauc@0.3", kind=kind, cv=THREE_FOLDS, verbose=lambda *state: counts.append(state)).fit(X, y)
    assert counts == [(done, 4) for done in range(5)]
    expected = share_of_positives(kind, X, y, X)
    np.testing.assert_allclose(ranker.decision_function(X) - ranker.intercept_, expected, atol=1e-12)
    for (train, test), scores, value in zip(THREE_FOLDS, ranker.out_of_fold_, ranker.trial_.values, strict=True):
        of_fold = share_of_positives(kind, X[train], y[train], X[test])
        np.testing.assert_allclose(scores, of_fold, atol=1e-12)
        assert value == pytest.approx(hr.measure("pauc@0.3")(y[test], scores))
    np.testing.assert_allclose(ranker.contributions(X).sum(axis=1), ranker.decision_function(X), atol=1e-6)
    out_of_fold = np.concatenate(ranker.out_of_fold_) + ranker.intercept_
    assert (out_of_fold > 0).sum() <= y.sum() <= (out_of_fold >= 0).sum()
    assert ranker.trial_.mean > 0.2  # chance is 0.15


@pytest.mark.parametrize("kind", OF_NAME)
def test_of_samples_the_folds_score(kind, monkeypatch):
    """If each tree sees a sample, a forest of all rows is no better than the mean of those of the folds."""
    X, y = rows()
    sampled = {"bootstrap": True, "max_samples": 0.5}
    monkeypatch.setattr(forests, "_sampled", lambda *_: sampled)
    counts = []
    ranker = FoldForests("pauc@0.3", kind=kind, cv=THREE_FOLDS, verbose=lambda *state: counts.append(state)).fit(X, y)
    assert counts == [(done, 3) for done in range(4)]
    of_folds = [share_of_positives(kind, X[train], y[train], X, **sampled) for train, _ in THREE_FOLDS]
    np.testing.assert_allclose(ranker.decision_function(X) - ranker.intercept_, np.mean(of_folds, axis=0), atol=1e-12)
    np.testing.assert_allclose(ranker.contributions(X).sum(axis=1), ranker.decision_function(X), atol=1e-6)
    for (_, test), scores, of_fold in zip(THREE_FOLDS, ranker.out_of_fold_, of_folds, strict=True):
        np.testing.assert_allclose(scores, of_fold[test], atol=1e-12)

"""The kernel family: scores out of fold that have not seen the fold, landmarks, what is selected, contributions."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from headrank.estimators._labelled import Labelled
from headrank.estimators.combined import kernel_part
from headrank.estimators.combined.gaussian_ridge import PENALTY_OF_WEIGHTS, GaussianKernel
from headrank.estimators.combined.kernel_part import PENALTIES, ScaledKernel
from headrank.estimators.cv.fold_rows import FoldRows
from headrank.estimators.cv.tally import Tally
from headrank.measures import measure
from reference.kernel_ridge import ridge_scores
from samples import gaussians


def ring(n_rows=300, *, seed=0):
    """Positives inside a ring: no linear scorer finds them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2))
    return X, (np.abs(np.hypot(*X.T) - 1.2) < 0.2).astype(int)


def folds_of(X, y, n_folds=3):
    splits = [(np.flatnonzero(np.arange(y.size) % n_folds != k), np.arange(k, y.size, n_folds)) for k in range(n_folds)]
    return FoldRows(Labelled.of(y > 0, None, None), splits, measure("auc"))


def test_it_finds_what_no_line_finds():
    X, y = ring()
    ranker = ScaledKernel("pauc@0.3", cv=3).fit(X, y)
    new, of_new = ring(seed=1)
    assert ranker.score(new, of_new) > 0.7
    assert not ranker.collapsed_
    assert 0.15 < np.mean(ranker.predict(new)) < 0.35  # of the training rows, 0.22 are positive
    assert [each.size for each in ranker.out_of_fold_] == [100, 100, 100]


def test_each_fold_is_scored_by_the_other_rows():
    X, y = ring(90)
    folds, features = folds_of(X, y), X
    kernel, ticks = GaussianKernel(features, 0.5), []

    def of_width(folds):
        parts = kernel_part._parts(folds.splits, 90)
        tally = Tally(lambda done, _total: ticks.append(done))
        return kernel_part._of_width(kernel, folds, parts, features, np.arange(90), tally)

    found = of_width(folds)
    assert ticks == [1, 2, 3, 4, 5, 6]  # a part of the rows or a fold each: the time is looked at in between
    train, test = folds.splits[1]
    for penalty, scores in zip(PENALTIES, found.scores, strict=True):
        expected = ridge_scores(features[train], y[train], features[test], 0.5, penalty, PENALTY_OF_WEIGHTS)
        np.testing.assert_allclose(scores[1], expected, atol=1e-4 * np.abs(expected).max())
    other = y.copy()
    other[test] = 1 - y[test]
    again = of_width(folds_of(X, other))
    np.testing.assert_allclose([each[1] for each in again.scores], [each[1] for each in found.scores], atol=1e-9)
    assert not np.allclose(found.scores[3][0], again.scores[3][0])


def test_folds_need_not_be_a_partition():
    X, y = ring(120)
    splits = [
        (np.arange(80), np.arange(80, 120)),
        (np.arange(40, 120), np.arange(40)),
        (np.arange(60), np.arange(90, 100)),
    ]
    ranker = ScaledKernel("auc", cv=splits).fit(X, y)
    assert [each.size for each in ranker.out_of_fold_] == [40, 40, 10]
    assert ranker.score(X, y) > 0.9


def test_sums_of_many_folds_are_not_kept(monkeypatch):
    X, y = ring(120)
    shared = ScaledKernel("auc", cv=4).fit(X, y)
    monkeypatch.setattr(kernel_part, "_MOST_PARTS", 3)
    one_by_one = ScaledKernel("auc", cv=4).fit(X, y)
    for mine, its in zip(shared.out_of_fold_, one_by_one.out_of_fold_, strict=True):
        np.testing.assert_allclose(mine, its, atol=1e-6)
    np.testing.assert_allclose(shared.decision_function(X), one_by_one.decision_function(X), atol=1e-6)


def test_a_fold_without_landmarks_is_scored_all_the_same(monkeypatch):
    monkeypatch.setattr(kernel_part, "_MOST_LANDMARKS", 2)
    X, y = ring(120)
    first = np.sort(np.r_[np.flatnonzero(y == 1)[:2], np.flatnonzero(y == 0)[:2]])
    rest = np.setdiff1d(np.arange(120), first)
    ranker = ScaledKernel("auc", cv=[(first, rest), (rest, first)]).fit(X, y)
    assert np.isfinite(ranker.decision_function(X)).all()


@pytest.mark.parametrize(("n_pos", "n_neg", "expected"), [(30, 90, 20), (5, 115, 5), (110, 10, 30)])
def test_half_of_the_landmarks_are_positive_if_there_are_enough(n_pos, n_neg, expected, monkeypatch):
    monkeypatch.setattr(kernel_part, "_MOST_LANDMARKS", 40)
    positive = np.arange(n_pos + n_neg) < n_pos
    chosen = kernel_part._landmarks(positive, np.random.default_rng(0))
    assert chosen.size == np.unique(chosen).size == 40
    assert positive[chosen].sum() == expected


def test_many_rows_have_fewer_landmarks(monkeypatch):
    X, y = ring()
    every = ScaledKernel("pauc@0.3", cv=3).fit(X, y)
    assert every.sums_[0].kernel.landmarks.shape == (300, 2)
    monkeypatch.setattr(kernel_part, "_MOST_PRODUCTS", 300 * 60**2)
    few = ScaledKernel("pauc@0.3", cv=3).fit(X, y)
    assert few.sums_[0].kernel.landmarks.shape == (60, 2)
    assert abs(few.score(X, y) - every.score(X, y)) < 0.1


def test_scores_have_the_scale_of_those_out_of_fold():
    X, y = ring()
    ranker = ScaledKernel("pauc@0.3", cv=3).fit(X, y)
    new = ranker.decision_function(ring(seed=1)[0]) - ranker.intercept_
    assert new.std() == pytest.approx(np.concatenate(ranker.out_of_fold_).std(), rel=0.25)


def test_contributions_add_up_and_missing_values_count_for_their_column():
    X, y = gaussians(60, 240, 3, shift=1.5)
    X[::9, 2], X[0, 0] = np.nan, np.inf
    ranker = ScaledKernel("pauc@0.3", cv=3).fit(X, y)
    contributions = ranker.contributions(X)
    assert contributions.shape == (300, 4)
    np.testing.assert_allclose(contributions.sum(axis=1), ranker.decision_function(X), atol=1e-9)
    assert np.ptp(contributions[:, -1]) == 0
    assert np.abs(contributions[:, 0]).mean() > 0.01


def test_constant_features_add_nothing_and_change_nothing():
    X, y = ring(150)
    wider = np.column_stack([X, np.full(150, 7.0)])
    ranker, with_constant = (ScaledKernel("auc", cv=3).fit(each, y) for each in (X, wider))
    np.testing.assert_allclose(with_constant.decision_function(wider), ranker.decision_function(X), atol=1e-6)
    assert not with_constant.contributions(wider)[:, 2].any()


def test_rows_that_are_all_equal_teach_nothing():
    _, y = ring(60)
    ranker = ScaledKernel("auc", cv=3).fit(np.ones((60, 2)), y)
    assert ranker.collapsed_
    assert np.ptp(ranker.decision_function(np.ones((60, 2)))) == 0


def test_codes_of_categories_become_indicators():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, 300).astype(float)
    y = (rng.random(300) < np.where(codes % 2 == 0, 0.7, 0.1)).astype(int)
    X = np.column_stack([rng.normal(size=300), codes])
    ranker = ScaledKernel("auc", one_hot=[1], cv=3).fit(X, y)
    assert ranker.sums_[0].kernel.landmarks.shape[1] == 6
    added = ranker.contributions(X)
    assert np.abs(added[:, 1]).mean() > 2 * np.abs(added[:, 0]).mean()
    np.testing.assert_allclose(added.sum(axis=1), ranker.decision_function(X), atol=1e-9)


def test_sparse_features_are_taken_as_they_are():
    X, y = gaussians(40, 160, 3, shift=1.5)
    X[np.abs(X) < 0.5] = 0
    ranker = ScaledKernel("pauc@0.3", cv=3).fit(csr_matrix(X), y)
    assert ranker.scaler_ is None
    np.testing.assert_allclose(ranker.decision_function(csr_matrix(X)), ranker.decision_function(X), atol=1e-9)
    added = ranker.contributions(csr_matrix(X))
    np.testing.assert_allclose(added.sum(axis=1), ranker.decision_function(X), atol=1e-9)


def test_values_too_large_to_square_give_finite_scores():
    X, y = gaussians(40, 160, 2, shift=1.5)
    ranker = ScaledKernel("auc", cv=3).fit(csr_matrix(X * 1e200), y)
    assert np.isfinite(ranker.decision_function(csr_matrix(X * 1e200))).all()

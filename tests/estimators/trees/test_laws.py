"""Laws that trees keep, whatever they minimise."""

from functools import cache

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

from estimators.trees.boosting import boosted, boosted_cv, combined, every_kind, whole_numbers
from headrank.model_io.saving import packed

pytestmark = pytest.mark.usefixtures("few_trees")

KINDS = list(every_kind())
DRAWN_ALIKE = ("logistic", "push", "smooth", "chosen")
"""Without draws of features and thresholds, which depend on how many there are."""


def fitted(name, X, y, **options):
    return every_kind()[name].fit(X, y, **options)


@cache
def plain(name):
    """Fitted to whole numbers; not to be changed."""
    return fitted(name, *whole_numbers())


def up_to_a_factor(one, other):
    """Whether scores are the same but for a positive factor and a shift."""
    one, other = ((scores - scores.mean()) / scores.std() for scores in (one, other))
    return np.allclose(one, other, atol=1e-8)


@pytest.mark.parametrize("name", DRAWN_ALIKE)
def test_a_monotone_transformation_of_a_feature_changes_nothing(name):
    X, y = whole_numbers()
    moved = X.copy()
    moved[:, 0] = 2.0 ** X[:, 0] - 40
    scores = plain(name).decision_function(X)
    np.testing.assert_allclose(fitted(name, moved, y).decision_function(moved), scores, atol=1e-9)
    assert np.ptp(scores) > 0.1


@pytest.mark.parametrize("name", DRAWN_ALIKE)
def test_a_constant_feature_changes_nothing(name):
    X, y = whole_numbers()
    more = np.c_[X, np.full(y.size, 7.0)]
    ranker = fitted(name, more, y)
    np.testing.assert_allclose(ranker.decision_function(more), plain(name).decision_function(X), atol=1e-9)
    assert not ranker.contributions(more)[:, -2].any()


@pytest.mark.parametrize("name", KINDS)
def test_contributions_add_up_to_the_scores(name):
    X, y = whole_numbers()
    X[::9, 1] = np.nan
    ranker = fitted(name, X, y)
    contributions = ranker.contributions(X)
    assert contributions.shape == (y.size, X.shape[1] + 1)
    np.testing.assert_allclose(contributions.sum(axis=1), ranker.decision_function(X), atol=1e-6)
    assert np.ptp(contributions[:, -1]) < 1e-9
    assert np.abs(contributions[:, 0]).mean() > np.abs(contributions[:, 2]).mean()


@pytest.mark.parametrize("name", KINDS)
def test_equal_runs_give_equal_files_whatever_the_threads(name):
    X, y = whole_numbers()
    first, n_jobs = plain(name), plain(name).n_jobs
    again, threads = fitted(name, X, y), every_kind()[name].set_params(n_jobs=2).fit(X, y)
    for each in (threads, *(part.scorer for part in getattr(threads, "parts_", ()))):
        each.set_params(n_jobs=n_jobs)
    for other in (again, threads):
        if name in ("push", "smooth"):  # the last digits of products depend on where the numbers lie in memory
            np.testing.assert_allclose(other.decision_function(X), first.decision_function(X), atol=1e-9)
        else:
            assert packed(other) == packed(first)


@pytest.mark.parametrize("name", KINDS)
def test_weights_of_one_are_no_weights(name):
    X, y = whole_numbers()
    scores = plain(name).decision_function(X)
    np.testing.assert_allclose(
        fitted(name, X, y, sample_weight=np.ones(y.size)).decision_function(X), scores, atol=1e-9
    )


@pytest.mark.parametrize("name", ["logistic", "push", "smooth"])
def test_equal_weights_are_no_weights(name):
    """But for rounding, and for a penalty, which a weight makes up for."""
    X, y = whole_numbers()
    scores = plain(name).decision_function(X)
    assert up_to_a_factor(fitted(name, X, y, sample_weight=np.full(y.size, 4.0)).decision_function(X), scores)


@pytest.mark.parametrize("penalty", [0.0, 2.0])
@pytest.mark.parametrize("objective", ["logistic", "push", "smooth"])
def test_whole_weights_are_copies(objective, penalty):
    """As far as LightGBM counts rows by weight: leaves may have one row, and each bin has many."""
    X, y = whole_numbers()
    weights = np.random.default_rng(5).integers(1, 4, y.size)
    options = {"objective": objective, "min_samples_leaf": 1, "l2_regularization": penalty, "n_refining": 3}
    ranker = boosted("auc", max_leaf_nodes=4, **options)

    def scores(*rows):
        ranker.fit(*rows)
        return ranker.decision_function(X) - ranker.intercept_  # a threshold may lie anywhere between two scores

    weighted, plain = scores(X, y, weights), scores(X, y)
    copies = scores(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted, copies, atol=1e-5)
    assert np.abs(weighted - plain).max() > 1e-3


@pytest.mark.parametrize("name", KINDS)
def test_weights_that_are_shares_are_weights(name):
    X, y = whole_numbers()
    alike, shares = every_kind()[name].fit(X, y), every_kind()[name].fit(X, y, np.full(y.size, 2.0**-30))
    moved = shares.decision_function(X) - alike.decision_function(X)
    assert np.ptp(moved) < 1e-6  # a threshold may lie anywhere between two scores


@pytest.mark.parametrize("name", KINDS)
def test_rows_of_weight_0_are_absent(name):
    X, y = whole_numbers()
    weights = np.ones(y.size)
    weights[::5] = 0
    noise = X.copy()
    noise[::5] = -99
    folds = [(np.flatnonzero(np.arange(200) % 3 != k), np.flatnonzero(np.arange(200) % 3 == k)) for k in range(3)]
    place = np.cumsum(weights > 0) - 1
    of_kept = [tuple(place[part[weights[part] > 0]] for part in fold) for fold in folds]
    with_zeros, without = every_kind()[name], every_kind()[name]
    if hasattr(with_zeros, "cv"):
        with_zeros.set_params(cv=folds)
        without.set_params(cv=of_kept)
    with_zeros.fit(noise, y, weights)
    without.fit(X[weights > 0], y[weights > 0])
    np.testing.assert_allclose(with_zeros.decision_function(X), without.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("storage", [csr_matrix, csr_array, lambda X: X.astype(np.float32), np.asfortranarray])
def test_storages_give_the_same(name, storage):
    X, y = whole_numbers()
    ranker, other = plain(name), fitted(name, storage(X), y)
    if name == "combined" and hasattr(storage(X), "nnz"):
        return np.testing.assert_allclose(other.decision_function(storage(X)), other.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(other.decision_function(storage(X)), ranker.decision_function(X), atol=1e-9)
    return np.testing.assert_allclose(other.contributions(storage(X)), ranker.contributions(X), atol=1e-9)


@pytest.mark.parametrize("name", ["logistic", "push", "smooth"])
@pytest.mark.parametrize("every", [1, 3, 100])
def test_stages_end_with_the_scores(name, every):
    X, _ = whole_numbers()
    ranker = plain(name)
    *_, last = ranker.staged_decision_function(X, every=every)
    np.testing.assert_allclose(last, ranker.decision_function(X), atol=1e-12)


@pytest.mark.parametrize("sign", [1, -1])
def test_monotone_constraints_hold(sign):
    X, y = whole_numbers()
    X[:, 2] = np.random.default_rng(1).permutation(X[:, 2])
    steps = np.tile(np.median(X, axis=0), (12, 1))
    steps[:, 0] = np.arange(12) - 2
    for ranker in (boosted(n_estimators=30), boosted_cv()):
        free = ranker.fit(X, y).decision_function(steps)
        assert free[-1] > free[0]
        bound = ranker.set_params(monotonic_cst=[sign, 0, 0]).fit(X, y).decision_function(steps)
        assert (sign * np.diff(bound) >= 0).all()
        assert (bound[-1] > bound[0]) == (sign == 1)


@pytest.mark.parametrize("family", ["boosted trees", "linear", "kernel", "extra trees", "random forest"])
def test_a_combination_of_one_family_is_that_family(family):
    X, y = whole_numbers()
    ranker = combined(families=[family]).fit(X, y)
    (part,) = ranker.parts_
    assert (part.family, part.weight) == (family, 1.0)
    assert up_to_a_factor(ranker.decision_function(X), part.scorer.decision_function(X))
    np.testing.assert_allclose(ranker.contributions(X).sum(axis=1), ranker.decision_function(X), atol=1e-6)
    assert ranker.choice_.startswith(f"Selected {family} alone for pauc@0.3: mean ")
    assert ranker.trials_[0].mean == pytest.approx(ranker.best_score_)

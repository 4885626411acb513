"""Laws that ranking trees and forests keep."""

from functools import cache

import numpy as np
import pytest
from joblib import parallel_config
from scipy.sparse import csr_array, csr_matrix

from estimators.ranking_trees.growing import every_kind, forest, loose, tree, whole_numbers
from headrank.estimators.ranking_trees import cells
from headrank.model_io.saving import packed
from samples import gaussians

KINDS = list(every_kind())
DRAWN_ALIKE = [name for name in KINDS if name != "forest"]
"""Without draws of features, which depend on how many there are."""


def fitted(name, X, y, **options):
    return every_kind()[name].fit(X, y, **options)


@cache
def plain(name):
    """Fitted to whole numbers; not to be changed."""
    return fitted(name, *whole_numbers())


@pytest.mark.parametrize("name", KINDS)
def test_a_monotone_transformation_of_a_feature_changes_nothing(name):
    X, y = gaussians(80, 320, 3)  # more values than bins
    moved = X.copy()
    moved[:, 0], moved[:, 1] = np.exp(X[:, 0]) - 40, X[:, 1] ** 3
    one, other = fitted(name, X, y), fitted(name, moved, y)
    np.testing.assert_array_equal(other.decision_function(moved), one.decision_function(X))
    assert np.unique(one.decision_function(X)).size > 3
    if "forest" in name:
        np.testing.assert_array_equal(other.oob_scores_, one.oob_scores_)


@pytest.mark.parametrize("name", DRAWN_ALIKE)
@pytest.mark.parametrize("value", [7.0, np.nan, np.inf])
def test_a_constant_feature_changes_nothing(name, value):
    X, y = whole_numbers()
    more = np.c_[np.full(y.size, value), X]
    ranker = fitted(name, more, y)
    np.testing.assert_array_equal(ranker.decision_function(more), plain(name).decision_function(X))


@pytest.mark.parametrize("name", KINDS)
def test_equal_runs_give_equal_files(name):
    assert packed(fitted(name, *whole_numbers())) == packed(plain(name))


def test_the_number_of_jobs_changes_nothing():
    X, y = whole_numbers()
    with parallel_config(backend="threading"):
        two = forest(n_jobs=2).fit(X, y)
    assert packed(two.set_params(n_jobs=None)) == packed(plain("forest"))


def test_another_seed_is_another_forest():
    X, y = whole_numbers()
    assert (
        np.abs(forest(random_state=2).fit(X, y).decision_function(X) - plain("forest").decision_function(X)).max() > 0
    )


@pytest.mark.parametrize("scale", [1.0, 0.25, 2.0**-40])
@pytest.mark.parametrize("name", KINDS)
def test_equal_weights_are_no_weights(name, scale):
    X, y = whole_numbers()
    weighted = fitted(name, X, y, sample_weight=np.full(y.size, scale)).decision_function(X)
    np.testing.assert_allclose(weighted, plain(name).decision_function(X), atol=1e-9)


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize("n_values", [6, 1000])
def test_whole_weights_are_copies(n_values, local):
    """With as many bins as there are, or bins by weight."""
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, n_values, size=(300, 3)).astype(float), rng.random(300) < 0.3
    X[:, 0] += n_values / 4 * y
    weights = rng.integers(1, 4, y.size)
    ranker = loose("pauc@0.3", local=local)
    weighted = ranker.fit(X, y, weights).apply(X)
    np.testing.assert_array_equal(ranker.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).apply(X), weighted)
    assert (ranker.fit(X, y).apply(X) != weighted).any()


@pytest.mark.parametrize("name", KINDS)
def test_rows_of_weight_0_are_absent(name):
    X, y = whole_numbers()
    weights = np.ones(y.size)
    weights[::5] = 0
    noise = X.copy()
    noise[::5] = -99
    with_zeros, without = fitted(name, noise, y, sample_weight=weights), fitted(name, X[weights > 0], y[weights > 0])
    np.testing.assert_array_equal(with_zeros.decision_function(X), without.decision_function(X))
    if "forest" in name:
        np.testing.assert_array_equal(with_zeros.oob_scores_[weights > 0], without.oob_scores_)
        np.testing.assert_array_equal(with_zeros.oob_scores_[::5], with_zeros.decision_function(noise[::5]))


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("storage", [csr_matrix, csr_array, lambda X: X.astype(np.float32), np.asfortranarray])
def test_storages_give_the_same(name, storage):
    X, y = whole_numbers()
    other = fitted(name, storage(X), y)
    np.testing.assert_array_equal(other.decision_function(storage(X)), plain(name).decision_function(X))
    np.testing.assert_array_equal(plain(name).decision_function(storage(X)), plain(name).decision_function(X))


@pytest.mark.parametrize("name", ["whole", "of all regions"])
def test_the_order_of_rows_changes_nothing_without_folds_and_samples(name):
    X, y = whole_numbers()
    order = np.random.default_rng(0).permutation(y.size)
    np.testing.assert_array_equal(
        fitted(name, X[order], y[order]).decision_function(X), plain(name).decision_function(X)
    )


@pytest.mark.parametrize("weighted", [True, False])
def test_counting_feature_by_feature_changes_nothing(weighted, monkeypatch):
    X, y = gaussians(80, 320, 3)
    X[::7, 1] = np.nan
    weights = np.random.default_rng(0).random(y.size) if weighted else None
    expected = [fitted(name, X, y, sample_weight=weights).decision_function(X) for name in ("whole", "forest")]
    monkeypatch.setattr(cells, "_MANY_ROWS", 30)
    for name, scores in zip(("whole", "forest"), expected, strict=True):
        np.testing.assert_array_equal(fitted(name, X, y, sample_weight=weights).decision_function(X), scores)


@pytest.mark.parametrize("name", KINDS)
def test_fit_leaves_the_constructor_arguments_alone(name):
    ranker = every_kind()[name]
    before = dict(ranker.get_params())
    assert ranker.fit(*whole_numbers()) is ranker
    assert ranker.get_params() == before


@pytest.mark.parametrize("name", KINDS)
def test_about_as_many_rows_are_positive_as_in_training(name):
    X, y = gaussians(100, 300, 3)
    assert 40 <= (fitted(name, X, y).predict(X) == 1).sum() <= 250


def test_a_tree_of_queries_is_pruned_by_the_mean_over_queries():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(30), 8)
    y = (rng.random(240) < 0.3).astype(int)
    y[::8], y[1::8] = 1, 0
    X = rng.normal(size=(240, 3)) + y[:, None]
    pruned, plain = tree("auc").fit(X, y, qid=qid), tree("auc").fit(X, y)
    assert pruned.pruning_.penalties.tolist() == plain.pruning_.penalties.tolist()  # growing ignores queries
    assert pruned.pruning_.values[0].tolist() != plain.pruning_.values[0].tolist()
    assert pruned.score(X, y, qid=qid) > 0.6

"""Shapley values of deep trees: the definition, LightGBM's where these are right, and integrals where they are not."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from headrank.estimators import BoostedRanker
from headrank.estimators.trees.forests import FoldForests
from headrank.estimators.trees.shapley import _STABLE, is_deep, shapley_values
from headrank.estimators.trees.tree_nodes import nodes_of_trees
from reference.shapley import by_integrals, by_sets


def rare_bits(n_rows=900, n_features=150, seed=0):
    """Bits that are rarely 1, as words of a text, any of which makes a row positive: trees cut them off one by one."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n_rows, n_features)) < 0.01).astype(float)
    y = X[:, :80].any(axis=1).astype(int)
    return X, y


def mixed(n_rows=400, seed=0):
    """Numbers with missing values and some almost 0, and categories with numbers that were not seen in training."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n_rows) % 3 == 0).astype(int)
    X = np.c_[rng.integers(0, 9, n_rows) + 3 * y % 9, rng.normal(size=(n_rows, 2)) + y[:, None], rng.random(n_rows)]
    X[rng.random(n_rows) < 0.2, 1] = np.nan
    X[rng.random(n_rows) < 0.2, 2] = 1e-36
    return X, y


@pytest.fixture(scope="module")
def deep():
    X, y = rare_bits()
    ranker = BoostedRanker("auc", n_estimators=2, max_leaf_nodes=120, min_samples_leaf=1, n_jobs=1).fit(X, y)
    return ranker.trees_[0], X


@pytest.fixture(scope="module")
def shallow():
    X, y = mixed()
    options = {"n_estimators": 6, "max_leaf_nodes": 9, "min_samples_leaf": 5, "categorical_features": [0], "n_jobs": 1}
    return BoostedRanker("auc", **options).fit(X, y).trees_[0], X


def unseen(X):
    """Rows as in training, and some with other categories and missing values."""
    rows = X[:12].copy()
    rows[0, 0], rows[1, 0], rows[2, 0], rows[3, 0] = np.nan, -1, 57, 2.9
    rows[4, 2:] = np.nan
    return rows


def test_shallow_trees_have_the_values_of_the_definition_and_of_lightgbm(shallow):
    trees, X = shallow
    assert not is_deep(trees.text)
    rows = unseen(X)
    found = shapley_values(trees.text, rows)
    slow = sum(np.array([by_sets(tree, row) for row in rows]) for tree in nodes_of_trees(trees.text))
    np.testing.assert_allclose(found, slow, atol=1e-12)
    np.testing.assert_allclose(found, trees.contributions(rows), atol=1e-9)
    assert np.abs(found[:, 0]).max() > 0.1
    assert any(tree.is_set.any() for tree in nodes_of_trees(trees.text))


def test_rows_take_the_ways_that_lightgbm_sends_them(shallow):
    """Also for categories that are unknown, missing and between two codes."""
    trees, X = shallow
    np.testing.assert_allclose(shapley_values(trees.text, unseen(X)).sum(axis=1), trees.scores(unseen(X)), atol=1e-12)


def test_deep_trees_against_integrals(deep):
    trees, X = deep
    found = shapley_values(trees.text, X[:1])
    slow = sum(np.array([by_integrals(tree, row) for row in X[:1]]) for tree in nodes_of_trees(trees.text))
    np.testing.assert_allclose(found, slow, atol=1e-12)


@pytest.mark.parametrize("storage", [np.asarray, csr_array])
def test_contributions_of_deep_trees_add_up(deep, storage):
    trees, X = deep
    assert is_deep(trees.text)
    found = trees.contributions(storage(X[:20]))
    np.testing.assert_allclose(found.sum(axis=1), trees.scores(X[:20]), atol=1e-12)
    assert np.ptp(found[:, -1]) == 0


def test_contributions_of_a_forest_of_rare_bits_add_up():
    X, y = rare_bits()
    forest = FoldForests("auc", kind="extra trees", cv=2).fit(csr_array(X), y)
    found = forest.contributions(csr_array(X[:5]))
    np.testing.assert_allclose(found.sum(axis=1), forest.decision_function(csr_array(X[:5])), atol=1e-9)
    assert np.abs(found[:, :-1]).max() < 1


def test_few_features_are_never_too_many(deep):
    """However deep a tree is: a feature counts once on the way to a leaf."""
    rng = np.random.default_rng(0)
    X = rng.random((3000, 2))
    ranker = BoostedRanker("auc", n_estimators=2, max_leaf_nodes=1000, min_samples_leaf=1, n_jobs=1)
    ranker.fit(X, (X[:, 0] + 0.1 * rng.normal(size=3000) > 0.7).astype(int))
    assert not is_deep(ranker.trees_[0].text)
    assert X.shape[1] < _STABLE
    np.testing.assert_allclose(ranker.contributions(X[:9]).sum(axis=1), ranker.decision_function(X[:9]), atol=1e-9)


def test_a_tree_without_a_split():
    text = "tree\nmax_feature_idx=2\n\nTree=0\nnum_leaves=1\nleaf_value=0.25\n\n\nend of trees\n"
    np.testing.assert_array_equal(shapley_values(text, np.ones((2, 3))), [[0, 0, 0, 0.25]] * 2)

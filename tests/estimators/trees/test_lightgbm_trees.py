"""Trees as LightGBM's text: they score, stage and explain rows as the booster that grew them."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

from headrank.estimators.trees.lightgbm_trees import LightGBMRows, LightGBMTrees, threads_for
from headrank.estimators.trees.settings import Settings
from headrank.estimators.trees.tree_text import canonical, faults_of
from samples import gaussians


@pytest.fixture(scope="module")
def data():
    X, y = gaussians(60, 240)
    X[::7, 1] = np.nan
    return X, y.astype(float)


@pytest.fixture(scope="module")
def growing(data):
    growing = LightGBMRows.of(*data, None, [], 1).growing(Settings(max_leaf_nodes=6))
    growing.grow(25)
    return growing


def test_the_text_scores_as_the_booster(data, growing):
    X, _ = data
    trees = growing.trees(25)
    assert trees.n_trees == growing.n_trees == 25
    np.testing.assert_array_equal(trees.scores(X), growing.booster.predict(X, raw_score=True))
    np.testing.assert_array_equal(
        growing.trees(10).scores(X), growing.booster.predict(X, raw_score=True, num_iteration=10)
    )
    assert growing.trees(10).n_trees == 10


def test_the_text_is_canonical_and_without_fault(growing):
    text = growing.trees(25).text
    assert canonical(text) == text
    assert list(faults_of(text)) == []
    assert text.startswith("tree\nversion=v4\n")
    assert "parameters" not in text
    assert "tree_sizes" not in text


def test_copies_score_the_same(data, growing):
    trees = growing.trees(5)
    for copy in (LightGBMTrees.of(trees.text), deepcopy(trees), pickle.loads(pickle.dumps(trees))):
        np.testing.assert_array_equal(copy.scores(data[0]), trees.scores(data[0]))


@pytest.mark.parametrize(("every", "n_stages"), [(1, 25), (10, 3), (25, 1), (100, 1)])
def test_stages_end_with_the_scores(every, n_stages, data, growing):
    trees = growing.trees(25)
    stages = list(trees.staged(data[0], every=every))
    assert len(stages) == n_stages
    np.testing.assert_allclose(stages[-1], trees.scores(data[0]), atol=1e-12)
    first = growing.trees(min(every, 25)).scores(data[0])
    np.testing.assert_allclose(stages[0], first, atol=1e-12)


def test_what_trees_add(data, growing):
    X, _ = data
    added = growing.added(X, 10)
    np.testing.assert_allclose(growing.trees(10).scores(X) + added, growing.trees(25).scores(X), atol=1e-12)
    assert not growing.added(X, 25).any()


@pytest.mark.parametrize("storage", [np.asarray, csr_matrix, csr_array])
def test_contributions_add_up_to_the_scores(storage, data, growing):
    X = np.nan_to_num(data[0])
    X[np.abs(X) < 0.5] = 0
    contributions = growing.trees(25).contributions(storage(X))
    assert contributions.shape == (X.shape[0], X.shape[1] + 1)
    np.testing.assert_allclose(contributions.sum(axis=1), growing.trees(25).scores(X), atol=1e-6)
    np.testing.assert_allclose(growing.trees(25).scores(storage(X)), growing.trees(25).scores(X), atol=1e-12)
    assert np.ptp(contributions[:, -1]) < 1e-9
    assert np.ptp(contributions[:, 0]) > 0.1


def test_no_split_is_nothing_learned(data, growing):
    X, y = data
    assert not growing.trees(1).learned_nothing
    stump = LightGBMRows.of(np.ones_like(X), y, None, [], 1).growing(Settings())
    stump.grow(10)
    trees = stump.trees(10)
    assert trees.learned_nothing
    assert np.ptp(trees.scores(X)) == 0
    assert list(faults_of(trees.text)) == []


def test_a_part_of_the_rows_is_those_rows(data):
    """Whatever the order of their numbers; the bins are those of all rows."""
    X, y = data
    kept = np.random.default_rng(0).permutation(np.flatnonzero(np.arange(y.size) % 3))
    rows = LightGBMRows.of(X, y, None, [], 1)
    scores = []
    for each in (kept, np.sort(kept)):
        growing = rows.part(each).growing(Settings(max_leaf_nodes=4))
        growing.grow(5)
        scores.append(growing.trees(5).scores(X))
    np.testing.assert_array_equal(*scores)
    in_order = LightGBMRows.of(X, y * np.isin(np.arange(y.size), kept), None, [], 1).growing(Settings(max_leaf_nodes=4))
    in_order.grow(5)
    assert not np.array_equal(in_order.trees(5).scores(X), scores[0])


def test_one_row_more_than_a_leaf_may_have_changes_nothing(data):
    """Numbers of rows beyond what LightGBM counts are limits that are never reached, not small ones."""
    rows = LightGBMRows.of(*data, None, [], 1)
    for least in (10**6, 2**31 + 5, 2**53):
        growing = rows.growing(Settings(min_samples_leaf=least))
        growing.grow(2)
        assert growing.trees(2).learned_nothing


def test_small_matrices_are_scored_by_one_thread():
    assert threads_for(np.empty((1000, 1000))) == 1
    assert threads_for(np.empty((1001, 1000))) == 0

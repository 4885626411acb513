"""Trees against nested loops and against a calculation by hand, and the identity of their gains."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrank as hr
from estimators.ranking_trees.growing import loose
from headrank.estimators.ranking_trees.pruning import breaking_points
from reference.ranking_trees import best_pruning, regions

SEVEN = np.arange(1.0, 8.0)[:, None], np.array([0, 0, 0, 1, 0, 1, 1])
"""The best single threshold is between 3 and 4; of the rows above it, between 5 and 6; then between 4 and 5."""


@st.composite
def samples(draw):
    """A few rows of small whole numbers, some of them missing, with both classes; weights on some."""
    n_rows, n_features = draw(st.integers(4, 14)), draw(st.integers(1, 3))
    values = st.sampled_from([0.0, 1.0, 2.0, 3.0, np.nan])
    X = np.array(
        draw(st.lists(st.lists(values, min_size=n_features, max_size=n_features), min_size=n_rows, max_size=n_rows))
    )
    y = np.array([*draw(st.lists(st.booleans(), min_size=n_rows - 2, max_size=n_rows - 2)), True, False])
    weights = draw(st.one_of(st.none(), st.lists(st.integers(1, 3), min_size=n_rows, max_size=n_rows)))
    return X, y, None if weights is None else np.array(weights, dtype=float)


@pytest.mark.filterwarnings("ignore::headrank.exceptions.CollapsedFitWarning")
@settings(max_examples=60, deadline=None)
@given(samples(), st.integers(1, 3), st.integers(2, 4), st.integers(1, 2))
def test_equals_its_slow_twin(sample, depth, cells, leaf):
    X, y, weights = sample
    limits = {"max_depth": depth, "min_samples_split": 3, "min_samples_leaf": leaf, "max_cells": cells}
    ranker = loose("auc", **limits).fit(X, y, sample_weight=weights)
    expected = regions(X.tolist(), y.tolist(), None if weights is None else weights.tolist(), **limits)
    assert [np.flatnonzero(ranker.apply(X) == k).tolist() for k in range(ranker.tree_.n_leaves)] == expected


@pytest.mark.filterwarnings("ignore::headrank.exceptions.CollapsedFitWarning")
@settings(max_examples=60, deadline=None)
@given(samples())
def test_auc_is_one_half_and_the_gains(sample):
    """Exactly, in fractions: the gains from the counts of the regions, the AUC from all pairs of rows."""
    X, y, weights = sample
    ranker = loose().fit(X, y, sample_weight=weights)
    tree, leaf = ranker.tree_, ranker.apply(X)
    weights = np.ones(y.size) if weights is None else weights
    pos, neg = ([Fraction(value) for value in counts.tolist()] for counts in (tree.pos, tree.neg))
    gains = [
        (neg[i] * pos[tree.left[i]] - pos[i] * neg[tree.left[i]]) / (2 * pos[0] * neg[0]) if tree.is_inner[i] else 0
        for i in range(len(pos))
    ]
    pairs = sum(
        Fraction(weights[i])
        * Fraction(weights[j])
        * (Fraction(int(leaf[i] < leaf[j])) + Fraction(int(leaf[i] == leaf[j]), 2))
        for i in np.flatnonzero(y)
        for j in np.flatnonzero(~y)
    )
    assert Fraction(1, 2) + sum(gains) == pairs / (pos[0] * neg[0])
    np.testing.assert_allclose(tree.gains, [float(gain) for gain in gains], atol=1e-15)
    assert hr.AUC().value(tree.curve()) == pytest.approx(0.5 + tree.gains.sum(), abs=1e-12)
    assert (tree.gains[tree.is_inner] > 0).all()


@pytest.mark.parametrize(
    ("depth", "fpr", "tpr", "gains"),
    [
        (1, [0, 1 / 4, 1], [0, 1, 1], [3 / 8]),
        (2, [0, 0, 1 / 4, 1], [0, 2 / 3, 1, 1], [3 / 8, 1 / 12]),
        (3, [0, 0, 0, 1 / 4, 1], [0, 2 / 3, 1, 1, 1], [3 / 8, 1 / 12, 1 / 24]),
    ],
)
def test_the_training_polyline_by_hand(depth, fpr, tpr, gains):
    """Seven rows, by single thresholds. The first split leaves 3 positives and 1 negative on the left."""
    tree = loose(max_cells=2, max_depth=depth).fit(*SEVEN).tree_
    curve = tree.curve()
    np.testing.assert_allclose(curve.fpr, fpr)
    np.testing.assert_allclose(curve.tpr, tpr)
    np.testing.assert_allclose(tree.gains[tree.is_inner], gains)
    whole = loose(max_cells=2).fit(*SEVEN).tree_
    np.testing.assert_allclose(whole.curve(max_depth=depth).tpr, tpr)


def test_cells_are_merged_by_their_likelihood_ratio():
    """Both ends are positive: one threshold cannot part them from the middle, three cells can."""
    X, y = np.arange(9.0)[:, None], np.array([1, 1, 0, 0, 0, 0, 0, 1, 1])
    assert loose(max_cells=2, max_depth=1).fit(X, y).score(X, y) < 1
    ranker = loose(max_cells=3, max_depth=1).fit(X, y)
    assert ranker.score(X, y) == 1
    assert ranker.tree_.n_leaves == 2
    assert ranker.better_part() == "(x0 <= 1.5) or (x0 > 6.5)"


@pytest.mark.parametrize("seed", range(5))
def test_no_other_union_of_cells_gains_more(seed):
    """All unions of the cells of the first split; a cell is known by the last test on the way to it, and its side."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 8, size=(80, 2)).astype(float), rng.random(80) < 0.4
    tree = loose(max_cells=6, max_depth=1).fit(X, y).tree_
    cells = {}
    for row, positive in zip(X, y, strict=True):
        after, way = 0, None
        while after >= 0:
            is_low = row[tree.feature[after]] <= tree.threshold[after]
            way, after = (after, is_low), (tree.low if is_low else tree.high)[after]
        cells.setdefault(way, np.zeros(2))[int(positive)] += 1
    assert len(cells) == 6
    n_neg, n_pos = sum(cells.values())
    gains = [
        n_neg * sum(cell[1] for cell in chosen) - n_pos * sum(cell[0] for cell in chosen)
        for k in range(7)
        for chosen in combinations(cells.values(), k)
    ]
    assert tree.gains.sum() == pytest.approx(max(gains) / (2 * n_pos * n_neg))


def test_scores_and_ranks_of_leaves():
    ranker = loose(max_cells=2, max_depth=2).fit(*SEVEN)
    assert (ranker.decision_function(SEVEN[0]) - ranker.intercept_).tolist() == pytest.approx(
        [1 / 3, 1 / 3, 1 / 3, 2 / 3, 2 / 3, 1, 1]
    )
    assert ranker.tree_.leaf_ranks.tolist() == pytest.approx([6 / 7, 4 / 7, 1.5 / 7])
    assert ranker.apply(SEVEN[0]).tolist() == [2, 2, 2, 1, 1, 0, 0]
    assert ranker.tree_.depths.tolist() == [0, 1, 2, 2, 1]
    assert [before.tolist() for before in ranker.tree_.before] == [[0, 0, 0, 2, 3], [0, 0, 0, 0, 1]]


@pytest.mark.parametrize("seed", range(4))
def test_pruning_is_the_best_of_all_subtrees(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 5, size=(60, 2)).astype(float), rng.random(60) < 0.4
    tree = loose(max_cells=2, max_depth=4).fit(X, y).tree_
    assert tree.n_leaves > 4
    points = breaking_points(tree)
    steps = np.unique(points[tree.is_inner])
    assert (points[tree.left[tree.is_inner]] <= points[tree.is_inner])[tree.is_inner[tree.left[tree.is_inner]]].all()
    for penalty in [0.0, *steps, *(steps[:-1] + steps[1:]) / 2, 1.0]:
        pruned = tree.pruned(points <= penalty)
        value = pruned.gains.sum() - penalty * pruned.is_inner.sum()
        assert value == pytest.approx(best_pruning(tree.left, tree.right, tree.gains, penalty), abs=1e-12)
        assert tree.leaves_after(points <= penalty)[tree.leaves(X)].tolist() == pruned.leaves(X).tolist()
        assert pruned.curve().n == 60
    assert tree.pruned(points <= steps[-1]).n_leaves == 1
    assert tree.pruned(points < 0).n_leaves == tree.n_leaves

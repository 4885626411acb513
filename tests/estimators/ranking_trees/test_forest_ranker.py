"""A forest is the mean rank of its trees, and out-of-bag scores are those of trees that have not seen the row."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import headrank as hr
from estimators.ranking_trees.growing import forest, tree, whole_numbers
from headrank.estimators.ranking_trees import forest_ranker
from headrank.exceptions import CollapsedFitWarning
from samples import gaussians


def raw(ranker):
    """Out-of-bag scores without the intercept, which depends on all labels."""
    return ranker.oob_scores_ - ranker.intercept_


def test_scores_are_mean_ranks():
    X, y = whole_numbers()
    ranker = forest(n_estimators=25).fit(X, y)
    graph = ranker.graph_
    leaves = graph.leaves(X)
    assert leaves.shape == (200, 25)
    assert graph.roots.size == 25
    np.testing.assert_allclose(ranker.decision_function(X) - ranker.intercept_, ranker.leaf_votes_[leaves].mean(axis=1))
    assert ((ranker.leaf_votes_ > 0) & (ranker.leaf_votes_ < 1)).all()
    ends = np.flatnonzero(np.diff(ranker.leaf_votes_) > 0)  # each tree starts again with its best leaf
    assert ends.size == 24
    assert ranker.leaf_votes_.size == graph.n_leaves == leaves.max() + 1


def test_blocks_of_rows_change_nothing(monkeypatch):
    X, y = whole_numbers()
    ranker = forest().fit(X, y)
    expected = ranker.decision_function(X)
    monkeypatch.setattr(forest_ranker, "_BLOCK", 7)
    np.testing.assert_array_equal(ranker.decision_function(X), expected)
    np.testing.assert_array_equal(ranker.decision_function(csr_matrix(X)), expected)


def test_the_product_of_the_shares_of_rows_above():
    X, y = whole_numbers()
    mean, product = (forest(aggregate=name).fit(X, y) for name in ("mean", "product"))
    np.testing.assert_allclose(product.leaf_votes_, -np.log(1 - mean.leaf_votes_))
    above = 1 - mean.leaf_votes_[mean.graph_.leaves(X)]
    scores = product.decision_function(X) - product.intercept_
    np.testing.assert_allclose(np.exp(-scores), np.prod(above, axis=1) ** (1 / 25))
    assert product.oob_scores_.shape == (200,)
    assert hr.measure("pauc@0.3")(y, product.oob_scores_) > 0.3


@pytest.mark.parametrize("row", [0, 1, 57])
def test_no_row_takes_part_in_its_own_score(row):
    X, y = whole_numbers()
    flipped = y.copy()
    flipped[row] = 1 - y[row]
    before, after = (raw(forest().fit(X, labels)) for labels in (y, flipped))
    assert after[row] == pytest.approx(before[row], abs=1e-12)
    assert np.abs(np.delete(before - after, row)).max() > 0.01


def test_no_query_takes_part_in_its_own_scores():
    X, y = whole_numbers()
    qid = np.arange(200) // 8
    flipped = np.where(qid == 3, 1 - y, y)
    before, after = (raw(forest(n_estimators=40).fit(X, labels, qid=qid)) for labels in (y, flipped))
    np.testing.assert_allclose(after[qid == 3], before[qid == 3], atol=1e-12)
    assert np.abs((before - after)[qid != 3]).max() > 0.01


def test_out_of_bag_is_what_new_rows_are_worth_and_training_scores_are_not():
    X, y = gaussians(100, 400, 4, shift=0.8)
    new = gaussians(1000, 4000, 4, shift=0.8, seed=1)
    ranker = forest("auc", n_estimators=50).fit(X, y)
    truth = ranker.score(*new)
    assert hr.AUC()(y, ranker.oob_scores_) == pytest.approx(truth, abs=0.05)
    assert ranker.score(X, y) > truth + 0.05


def test_noise_is_noise_out_of_bag():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(300, 4)), rng.random(300) < 0.3
    ranker = forest("auc", n_estimators=40).fit(X, y)
    assert ranker.score(X, y) > 0.9
    assert hr.AUC()(y, ranker.oob_scores_) == pytest.approx(0.5, abs=0.12)  # three standard errors


def test_a_forest_beats_its_trees():
    X, y = gaussians(100, 400, 4, shift=0.8)
    new = gaussians(1000, 4000, 4, shift=0.8, seed=1)
    assert forest("auc", n_estimators=50).fit(X, y).score(*new) > tree("auc").fit(X, y).score(*new) + 0.02


def test_rows_in_every_sample_are_named():
    X, y = whole_numbers()
    with pytest.warns(UserWarning, match=r"\d+ of 200 rows are in the sample of every tree, .* raise n_estimators"):
        ranker = forest(n_estimators=2).fit(X, y)
    seen = np.isnan(ranker.oob_scores_)
    assert 40 < seen.sum() < 120
    assert np.isfinite(ranker.decision_function(X)).all()


def test_one_positive():
    """Samples without it are drawn again, and it is left out of some."""
    X, y = whole_numbers(40)
    y[:] = 0
    y[7], X[7] = 1, 99
    ranker = forest("auc", min_samples_split=2, min_samples_leaf=1, n_estimators=40)
    with pytest.warns(UserWarning, match="1 of 40 rows are in the sample of every tree"):
        ranker.fit(X, y)
    assert ranker.score(X, y) == 1
    assert np.isnan(ranker.oob_scores_[7])


def test_constant_features_collapse():
    _, y = whole_numbers()
    with pytest.warns(CollapsedFitWarning, match="no feature separates the classes"):
        ranker = forest().fit(np.ones((200, 3)), y)
    assert ranker.collapsed_
    assert np.ptp(ranker.decision_function(np.ones((5, 3)))) == 0

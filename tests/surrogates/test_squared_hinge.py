"""The squared hinge with its best intercept: against brute force, and against scikit-learn's LinearSVC."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import LinearSVC

import headrank as hr
from headrank import LinearRanker
from headrank.surrogates import RowFacts, SquaredHinge, surrogate_for
from reference import smooth as slow
from samples import gaussians

scores = st.lists(st.integers(-3, 3).map(float) | st.floats(-40, 40), min_size=1, max_size=6).map(np.array)
multiplicities = st.lists(st.integers(0, 3), min_size=6, max_size=6).map(lambda w: np.array(w, dtype=float))


def weighed(pos, neg, pos_weights, neg_weights):
    """Weights for the rows that there are, not all of them 0."""
    pos_weights, neg_weights = pos_weights[: pos.size].copy(), neg_weights[: neg.size].copy()
    pos_weights[0] += 1
    neg_weights[-1] += 1
    return pos_weights, neg_weights


@given(pos=scores, neg=scores, pos_weights=multiplicities, neg_weights=multiplicities)
def test_is_the_smallest_over_all_intercepts(pos, neg, pos_weights, neg_weights):
    weights = weighed(pos, neg, pos_weights, neg_weights)
    for facts in (None, weights):
        cut = SquaredHinge(rows=RowFacts() if facts is None else RowFacts(*facts))(pos, neg)
        rows = slow.class_by_class(pos, neg, *(np.ones(c.size) for c in (pos, neg)) if facts is None else facts)
        assert cut.risk == pytest.approx(slow.least_squared_hinge(rows), rel=1e-9, abs=1e-9)


@given(pos=scores, neg=scores, other_pos=scores, other_neg=scores, shift=st.integers(-50, 50))
def test_is_a_convex_function_that_ignores_a_common_shift(pos, neg, other_pos, other_neg, shift):
    other_pos, other_neg = np.resize(other_pos, pos.size), np.resize(other_neg, neg.size)
    cut, other = SquaredHinge()(pos, neg), SquaredHinge()(other_pos, other_neg)
    rise = cut.pos_coef @ (other_pos - pos) + cut.neg_coef @ (other_neg - neg)
    assert other.risk >= cut.risk + rise - 1e-8 * (1 + abs(rise))
    assert SquaredHinge()(pos + shift, neg + shift).risk == pytest.approx(cut.risk, rel=1e-9, abs=1e-9)
    assert cut.pos_coef.sum() + cut.neg_coef.sum() == pytest.approx(0, abs=1e-8)
    assert (cut.pos_coef <= 0).all()
    assert (cut.neg_coef >= 0).all()


@given(pos=scores, neg=scores, pos_weights=multiplicities, neg_weights=multiplicities)
def test_whole_weights_are_copies(pos, neg, pos_weights, neg_weights):
    weights = weighed(pos, neg, pos_weights, neg_weights)
    weighted = SquaredHinge(rows=RowFacts(*weights))(pos, neg)
    copied = [np.repeat(np.arange(w.size), w.astype(int)) for w in weights]
    copies = SquaredHinge()(pos[copied[0]], neg[copied[1]])
    assert weighted.risk == pytest.approx(copies.risk, rel=1e-9, abs=1e-9)
    for ours, theirs, at, w in zip(
        (weighted.pos_coef, weighted.neg_coef), (copies.pos_coef, copies.neg_coef), copied, weights, strict=True
    ):
        np.testing.assert_allclose(ours, np.bincount(at, weights=theirs, minlength=w.size), atol=1e-8)
        assert not ours[w == 0].any()


@pytest.mark.parametrize("far", [2.0, 1e4, 1e9])
def test_separable_scores_cost_nothing(far):
    for pos, neg in (([far, far * 2], [-far]), ([far], [-far] * 50), ([far * 3] * 50, [far, -far])):
        cut = SquaredHinge()(np.array(pos), np.array(neg))
        assert cut.risk == pytest.approx(0, abs=1e-9)
        assert max(abs(cut.pos_coef).max(), abs(cut.neg_coef).max()) < 1e-4


def test_is_the_same_for_all_measures_and_ignores_queries():
    pos, neg = np.array([1.0, 0.5]), np.array([0.0, 2.0, -1.0])
    weights, queries = (np.array([1.0, 2.0]), np.array([3.0, 1.0, 1.0])), (np.array([0, 1]), np.array([1, 1, 0]))
    expected = SquaredHinge(rows=RowFacts(*weights))(pos, neg).risk
    for measure in (hr.AUC(), hr.KS(), hr.TopFPR(0.1)):
        assert surrogate_for(measure, "svc", RowFacts(*weights, *queries))(pos, neg).risk == expected


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_its_minimiser_is_the_support_vector_classifier(C, weighted):
    X, y = gaussians(50, 200, shift=1.5)
    weights = np.random.default_rng(0).integers(0, 4, y.size) if weighted else None
    ranker = LinearRanker("auc", surrogate="svc", C=C, tol=1e-10).fit(X, y, sample_weight=weights)
    # The longer its column of ones, the less LinearSVC's penalty weighs on the intercept.
    reference = LinearSVC(C=C, dual=False, tol=1e-10, intercept_scaling=1e4, max_iter=10_000)
    reference.fit(X, y, sample_weight=weights)
    margins = np.where(y == 1, 1, -1) * reference.decision_function(X)
    losses = np.maximum(1 - margins, 0) ** 2 @ (np.ones(y.size) if weights is None else weights)
    objective = reference.coef_[0] @ reference.coef_[0] / 2 + C * losses
    assert ranker.objective_ == pytest.approx(objective, rel=1e-6)
    assert ranker.lower_bound_ <= objective * (1 + 1e-12)
    assert np.linalg.norm(ranker.coef_) > 1e-2
    assert ranker.gap_ <= 1e-10

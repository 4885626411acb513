"""The logistic loss with its best intercept: against brute force, and against scikit-learn's logistic regression."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

import headrank as hr
from headrank.surrogates import LogisticLoss, RowFacts, surrogate_for
from reference import smooth as slow

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
        cut = LogisticLoss(rows=RowFacts() if facts is None else RowFacts(*facts))(pos, neg)
        rows = slow.class_by_class(pos, neg, *(np.ones(c.size) for c in (pos, neg)) if facts is None else facts)
        assert cut.risk == pytest.approx(slow.least_logistic_loss(rows), rel=1e-9, abs=1e-9)


@given(pos=scores, neg=scores, pos_weights=multiplicities, neg_weights=multiplicities, seed=st.integers(0, 10**6))
def test_the_gradient_is_the_slope(pos, neg, pos_weights, neg_weights, seed):
    weights = weighed(pos, neg, pos_weights, neg_weights)
    loss, rng = LogisticLoss(rows=RowFacts(*weights)), np.random.default_rng(seed)
    along = rng.normal(size=pos.size), rng.normal(size=neg.size)
    cut, step = loss(pos, neg), 1e-5
    ahead, behind = (
        slow.least_logistic_loss(slow.class_by_class(pos + by * along[0], neg + by * along[1], *weights))
        for by in (step, -step)
    )
    slope = cut.pos_coef @ along[0] + cut.neg_coef @ along[1]
    assert slope == pytest.approx((ahead - behind) / (2 * step), rel=1e-5, abs=1e-5)


@given(pos=scores, neg=scores, other_pos=scores, other_neg=scores, shift=st.integers(-50, 50))
def test_is_a_convex_function_that_ignores_a_common_shift(pos, neg, other_pos, other_neg, shift):
    other_pos, other_neg = np.resize(other_pos, pos.size), np.resize(other_neg, neg.size)
    cut, other = LogisticLoss()(pos, neg), LogisticLoss()(other_pos, other_neg)
    rise = cut.pos_coef @ (other_pos - pos) + cut.neg_coef @ (other_neg - neg)
    assert other.risk >= cut.risk + rise - 1e-8 * (1 + abs(rise))
    assert LogisticLoss()(pos + shift, neg + shift).risk == pytest.approx(cut.risk, rel=1e-9, abs=1e-9)
    assert cut.pos_coef.sum() + cut.neg_coef.sum() == pytest.approx(0, abs=1e-9)
    assert (cut.pos_coef <= 0).all()
    assert (cut.neg_coef >= 0).all()


@given(pos=scores, neg=scores, pos_weights=multiplicities, neg_weights=multiplicities)
def test_whole_weights_are_copies(pos, neg, pos_weights, neg_weights):
    weights = weighed(pos, neg, pos_weights, neg_weights)
    weighted = LogisticLoss(rows=RowFacts(*weights))(pos, neg)
    copied = [np.repeat(np.arange(w.size), w.astype(int)) for w in weights]
    copies = LogisticLoss()(pos[copied[0]], neg[copied[1]])
    assert weighted.risk == pytest.approx(copies.risk, rel=1e-9, abs=1e-9)
    for ours, theirs, at, w in zip(
        (weighted.pos_coef, weighted.neg_coef), (copies.pos_coef, copies.neg_coef), copied, weights, strict=True
    ):
        np.testing.assert_allclose(ours, np.bincount(at, weights=theirs, minlength=w.size), atol=1e-9)
        assert not ours[w == 0].any()


@pytest.mark.parametrize("seed", range(20))
def test_a_weight_of_zero_is_an_absent_row_however_far_out(seed):
    """Also where the intercept is hard to find, as classes are far apart."""
    rng = np.random.default_rng(seed)
    pos, neg = 1e4 * rng.standard_t(2, size=2), 1e4 * rng.standard_t(2, size=30)
    weights = 10 ** rng.uniform(-3, 3, 2), 10 ** rng.uniform(-3, 3, 30)
    expected = LogisticLoss(rows=RowFacts(*weights))(pos, neg)
    with_zeros = LogisticLoss(rows=RowFacts(*(np.r_[w, 0.0] for w in weights)))
    for far in (1e100, -1e100):
        cut = with_zeros(np.r_[pos, far], np.r_[neg, -far])
        assert cut.risk == pytest.approx(expected.risk, rel=1e-9)
        np.testing.assert_allclose(cut.pos_coef, np.r_[expected.pos_coef, 0.0], rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(cut.neg_coef, np.r_[expected.neg_coef, 0.0], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("far", [40.0, 1e4, 1e9, 1e300])
def test_separable_scores_cost_nothing(far):
    for pos, neg in (([far, far * 2], [-far]), ([far], [-far] * 50), ([far * 3] * 50, [far, -far])):
        cut = LogisticLoss()(np.array(pos), np.array(neg))
        assert cut.risk == pytest.approx(0, abs=1e-7)
        assert max(abs(cut.pos_coef).max(), abs(cut.neg_coef).max()) < 1e-7


@pytest.mark.parametrize("far", [1e4, 1e9, 1e300])
def test_huge_scores(far):
    """No overflow, and from afar the loss looks like a hinge."""
    for pos, neg, expected in (([-1], [1], 2), ([1, -1], [1, -1], 2), ([-1, -1], [1, 2], 5), ([-1], [1, 1, -3], 2)):
        cut = LogisticLoss()(far * np.array(pos), far * np.array(neg))
        assert cut.risk / far == pytest.approx(expected, rel=1e-3)
        assert np.isfinite([*cut.pos_coef, *cut.neg_coef]).all()


def test_constant_scores_are_worth_the_entropy():
    cut = LogisticLoss()(np.full(3, 1e4), np.full(1, 1e4))
    assert cut.risk == pytest.approx(-3 * np.log(3 / 4) - np.log(1 / 4), rel=1e-9)
    np.testing.assert_allclose(cut.pos_coef, -0.25, rtol=1e-9)
    np.testing.assert_allclose(cut.neg_coef, 0.75, rtol=1e-9)


def test_is_the_same_for_all_measures_and_ignores_queries():
    pos, neg = np.array([1.0, 0.5]), np.array([0.0, 2.0, -1.0])
    weights, queries = (np.array([1.0, 2.0]), np.array([3.0, 1.0, 1.0])), (np.array([0, 1]), np.array([1, 1, 0]))
    expected = LogisticLoss(rows=RowFacts(*weights))(pos, neg).risk
    for measure in (hr.AUC(), hr.KS(), hr.TopFPR(0.1)):
        assert surrogate_for(measure, "logistic", RowFacts(*weights, *queries))(pos, neg).risk == expected


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_its_minimiser_is_logistic_regression(C, weighted):
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.2
    X = rng.normal(size=(200, 4)) + y[:, None] * [1, 0.5, 0, -0.3] + 3
    weights = rng.uniform(0.2, 3, 200) if weighted else None
    facts = RowFacts(weights[y], weights[~y]) if weighted else RowFacts()
    loss = LogisticLoss(rows=facts)

    def objective(w):
        cut = loss(X[y] @ w, X[~y] @ w)
        return w @ w / 2 + C * cut.risk, w + C * (cut.pos_coef @ X[y] + cut.neg_coef @ X[~y])

    ours = minimize(objective, np.zeros(4), jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9})
    theirs = LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(X, y, sample_weight=weights)
    assert ours.fun == pytest.approx(objective(theirs.coef_[0])[0], rel=1e-9)
    assert np.linalg.norm(ours.x) > 1e-2

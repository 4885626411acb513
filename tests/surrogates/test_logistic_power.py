"""The logistic loss with a power for the negatives: against brute force, and by the laws of all smooth surrogates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrank.surrogates import LogisticLoss, RowFacts
from reference import smooth as slow

POWERS = (0.5, 1.0, 2.0, 4.0, 8.0)
powers = st.sampled_from(POWERS)
scores = st.lists(st.integers(-3, 3).map(float) | st.floats(-20, 20), min_size=1, max_size=5).map(np.array)
multiplicities = st.lists(st.integers(0, 3), min_size=5, max_size=5).map(lambda w: np.array(w, dtype=float))


def weighed(pos, neg, pos_weights, neg_weights):
    """Weights for the rows that there are, not all of them 0."""
    pos_weights, neg_weights = pos_weights[: pos.size].copy(), neg_weights[: neg.size].copy()
    pos_weights[0] += 1
    neg_weights[-1] += 1
    return pos_weights, neg_weights


def least(pos, neg, weights, power):
    return slow.least_logistic_loss(slow.class_by_class(pos, neg, *weights), power)


@given(pos=scores, neg=scores, pos_weights=multiplicities, neg_weights=multiplicities, power=powers)
def test_is_the_smallest_over_all_intercepts(pos, neg, pos_weights, neg_weights, power):
    weights = weighed(pos, neg, pos_weights, neg_weights)
    risk = LogisticLoss(power, rows=RowFacts(*weights))(pos, neg).risk
    assert risk == pytest.approx(least(pos, neg, weights, power), rel=1e-9, abs=1e-9)
    ones = np.ones(pos.size), np.ones(neg.size)
    assert LogisticLoss(power)(pos, neg).risk == pytest.approx(least(pos, neg, ones, power), rel=1e-9, abs=1e-9)


@given(pos=scores, neg=scores, weights=st.tuples(multiplicities, multiplicities), power=powers, seed=st.integers(0, 99))
def test_the_gradient_is_the_slope(pos, neg, weights, power, seed):
    weights, rng, step = weighed(pos, neg, *weights), np.random.default_rng(seed), 1e-5
    along = rng.normal(size=pos.size), rng.normal(size=neg.size)
    cut = LogisticLoss(power, rows=RowFacts(*weights))(pos, neg)
    ahead, behind = (least(pos + by * along[0], neg + by * along[1], weights, power) for by in (step, -step))
    slope = cut.pos_coef @ along[0] + cut.neg_coef @ along[1]
    assert slope == pytest.approx((ahead - behind) / (2 * step), rel=1e-5, abs=2e-5)
    assert cut.pos_coef.sum() + cut.neg_coef.sum() == pytest.approx(0, abs=1e-9)


@given(pos=scores, neg=scores, power=powers)
def test_the_curvature_is_that_of_each_row_with_the_intercept_held(pos, neg, power):
    cut = LogisticLoss(power)(pos, neg)
    # A positive's derivative is -1 / (1 + exp(s)), a negative's 1 / (1 + exp(-p t)): of d, these have slope d (1 - d).
    np.testing.assert_allclose(cut.pos_curvature, -cut.pos_coef * (1 + cut.pos_coef), atol=1e-12)
    np.testing.assert_allclose(cut.neg_curvature, power * cut.neg_coef * (1 - cut.neg_coef), atol=1e-12)


@given(pos=scores, neg=scores, other_pos=scores, other_neg=scores, shift=st.integers(-50, 50), power=powers)
def test_is_a_convex_function_that_ignores_a_common_shift(pos, neg, other_pos, other_neg, shift, power):
    other_pos, other_neg = np.resize(other_pos, pos.size), np.resize(other_neg, neg.size)
    loss = LogisticLoss(power)
    cut, other = loss(pos, neg), loss(other_pos, other_neg)
    rise = cut.pos_coef @ (other_pos - pos) + cut.neg_coef @ (other_neg - neg)
    assert other.risk >= cut.risk + rise - 1e-8 * (1 + abs(rise))
    moved = loss(pos + shift, neg + shift)
    assert moved.risk == pytest.approx(cut.risk, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(moved.neg_coef, cut.neg_coef, atol=1e-6)


@given(pos=scores, neg=scores, pos_weights=multiplicities, neg_weights=multiplicities, power=powers)
def test_whole_weights_are_copies(pos, neg, pos_weights, neg_weights, power):
    weights = weighed(pos, neg, pos_weights, neg_weights)
    weighted = LogisticLoss(power, rows=RowFacts(*weights))(pos, neg)
    copied = [np.repeat(np.arange(w.size), w.astype(int)) for w in weights]
    copies = LogisticLoss(power)(pos[copied[0]], neg[copied[1]])
    assert weighted.risk == pytest.approx(copies.risk, rel=1e-9, abs=1e-9)
    for name, at, w in (("pos", copied[0], weights[0]), ("neg", copied[1], weights[1])):
        for what in ("coef", "curvature"):
            ours, theirs = (getattr(cut, f"{name}_{what}") for cut in (weighted, copies))
            np.testing.assert_allclose(ours, np.bincount(at, weights=theirs, minlength=w.size), atol=1e-6)


@given(pos=scores, neg=scores)
def test_power_1_is_the_log_loss(pos, neg):
    with_power, without = LogisticLoss(1.0)(pos, neg), LogisticLoss()(pos, neg)
    assert with_power.risk == without.risk
    np.testing.assert_array_equal(with_power.neg_coef, without.neg_coef)


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("far", [40.0, 1e4, 1e9, 1e300])
def test_extreme_scores(power, far):
    """No overflow; separable scores cost nothing, and from afar the loss looks like a hinge whatever the power."""
    apart = LogisticLoss(power)(np.array([far, far * 2]), np.array([-far, -far * 3]))
    assert apart.risk == pytest.approx(0, abs=1e-6)
    assert abs(apart.neg_coef).max() < 1e-6
    for pos, neg, expected in (([-1], [1], 2), ([1, -1], [1, -1], 2), ([-1, -1], [1, 2], 5)):
        cut = LogisticLoss(power)(far * np.array(pos), far * np.array(neg))
        assert np.isfinite([cut.risk, *cut.pos_coef, *cut.neg_coef, *cut.pos_curvature, *cut.neg_curvature]).all()
        if far > 40:
            assert cut.risk / far == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize(("n_pos", "n_neg"), [(1, 10**6), (10**6, 1), (3, 3)])
def test_constant_scores_of_unequal_classes(power, n_pos, n_neg):
    """The intercept of constant scores balances the classes, however unequal."""
    cut = LogisticLoss(power, rows=RowFacts(np.array([n_pos]), np.array([n_neg])))(np.array([7.0]), np.array([7.0]))
    assert cut.neg_coef[0] == pytest.approx(-cut.pos_coef[0], rel=1e-9)
    assert cut.neg_coef[0] > 0


def test_a_higher_power_pushes_the_highest_negatives():
    pos, neg = np.array([1.0, 2.0]), np.array([-2.0, -1.0, 0.0, 1.5])
    shares = [cut.neg_coef[-1] / cut.neg_coef.sum() for cut in (LogisticLoss(power)(pos, neg) for power in POWERS)]
    assert shares == sorted(shares)
    assert shares[-1] > 0.9

"""Limits of one class: the exact probability against closed forms, and what every set of limits obeys."""

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from headrank.bounds.band.population_limits import largest_atom
from headrank.bounds.inequalities.noncrossing import limits_at, local_level, probability_inside
from headrank.bounds.inequalities.tail_limits import _knots, tail_limits
from reference.bands import kolmogorov_one_sided, steck

METHODS = ("tail", "dkw")
SIDES = ("two-sided", "lower", "upper")
sizes = st.sampled_from([1, 2, 3, 7, 40, 200, 1100])
risks = st.sampled_from([1e-12, 1e-6, 0.05, 0.9])


@st.composite
def families(draw):
    """Limits with numbers that rational arithmetic takes as they are; ties among them abound."""
    n = draw(st.integers(1, 6))
    ends = draw(st.lists(st.integers(0, 16), min_size=2 * n, max_size=2 * n))
    lower, upper = np.sort(ends[:n]) / 16, np.sort(ends[n:]) / 16
    return np.minimum(lower, upper), np.maximum(lower, upper)


@given(families())
def test_probability_equals_stecks_determinant(family):
    lower, upper = family
    exact = float(steck(lower, upper))
    assert probability_inside(lower.size, np.arange(1, lower.size + 1), lower, upper) == pytest.approx(exact, abs=1e-13)


@given(families(), st.data())
def test_probability_at_some_knots_is_that_of_limits_that_follow_from_them(family, data):
    lower, upper = family
    n = lower.size
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(any)))
    knots = np.arange(1, n + 1)[kept]
    # An order statistic without limits is above all before it and below all after it.
    all_lower = np.maximum.accumulate(np.where(kept, lower, 0.0))
    all_upper = np.minimum.accumulate(np.where(kept, upper, 1.0)[::-1])[::-1]
    exact = float(steck(all_lower, all_upper))
    assert probability_inside(n, knots, lower[kept], upper[kept]) == pytest.approx(exact, abs=1e-13)


@pytest.mark.parametrize(("n", "width"), [(1, 0.3), (5, 0.4), (50, 0.15), (200, 0.08), (200, 0.11)])
def test_probability_equals_birnbaum_and_tingey(n, width):
    k = np.arange(1, n + 1)
    lower = np.maximum(k / n - width, 0.0)
    expected = kolmogorov_one_sided(n, width)
    assert probability_inside(n, k, lower, np.ones(n)) == pytest.approx(expected, abs=1e-11)
    assert probability_inside(n, k, np.zeros(n), 1 - lower[::-1]) == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("n", [2000, 100_000, 1_000_000])
def test_probability_of_one_order_statistic_is_its_beta_probability(n):
    # Far above the sizes that a closed form can do, in the range where Fourier's convolution is used.
    from scipy.special import betainc

    for k in (1, n // 3, n):
        lower, upper = 0.995 * k / (n + 1), min(1.004 * k / (n + 1), 1 - 1e-9)
        exact = betainc(k, n + 1 - k, upper) - betainc(k, n + 1 - k, lower)
        assert probability_inside(n, np.array([k]), np.array([lower]), np.array([upper])) == pytest.approx(
            exact, abs=1e-10
        )


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("n", "risk"), [(2, 0.05), (10, 0.5), (60, 0.05), (60, 1e-5), (700, 0.2), (5000, 0.01)])
def test_level_spends_the_risk_and_no_more(n, risk, side):
    knots = _knots(n)
    level = local_level(n, knots, risk=risk, side=side)
    spent = 1 - probability_inside(n, knots, *limits_at(n, knots, level=level, side=side, bounded=True))
    assert risk * (1 - 2e-5) <= spent <= risk * (1 + 1e-9)


@pytest.mark.parametrize("side", SIDES)
def test_limits_hold_as_often_as_computed(side):
    rng = np.random.default_rng(1)
    n, runs, confidence = 30, 100_000, 0.8
    limits = tail_limits(n, confidence=confidence, side=side, method="tail")
    k = np.arange(1, n + 1)
    draws = np.sort(rng.random((runs, n)), axis=1)
    held = ((draws >= limits.lower(k)) & (draws <= limits.upper(k - 1))).all(axis=1).sum()
    low, high = binom.ppf([1e-6, 1 - 1e-6], runs, confidence)
    assert low <= held <= high


@given(sizes, risks, st.sampled_from(SIDES), st.sampled_from(METHODS))
def test_limits_are_ordered_rates_around_the_share(n, risk, side, method):
    limits = tail_limits(n, risk=risk, side=side, method=method)
    r = np.arange(n + 1)
    lower, upper = limits.lower(r), limits.upper(r)
    assert np.all((lower >= 0) & (lower <= r / n) & (r / n <= upper) & (upper <= 1))
    assert np.all(np.diff(lower) >= 0)
    assert np.all(np.diff(upper) >= 0)
    assert lower[0] == 0
    assert upper[-1] == 1
    if side == "lower":
        assert np.all(upper == 1)
    if side == "upper":
        assert np.all(lower == 0)


@given(sizes, risks, st.sampled_from(METHODS))
def test_limits_are_mirror_images(n, risk, method):
    r = np.arange(n + 1)
    both = tail_limits(n, risk=risk, method=method)
    np.testing.assert_allclose(both.lower(r), 1 - both.upper(n - r), atol=1e-12)
    lower, upper = (tail_limits(n, risk=risk, side=side, method=method) for side in ("lower", "upper"))
    np.testing.assert_allclose(lower.lower(r), 1 - upper.upper(n - r), atol=1e-9)


@given(sizes, st.sampled_from(METHODS))
def test_less_risk_is_wider_and_one_side_is_narrower(n, method):
    r = np.arange(n + 1)
    at = {risk: tail_limits(n, risk=risk, method=method) for risk in (0.3, 0.05, 1e-4, 1e-10)}
    for more, less in ((0.3, 0.05), (0.05, 1e-4), (1e-4, 1e-10)):
        assert np.all(at[less].lower(r) <= at[more].lower(r) + 1e-15)
        assert np.all(at[less].upper(r) >= at[more].upper(r) - 1e-15)
    one = tail_limits(n, risk=0.05, side="lower", method=method).lower(r)
    assert np.all(one >= at[0.05].lower(r))
    assert one[-1] > at[0.05].lower(n) or one[-1] == 0


def test_limits_of_one_draw_by_hand():
    limits = tail_limits(1, confidence=0.95, method="tail")
    assert limits.lower([0, 1]) == pytest.approx([0, 0.025], abs=1e-6)
    assert limits.upper([0, 1]) == pytest.approx([0.975, 1], abs=1e-6)
    lower = tail_limits(1, confidence=0.95, side="lower", method="tail")
    assert lower.lower([0, 1]) == pytest.approx([0, 0.05], abs=1e-6)


def test_limits_of_two_draws_by_hand():
    # One-sided: l_1 = 1 - sqrt(1 - g), l_2 = sqrt(g); P(U_(1) >= l_1, U_(2) >= l_2) = (1 - l_1)^2 - (l_2 - l_1)^2.
    limits = tail_limits(2, confidence=0.9, side="lower", method="tail")
    one, two = limits.lower([1, 2])
    assert 1 - (1 - one) ** 2 == pytest.approx(two**2)
    assert (1 - one) ** 2 - (two - one) ** 2 == pytest.approx(0.9, abs=1e-5)


def test_constant_width_by_hand():
    limits = tail_limits(100, confidence=0.95, method="dkw")
    half = sqrt(log(2 / 0.05) / 200)
    assert limits.lower(50) == pytest.approx(0.5 - half)
    assert limits.upper([0, 50, 99]) == pytest.approx([half, 0.5 + half, 1.0])
    one_sided = tail_limits(100, confidence=0.95, side="lower", method="dkw")
    assert one_sided.lower(50) == pytest.approx(0.5 - sqrt(log(1 / 0.05) / 200))
    # Massart's one-sided inequality is proved for a risk up to 1/2; above, the two-sided one is used.
    assert tail_limits(100, confidence=0.4, side="lower", method="dkw").lower(50) == pytest.approx(
        0.5 - sqrt(log(2 / 0.6) / 200)
    )


def test_knots_are_symmetric_few_and_dense_at_both_ends():
    for n, most in ((1000, 1000), (1001, 500), (10**5, 1000), (10**7, 1500)):
        knots = _knots(n)
        assert np.array_equal(knots, n + 1 - knots[::-1])
        assert np.array_equal(knots[:50], np.arange(1, 51))
        assert np.all(np.diff(knots) > 0)
        assert knots.size <= most


def test_between_knots_limits_cost_little():
    # At 1,001 draws knots are used, at 1,000 none: the widths differ by little more than the extra draw.
    r = np.arange(500)
    dense, sparse = (tail_limits(n, confidence=0.95, method="tail") for n in (1000, 1001))
    assert np.all(sparse.upper(r) - sparse.lower(r) <= 1.07 * (dense.upper(r) - dense.lower(r)))


@given(st.integers(1, 300), risks, st.data())
def test_largest_atom_solves_its_equation(n, risk, data):
    count = data.draw(st.integers(0, n))
    q = largest_atom(count, n, risk=risk)
    if count == n:
        assert q == 1
        return
    assert q <= 1
    assert binom.cdf(count, n, q) <= risk * q * (1 + 1e-6)
    assert binom.cdf(count, n, q * (1 - 1e-6)) >= risk * q * (1 - 1e-5)


@pytest.mark.parametrize(
    "arguments",
    [
        {"n": 0, "confidence": 0.9, "method": "tail"},
        {"n": 10, "confidence": 1.0, "method": "tail"},
        {"n": 10, "confidence": 95, "method": "dkw"},
        {"n": 10, "risk": 0.0, "method": "dkw"},
        {"n": 10, "confidence": 0.9, "method": "ks"},
        {"n": 10, "confidence": 0.9, "method": "tail", "side": "both"},
    ],
)
def test_senseless_arguments_are_refused(arguments):
    with pytest.raises(ValueError, match=r"must|strictly"):
        tail_limits(**arguments)


def test_confidence_and_risk_exclude_each_other():
    with pytest.raises(TypeError, match="exactly one of confidence and risk"):
        tail_limits(10, method="tail")
    with pytest.raises(TypeError, match="exactly one of confidence and risk"):
        tail_limits(10, confidence=0.9, risk=0.1, method="tail")


@pytest.mark.parametrize("side", ["lower", "upper"])
@pytest.mark.parametrize(("n", "head"), [(40, 5), (40, 40), (1, 1), (3000, 30), (3000, 700)])
def test_limits_of_a_head_are_narrower_there_and_hold_with_the_same_probability(n, head, side):
    all_of_them = tail_limits(n, risk=0.1, side=side, method="tail")
    limits = tail_limits(n, risk=0.1, side=side, method="tail", head=head)
    counts = np.arange(n + 1)
    values, others = ((getattr(each, side)(counts)) for each in (limits, all_of_them))
    assert np.all(np.diff(values) >= 0)
    assert np.all((values >= 0) & (values <= 1))
    within = counts < head if side == "upper" else counts <= head
    closer = (others - values if side == "upper" else values - others)[within]
    assert np.all(closer >= -1e-12)
    assert head == n or closer.max() > 0
    # The exact probability that all order statistics respect the limits, computed at every one of them.
    k = np.arange(1, n + 1)
    if side == "lower":
        inside = probability_inside(n, k, np.maximum.accumulate(values[1:]), np.ones(n))
    else:
        inside = probability_inside(n, k, np.zeros(n), np.maximum.accumulate(values[:-1]))
    assert inside >= 0.9 - 1e-9
    assert inside <= (0.905 if n <= 1000 else 0.93)

"""Exponential bounds for means: inverted exactly, at every end of every range."""

from math import exp, inf, log, nextafter, sqrt

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headrank.bounds.inequalities.chernoff import divergence_below, hoeffding_radius, kl_lower, kl_upper
from reference import auc_bounds as reference

means = st.floats(0, 1)
sizes = st.integers(1, 10**9)
risks = st.floats(1e-15, 1 - 1e-15) | st.sampled_from([1e-300, 1e-12, 0.05, 1 - 1e-9, 1 - 1e-12, 1.0])
exactly = {"rel": 0, "abs": 1e-12}


@given(means, sizes, risks)
@example(0.5, 10**12, 1 - 1e-9)  # a distance of 1e-11, where the difference of logarithms keeps no digit
@example(1e-300, 1, 0.05)
@example(nextafter(1, 0), 1, 0.05)
@example(nextafter(0, 1), 50, 0.05)
@example(1 / 3, 1, 1e-300)
def test_the_inversions_match_sixty_digits(mean, k, risk):
    assert kl_lower(mean, k, risk) == pytest.approx(reference.kl_lower(mean, k, risk), **exactly)
    assert kl_upper(mean, k, risk) == pytest.approx(reference.kl_upper(mean, k, risk), **exactly)


@given(means, sizes, risks)
def test_kl_lies_between_the_mean_and_hoeffding(mean, k, risk):
    radius = hoeffding_radius(k, risk)
    assert max(mean - radius, 0) <= kl_lower(mean, k, risk) <= mean
    assert mean <= kl_upper(mean, k, risk) <= min(mean + radius, 1)


@given(means, means, sizes, risks)
def test_kl_grows_with_the_mean(a, b, k, risk):
    a, b = sorted([a, b])
    assert kl_lower(a, k, risk) <= kl_lower(b, k, risk) + 1e-15
    assert kl_upper(a, k, risk) <= kl_upper(b, k, risk) + 1e-15


@given(means, sizes, sizes, risks, risks)
def test_more_rows_and_more_risk_bring_the_ends_closer(mean, k, more, risk, riskier):
    k, more = sorted([k, more])
    risk, riskier = sorted([risk, riskier])
    assert kl_lower(mean, k, risk) <= kl_lower(mean, more, riskier) + 1e-15
    assert kl_upper(mean, k, risk) >= kl_upper(mean, more, riskier) - 1e-15
    assert hoeffding_radius(k, risk) >= hoeffding_radius(more, riskier)


@given(means, sizes, risks)
def test_upper_is_lower_in_the_mirror(mean, k, risk):
    assert kl_upper(mean, k, risk) == pytest.approx(1 - kl_lower(1 - mean, k, risk), **exactly)


@given(st.floats(0.01, 0.99), st.integers(1, 10**4), st.floats(1e-9, 0.9))
def test_the_ends_are_the_last_that_are_kept(mean, k, risk):
    low = kl_lower(mean, k, risk)
    for q, kept in ((low * (1 - 1e-9) - 1e-15, False), (low + 1e-9 * (mean - low), True)):
        p_ln = mean * log(mean / q) + (1 - mean) * log((1 - mean) / (1 - q)) if q > 0 else inf
        assert (k * p_ln <= log(1 / risk)) is kept


@pytest.mark.parametrize("k", [1, 2, 50, 10**6])
@pytest.mark.parametrize("risk", [1e-12, 0.025, 0.5, 1 - 1e-9, 1.0])
def test_sure_means_have_a_closed_form(k, risk):
    assert kl_lower(1.0, k, risk) == pytest.approx(risk ** (1 / k), rel=1e-14)
    assert kl_upper(0.0, k, risk) == pytest.approx(1 - risk ** (1 / k), abs=1e-15)
    assert kl_lower(0.0, k, risk) == 0
    assert kl_upper(1.0, k, risk) == 1


def test_all_risk_leaves_the_mean():
    assert kl_lower(0.3, 5, 1.0) == kl_upper(0.3, 5, 1.0) == 0.3
    assert hoeffding_radius(5, 1.0) == 0


def test_hand_computed():
    assert hoeffding_radius(50, 0.025) == pytest.approx(sqrt(log(40) / 100))  # 0.19206
    assert hoeffding_radius(2, exp(-1)) == pytest.approx(0.5)
    # KL(1/2 || q) = -ln(4 q (1-q))/2 = ln(40)/50 at q = (1 - sqrt(1 - 40 ** (-1/25)))/2
    assert kl_lower(0.5, 50, 0.025) == pytest.approx((1 - sqrt(1 - 40 ** (-1 / 25))) / 2, abs=1e-14)
    assert divergence_below(0.5, 0.5, 0.25) == pytest.approx(log(4 / 3) / 2)
    assert divergence_below(1.0, 0.0, 0.5) == pytest.approx(log(2))
    assert divergence_below(0.3, 0.7, 0.3) == inf

"""Sample sizes: the intervals turned around, as small as the theorems allow."""

from dataclasses import FrozenInstanceError, replace
from math import ceil, exp, log

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from headrank.bounds.fixed import auc as intervals
from headrank.bounds.inequalities.chernoff import kl_lower, kl_upper
from headrank.bounds.planning.auc import Plan, error_rate_factor, error_rate_sample_size, plan, sample_size
from headrank.curve import RocCurve

METHODS = ["mcdiarmid", "hoeffding", "kl", "bernstein"]
epsilons = st.floats(0.005, 1)
confidences = st.floats(1e-9, 1 - 1e-12)
shares = st.floats(0.001, 0.999) | st.sampled_from([0.01, 0.02, 0.1, 0.29, 0.5])
scorers = st.sampled_from([1, 2, 20, 10**6])
aucs = st.none() | st.floats(0, 1) | st.sampled_from([0.0, 0.5, 0.95, 1.0])


def promised_risk(n, p, epsilon, method, n_scorers, auc=None):
    """The risk at which n rows know the AUC within epsilon, by the theorem's own inequality: 2 |F| exp(-...)."""
    if method == "mcdiarmid":
        return 2 * n_scorers * exp(-2 * p * (1 - p) * n * epsilon**2)
    k = n * min(p, 1 - p)
    k = round(k) if abs(k - round(k)) < 1e-9 * k else int(k)
    if method == "hoeffding":
        return 2 * n_scorers * exp(-2 * k * epsilon**2)
    return 2 * n_scorers * exp(-k * divergence(auc, epsilon)) / (0.9 if method == "bernstein" else 1)


def divergence(auc, epsilon):
    """The least over both sides; over a fine grid of AUCs if none is given."""
    a = np.array([auc]) if auc is not None else np.linspace(epsilon, 1, 50_001)[1:]
    with np.errstate(all="ignore"):
        sides = [
            np.where((q < 0) | (q > 1), np.inf, term(a, q) + term(1 - a, 1 - q)) for q in (a - epsilon, a + epsilon)
        ]
    return float(np.min(sides))


def term(p, q):
    return np.where(p == 0, 0.0, np.where(q <= 0, np.inf, p * np.log(p / q)))


# -- laws --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@given(epsilons, confidences, shares, scorers, aucs)
def test_the_size_suffices_and_one_less_does_not(method, epsilon, confidence, p, n_scorers, auc):
    n = sample_size(
        epsilon=epsilon, confidence=confidence, positive_rate=p, method=method, n_scorers=n_scorers, auc=auc
    )
    risk = 1 - confidence
    assert promised_risk(n, p, epsilon, method, n_scorers, auc) <= risk * (1 + 1e-6)
    if n > ceil(1 / min(p, 1 - p)) or method == "mcdiarmid":  # fewer rows hold none of the rarer class
        assert promised_risk(n - 1, p, epsilon, method, n_scorers, auc) > risk * (1 - 1e-6)


@pytest.mark.parametrize("method", METHODS)
@given(st.floats(0.01, 0.5), st.floats(0.5, 0.9999), st.floats(0.01, 0.45), st.floats(0, 1))
def test_the_interval_itself_is_as_narrow_as_planned(method, epsilon, confidence, p, share_in_order):
    wish = plan(epsilon=epsilon, confidence=confidence, positive_rate=p, method=method)
    assume(wish.n > 10)
    n_low = round(share_in_order * wish.n_pos)
    scores = np.r_[np.ones(wish.n_pos - n_low), -np.ones(n_low), np.zeros(wish.n_neg)]
    curve = RocCurve.from_scores(np.repeat([1, 0], [wish.n_pos, wish.n_neg]), scores)
    interval = getattr(intervals, method)(curve, confidence=confidence)
    assert interval.estimate - interval.low <= epsilon * (1 + 1e-9)
    assert interval.high - interval.estimate <= epsilon * (1 + 1e-9)


@given(st.floats(0.01, 0.3), confidences, aucs.filter(lambda a: a is not None))
def test_kl_is_planned_for_the_expected_auc(epsilon, confidence, auc):
    wish = plan(epsilon=epsilon, confidence=confidence, positive_rate=0.5, method="kl", auc=auc)
    k, risk = wish.n_pos, (1 - confidence) / 2
    assert wish.n_neg == k
    assert max(auc - kl_lower(auc, k, risk), kl_upper(auc, k, risk) - auc) <= epsilon * (1 + 1e-9)
    if k > 1:
        assert max(auc - kl_lower(auc, k - 1, risk), kl_upper(auc, k - 1, risk) - auc) > epsilon * (1 - 1e-9)


@given(epsilons, confidences, shares, scorers)
def test_no_method_needs_fewer_of_the_rarer_class_than_kl(epsilon, confidence, p, n_scorers):
    wish = Plan(epsilon=epsilon, confidence=confidence, positive_rate=p, n_scorers=n_scorers)
    needs = {method: replace(wish, method=method) for method in METHODS}
    rarer = {method: needs[method].n_pos if p <= 0.5 else needs[method].n_neg for method in METHODS}
    assert rarer["kl"] <= rarer["hoeffding"] <= rarer["mcdiarmid"]
    assert rarer["kl"] <= rarer["bernstein"]
    assert needs["kl"].n <= needs["hoeffding"].n


@pytest.mark.parametrize("method", METHODS)
@given(epsilons, confidences, shares, scorers)
def test_the_classes_may_be_swapped(method, epsilon, confidence, p, n_scorers):
    p = round(p, 3)
    here, there = (
        plan(epsilon=epsilon, confidence=confidence, positive_rate=share, method=method, n_scorers=n_scorers)
        for share in (p, 1 - p)
    )
    assert abs(here.n - there.n) <= 1e-9 * here.n
    assert here.n_pos + here.n_neg == here.n
    assert min(here.n_pos, here.n_neg, there.n_pos) >= 1
    assert p == 0.5 or abs(here.n_pos - there.n_neg) <= 1 + 1e-9 * here.n


@given(epsilons, epsilons, confidences, confidences, aucs, st.sampled_from(METHODS))
def test_more_is_asked_more_is_needed(epsilon, coarser, confidence, surer, auc, method):
    epsilon, coarser = sorted([epsilon, coarser])
    confidence, surer = sorted([confidence, surer])
    more = sample_size(epsilon=epsilon, confidence=surer, positive_rate=0.3, method=method, auc=auc)
    fewer = sample_size(epsilon=coarser, confidence=confidence, positive_rate=0.3, method=method, auc=auc)
    assert fewer <= more


# -- hand-computed -----------------------------------------------------------------------------------------------


def test_corollary_2_by_hand():
    assert sample_size(epsilon=0.05, positive_rate=0.5) == 2952  # ln(40) / (2/4 * 0.0025) = 2951.1
    assert sample_size(epsilon=0.1, confidence=0.99, positive_rate=0.1) == 2944  # ln(200) / (0.18 * 0.01) = 2943.5
    assert sample_size(epsilon=0.05, positive_rate=0.02) == 37642  # ln(40) / (0.0392 * 0.0025) = 37641.6


def test_corollary_4_by_hand():
    # (ln(20) + ln(40)) / (2/4 * 0.0025) = 5347.7
    assert sample_size(epsilon=0.05, positive_rate=0.5, n_scorers=20) == 5348


def test_the_u_statistic_by_hand():
    # ln(40) / 0.005 = 737.8 of the rarer class
    assert sample_size(epsilon=0.05, positive_rate=0.02, method="hoeffding") == 738 * 50
    assert sample_size(epsilon=0.05, positive_rate=0.98, method="hoeffding") == 738 * 50
    # KL(1 || 0.95) = -ln(0.95): ln(40) / 0.0513 = 71.9
    assert sample_size(epsilon=0.05, positive_rate=0.02, method="kl", auc=1) == 72 * 50
    assert sample_size(epsilon=0.05, positive_rate=0.02, method="kl", auc=0) == 72 * 50


def test_the_error_rate_needs_four_times_fewer_at_even_odds():
    assert error_rate_sample_size(epsilon=0.05) == 738
    assert error_rate_sample_size(epsilon=0.05, confidence=0.99) == ceil(log(200) / 0.005)
    assert error_rate_sample_size(epsilon=0.05, n_scorers=20) == ceil((log(20) + log(40)) / 0.005)
    assert error_rate_factor(0.5) == 4
    assert error_rate_factor(0.02) == pytest.approx(1 / 0.0196)
    assert error_rate_factor(0.1) == pytest.approx(error_rate_factor(0.9))
    exact = log(40) / (2 * 0.05**2)
    assert sample_size(epsilon=0.05, positive_rate=0.02) == ceil(exact * error_rate_factor(0.02))


@pytest.mark.parametrize("method", METHODS)
def test_the_coarsest_and_the_finest_wish(method):
    assert sample_size(epsilon=1, confidence=1e-9, positive_rate=0.5, method=method) == 2
    finest = sample_size(epsilon=1e-9, confidence=1 - 1e-12, positive_rate=1e-6, method=method)
    assert finest == pytest.approx(log(2e12) / 2e-18 / 1e-6, rel=0.01)
    assert type(finest) is int


# -- the plan in words and as a table ----------------------------------------------------------------------------


def test_a_plan_is_a_sentence():
    assert str(plan(epsilon=0.05, positive_rate=0.02)) == (
        "To know the AUC to within 0.05 with 95 % confidence at 2 % positives, you need 37,642 rows, 753 of them "
        "positive (mcdiarmid); an error rate needs 738; method kl needs 36,900"
    )
    best = plan(epsilon=0.05, positive_rate=0.02, method="kl", auc=0.95, n_scorers=20)
    assert str(best) == (
        "To know the AUC of each of 20 scorers (near 0.95) to within 0.05 with 95 % confidence at 2 % positives, you "
        "need 20,050 rows, 401 of them positive (kl); an error rate needs 1,337"
    )
    assert repr(best) == f"<Plan: {best}>"


def test_the_frame_compares_the_methods():
    wish = plan(epsilon=0.05, positive_rate=0.02, auc=0.9)
    frame = wish.to_frame()
    assert frame["method"].to_list() == METHODS
    for row in frame.iter_rows(named=True):
        same = plan(epsilon=0.05, positive_rate=0.02, method=row["method"], auc=0.9)
        assert (row["n"], row["n_pos"], row["n_neg"]) == (same.n, same.n_pos, same.n_neg)
    assert set(frame["error_rate_n"]) == {738}


def test_a_plan_is_frozen_and_compares_by_value():
    wish = plan(epsilon=0.05, positive_rate=0.02)
    assert wish == Plan(epsilon=0.05, positive_rate=0.02)
    assert hash(wish) == hash(Plan(epsilon=0.05, positive_rate=0.02))
    with pytest.raises(FrozenInstanceError):
        wish.epsilon = 0.1


# -- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [plan, sample_size])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"epsilon": 0}, r"epsilon must lie in \(0, 1\]"),
        ({"epsilon": 5}, "fractions, not percent"),
        ({"epsilon": float("nan")}, "epsilon must be finite"),
        ({"confidence": 95}, "not percent"),
        ({"confidence": 1}, "strictly between 0 and 1"),
        ({"positive_rate": 0}, "positive_rate must lie strictly between 0 and 1, got 0"),
        ({"positive_rate": 1}, "positive_rate must lie strictly between 0 and 1, got 1"),
        ({"positive_rate": 2}, "fractions, not percent"),
        ({"n_scorers": 0}, "n_scorers must be at least 1"),
        ({"auc": 1.2}, r"auc must lie in \[0, 1\]"),
        ({"method": "delong"}, "method must be one of 'mcdiarmid', 'hoeffding', 'kl', 'bernstein', got 'delong'"),
    ],
    ids=str,
)
def test_values_that_cannot_be(function, wrong, message):
    with pytest.raises(ValueError, match=message):
        function(**({"epsilon": 0.05, "positive_rate": 0.1} | wrong))


@pytest.mark.parametrize("wrong", [{"epsilon": "small"}, {"n_scorers": 2.5}, {"positive_rate": None}], ids=str)
def test_types_that_cannot_be(wrong):
    with pytest.raises(TypeError, match=f"{next(iter(wrong))} must be a"):
        sample_size(**({"epsilon": 0.05, "positive_rate": 0.1} | wrong))


def test_the_error_rate_is_as_strict():
    with pytest.raises(ValueError, match="epsilon"):
        error_rate_sample_size(epsilon=0)
    with pytest.raises(ValueError, match="confidence"):
        error_rate_sample_size(epsilon=0.1, confidence=1)
    with pytest.raises(ValueError, match="positive_rate"):
        error_rate_factor(1)

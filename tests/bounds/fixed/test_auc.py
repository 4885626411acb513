"""Finite-sample intervals for the AUC: they match their theorems, order as they must, and never leave [0, 1]."""

from math import isfinite, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrank.bounds.fixed import auc as methods
from headrank.bounds.fixed.auc import bernstein, hoeffding, kl, mcdiarmid
from headrank.curve import RocCurve
from headrank.exceptions import OneClassError, ShallowHeadError
from headrank.measures import AUC
from reference.auc_bounds import LOWER_ENDS
from reference.measures import auc as auc_by_pairs
from reference.measures import expand
from strategies import small_rankings, weighted_rankings

METHODS = [mcdiarmid, hoeffding, kl, bernstein]
every_method = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
confidences = st.sampled_from([1e-9, 0.1, 0.5, 0.9, 0.95, 0.999, 1 - 1e-12])
sides = st.sampled_from(["two-sided", "lower", "upper"])


def separated(n_pos, n_neg, n_swapped=0):
    """A perfect ranking, or one whose last positives score below all negatives."""
    scores = np.r_[np.ones(n_pos - n_swapped), -np.ones(n_swapped), np.zeros(n_neg)]
    return RocCurve.from_scores(np.repeat([1, 0], [n_pos, n_neg]), scores)


def repeated(ranking, times):
    return RocCurve.from_scores(np.tile(ranking.y, times), np.tile(ranking.scores, times))


# -- laws --------------------------------------------------------------------------------------------------------


@every_method
@given(small_rankings(max_rows=12), confidences, sides)
def test_the_ends_are_those_of_the_theorem(method, ranking, confidence, side):
    interval = method(RocCurve.from_scores(*ranking[:2]), confidence=confidence, side=side)
    lower_end = LOWER_ENDS[method.__name__]
    risk = (1 - confidence) / (2 if side == "two-sided" else 1)
    low = 0 if side == "upper" else lower_end(expand(ranking.y, ranking.scores), risk)
    high = 1 if side == "lower" else 1 - lower_end(expand(ranking.y, -ranking.scores), risk)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-9)
    assert interval.estimate == pytest.approx(float(auc_by_pairs(expand(ranking.y, ranking.scores))))


@every_method
@given(small_rankings(max_rows=12), confidences, sides, st.sampled_from([1, 7, 1000]))
def test_the_interval_holds_the_estimate_and_stays_in_range(method, ranking, confidence, side, times):
    interval = method(repeated(ranking, times), confidence=confidence, side=side)
    assert 0 <= interval.low <= interval.estimate <= interval.high <= 1
    assert side != "upper" or interval.low == 0
    assert side != "lower" or interval.high == 1
    assert isfinite(interval.width)


@given(small_rankings(max_rows=12), confidences, sides, st.sampled_from([1, 7, 1000]))
def test_kl_lies_in_hoeffding_and_hoeffding_in_mcdiarmid(ranking, confidence, side, times):
    curve = repeated(ranking, times)
    outer, middle, inner = (method(curve, confidence=confidence, side=side) for method in (mcdiarmid, hoeffding, kl))
    assert outer.low <= middle.low <= inner.low
    assert inner.high <= middle.high <= outer.high


@given(small_rankings(max_rows=12), confidences, sides, st.sampled_from([1, 7, 1000]))
def test_bernstein_is_never_wider_than_kl_at_nine_tenths_of_the_risk(ranking, confidence, side, times):
    curve = repeated(ranking, times)
    inner = bernstein(curve, confidence=confidence, side=side)
    outer = kl(curve, confidence=1 - 0.9 * (1 - confidence), side=side)
    assert outer.low <= inner.low + 1e-6 * (1 - confidence) + 1e-9  # the confidence itself is rounded
    assert outer.high >= inner.high - 1e-6 * (1 - confidence) - 1e-9


@every_method
@given(small_rankings(max_rows=12), confidences)
def test_one_side_is_two_sides_at_half_the_risk(method, ranking, confidence):
    curve = RocCurve.from_scores(*ranking[:2])
    both = method(curve, confidence=confidence)
    half = 1 - (1 - confidence) / 2  # a confidence near 1 is rounded, its risk by as much as one part in ten thousand
    assert method(curve, confidence=half, side="lower").low == pytest.approx(both.low, rel=1e-4)
    assert method(curve, confidence=half, side="upper").high == pytest.approx(both.high, rel=1e-4)


@every_method
@given(small_rankings(max_rows=12), confidences, sides)
def test_reversed_scores_and_swapped_classes_mirror_the_interval(method, ranking, confidence, side):
    mirror = {"lower": "upper", "upper": "lower"}.get(side, side)
    interval = method(RocCurve.from_scores(*ranking[:2]), confidence=confidence, side=side)
    for y, scores in ((ranking.y, -ranking.scores), (1 - ranking.y, ranking.scores)):
        other = method(RocCurve.from_scores(y, scores), confidence=confidence, side=mirror)
        assert (other.low, other.high) == pytest.approx((1 - interval.high, 1 - interval.low), abs=1e-12)


@every_method
@given(small_rankings(max_rows=10), confidences, confidences)
def test_more_confidence_and_fewer_rows_widen(method, ranking, confidence, other):
    less, more = sorted([confidence, other])
    curve, longer = repeated(ranking, 1), repeated(ranking, 9)
    inner, outer, narrow = method(curve, confidence=less), method(curve, confidence=more), method(longer)
    assert outer.low <= inner.low + 1e-15
    assert inner.high <= outer.high + 1e-15
    assert narrow.width <= method(curve).width + 1e-12


# -- hand-computed -----------------------------------------------------------------------------------------------


def test_fifty_of_each_in_perfect_order():
    curve = separated(50, 50)
    assert mcdiarmid(curve).low == pytest.approx(1 - sqrt(log(40) / 50))  # 0.7284
    assert hoeffding(curve).low == pytest.approx(1 - sqrt(log(40) / 100))  # 0.8079
    assert kl(curve).low == pytest.approx(0.025 ** (1 / 50))  # 0.9289
    assert bernstein(curve).low == pytest.approx(0.0225 ** (1 / 50))  # no ties: nine tenths of the risk
    assert kl(curve).low > hoeffding(curve).low > mcdiarmid(curve).low
    assert all(method(curve).high == 1 for method in METHODS)


def test_the_radius_of_corollary_1():
    curve = separated(20, 180, n_swapped=10)  # AUC 1/2, p = 0.1, N = 200
    interval = mcdiarmid(curve, confidence=0.9)
    assert interval.estimate == 0.5
    assert interval.high - 0.5 == pytest.approx(sqrt(log(20) / (2 * 0.1 * 0.9 * 200)))  # 0.2885
    assert mcdiarmid(curve, confidence=0.9, side="upper").high - 0.5 == pytest.approx(sqrt(log(10) / 36))


def test_the_radius_of_the_u_statistic_counts_the_smaller_class():
    for curve in (separated(20, 180, n_swapped=10), separated(180, 20, n_swapped=90)):
        assert hoeffding(curve).high - 0.5 == pytest.approx(sqrt(log(40) / 40))
        assert kl(curve).high == pytest.approx((1 + sqrt(1 - 40 ** (-1 / 10))) / 2)  # KL(1/2 || q) = -ln(4 q (1-q))/2


def test_all_tied():
    curve = RocCurve.from_scores([1] * 50 + [0] * 80, np.zeros(130))
    interval = bernstein(curve)
    # Nothing but a tie was seen, so T >= t = 0.0025 ** (1/50); A is at least t/2, and Theorem 3 adds nothing to it.
    assert interval.low == pytest.approx(0.0025 ** (1 / 50) / 2)
    assert interval.high == pytest.approx(1 - 0.0025 ** (1 / 50) / 2)
    assert interval.width < 0.4 * kl(curve).width


@pytest.mark.parametrize(("n_levels", "gain"), [(2, 0.8), (3, 0.87), (10, 0.99)])
def test_bernstein_gains_on_scores_with_few_levels(n_levels, gain):
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], 1000)
    levels = np.floor(n_levels * rng.random(2000) ** np.where(y, 0.8, 1.25))
    curve = RocCurve.from_scores(y, levels)
    assert bernstein(curve).width < gain * kl(curve).width


def test_a_finite_class_adds_the_logarithm_of_its_size():
    """Corollary 3 by dividing the risk, as the module says."""
    curve = separated(300, 700, n_swapped=60)
    for_each_of_20 = mcdiarmid(curve, confidence=1 - 0.05 / 20)
    assert for_each_of_20.high - 0.8 == pytest.approx(sqrt((log(20) + log(2 / 0.05)) / (2 * 0.3 * 0.7 * 1000)))


# -- edges -------------------------------------------------------------------------------------------------------

EDGES = {
    "one pair in order": ([1, 0], [1, 0]),
    "one pair reversed": ([1, 0], [0, 1]),
    "one pair tied": ([1, 0], [0, 0]),
    "one positive": ([1] + [0] * 99, [50, *range(99)]),
    "one negative": ([0] + [1] * 99, [50, *range(99)]),
    "AUC 1": ([1] * 9 + [0] * 9, [1] * 9 + [0] * 9),
    "AUC 0": ([1] * 9 + [0] * 9, [0] * 9 + [1] * 9),
    "all tied": ([1] * 9 + [0] * 9, [0] * 18),
    "one tie away from 1": ([1] * 9 + [0] * 9, [1] * 9 + [1] + [0] * 8),
    "one pair away from 0": ([1] * 9 + [0] * 9, [2] + [0] * 8 + [1] * 9),
}


@every_method
@pytest.mark.parametrize("confidence", [1e-9, 0.5, 0.95, 1 - 1e-12])
@pytest.mark.parametrize("side", ["two-sided", "lower", "upper"])
@pytest.mark.parametrize("sample", EDGES.values(), ids=EDGES)
def test_edges(method, confidence, side, sample):
    interval = method(RocCurve.from_scores(*sample), confidence=confidence, side=side)
    assert 0 <= interval.low <= interval.estimate <= interval.high <= 1
    assert str(interval).startswith("auc is ")


@every_method
def test_one_pair_knows_next_to_nothing(method):
    interval = method(RocCurve.from_scores([1, 0], [1, 0]))
    assert interval.low < 0.0251
    assert interval.high == 1


@every_method
def test_little_confidence_costs_little_width(method):
    curve = separated(500, 500, n_swapped=100)
    assert method(curve, confidence=1e-9, side="lower").low == pytest.approx(0.8, abs=0.02)
    assert method(curve, confidence=1 - 1e-12, side="lower").low < method(curve, side="lower").low


@every_method
def test_millions_of_rows(method):
    curve = separated(10**6, 2 * 10**6, n_swapped=10**5)
    interval = method(curve)
    assert interval.estimate == pytest.approx(0.9)
    assert 1e-4 < interval.width < 4e-3


def test_counts_whose_product_exceeds_64_bits():
    rows = 4 * 10**9
    tied = RocCurve(np.zeros(1), pos=np.array([rows]), neg=np.array([rows]), n_pos=rows, n_neg=rows)
    assert bernstein(tied).low == pytest.approx(0.5, abs=1e-8)


@every_method
def test_no_confidence_no_width(method):
    """At a risk that is 1 up to rounding the ends meet the estimate, and must not pass it for being rounded."""
    for n_swapped in range(11):
        interval = method(separated(10, 30, n_swapped), confidence=1e-17, side="upper")
        assert interval.estimate <= interval.high <= interval.estimate + 0.1


# -- what they say, and what they refuse -------------------------------------------------------------------------


@every_method
def test_the_interval_says_how_it_was_made(method):
    interval = method(separated(3, 4), confidence=0.9, side="lower")
    assert interval.method == method.__name__
    assert interval.measure == AUC()
    assert (interval.n_pos, interval.n_neg, interval.confidence, interval.side) == (3, 4, 0.9, "lower")
    assert type(interval.n_pos) is type(interval.n_neg) is int
    assert type(interval.low) is type(interval.estimate) is type(interval.high) is float
    assert interval.finite_sample
    assert not interval.simultaneous
    assert any(name in interval.theorem for name in ("Hoeffding (1963)", "Agarwal"))
    assert "independent" in interval.assumptions


@every_method
@given(ranking=weighted_rankings())
def test_weighted_rows_are_refused_with_a_reason(method, ranking):
    with pytest.raises(ValueError, match=f"the {method.__name__} interval needs unweighted rows"):
        method(RocCurve.from_scores(*ranking))


@every_method
def test_refusals(method):
    with pytest.raises(ShallowHeadError):
        method(RocCurve.head_from_scores([1, 0, 1, 0], [4, 3, 2, 1], n_neg=1))
    with pytest.raises(OneClassError):
        method(RocCurve.head_from_scores([1, 1], [4, 3], n_pos=2))


def test_every_method_is_tested():
    own = {name for name, value in vars(methods).items() if getattr(value, "__module__", "") == methods.__name__}
    assert {name for name in own if not name.startswith("_")} == {method.__name__ for method in METHODS}

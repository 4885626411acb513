"""The band: two envelopes, the proof behind them tried on random populations, and what it refuses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrank.bounds.band.band import band
from headrank.bounds.band.envelope import Envelope
from headrank.bounds.band.rate_limits import rate_limits
from headrank.curve import RocCurve
from headrank.datasets import Binormal
from headrank.exceptions import OneClassError, ShallowHeadError
from headrank.measures import AUC, KS, FPRAtTPR, PartialAUC, TPRAtFPR
from reference.bands import curve_within, population_curve
from strategies import small_rankings

METHODS = ("tail", "dkw")
GRID = np.concatenate([[0, 1e-6, 1e-3], np.linspace(0.01, 1, 60)])


def heights(fpr, tpr, at):
    """Highest point of the polyline at each FPR, by looking at every stretch."""
    best = np.zeros(at.size)
    for x0, x1, y0, y1 in zip(fpr[:-1], fpr[1:], tpr[:-1], tpr[1:], strict=True):
        on = (x0 <= at) & (at <= x1)
        best[on] = np.maximum(best[on], y1 if x0 == x1 else (y0 + (at[on] - x0) / (x1 - x0) * (y1 - y0)))
    return best


@st.composite
def envelopes(draw):
    steps = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=7))
    x, y = np.cumsum(np.array([(0, 0), *steps, (1, 1)], dtype=float), axis=0).T
    return Envelope(x / x[-1], y / y[-1])


@given(envelopes())
def test_envelope_heights_equal_the_slow_ones(envelope):
    at = np.union1d(np.linspace(0, 1, 23), envelope.fpr)
    np.testing.assert_allclose(envelope.tpr_at(at), heights(envelope.fpr, envelope.tpr, at), atol=1e-12)


@given(envelopes())
def test_envelope_agrees_with_the_curve_it_becomes(envelope):
    curve = envelope.as_curve()
    for rate in (0.0, 0.1, 0.37, 0.5, 0.93):
        assert float(envelope.tpr_at(rate)) == pytest.approx(curve.tpr_at(rate), abs=1e-9)
        assert float(envelope.fpr_at(rate)) == pytest.approx(curve.fpr_at(rate), abs=1e-9)
    for rate in (0.1, 0.5, 1.0):
        assert float(envelope.area_to(rate)) == pytest.approx(curve.area(max_fpr=rate), abs=1e-12)


@given(envelopes(), st.sampled_from([0.01, 0.3, 0.5, 0.9]), st.sampled_from([0.0, 0.05, 0.5, 0.99, 1.0]))
def test_meeting_points_lie_on_the_line_and_on_the_envelope(envelope, p, mass):
    alpha, beta = envelope.meets(p, mass)
    assert p * beta + (1 - p) * alpha == pytest.approx(mass, abs=1e-12)
    assert envelope.fpr_at(beta) - 1e-9 <= alpha
    assert beta <= envelope.tpr_at(alpha) + 1e-9


@given(small_rankings(max_rows=12), st.sampled_from(METHODS), st.sampled_from([0.3, 0.9, 0.999]))
def test_envelopes_enclose_the_empirical_curve(ranking, method, confidence):
    curve = RocCurve.from_scores(*ranking[:2])
    around = band(curve, confidence=confidence, method=method)
    middle = heights(curve.fpr, curve.tpr, GRID)
    assert np.all(around.lower_at(GRID) <= middle + 1e-12)
    assert np.all(middle <= around.upper_at(GRID) + 1e-12)
    for envelope in (around.lower, around.upper):
        for rates in (envelope.fpr, envelope.tpr):
            assert rates[0] == 0
            assert rates[-1] == 1
            assert np.all(np.diff(rates) >= 0)


@given(small_rankings(max_rows=12), st.integers(0, 2**32), st.sampled_from(METHODS))
def test_every_population_that_keeps_to_the_limits_has_its_curve_inside(ranking, seed, method):
    around = band(RocCurve.from_scores(*ranking[:2]), confidence=0.7, method=method)
    fpr, tpr = curve_within(around.limits, np.random.default_rng(seed))
    truth = heights(fpr, tpr, GRID)
    assert np.all(around.lower_at(GRID) <= truth + 1e-9)
    assert np.all(truth <= around.upper_at(GRID) + 1e-9)


@given(small_rankings(max_rows=12))
def test_both_envelopes_are_populations_that_keep_to_the_limits(ranking):
    # The worst case: every threshold at its highest FPR and lowest TPR, all between two scores at the upper one.
    limits = band(RocCurve.from_scores(*ranking[:2]), confidence=0.7).limits
    lowest = population_curve(np.append(limits.highest_fpr, 1.0), np.append(limits.lowest_tpr, 1.0), 0.5)
    first = limits.highest_fpr[0]
    assert (1 - first) * AUC().value(lowest) == pytest.approx(AUC().value(limits.lower.as_curve()), abs=1e-9)


@given(small_rankings(max_rows=10), st.sampled_from(METHODS))
def test_more_confidence_is_a_wider_band(ranking, method):
    curve = RocCurve.from_scores(*ranking[:2])
    narrow, wide = (band(curve, confidence=confidence, method=method) for confidence in (0.8, 0.99))
    assert np.all(wide.lower_at(GRID) <= narrow.lower_at(GRID) + 1e-12)
    assert np.all(wide.upper_at(GRID) >= narrow.upper_at(GRID) - 1e-12)


def test_band_of_one_positive_and_one_negative_by_hand():
    # Each class has risk r = 1 - sqrt(0.9): its only draw lies between the quantiles r / 2 and 1 - r / 2.
    around = band(RocCurve.from_scores([1, 0], [2, 1]), confidence=0.9)
    half = (1 - np.sqrt(0.9)) / 2
    np.testing.assert_allclose(around.lower.fpr, [0, 1 - half, 1 - half, 1, 1], atol=1e-6)
    np.testing.assert_allclose(around.lower.tpr, [0, 0, half, half, 1], atol=1e-6)
    np.testing.assert_allclose(around.upper.fpr, [0, 0, 0, half, 1], atol=1e-6)
    np.testing.assert_allclose(around.upper.tpr, [0, 1 - half, 1, 1, 1], atol=1e-6)


def test_one_sided_limits_promise_one_envelope_and_bring_it_closer():
    curve = RocCurve.from_scores(*Binormal(separation=1.0).sample_classes(50, 80, random_state=0))
    both = rate_limits(curve, risk=0.05, method="tail")
    lower = rate_limits(curve, risk=0.05, method="tail", side="lower")
    upper = rate_limits(curve, risk=0.05, method="tail", side="upper")
    inner = np.linspace(0.3, 0.7, 9)
    assert np.all(lower.lower.tpr_at(inner) > both.lower.tpr_at(inner))
    assert np.all(upper.upper.tpr_at(inner) < both.upper.tpr_at(inner))
    assert np.all(lower.upper.tpr_at(inner) == 1)
    assert np.all(upper.lower.tpr_at(inner) == 0)


def test_tail_band_says_something_where_the_constant_one_is_silent():
    curve = RocCurve.from_scores(*Binormal(separation=2.0).sample_classes(1000, 5000, random_state=0))
    tail, constant = (band(curve, method=method).interval(PartialAUC(max_fpr=0.01)) for method in METHODS)
    assert constant.low == 0
    assert tail.low > 0.1
    assert tail.width < 0.5 * constant.width


def test_intervals_of_a_band_are_read_off_its_envelopes():
    curve = RocCurve.from_scores(*Binormal(separation=1.5).sample_classes(80, 200, random_state=3))
    around = band(curve, confidence=0.9)
    at = around.interval(TPRAtFPR(0.2))
    assert (at.low, at.high) == pytest.approx((float(around.lower_at(0.2)), float(around.upper_at(0.2))))
    back = around.interval(FPRAtTPR(0.6))
    assert (back.low, back.high) == pytest.approx((float(around.upper.fpr_at(0.6)), float(around.lower.fpr_at(0.6))))
    ks = around.interval(KS())
    limits = around.limits
    assert ks.high == pytest.approx(np.max(limits.highest_tpr - limits.lowest_fpr))
    assert ks.low == pytest.approx(np.max(limits.lowest_tpr - limits.highest_fpr))
    assert at.simultaneous
    assert at.confidence == 0.9
    assert at.method == "tail band"


def test_frame_lists_thresholds_with_their_limits():
    around = band(RocCurve.from_scores([1, 0, 1, 0], [4, 3, 2, 1]))
    frame = around.to_frame()
    assert frame.columns == [
        "threshold", "fpr", "tpr", "lowest_fpr", "highest_fpr", "lowest_tpr", "highest_tpr",
    ]  # fmt: skip
    assert frame.height == 5
    assert (frame["lowest_tpr"] <= frame["tpr"]).all()
    assert (frame["fpr"] <= frame["highest_fpr"]).all()


def test_band_describes_itself():
    around = band(RocCurve.from_scores([1, 0, 1, 0], [4, 3, 2, 1]), method="dkw")
    assert "95 % confidence" in repr(around)
    assert "Massart" in around.theorem
    assert "independent" in around.assumptions
    assert (around.n_pos, around.n_neg) == (2, 2)


def test_band_refuses_what_its_theorem_is_not_about():
    with pytest.raises(ValueError, match="unweighted"):
        band(RocCurve.from_scores([1, 0], [2, 1], [1.0, 2.0]))
    with pytest.raises(ShallowHeadError):
        band(RocCurve.head_from_scores([1, 0, 0], [3, 2, 1], n_rows=1))
    with pytest.raises(OneClassError):
        band(RocCurve.head_from_scores([0, 0], [2, 1], n_rows=2))
    with pytest.raises(ValueError, match="method"):
        band(RocCurve.from_scores([1, 0], [2, 1]), method="ks")
    with pytest.raises(ValueError, match="fractions"):
        band(RocCurve.from_scores([1, 0], [2, 1])).lower_at([0.5, 5])

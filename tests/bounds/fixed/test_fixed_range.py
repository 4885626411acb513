"""Direct bounds for one range or point: the identity behind them, by-hand values, laws and edges."""

from math import e

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrank.bounds.fixed.fixed_range import at_point, fixed_range, over_queries
from headrank.bounds.fixed.range_mean import (
    _limits_high,
    _limits_low,
    _window_high,
    _window_low,
    mean_credit,
    mean_limits,
    mean_tpr_high,
    mean_tpr_low,
    shares,
)
from headrank.bounds.inequalities.binomial import allowed_above, clopper_pearson, needed_at_least
from headrank.bounds.inequalities.chernoff import kl_lower, kl_upper
from headrank.curve import RocCurve
from headrank.datasets import Binormal
from headrank.exceptions import ShallowHeadError
from headrank.measures import (
    AUC,
    KS,
    EnrichmentFactor,
    FPRAtTPR,
    FROCArea,
    LocalAUC,
    PartialAUC,
    StandardizedPartialAUC,
    TPRAtFPR,
)
from reference import auc_bounds as reference_bounds
from reference import thresholds as reference
from strategies import ranges, small_rankings

POINTS = [TPRAtFPR(0.0), TPRAtFPR(0.05), TPRAtFPR(1.0), FPRAtTPR(0.0), FPRAtTPR(0.8), FPRAtTPR(1.0)]
AREAS = [
    AUC(),
    PartialAUC(max_fpr=0.1),
    PartialAUC(min_fpr=0.3, max_fpr=0.9),
    StandardizedPartialAUC(max_fpr=0.1),
    StandardizedPartialAUC(min_fpr=0.8),
    FROCArea(0.2, 0.3, images_per_negative=0.07),
]


def bound(curve, measure, **options):
    method = at_point if isinstance(measure, TPRAtFPR | FPRAtTPR) else fixed_range
    return method(curve, measure, **options)


def binormal_curve(n_pos=100, n_neg=500, separation=1.5, seed=0):
    return RocCurve.from_scores(*Binormal(separation=separation).sample_classes(n_pos, n_neg, seed))


# The identity and the steps


@given(small_rankings(max_rows=10), ranges)
def test_partial_auc_is_the_mean_credit_of_the_positives(ranking, ends):
    """With the sample's own rates for limits, ties included, the mean is the partial AUC itself."""
    curve, span = RocCurve.from_scores(*ranking[:2]), PartialAUC(min_fpr=ends[0], max_fpr=ends[1])
    assert mean_credit(curve, curve.fpr, span) == pytest.approx(span.value(curve), abs=1e-9)
    assert reference.mean_credit(*ranking[:2], *ends) == pytest.approx(span.value(curve), abs=2e-3)


@given(small_rankings(max_rows=10), ranges, st.data())
def test_credit_falls_as_rates_rise(ranking, ends, data):
    """What makes limits in place of rates a bound, whatever ties there are."""
    curve, span = RocCurve.from_scores(*ranking[:2]), PartialAUC(min_fpr=ends[0], max_fpr=ends[1])
    rises = data.draw(st.lists(st.floats(0, 0.3), min_size=curve.fpr.size, max_size=curve.fpr.size))
    higher = np.minimum(np.maximum.accumulate(curve.fpr + rises), 1.0)
    assert mean_credit(curve, higher, span) <= mean_credit(curve, curve.fpr, span) + 1e-12


@given(small_rankings(max_rows=30, min_rows=20), ranges, st.sampled_from([0.3, 0.6]))
def test_windows_equal_counting_pairs(ranking, ends, risk):
    """Ranks by the binomial limits, then every pair of a positive and a negative between them."""
    y, scores = ranking[:2]
    curve, span = RocCurve.from_scores(y, scores), PartialAUC(min_fpr=ends[0], max_fpr=ends[1])
    n_pos, n_neg = int(curve.n_pos), int(curve.n_neg)
    n_ends = (ends[0] > 0) + (ends[1] < 1)
    for_end, for_mean = 0.2 * risk / max(n_ends, 1), risk * (0.8 if n_ends else 1.0)
    for bound_of, choose, shift, vacuous in (
        (_window_low, reference.allowed_above, 1, 0.0),
        (_window_high, reference.needed_at_least, 0, 1.0),
    ):
        start = 0 if ends[0] == 0 else choose(n_neg, ends[0], for_end) + shift
        end = n_neg + 1 if ends[1] == 1 else choose(n_neg, ends[1], for_end) + shift
        expected = vacuous
        if end - start > 1:
            mean = reference.window_mean(y, scores, start, end, lower=shift == 1)
            expected = mean_limits(mean, min(n_pos, end - start - 1), for_mean)[1 - shift]
        assert bound_of(curve, span, risk) == pytest.approx(expected, abs=1e-12)


def test_part_of_a_tie_counts_as_little_or_as_much_as_it_may():
    """All rows tie: the curve is the diagonal, and a window holds a part of its one segment, none knows which."""
    curve, risk = RocCurve.from_scores([0] * 40 + [1] * 10, np.zeros(50)), 0.5
    inner = PartialAUC(min_fpr=0.3, max_fpr=0.7)
    assert (_window_low(curve, inner, risk), _window_high(curve, inner, risk)) == (0.0, 1.0)
    from_the_start, to_the_end = PartialAUC(max_fpr=0.7), PartialAUC(min_fpr=0.3)
    assert _window_low(curve, from_the_start, risk) == 0 < _window_low(curve, to_the_end, risk) < 0.5
    assert _window_high(curve, to_the_end, risk) == 1 > _window_high(curve, from_the_start, risk) > 0.5


def test_mean_limits_by_hand():
    # Of two variables, both near 1: E max(B - 1, 0) = q^2, at most risk (2 mean - 1).
    assert mean_limits(0.9, 2, 0.01)[0] == pytest.approx((0.01 * 0.8) ** 0.5)
    assert mean_limits(0.3, 2, 0.01)[0] == pytest.approx(0.003)  # Markov's inequality
    assert mean_limits(1.0, 64, 0.01) == (pytest.approx(0.01 ** (1 / 64)), 1.0)
    assert mean_limits(0.0, 64, 0.01) == (0.0, pytest.approx(1 - 0.01 ** (1 / 64)))


def test_the_way_is_chosen_by_counts_alone():
    many, few = binormal_curve(30, 900), binormal_curve(900, 60)
    span = PartialAUC(max_fpr=0.1)
    assert mean_tpr_low(many, span, 0.05) == _window_low(many, span, 0.05) != _limits_low(many, span, 0.05)
    assert mean_tpr_high(few, span, 0.05) == _limits_high(few, span, 0.05) != _window_high(few, span, 0.05)


def test_the_window_of_the_whole_curve_is_the_auc():
    curve = binormal_curve(40, 200)
    interval = fixed_range(curve, AUC(), confidence=0.9)
    assert (interval.low, interval.high) == pytest.approx(mean_limits(interval.estimate, 40, 0.05))


@given(st.integers(1, 400), st.floats(0, 1), st.sampled_from([1e-12, 0.001, 0.025, 0.3]))
def test_mean_limits_are_better_than_what_follows_from_them(n, mean, risk):
    low, high = mean_limits(mean, n, risk)
    assert kl_lower(mean, n, risk) <= low + 1e-9
    assert low <= mean <= high
    assert high <= kl_upper(mean, n, risk) + 1e-9
    successes = round(n * mean)
    exact = clopper_pearson(successes, n, risk)
    of_whole = mean_limits(successes / n, n, risk)
    assert of_whole[0] <= exact[0] + 1e-12  # never better than what is exact for zeros and ones
    assert of_whole[1] >= exact[1] - 1e-12
    assert of_whole[0] >= clopper_pearson(max(successes - 1, 0), n, risk / e)[0] - 1e-9


@given(st.integers(1, 40), st.floats(0, 1), st.sampled_from([1e-12, 0.001, 0.025, 0.3, 0.9]))
def test_mean_limits_equal_trying_every_h(n, mean, risk):
    low, high = mean_limits(mean, n, risk)
    assert low == pytest.approx(reference_bounds.bentkus_lower(mean, n, risk), rel=1e-6, abs=1e-12)
    assert high == pytest.approx(1 - reference_bounds.bentkus_lower(1 - mean, n, risk), rel=1e-6)


@pytest.mark.parametrize("n", [10**3, 10**5, 10**7])
@pytest.mark.parametrize("risk", [0.3, 1e-3, 1e-60])
def test_mean_limits_of_many_draws(n, risk):
    """Wider than the exact limits of zeros and ones, by the factor that Bentkus' theorem bounds."""
    low, high = mean_limits(0.75, n, risk)
    exact, spent = clopper_pearson(3 * n // 4, n, risk), clopper_pearson(3 * n // 4, n, risk / e)
    assert spent[0] - 1e-9 <= low <= exact[0]
    assert exact[1] <= high <= spent[1] + 1e-9


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.floats(0, 1), st.sampled_from([1e-13, 0.025, 0.9]))
def test_shares_spend_the_risk_and_no_more(n_counted, n_ranked, rate, risk):
    ranked, counted = shares(risk, n_counted, n_ranked, rate)
    assert 0 < ranked < risk
    assert 0 < counted < risk
    assert ranked + counted <= risk * (1 + 1e-15)


def test_a_point_by_hand():
    """Negatives 1000, 999, ..., 1; positives between them: every tenth half a point above a negative."""
    scores = np.concatenate([np.arange(1, 1001), np.arange(10, 1001, 10) + 0.5])
    curve = RocCurve.from_scores(np.repeat([0, 1], [1000, 100]), scores)
    interval = at_point(curve, TPRAtFPR(0.1), confidence=0.9)
    for_neg, for_pos = shares(0.05, 100, 1000, 0.1)
    allowed, needed = allowed_above(1000, 0.1, for_neg), needed_at_least(1000, 0.1, for_neg)
    assert allowed < 100 < needed
    above = np.sum(scores[1000:] > 1000 - allowed)  # negative number allowed + 1 scores 1000 - allowed
    reaching = np.sum(scores[1000:] >= 1001 - needed)
    assert interval.low == clopper_pearson(int(above), 100, for_pos)[0]
    assert interval.high == clopper_pearson(int(reaching), 100, for_pos)[1]
    assert interval.estimate == 0.11
    mirrored = at_point(curve, FPRAtTPR(0.5), confidence=0.9)
    for_pos, for_neg = shares(0.05, 1000, 100, 1.0)
    allowed, needed = allowed_above(100, 0.5, for_pos), needed_at_least(100, 0.5, for_pos)
    above = int(np.sum(scores[:1000] > 1000.5 - 10 * allowed))
    assert mirrored.low == pytest.approx(clopper_pearson(above, 1000, for_neg)[0], rel=1e-12)
    reaching = int(np.sum(scores[:1000] >= 1010.5 - 10 * needed))
    assert mirrored.high == pytest.approx(clopper_pearson(reaching, 1000, for_neg)[1], rel=1e-12)


# Laws


@pytest.mark.parametrize("measure", POINTS + AREAS, ids=str)
def test_sides_confidence_and_order(measure):
    curve = binormal_curve()
    both, low, high = (bound(curve, measure, side=side) for side in ("two-sided", "lower", "upper"))
    reach = (0.5 - 0.5 * 0.9 / 0.1, 1) if str(measure) == "spauc@0.8:1" else (0, 1)
    if str(measure) == "spauc@0.1":
        reach = (0.5 * (1 - 0.05 / 0.95), 1)
    assert (low.high, high.low) == pytest.approx(reach[::-1])
    assert reach[0] - 1e-12 <= both.low <= low.low <= both.estimate <= high.high <= both.high <= 1
    assert both.estimate == measure.value(curve)
    wider = bound(curve, measure, confidence=0.999)
    assert wider.low <= both.low <= both.high <= wider.high
    assert (both.n_pos, both.n_neg, both.finite_sample, both.simultaneous) == (100, 500, True, False)
    assert both.method == ("at_point" if measure in POINTS else "fixed_range")


@given(small_rankings(max_rows=12), st.sampled_from(POINTS + AREAS), st.sampled_from([1e-9, 0.6, 0.95, 1 - 1e-12]))
def test_any_sample_any_confidence(ranking, measure, confidence):
    curve = RocCurve.from_scores(*ranking[:2])
    for side in ("two-sided", "lower", "upper"):
        interval = bound(curve, measure, confidence=confidence, side=side)
        assert interval.low <= interval.estimate <= interval.high <= 1
    moved = RocCurve.from_scores(ranking.y[::-1], np.exp(ranking.scores[::-1]))
    assert bound(moved, measure, confidence=confidence) == bound(curve, measure, confidence=confidence)


@pytest.mark.parametrize("measure", POINTS + AREAS, ids=str)
@pytest.mark.parametrize("scores", ["perfect", "reversed", "tied", "one positive", "one negative", "two rows"])
def test_edges(scores, measure):
    sizes = {"one positive": (99, 1), "one negative": (1, 99), "two rows": (1, 1)}.get(scores, (50, 50))
    y = np.repeat([0, 1], sizes)
    values = {"perfect": y, "reversed": -y, "tied": 0 * y}.get(scores, np.arange(y.size))
    for confidence in (1e-9, 0.95, 1 - 1e-12):
        interval = bound(RocCurve.from_scores(y, values), measure, confidence=confidence)
        assert interval.low <= interval.estimate <= interval.high
        assert not np.isnan([interval.low, interval.high]).any()


def test_points_known_without_a_sample():
    curve = binormal_curve()
    assert at_point(curve, TPRAtFPR(1.0)).low == at_point(curve, TPRAtFPR(1.0)).high == 1
    assert at_point(curve, FPRAtTPR(0.0)).high == 0
    assert at_point(curve, TPRAtFPR(0.0)).low == 0
    assert 0 < at_point(curve, TPRAtFPR(0.0)).high < 1
    assert at_point(curve, FPRAtTPR(1.0)).high == 1
    assert at_point(curve, TPRAtFPR(1e-6)).low == 0  # fewer negatives than the rate needs


def test_affine_measures_have_the_same_interval_in_their_own_units():
    curve = binormal_curve()
    plain = fixed_range(curve, PartialAUC(max_fpr=0.1))
    standard = fixed_range(curve, StandardizedPartialAUC(max_fpr=0.1))
    for ours, theirs in ((standard.low, plain.low), (standard.high, plain.high)):
        assert ours == pytest.approx(0.5 * (1 + (theirs - 0.05) / 0.95))
    froc = fixed_range(curve, FROCArea(0.0, 1.0, images_per_negative=0.1))
    assert (froc.low, froc.high) == pytest.approx((plain.low, plain.high))
    assert fixed_range(curve, AUC()).width == pytest.approx(fixed_range(curve, PartialAUC()).width)


def test_more_rows_of_either_class_give_narrower_intervals():
    for measure in (PartialAUC(max_fpr=0.05), TPRAtFPR(0.05)):
        widths = {
            sizes: np.mean([bound(binormal_curve(*sizes, seed=seed), measure).width for seed in range(5)])
            for sizes in ((50, 500), (500, 500), (50, 5000), (500, 5000))
        }
        assert widths[500, 5000] < widths[500, 500] < widths[50, 500]
        assert widths[500, 5000] < widths[50, 5000] < widths[50, 500]


# Heads and refusals


def test_a_head_suffices_where_it_reaches():
    whole = binormal_curve()
    head = whole.head(n_neg=150)
    assert fixed_range(head, PartialAUC(max_fpr=0.1)) == fixed_range(whole, PartialAUC(max_fpr=0.1))
    assert at_point(head, TPRAtFPR(0.1)) == at_point(whole, TPRAtFPR(0.1))
    shallow = whole.head(n_neg=52)
    one_sided = fixed_range(shallow, PartialAUC(max_fpr=0.1), side="lower")
    assert one_sided.low == fixed_range(whole, PartialAUC(max_fpr=0.1), side="lower").low > 0
    for measure in (PartialAUC(max_fpr=0.1), TPRAtFPR(0.1)):
        with pytest.raises(ShallowHeadError, match="deeper"):
            bound(shallow, measure)


def test_refusals():
    curve = binormal_curve()
    for measure in (KS(), LocalAUC(0.1), TPRAtFPR(0.1)):
        with pytest.raises(TypeError, match="fixed_range is for"):
            fixed_range(curve, measure)
    with pytest.raises(TypeError, match="at_point is for"):
        at_point(curve, PartialAUC(max_fpr=0.1))
    weighted = RocCurve.from_scores([0, 1, 0], [1, 2, 3], [1.0, 2.0, 1.5])
    for measure in (PartialAUC(max_fpr=0.1), TPRAtFPR(0.1)):
        with pytest.raises(ValueError, match="independent rows"):
            bound(weighted, measure)


def test_over_queries():
    values = [1.0] * 30
    interval = over_queries(values, PartialAUC(max_fpr=0.1), n_pos=60, n_neg=900, confidence=0.9)
    assert (interval.low, interval.high) == (pytest.approx(0.05 ** (1 / 30)), 1.0)
    assert (interval.n_queries, interval.n_pos, interval.n_neg) == (30, 60, 900)
    assert "60 positives and 900 negatives in 30 queries" in str(interval)
    assert "independent" in interval.assumptions
    one = over_queries([0.5], AUC(), n_pos=1, n_neg=1)
    assert one.low <= 0.5 <= one.high
    assert "in 1 query;" in str(one)
    with pytest.raises(ValueError, match="bootstrap"):
        over_queries([1.2, 0.5], EnrichmentFactor(10), n_pos=3, n_neg=3)
    scaled = over_queries([20.0, 0.0] * 15, EnrichmentFactor(0.05), n_pos=30, n_neg=900)
    plain = over_queries([1.0, 0.0] * 15, AUC(), n_pos=30, n_neg=900)
    assert (scaled.low, scaled.high) == (pytest.approx(20 * plain.low), pytest.approx(20 * plain.high))
    with pytest.raises(ValueError, match="one number per query"):
        over_queries([], AUC(), n_pos=3, n_neg=3)

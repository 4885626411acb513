"""Certified thresholds: exact binomial limits against fractions, laws, refusals that say what is needed."""

import pickle
from math import log

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from headrank.bounds.inequalities.binomial import (
    allowed_above,
    allowed_above_for_batch,
    batch_risk,
    clopper_pearson,
    draws_needed,
    draws_needed_for_batch,
    needed_at_least,
)
from headrank.bounds.threshold import threshold_at
from headrank.datasets import Binormal
from headrank.exceptions import InvalidSampleError, OneClassError, TooFewRowsError
from reference import thresholds as reference
from strategies import small_rankings

some_rates = st.sampled_from([0.01, 0.1, 0.25, 0.3, 0.5, 0.9])
risks = st.sampled_from([1e-6, 0.01, 0.0501, 0.3, 0.501, 0.9])


# Exact binomial limits


@given(st.integers(1, 12), some_rates, risks)
def test_ranks_equal_exact_sums(n, rate, risk):
    assert allowed_above(n, rate, risk) == reference.allowed_above(n, rate, risk)
    assert needed_at_least(n, rate, risk) == reference.needed_at_least(n, rate, risk)


@given(st.integers(1, 12), st.data(), st.sampled_from([1e-6, 0.01, 0.05, 0.5, 0.9]))
def test_clopper_pearson_inverts_the_exact_tails(n, data, risk):
    successes = data.draw(st.integers(0, n))
    low, high = clopper_pearson(successes, n, risk)
    assert low == pytest.approx(reference.rate_with_tail(successes, n, risk, lower=True) if successes else 0, abs=1e-9)
    assert high == pytest.approx(
        reference.rate_with_tail(successes, n, risk, lower=False) if successes < n else 1, abs=1e-9
    )


def test_clopper_pearson_by_hand_and_at_the_ends():
    assert clopper_pearson(0, 10, 0.05) == (0.0, pytest.approx(1 - 0.05**0.1))
    assert clopper_pearson(10, 10, 0.05) == (pytest.approx(0.05**0.1), 1.0)
    assert clopper_pearson(1, 1, 1e-12) == (pytest.approx(1e-12), 1.0)
    low, high = clopper_pearson(3, 10**9, 1e-12)
    assert 0 < low < 3e-9 < high < 1e-7


@given(st.integers(1, 5), st.integers(1, 5), st.data())
def test_the_risk_of_a_batch_equals_counting_all_orders(n, n_future, data):
    most = data.draw(st.integers(0, n_future - 1))
    exact = [reference.batch_risk(n, n_future, most, allowed) for allowed in range(n)]
    assert [batch_risk(n, n_future, most, allowed) for allowed in range(n)] == pytest.approx(exact, rel=1e-12)
    for risk in (0.01, 0.2001, 0.7001):
        within = [allowed for allowed in range(n) if exact[allowed] <= risk]
        assert allowed_above_for_batch(n, n_future, most, risk) == max(within, default=-1)


def test_the_risk_of_a_large_batch_equals_the_beta_binomial():
    from scipy.stats import betabinom

    for n, n_future, most, allowed in ((10_000, 2_000, 40, 150), (300, 50_000, 700, 2), (20_000, 20_000, 5, 0)):
        expected = betabinom.sf(most, n_future, allowed + 1, n - allowed)
        assert batch_risk(n, n_future, most, allowed) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("max_fpr", "confidence", "needed"), [(0.001, 0.95, 2995), (0.01, 0.95, 299), (0.5, 0.5, 1)])
def test_negatives_needed_by_hand(max_fpr, confidence, needed):
    assert draws_needed(max_fpr, 1 - confidence) == needed
    assert needed >= log(1 - confidence) / np.log1p(-max_fpr) > needed - 1
    assert allowed_above(needed, max_fpr, 1 - confidence) >= 0 > allowed_above(needed - 1, max_fpr, 1 - confidence)


def test_negatives_needed_are_the_fewest_also_where_logarithms_round():
    for rate in (0.01, 0.07, 0.3):
        for k in range(1, 40):
            risk = (1 - rate) ** k
            needed = draws_needed(rate, risk)
            assert needed in (k, k + 1)
            assert allowed_above(needed, rate, risk) >= 0 > allowed_above(needed - 1, rate, risk)


@given(st.integers(1, 60), st.data(), st.sampled_from([0.01, 0.05, 0.3]))
def test_rows_needed_for_a_batch_are_the_fewest(n_future, data, risk):
    most = data.draw(st.integers(0, n_future - 1))
    needed = draws_needed_for_batch(n_future, most, risk)
    assert allowed_above_for_batch(needed, n_future, most, risk) >= 0
    assert needed == 1 or allowed_above_for_batch(needed - 1, n_future, most, risk) == -1


# The threshold


@given(small_rankings(max_rows=14), st.sampled_from([0.2, 0.4, 0.7]), st.sampled_from([0.5, 0.8, 0.9]))
def test_threshold_is_the_lowest_that_flags_no_more_than_allowed(ranking, max_fpr, confidence):
    expected = reference.lowest_threshold(ranking.y, ranking.scores, max_fpr, confidence)
    if expected is None:
        with pytest.raises(TooFewRowsError, match="negatives"):
            threshold_at(ranking.y, ranking.scores, max_fpr=max_fpr, confidence=confidence)
        return
    threshold = threshold_at(ranking.y, ranking.scores, max_fpr=max_fpr, confidence=confidence)
    assert expected <= threshold.value < expected + 1e-13
    flagged = ranking.scores >= threshold.value
    np.testing.assert_array_equal(threshold.flags(ranking.scores), flagged)
    assert threshold.n_flagged == flagged.sum()
    assert threshold.fpr == flagged[ranking.y == 0].mean()
    assert threshold.tpr == flagged[ranking.y == 1].mean()
    assert threshold.fpr <= threshold.fpr_high <= max_fpr
    assert 0 <= threshold.tpr_low <= threshold.tpr
    assert threshold.precision == (ranking.y[flagged].mean() if flagged.any() else None)


@given(small_rankings(min_rows=6, max_rows=14), st.sampled_from([{"max_fpr": 0.6}, {"top": 0.5}, {"alerts": 4}]))
def test_order_of_rows_and_monotone_changes_do_not_matter(ranking, budget):
    y, scores = ranking.y, ranking.scores
    assume(budget != {"alerts": 4} or y.size > 4)
    try:
        threshold = threshold_at(y, scores, **budget, confidence=0.6)
    except TooFewRowsError:
        return
    other = threshold_at(y[::-1], np.exp(scores[::-1]) + 7, **budget, confidence=0.6)
    assert (other.n_flagged, other.fpr, other.tpr_low) == (threshold.n_flagged, threshold.fpr, threshold.tpr_low)
    np.testing.assert_array_equal(other.flags(np.exp(scores) + 7), threshold.flags(scores))


@pytest.mark.parametrize("kind", ["max_fpr", "top"])
def test_more_confidence_and_less_budget_flag_less(kind):
    y, scores = Binormal(separation=1.5, positive_rate=0.3).sample_scores(2000, 0)
    flagged = [threshold_at(y, scores, **{kind: 0.1}, confidence=c).n_flagged for c in (1e-9, 0.5, 0.95, 1 - 1e-12)]
    assert flagged == sorted(flagged, reverse=True)
    assert flagged[1] > flagged[2] > flagged[3] > 0
    flagged = [threshold_at(y, scores, **{kind: rate}).n_flagged for rate in (0.01, 0.1, 0.5, 0.99)]
    assert flagged == sorted(set(flagged))


def test_rates_by_hand():
    y = np.repeat([0, 1], [1000, 100])
    scores = np.concatenate([np.arange(1000), np.full(60, 2000), np.full(40, -1)]).astype(float)
    threshold = threshold_at(y, scores, max_fpr=0.01)
    assert 995 < threshold.value < 995 + 1e-11  # four negatives may lie above
    assert (threshold.fpr, threshold.tpr, threshold.n_flagged, threshold.precision) == (0.004, 0.6, 64, 60 / 64)
    assert threshold.fpr_high == clopper_pearson(4, 1000, 1 - 0.95)[1] == pytest.approx(0.00913, abs=1e-5)
    assert threshold.tpr_low == clopper_pearson(60, 100, 1 - 0.95)[0] == pytest.approx(0.51298, abs=1e-5)
    assert threshold.joint_confidence == pytest.approx(0.9025)
    assert threshold.flags([threshold.value, np.nextafter(threshold.value, 0)]).tolist() == [True, False]
    share = threshold_at(y, scores, top=0.1)
    assert (share.n_flagged, share.joint_confidence) == (allowed_above(1100, 0.1, 0.05), pytest.approx(0.9))
    assert share.fpr_high > share.fpr
    assert share.tpr_low < share.tpr
    batch = threshold_at(y, scores, alerts=100, out_of=1000)
    assert batch.n_flagged == allowed_above_for_batch(1100, 1000, 100, 0.05)
    assert threshold_at(y, scores, alerts=100) == threshold_at(y, scores, alerts=100, out_of=1100)


def test_a_tie_at_the_threshold_is_not_flagged():
    y, scores = np.repeat([0, 1], [100, 50]), np.concatenate([np.zeros(90), np.ones(60)])
    threshold = threshold_at(y, scores, max_fpr=0.1)  # 4 negatives may lie above, and 10 have score 1
    assert 1 < threshold.value < 1 + 1e-14
    assert (threshold.n_flagged, threshold.fpr, threshold.tpr, threshold.tpr_low) == (0, 0, 0, 0)
    assert threshold.precision is None
    assert "flags 0 of 100 negatives" in str(threshold)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, int])
def test_the_value_separates_scores_of_the_same_precision(dtype):
    negatives = np.repeat(np.arange(10), 30).astype(dtype)
    scores = np.concatenate([negatives, negatives[-3:]])
    y = np.repeat([0, 1], [300, 3])
    threshold = threshold_at(y, scores, max_fpr=0.15)
    assert threshold.fpr == 0.1  # the 30 nines
    for deployed in (scores, scores.astype(np.float64)):
        assert (deployed >= threshold.value).sum() == threshold.n_flagged == threshold.flags(deployed).sum() == 33


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_the_value_lies_above_what_it_excludes_and_at_most_half_way_to_the_next(dtype):
    y = np.repeat([0, 1], [100, 5])
    kind = np.finfo(dtype)
    for spacing in (kind.eps, 3 * kind.eps, 1e-2, 0.1):
        steps = np.repeat(np.arange(21), 5)
        scores = (dtype(1) + dtype(spacing) * steps.astype(dtype)).astype(dtype)
        threshold = threshold_at(y, scores, max_fpr=0.2)  # 12 negatives may lie above: 10 do, at two scores
        row = float(scores[89])
        assert row < threshold.value <= max(float(scores[90]), float(np.nextafter(dtype(row), dtype(2**6))))
        assert dtype(threshold.value) == threshold.value
        assert threshold.n_flagged == 15


def test_a_row_scored_in_another_batch_is_still_not_flagged():
    """Rows with few features of few values tie, and the order of additions moves their scores by a rounding or two."""
    rng = np.random.default_rng(0)
    X, w = rng.integers(0, 2, size=(3000, 8)).astype(float), rng.normal(size=8)
    y = rng.random(3000) < 0.1
    threshold = threshold_at(y, X @ w, max_fpr=0.1)
    one_by_one = np.array([sum(row[order] * w[order]) for row in X for order in [rng.permutation(8)]])
    assert (one_by_one != X @ w).any()
    np.testing.assert_array_equal(threshold.flags(one_by_one), threshold.flags(X @ w))


def test_a_threshold_above_zero_survives_hardware_that_has_no_subnormal_numbers():
    scores = np.zeros(100)
    value = threshold_at(np.arange(100) >= 91, scores, max_fpr=0.1).value
    assert value == np.finfo(np.float64).tiny
    assert threshold_at(np.arange(100) >= 91, scores.astype(np.float32), max_fpr=0.1).value == np.finfo(np.float32).tiny


# Edges and refusals


@pytest.mark.parametrize("confidence", [1e-9, 0.5, 0.95, 1 - 1e-12])
@pytest.mark.parametrize("budget", [{"max_fpr": 0.3}, {"top": 0.3}, {"alerts": 30}, {"max_fpr": 1 - 1e-9}])
@pytest.mark.parametrize("scores", ["perfect", "reversed", "tied", "one positive", "one negative"])
def test_edges(scores, budget, confidence):
    y = np.repeat([0, 1], {"one positive": [99, 1], "one negative": [1, 99]}.get(scores, [50, 50]))
    values = {"perfect": y, "reversed": -y, "tied": np.zeros(100)}.get(scores, np.arange(100))
    try:
        threshold = threshold_at(y, values, **budget, confidence=confidence)
    except TooFewRowsError as refusal:
        needed, came = refusal.n_needed, refusal.n_given
    else:
        needed, came = 0, 0
    if needed:
        assert needed > came
        return
    assert 0 <= threshold.fpr <= threshold.fpr_high <= 1
    assert 0 <= threshold.tpr_low <= threshold.tpr <= 1
    assert 0 <= threshold.joint_confidence <= 1
    assert np.isfinite(threshold.value)
    assert "nan" not in str(threshold)
    if "max_fpr" in budget:
        assert threshold.fpr_high <= budget["max_fpr"]


def test_two_rows():
    threshold = threshold_at([0, 1], [0.0, 1.0], max_fpr=0.5, confidence=0.5)
    assert (threshold.fpr, threshold.tpr, threshold.n_flagged) == (0.0, 1.0, 1)


def test_the_refusal_says_how_many_are_needed():
    y, scores = np.repeat([0, 1], [1000, 50]), np.arange(1050)
    with pytest.raises(
        TooFewRowsError, match=r"max_fpr=0.001 with 95 % confidence needs at least 2,995 neg.*1,000"
    ) as e:
        threshold_at(y, scores, max_fpr=0.001)
    assert (e.value.n_needed, e.value.n_given) == (2995, 1000)
    assert isinstance(e.value, ValueError)
    again = pickle.loads(pickle.dumps(e.value))
    assert (str(again), again.n_needed) == (str(e.value), 2995)
    with pytest.raises(TooFewRowsError, match=r"top=0.001 .* 2,995 rows, but there are 1,050"):
        threshold_at(y, scores, top=0.001)
    with pytest.raises(TooFewRowsError, match=r"alerts=0, out_of=1050 .* 19,950 rows"):
        threshold_at(y, scores, alerts=0)
    assert threshold_at(np.repeat([0, 1], [2995, 1]), np.arange(2996), max_fpr=0.001).fpr == 0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, TypeError, "got none of them"),
        ({"max_fpr": 0.1, "top": 0.1}, TypeError, "got max_fpr and top"),
        ({"max_fpr": 5}, ValueError, "not percent"),
        ({"max_fpr": 0.0}, ValueError, "strictly between 0 and 1"),
        ({"top": 1.0}, ValueError, "strictly between 0 and 1"),
        ({"max_fpr": 0.1, "out_of": 10}, TypeError, "out_of applies to alerts only"),
        ({"alerts": 4}, ValueError, "alerts must be less than out_of"),
        ({"alerts": 2.5}, TypeError, "whole number"),
        ({"alerts": -1}, ValueError, "at least 0"),
        ({"alerts": 1, "out_of": 0}, ValueError, "out_of must be at least 1"),
        ({"max_fpr": 0.5, "confidence": 95}, ValueError, "not percent"),
    ],
)
def test_senseless_budgets_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        threshold_at([0, 1, 0, 1], [1, 2, 3, 4], **arguments)


def test_bad_samples_are_refused_at_the_door():
    with pytest.raises(OneClassError):
        threshold_at([0, 0], [1, 2], max_fpr=0.5)
    with pytest.raises(InvalidSampleError, match="NaN"):
        threshold_at([0, 1], [np.nan, 2], max_fpr=0.5)
    assert threshold_at(["a", "b"], [1, 2], max_fpr=0.5, confidence=0.5, pos_label="b").tpr == 1


def test_the_sentence_and_the_frame():
    y, scores = Binormal(separation=2.0).sample_classes(200, 1000, random_state=0)
    threshold = threshold_at(y, scores, max_fpr=0.05)
    assert f"flag scores of at least {threshold.value!r}: the false positive rate stays at or below 0.05" in str(
        threshold
    )
    assert "38 of 1,000 negatives" in str(threshold)
    assert "each bound holds with 95 % confidence, budget and TPR bound together with 90.25 %" in str(threshold)
    assert "at most 9 of 100 new rows are flagged" in str(threshold_at(y, scores, alerts=9, out_of=100))
    assert "the share of rows flagged stays at or below 0.2" in repr(threshold_at(y, scores, top=0.2))
    frame = threshold.to_frame()
    assert frame.shape[0] == 1
    assert frame["value"][0] == threshold.value
    assert (frame["budget"][0], frame["limit"][0], frame["out_of"][0]) == ("max_fpr", 0.05, None)

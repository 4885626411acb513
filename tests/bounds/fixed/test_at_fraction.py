"""The precision at a fraction of all rows: its limits against a slow twin, exact probabilities, laws and refusals."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom

import headrank as hr
from headrank.bounds.fixed.at_fraction import _risks, at_fraction
from headrank.bounds.intervals import interval_of
from headrank.curve import RocCurve
from headrank.datasets import Binormal
from headrank.exceptions import ShallowHeadError
from headrank.measures import PrecisionAt
from strategies import small_rankings


@pytest.mark.parametrize("risk", [0.4, 0.025, 1e-6])
@pytest.mark.parametrize(("n", "fraction"), [(1, 0.5), (7, 0.2), (1000, 0.05), (50_000, 0.001), (300, 0.999), (9, 1.0)])
def test_the_risks_add_up_to_the_whole_risk(n, fraction, risk):
    counts, risks = _risks(n, fraction, risk)
    kept = binom.pmf(counts, n, fraction)
    spent = kept @ risks + 1 - kept.sum()  # a count without a limit always fails
    assert spent <= risk * (1 + 1e-9)
    # Nothing is wasted, unless the most unlikely counts alone have more than the risk.
    assert spent >= 0.9 * risk or kept.sum() == pytest.approx(1)
    assert np.all((risks > 0) & (risks < 1))


def ends_by_hand(positive, fraction, risk):
    """Both ends of a sample without ties, its rows in order, from the same risks."""
    lows, highs = [], []
    for j, part in zip(*_risks(positive.size, fraction, risk), strict=True):
        found = int(positive[:j].sum())
        lows.append(beta.ppf(part, found, j - found + 1) if found else 0.0)
        highs.append(beta.isf(part, found + 1, j - found) if found < j else 1.0)
    return min(lows), max(highs)


@pytest.mark.parametrize("fraction", [0.02, 0.1, 0.5, 1.0])
def test_equals_clopper_pearson_at_every_count(fraction):
    rng = np.random.default_rng(3)
    positive = rng.random(400) < np.linspace(0.9, 0.05, 400)
    found = hr.interval(positive, -np.arange(400), measure=PrecisionAt(fraction), confidence=0.9)
    assert found.method == "at_fraction"
    assert (found.low, found.high) == pytest.approx(ends_by_hand(positive, fraction, 0.05), abs=1e-12)


@pytest.mark.parametrize("truth", [0.1, 0.625, 0.95])
@pytest.mark.parametrize("risk", [0.3, 0.1])
@pytest.mark.parametrize(("n", "fraction"), [(7, 0.4), (20, 0.1)])
def test_each_end_fails_with_at_most_the_risk_by_enumeration(n, fraction, risk, truth):
    """All numbers of rows above the cut and of positives among them; limits at other counts only widen the interval."""
    failed = np.zeros(2)
    counts, risks = _risks(n, fraction, risk)
    for above in range(n + 1):
        at = np.flatnonzero(counts == above)
        for found in range(above + 1):
            chance = binom.pmf(above, n, fraction) * binom.pmf(found, above, truth)
            if not at.size:
                failed += chance
                continue
            part = risks[at[0]]
            failed[0] += chance * (found > 0 and beta.ppf(part, max(found, 1), above - found + 1) > truth)
            failed[1] += chance * (found < above and beta.isf(part, found + 1, max(above - found, 1)) < truth)
    assert np.all(failed <= risk + 1e-12)


@given(small_rankings(max_rows=14), st.sampled_from([0.1, 0.3, 0.75, 1.0, 1, 3, 40]), st.sampled_from([0.5, 0.95]))
def test_the_estimate_is_inside_for_any_sample(ranking, k, confidence):
    found = hr.interval(ranking.y, ranking.scores, measure=PrecisionAt(k), confidence=confidence)
    assert 0 <= found.low <= found.estimate <= found.high <= 1


@given(small_rankings(max_rows=14), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter_nor_a_monotone_change(ranking, random):
    order = list(range(len(ranking.y)))
    random.shuffle(order)
    y, scores = np.asarray(ranking.y), np.asarray(ranking.scores, dtype=float)
    one = hr.interval(y, scores, measure="p@0.3", confidence=0.6)
    other = hr.interval(y[order], np.exp(scores[order]), measure="p@0.3", confidence=0.6)
    assert (one.low, one.high) == (other.low, other.high)


def test_more_confidence_is_wider():
    y, scores = Binormal(separation=1.5, positive_rate=0.2).sample_scores(500, random_state=0)
    found = [hr.interval(y, scores, measure="p@0.1", confidence=each) for each in (0.5, 0.9, 0.99, 0.9999)]
    assert all(a.low >= b.low and a.high <= b.high for a, b in pairwise(found))


def test_it_is_narrower_than_a_band():
    for n_pos, times in ((50, 0.7), (500, 0.6)):
        y, scores = Binormal(separation=2.0).sample_classes(n_pos, 20 * n_pos, random_state=0)
        made, band = (hr.interval(y, scores, measure="p@0.05", method=method) for method in ("auto", "tail"))
        assert made.method == "at_fraction"
        assert made.width < times * band.width


def test_all_scores_equal():
    y = np.repeat([1, 0], [30, 270])
    found = hr.interval(y, np.zeros(300), measure="p@0.2")
    assert found.estimate == pytest.approx(0.1)
    assert found.low < 0.1 < found.high < 0.4


def test_a_head_suffices_if_it_is_deep_enough():
    y, scores = Binormal(separation=2.0, positive_rate=0.1).sample_scores(5000, random_state=1)
    curve = RocCurve.from_scores(y, scores)
    whole = at_fraction(curve, PrecisionAt(0.02))
    cut = at_fraction(curve.head(n_rows=250), PrecisionAt(0.02))
    assert (cut.low, cut.high) == (whole.low, whole.high)
    with pytest.raises(ShallowHeadError, match=r"needs the .* highest rows, but this head has"):
        at_fraction(curve.head(n_rows=101), PrecisionAt(0.02))


def test_a_given_share_of_positives_needs_the_band():
    y, scores = np.repeat([1, 0], [50, 50]), np.arange(100)[::-1]
    assert hr.interval(y, scores, measure="p@0.2", positive_rate=0.01).method == "tail band"
    with pytest.raises(ValueError, match="takes no positive_rate"):
        hr.interval(y, scores, measure="p@0.2", positive_rate=0.01, method="at_fraction")


def test_other_measures_are_refused():
    with pytest.raises(TypeError, match="at_fraction is for PrecisionAt, got"):
        interval_of(RocCurve.from_scores([1, 0], [1, 0]), hr.measure("auc"), method="at_fraction")

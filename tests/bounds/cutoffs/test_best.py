"""The best cut-off: the least loss of all thresholds, limits that contain what was seen, and published values."""

import numpy as np
import pytest
from hypothesis import given, settings

import headrank as hr
from headrank.bounds.band.rate_limits import rate_limits
from reference.cutoffs import LOSSES, least_loss
from reference.subarachnoid import POOR, S100B
from strategies import small_rankings

COST = {"costs": {"false_negative": 4, "false_positive": 1}, "prevalence": 0.3}


@settings(max_examples=40, deadline=None)
@given(small_rankings())
@pytest.mark.parametrize("by", LOSSES)
def test_no_threshold_is_better_and_ties_flag_fewest(by, ranking):
    y, scores = ranking[:2]
    best = hr.best_cutoff(y, scores, by=by, n_replicates=0, **(COST if by == "cost" else {}))
    loss, n_flagged = least_loss(y, scores, LOSSES[by])
    assert (1 - best.index if by == "youden" else best.index) == pytest.approx(loss)
    assert best.n_flagged == n_flagged == best.flags(scores).sum()
    assert best.index_low - 1e-12 <= best.index <= best.index_high + 1e-12
    assert best.tpr_low <= best.tpr <= best.tpr_high
    assert best.fpr_low <= best.fpr <= best.fpr_high
    assert (best.value_low, best.value_high, best.optimism) == (None, None, None)


def test_limits_are_those_of_all_thresholds_at_once():
    y, scores = np.repeat([1, 0], [60, 200]), np.random.default_rng(0).normal(size=260)
    scores[:60] += 1.5
    curve, best = hr.RocCurve.from_scores(y, scores), hr.best_cutoff(y, scores, n_replicates=0, confidence=0.9)
    level = np.flatnonzero(curve.tp + curve.fp == best.n_flagged)[0]
    limits = rate_limits(curve, risk=1 - 0.9, method="tail")
    assert (best.tpr_low, best.fpr_high) == (limits.lowest_tpr[level], limits.highest_fpr[level])
    assert best.index_low == pytest.approx(best.tpr_low - best.fpr_high)
    assert best.index_high == pytest.approx(best.tpr_high - best.fpr_low)


def test_an_unknown_share_of_positives_widens_the_cost():
    y, scores = np.repeat([1, 0], [60, 200]), np.r_[np.arange(60) + 100, np.arange(200)]
    known = hr.best_cutoff(y, scores, by="cost", costs=COST["costs"], prevalence=60 / 260, n_replicates=0)
    unknown = hr.best_cutoff(y, scores, by="cost", costs=COST["costs"], n_replicates=0)
    assert unknown.index == pytest.approx(known.index)
    assert unknown.index_high > known.index_high
    assert "labels random" in unknown.assumptions
    assert "labels random" not in known.assumptions


def test_the_interval_of_the_threshold_is_repeatable_and_contains_it():
    y, scores = np.repeat([1, 0], [80, 120]), np.random.default_rng(1).normal(size=200)
    scores[:80] += 1
    one, two = (hr.best_cutoff(y, scores, n_replicates=100, random_state=3, n_jobs=jobs) for jobs in (None, 2))
    assert one == two
    assert one.value_low < one.value < one.value_high
    assert one.optimism > 0
    assert one.to_frame()["value"][0] == one.value
    assert "asymptotic" in str(one)
    assert "asymptotic" not in str(hr.best_cutoff(y, scores, n_replicates=0))


def test_it_may_be_best_to_flag_nobody_or_everybody():
    costs = {"false_negative": 1, "false_positive": 1000}
    nobody = hr.best_cutoff([0, 1, 0, 1], [4, 3, 2, 1], by="cost", costs=costs, n_replicates=0)
    assert (nobody.value, nobody.n_flagged) == (np.inf, 0)
    assert str(nobody).startswith("flag no row")
    costs = {"false_negative": 1000, "false_positive": 1}
    everybody = hr.best_cutoff([0, 1, 0, 1], [4, 3, 2, 1], by="cost", costs=costs, n_replicates=0)
    assert (everybody.value, everybody.n_flagged) == (1, 4)
    assert " on 1 positive and 2 negatives. " in str(hr.best_cutoff([0, 1, 0], [1, 2, 3], n_replicates=0))


def test_neighbouring_scores_are_separated():
    low = 1.0
    high = float(np.nextafter(low, 2))
    best = hr.best_cutoff([0, 1], [low, high], n_replicates=0)
    assert best.flags([low, high]).tolist() == [False, True]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "cost"}, "needs costs"),
        ({"by": "cost", "costs": {"fn": 1, "fp": 2}}, "needs costs"),
        ({"by": "cost", "costs": {"false_negative": 0, "false_positive": 1}}, "above 0"),
        ({"costs": COST["costs"]}, "applies to by='cost'"),
        ({"prevalence": 0.2}, "applies to by='cost'"),
        ({"by": "f1"}, "youden"),
        ({"n_replicates": 5}, "too few"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        hr.best_cutoff([1, 0], [2, 1], **options)


def test_published_cut_off_of_s100b():
    """Of pROC's coords(x="best"): 0.205 by Youden's index and by the distance, whose values are tabulated."""
    best = hr.best_cutoff(POOR, S100B, n_replicates=0)
    assert best.index == pytest.approx(0.43970189701897, abs=1e-12)
    assert (best.tpr, 1 - best.fpr) == (pytest.approx(0.6341463414634), pytest.approx(0.8055555555556))
    assert 0.19 <= best.value <= 0.21
    closest = hr.best_cutoff(POOR, S100B, by="closest", n_replicates=0)
    assert closest.index**2 == pytest.approx(0.171657541439913, abs=1e-12)

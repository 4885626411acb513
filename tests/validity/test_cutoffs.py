"""Do limits at the best cut-off hold although it was picked on the same rows? And those of one fixed in advance?"""

import numpy as np
import pytest
from scipy.stats import binom, norm

import headrank as hr
from headrank.bounds.cutoffs.points import RATES

pytestmark = pytest.mark.slow

N_RUNS, CONFIDENCE, SEPARATION = 600, 0.8, 1.0


def most_misses(risk):
    return binom.ppf(1 - 1e-6, N_RUNS, risk)


def drawn(rng, n_pos, n_neg, steps):
    y = np.repeat([1, 0], [n_pos, n_neg])
    scores = rng.normal(size=y.size) + SEPARATION * y
    return y, scores if steps is None else np.floor(scores * steps)


def rates_at(cut, steps):
    """True TPR and FPR of flagging scores of at least this."""
    least = cut if steps is None else np.ceil(cut) / steps
    return norm.sf(least - SEPARATION), norm.sf(least)


@pytest.mark.parametrize("steps", [None, 2])
@pytest.mark.parametrize("by", ["youden", "closest", "cost"])
def test_what_the_best_cut_off_achieves(by, steps):
    rng, misses = np.random.default_rng(0), 0
    options = {"costs": {"false_negative": 4, "false_positive": 1}, "prevalence": 0.3} if by == "cost" else {}
    for _ in range(N_RUNS):
        y, scores = drawn(rng, 30, 60, steps)
        best = hr.best_cutoff(y, scores, by=by, confidence=CONFIDENCE, n_replicates=0, **options)
        tpr, fpr = rates_at(best.value, steps)
        index = {"youden": tpr - fpr, "closest": np.hypot(1 - tpr, fpr), "cost": 1.2 * (1 - tpr) + 0.7 * fpr}[by]
        inside = best.tpr_low <= tpr <= best.tpr_high and best.fpr_low <= fpr <= best.fpr_high
        assert not inside or best.index_low - 1e-12 <= index <= best.index_high + 1e-12
        misses += not inside
    assert misses <= most_misses(1 - CONFIDENCE)


def test_intervals_of_a_pointwise_kind_would_not_hold_at_the_best_cut_off():
    rng, misses = np.random.default_rng(0), 0
    for _ in range(N_RUNS):
        y, scores = drawn(rng, 30, 60, None)
        best = hr.best_cutoff(y, scores, n_replicates=0)
        points = hr.operating_points(y, scores, thresholds=[best.value], confidence=CONFIDENCE)
        tpr, fpr = rates_at(best.value, None)
        misses += tpr < points.interval("tpr")[0][0] or fpr > points.interval("fpr")[1][0]
    assert misses > most_misses(1 - CONFIDENCE)  # both ends fail with at most this, at a cut-off fixed in advance


@pytest.mark.parametrize("prevalence", [None, 0.3])
def test_intervals_at_a_cut_off_fixed_in_advance(prevalence):
    rng, share = np.random.default_rng(1), 0.3
    tpr, fpr = rates_at(0.8, None)
    precision = share * tpr / (share * tpr + (1 - share) * fpr)
    npv = (1 - share) * (1 - fpr) / ((1 - share) * (1 - fpr) + share * (1 - tpr))
    truth = dict(
        zip(RATES, (tpr, fpr, precision, npv, tpr / fpr, (1 - tpr) / (1 - fpr), precision / share), strict=True)
    )
    misses = dict.fromkeys(RATES, 0)
    for _ in range(N_RUNS):
        n_pos = int(np.clip(rng.binomial(80, share), 1, 79))
        y, scores = drawn(rng, n_pos, 80 - n_pos, None)
        points = hr.operating_points(y, scores, thresholds=[0.8], prevalence=prevalence, confidence=CONFIDENCE)
        for name in RATES:
            low, high = points.interval(name)
            misses[name] += bool(low[0] > truth[name] or high[0] < truth[name])
    assert max(misses.values()) <= most_misses(1 - CONFIDENCE), misses

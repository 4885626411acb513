"""The product of e-values keeps its promise, for one scorer and for two: coins, ties, narrow ranges, few rows."""

import numpy as np
import pytest
from scipy.stats import binom, norm

from headrank.bounds.comparison.difference import compare
from headrank.bounds.fixed.betting import bet_high, bet_low
from headrank.curve import RocCurve
from headrank.datasets import Binormal

pytestmark = pytest.mark.slow
RISK = 0.1
N_RUNS = 400


def normal(separation, decimals=None):
    """Normal scores, rounded or not, and the curve of the rounded scores."""

    def draw(rng, n_pos, n_neg):
        y = np.repeat([1, 0], [n_pos, n_neg])
        scores = rng.normal(size=y.size) + separation * y
        return y, scores if decimals is None else scores.round(decimals)

    def truth(max_fpr):
        if decimals is None:
            return Binormal(separation=separation).partial_auc(max_fpr=max_fpr)
        edges = np.arange(8, -8 - 1e-9, -(10.0**-decimals)) - 0.5 * 10.0**-decimals
        fpr, tpr = (np.r_[0.0, norm.sf(edges, mean), 1.0] for mean in (0, separation))
        x = np.linspace(0, max_fpr, 200_001)
        return float(np.trapezoid(np.interp(x, fpr, tpr), x) / max_fpr)

    return draw, truth


def coin(share):
    """A share of the positives above all negatives, the others below: a mean of coins, whatever the range."""

    def draw(rng, n_pos, n_neg):
        y = np.repeat([1, 0], [n_pos, n_neg])
        return y, np.where(y == 1, np.where(rng.random(y.size) < share, 9.0, -9.0), rng.random(y.size))

    return draw, lambda _max_fpr: share


def step(at):
    """All positives at one place of the negatives' axis: everything depends on the end of the range."""

    def draw(rng, n_pos, n_neg):
        y = np.repeat([1, 0], [n_pos, n_neg])
        return y, np.where(y == 1, 1 - at, rng.random(y.size))

    return draw, lambda max_fpr: max(1 - at / max_fpr, 0.0)


POPULATIONS = {
    "normal": normal(1.5),
    "AUC near 1": normal(3.5),
    "useless": normal(0.0),
    "heavy ties": normal(1.5, 0),
    "coin": coin(0.7),
    "rare coin": coin(0.97),
    "step at the end": step(0.1),
    "step before the end": step(0.08),
}
SIZES = {1.0: [(30, 120), (100, 60)], 0.1: [(40, 300), (60, 3000)], 0.3: [(50, 40)]}


@pytest.mark.parametrize("max_fpr", SIZES)
@pytest.mark.parametrize("name", POPULATIONS)
def test_each_end_fails_no_more_often_than_promised(name, max_fpr):
    draw, truth_of = POPULATIONS[name]
    truth = truth_of(max_fpr)
    for n_pos, n_neg in SIZES[max_fpr]:
        rng, misses = np.random.default_rng(n_pos), np.zeros(2)
        for _ in range(N_RUNS):
            curve = RocCurve.from_scores(*draw(rng, n_pos, n_neg))
            misses += bet_low(curve, max_fpr, RISK) > truth, bet_high(curve, max_fpr, RISK) < truth
        assert misses.max() <= binom.ppf(1 - 1e-6, N_RUNS, RISK), (n_pos, n_neg, misses)


def test_the_simulation_would_notice_a_broken_promise():
    draw, truth_of = POPULATIONS["coin"]
    rng, misses = np.random.default_rng(1), 0
    for _ in range(N_RUNS):
        curve = RocCurve.from_scores(*draw(rng, 100, 400))
        estimate = curve.mean_tpr()
        misses += estimate - 0.2 * (estimate - bet_low(curve, 1.0, RISK)) > truth_of(1.0)
    assert misses > binom.ppf(1 - 1e-6, N_RUNS, RISK)


@pytest.mark.parametrize("measure", ["auc", "pauc@0.2"])
@pytest.mark.parametrize("noise", [0.2, 3.0])
def test_two_equally_good_scorers_are_seldom_told_apart(measure, noise):
    """Two scorers that are one with independent noise: the true difference is 0."""
    rng, runs, misses = np.random.default_rng(2), 150, 0
    for _ in range(runs):
        y = np.repeat([1, 0], [60, 300])
        common = rng.normal(size=y.size) + 2 * y
        a, b = (common + noise * rng.normal(size=y.size) for _ in range(2))
        misses += compare(y, a, b, measure=measure, confidence=1 - RISK, method="betting", side="lower").low > 0
    assert misses <= binom.ppf(1 - 1e-6, runs, RISK)

"""Do certified thresholds and the bounds for one range keep their promise? Simulated where the truth is known."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import bdtr, ndtr
from scipy.stats import binom

from headrank.bounds.fixed.fixed_range import at_point, fixed_range
from headrank.bounds.inequalities.binomial import allowed_above, batch_risk
from headrank.bounds.inequalities.bounded_mean import mean_limits
from headrank.bounds.threshold import threshold_at
from headrank.curve import RocCurve
from headrank.measures import AUC, FPRAtTPR, PartialAUC, StandardizedPartialAUC, TPRAtFPR

pytestmark = pytest.mark.slow

N_RUNS = 1200
CONFIDENCE = 0.9


def most_misses(risk, n_runs=N_RUNS):
    """A valid promise has more on one seed in a million."""
    return binom.ppf(1 - 1e-6, n_runs, risk)


@dataclass(frozen=True)
class Normal:
    """Negatives N(0, 1), positives N(separation, 1)."""

    separation: float

    def draw(self, n_pos, n_neg, rng):
        return np.repeat([True, False], [n_pos, n_neg]), rng.normal(size=n_pos + n_neg) + self._means(n_pos, n_neg)

    def _means(self, n_pos, n_neg):
        return np.repeat([self.separation, 0.0], [n_pos, n_neg])

    def fpr(self, threshold):
        return ndtr(-threshold)

    def tpr(self, threshold):
        return ndtr(self.separation - threshold)

    def truth(self, measure):
        return measure.value(curve_of(self, np.linspace(12, -12, 400_001)))


@dataclass(frozen=True)
class Rounded(Normal):
    """The same, rounded down to whole steps: a handful of scores, each shared by many."""

    steps: float

    def draw(self, n_pos, n_neg, rng):
        y, scores = super().draw(n_pos, n_neg, rng)
        return y, np.floor(self.steps * scores)

    def fpr(self, threshold):
        return super().fpr(np.ceil(threshold) / self.steps)

    def tpr(self, threshold):
        return super().tpr(np.ceil(threshold) / self.steps)

    def truth(self, measure):
        return measure.value(curve_of(self, np.arange(100.0, -101.0, -1.0)))


@dataclass(frozen=True)
class Exponential:
    """Skewed scores with heavy tails: negatives Exp(1), positives ``scale`` times that; TPR = FPR ** (1 / scale)."""

    scale: float

    def draw(self, n_pos, n_neg, rng):
        y = np.repeat([True, False], [n_pos, n_neg])
        return y, rng.exponential(size=y.size) * np.where(y, self.scale, 1.0)

    def fpr(self, threshold):
        return np.exp(-np.maximum(threshold, 0.0))

    def tpr(self, threshold):
        return np.exp(-np.maximum(threshold, 0.0) / self.scale)

    def truth(self, measure):
        return measure.value(curve_of(self, np.concatenate([np.linspace(200, 0, 400_001)])))


def curve_of(population, thresholds):
    """The true curve as the polyline through many of its points, which is exact where scores are discrete."""
    tpr, fpr = population.tpr(thresholds), population.fpr(thresholds)
    pos, neg = np.diff(tpr, prepend=0.0), np.diff(fpr, prepend=0.0)
    kept = (pos > 0) | (neg > 0)
    return RocCurve(thresholds[kept], pos[kept], neg[kept], 1.0, 1.0, weighted=True)


POPULATIONS = {
    "binormal": (Normal(1.8), 100, 500),
    "rounded": (Rounded(1.8, 1.0), 100, 500),
    "finely rounded": (Rounded(1.8, 8.0), 100, 500),
    "1 % positives": (Normal(1.8), 20, 2000),
    "AUC near 1": (Normal(5.0), 60, 300),
    "no better than chance": (Normal(0.0), 60, 300),
    "exponential": (Exponential(5.0), 100, 500),
}
CASES = pytest.mark.parametrize("name", POPULATIONS)


@CASES
@pytest.mark.parametrize("max_fpr", [0.05, 0.02])
def test_false_positives_keep_their_budget_and_the_tpr_its_bound(name, max_fpr):
    population, n_pos, n_neg = POPULATIONS[name]
    rng = np.random.default_rng(1)
    over = below = either = 0
    for _ in range(N_RUNS):
        threshold = threshold_at(*population.draw(n_pos, n_neg, rng), max_fpr=max_fpr, confidence=CONFIDENCE)
        assert threshold.fpr_high <= max_fpr
        too_many = population.fpr(threshold.value) > threshold.fpr_high
        too_few = population.tpr(threshold.value) < threshold.tpr_low
        over, below, either = over + too_many, below + too_few, either + (too_many or too_few)
    assert over <= most_misses(1 - CONFIDENCE)
    assert below <= most_misses(1 - CONFIDENCE)
    assert either <= most_misses(1 - threshold.joint_confidence)
    assert threshold.joint_confidence == pytest.approx(CONFIDENCE**2)
    if "rounded" not in name:  # exact for continuous scores: the bound of the FPR fails as often as it may
        assert over >= binom.ppf(1e-6, N_RUNS, 1 - CONFIDENCE)


def test_the_budget_itself_is_exact_for_continuous_scores():
    population, rng, n_neg = Normal(1.0), np.random.default_rng(2), 700
    over = 0
    for _ in range(4 * N_RUNS):
        y, scores = population.draw(1, n_neg, rng)
        over += population.fpr(threshold_at(y, scores, max_fpr=0.03, confidence=CONFIDENCE).value) > 0.03
    risk = bdtr(allowed_above(n_neg, 0.03, 1 - CONFIDENCE), n_neg, 0.03)
    assert binom.ppf(1e-6, 4 * N_RUNS, risk) <= over <= most_misses(risk, 4 * N_RUNS)


@pytest.mark.parametrize("population", [Normal(1.8), Rounded(1.8, 1.0), Exponential(5.0)], ids=repr)
def test_the_share_flagged_keeps_its_budget_and_both_rates_their_bounds(population):
    rng, positive_rate, n_rows = np.random.default_rng(3), 0.2, 400
    some_labels = np.arange(n_rows) % 5 == 0  # the share flagged does not depend on the labels
    misses = np.zeros(3)
    for _ in range(N_RUNS):
        threshold = threshold_at(
            some_labels, mixed(population, positive_rate, n_rows, rng), top=0.1, confidence=CONFIDENCE
        )
        share = positive_rate * population.tpr(threshold.value) + (1 - positive_rate) * population.fpr(threshold.value)
        threshold = threshold_at(*population.draw(80, n_rows - 80, rng), top=0.1, confidence=CONFIDENCE)
        misses += [
            share > 0.1,
            population.fpr(threshold.value) > threshold.fpr_high,
            population.tpr(threshold.value) < threshold.tpr_low,
        ]
    assert (misses <= most_misses(1 - CONFIDENCE)).all(), misses


def mixed(population, positive_rate, n_rows, rng):
    """Scores of rows of which each is a positive with that chance."""
    pos, neg = np.split(population.draw(n_rows, n_rows, rng)[1], 2)
    return np.where(rng.random(n_rows) < positive_rate, pos, neg)


@pytest.mark.parametrize("population", [Normal(1.8), Rounded(1.8, 1.0)], ids=repr)
@pytest.mark.parametrize(("alerts", "out_of"), [(15, 150), (0, 20), (40, 900)])
def test_a_batch_to_come_keeps_within_its_alerts(population, alerts, out_of):
    rng, n = np.random.default_rng(4), 300
    broken = 0
    for _ in range(N_RUNS):
        scores = mixed(population, 0.2, n + out_of, rng)
        threshold = threshold_at(np.arange(n) % 5 == 0, scores[:n], alerts=alerts, out_of=out_of, confidence=CONFIDENCE)
        broken += threshold.flags(scores[n:]).sum() > alerts
    risk = batch_risk(n, out_of, alerts, threshold.n_flagged)
    assert broken <= most_misses(1 - CONFIDENCE)
    if isinstance(population, Normal) and not isinstance(population, Rounded):
        assert risk <= 1 - CONFIDENCE
        assert binom.ppf(1e-6, N_RUNS, risk) <= broken <= most_misses(risk)


MEASURES = [
    TPRAtFPR(0.05),
    TPRAtFPR(0.01),
    FPRAtTPR(0.8),
    FPRAtTPR(0.3),
    AUC(),
    PartialAUC(max_fpr=0.05),
    PartialAUC(max_fpr=0.01),
    PartialAUC(min_fpr=0.02, max_fpr=0.1),
    StandardizedPartialAUC(max_fpr=0.1),
]


@CASES
def test_direct_bounds_hold_the_truth(name):
    population, n_pos, n_neg = POPULATIONS[name]
    rng = np.random.default_rng(5)
    truths = {measure: population.truth(measure) for measure in MEASURES}
    misses = {measure: np.zeros(2) for measure in MEASURES}
    for _ in range(N_RUNS // 2):
        curve = RocCurve.from_scores(*population.draw(n_pos, n_neg, rng))
        for measure, truth in truths.items():
            method = at_point if isinstance(measure, TPRAtFPR | FPRAtTPR) else fixed_range
            interval = method(curve, measure, confidence=CONFIDENCE)
            misses[measure] += [truth < interval.low - 1e-9, truth > interval.high + 1e-9]
    for measure, (low, high) in misses.items():
        assert max(low, high) <= most_misses((1 - CONFIDENCE) / 2, N_RUNS // 2), (measure, low, high)


def test_direct_bounds_are_not_vacuous():
    curve = RocCurve.from_scores(*Normal(1.8).draw(500, 5000, np.random.default_rng(6)))
    widths = [at_point(curve, TPRAtFPR(0.05)).width, fixed_range(curve, PartialAUC(max_fpr=0.1)).width]
    assert max(widths) < 0.3


@pytest.mark.parametrize("n", [3, 30, 300])
@pytest.mark.parametrize("shape", ["two-valued", "beta", "rare ones", "uniform"])
def test_limits_of_a_mean(shape, n):
    rng = np.random.default_rng(7)
    size = (4 * N_RUNS, n)
    values, truth = {
        "two-valued": (rng.random(size) < 0.3, 0.3),
        "beta": (rng.beta(0.2, 0.6, size), 0.25),
        "rare ones": (np.where(rng.random(size) < 0.02, 1.0, 0.3), 0.02 + 0.98 * 0.3),
        "uniform": (rng.random(size), 0.5),
    }[shape]
    limits = np.array([mean_limits(float(mean), n, 0.1) for mean in values.mean(axis=1)])
    misses = (truth < limits[:, 0]).sum(), (truth > limits[:, 1]).sum()
    assert max(misses) <= most_misses(0.1, 4 * N_RUNS)

"""Bands and what is read off them keep their promise: simulated on populations whose truth is known, ties included."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import binom, cauchy, expon, norm

from headrank.bounds.band.band import band
from headrank.bounds.band.envelope import Envelope
from headrank.bounds.band.from_band import from_band
from headrank.bounds.inequalities.tail_limits import tail_limits
from headrank.curve import RocCurve
from headrank.measures import (
    AUC,
    BEDROC,
    KS,
    RIE,
    AveragePrecision,
    EnrichmentFactor,
    FPRAtTPR,
    LocalAUC,
    LocalRankingError,
    LocalRankingRisk,
    MassConstrainedError,
    PartialAUC,
    PNormPush,
    PrecisionAt,
    PrecisionRecallArea,
    RankStatistic,
    RecallAt,
    RPrecision,
    StandardizedPartialAUC,
    TopFPR,
    TopTPR,
    TPRAtFPR,
    TruncatedAUC,
    TwoWayPartialAUC,
    WRanking,
)
from reference.bands import population_curve

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::headrank.exceptions.MeasureWarning")]

CONFIDENCE = 0.8
RUNS = 150
MOST_MISSES = binom.ppf(1 - 1e-6, RUNS, 1 - CONFIDENCE)

OF_CURVE = [
    AUC(),
    PartialAUC(max_fpr=0.05),
    PartialAUC(min_fpr=0.1, max_fpr=0.5),
    StandardizedPartialAUC(max_fpr=0.2),
    TwoWayPartialAUC(max_fpr=0.5, min_tpr=0.4),
    TwoWayPartialAUC(min_tpr=0.5, max_tpr=0.9),
    TPRAtFPR(0.01),
    TPRAtFPR(0.2),
    FPRAtTPR(0.8),
    KS(),
]
OF_POPULATION = [
    *(
        kind(top)
        for kind in (TopTPR, TopFPR, LocalAUC, TruncatedAUC, MassConstrainedError, LocalRankingError, LocalRankingRisk)
        for top in (0.05, 0.3)
    ),
    WRanking(0.05),
    WRanking(0.3),
    PrecisionAt(0.05),
    RecallAt(0.3),
    AveragePrecision(),
    PrecisionRecallArea(),
    RPrecision(),
    EnrichmentFactor(0.1),
    BEDROC(5),
    RIE(5),
    PNormPush(3),
    RankStatistic(np.sqrt),
]


class Population(NamedTuple):
    """Scores of both classes, rounded to multiples of ``step`` if there is one, and a share of positives."""

    pos: object
    neg: object
    positive_rate: float
    n_rows: int
    step: float = 0.0

    def sample(self, rng) -> RocCurve:
        y = rng.random(self.n_rows) < self.positive_rate
        scores = np.where(y, self.pos.rvs(y.size, random_state=rng), self.neg.rvs(y.size, random_state=rng))
        return RocCurve.from_scores(y, np.round(scores / self.step) * self.step if self.step else scores)

    def truth(self) -> RocCurve:
        """The population as a curve: exact if its scores are rounded, else in cells of 1 / 20,000 of either class."""
        if self.step:
            cuts = (np.arange(-400, 401) + 0.5)[::-1] * self.step
        else:
            shares = np.concatenate([np.geomspace(1e-9, 1e-3, 500), np.linspace(1e-3, 1, 20_000)[1:-1]])
            cuts = np.sort(np.concatenate([self.pos.isf(shares), self.neg.isf(shares)]))[::-1]
        fpr, tpr = (np.concatenate([[0.0], kind.sf(cuts), [1.0]]) for kind in (self.neg, self.pos))
        return population_curve(fpr, tpr, self.positive_rate)


POPULATIONS = {
    "binormal": Population(norm(1.5), norm(), 0.3, 200),
    "heavy ties": Population(norm(1.5), norm(), 0.3, 200, step=1.0),
    "nearly all tied": Population(norm(1.0), norm(), 0.5, 100, step=3.0),
    "1 % positives": Population(norm(2.0), norm(), 0.01, 1500),
    "nearly perfect": Population(norm(6.0), norm(), 0.2, 200),
    "heavy tails": Population(cauchy(2.0), cauchy(), 0.4, 150),
    "skewed": Population(expon(scale=3.0), expon(), 0.3, 200),
}


def samples(population):
    rng = np.random.default_rng(1)
    for _ in range(RUNS):
        yield population.sample(rng)


@pytest.mark.parametrize(
    ("name", "method"), [*((name, "tail") for name in POPULATIONS), ("binormal", "dkw"), ("heavy ties", "dkw")]
)
def test_whole_curve_and_all_its_areas_and_rates_are_inside_at_once(name, method):
    population = POPULATIONS[name]
    truth = population.truth()
    values = {measure: measure.value(truth) for measure in OF_CURVE}
    line = Envelope(truth.fpr, truth.tpr)
    at = np.union1d(np.linspace(0, 1, 501), np.geomspace(1e-5, 1, 100))
    misses = 0
    for curve in samples(population):
        around = band(curve, confidence=CONFIDENCE, method=method)
        inside = np.all(around.lower_at(at) <= line.tpr_at(at) + 1e-6) and np.all(
            line.tpr_at(at) <= around.upper_at(at) + 1e-6
        )
        covered = all(holds(around.interval(measure), value) for measure, value in values.items())
        misses += not (inside and covered)
    assert misses <= MOST_MISSES


@pytest.mark.parametrize(
    ("name", "stated"), [*((name, False) for name in POPULATIONS), ("binormal", True), ("heavy ties", True)]
)
def test_all_measures_of_the_population_are_inside_at_once(name, stated):
    population = POPULATIONS[name]
    truth = population.truth()
    values = {measure: measure.value(truth) for measure in OF_POPULATION}
    rate = population.positive_rate if stated else None
    misses = 0
    for curve in samples(population):
        misses += not all(
            holds(from_band(curve, measure, confidence=CONFIDENCE, positive_rate=rate), value)
            for measure, value in values.items()
        )
    assert misses <= MOST_MISSES


@pytest.mark.parametrize("side", ["lower", "upper"])
@pytest.mark.parametrize("name", ["binormal", "heavy ties"])
def test_one_sided_intervals_hold_all_at_once(name, side):
    population = POPULATIONS[name]
    truth = population.truth()
    # One side of measures that rise with the curve: lower limits of all need the same envelope.
    rising = [measure for measure in (*OF_CURVE, PNormPush(3), RecallAt(0.3)) if measure.greater_is_better]
    values = {measure: measure.value(truth) for measure in rising}
    misses = 0
    for curve in samples(population):
        misses += not all(
            holds(from_band(curve, measure, confidence=CONFIDENCE, side=side), value)
            for measure, value in values.items()
        )
    assert misses <= MOST_MISSES


@pytest.mark.parametrize("side", ["two-sided", "lower", "upper"])
@pytest.mark.parametrize("n", [200, 3000])
def test_limits_of_one_class_hold_and_waste_little(n, side):
    # 3,000 draws have limits at knots only; what lies between follows from both neighbours.
    rng = np.random.default_rng(7)
    runs = 2000
    limits = tail_limits(n, confidence=CONFIDENCE, side=side, method="tail")
    k = np.arange(1, n + 1)
    lower, upper = limits.lower(k), limits.upper(k - 1)
    held = 0
    for _ in range(runs):
        draws = np.sort(rng.random(n))
        held += bool(np.all(draws >= lower) and np.all(draws <= upper))
    low, high = binom.ppf([1e-6, 1 - 1e-6], runs, CONFIDENCE)
    # Of 1,000 draws or less the probability is exact; of more, what is spent between the knots is not all needed.
    assert low <= held <= (high if n <= 1000 else runs * (CONFIDENCE + 0.03))


def test_tail_band_is_several_times_narrower_in_the_head():
    # 1e5 negatives: the constant band is 2.3 times as wide with 1,000 positives, whose own uncertainty (some 0.09 at a
    # TPR of 0.2, in any simultaneous band) is most of what is left, and over 3 times with 10,000.
    rng = np.random.default_rng(0)
    ratios = {}
    for n_pos in (1000, 10_000):
        scores = np.concatenate([norm(1.8124).rvs(n_pos, random_state=rng), norm().rvs(100_000, random_state=rng)])
        curve = RocCurve.from_scores(np.repeat([1, 0], [n_pos, 100_000]), scores)
        tail, constant = (from_band(curve, PartialAUC(max_fpr=0.01), method=method) for method in ("tail", "dkw"))
        ratios[n_pos] = constant.width / tail.width
    assert ratios[1000] > 2
    assert ratios[10_000] > 3


def holds(interval, value) -> bool:
    return interval.low - 1e-6 <= value <= interval.high + 1e-6

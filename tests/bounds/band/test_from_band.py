"""Intervals of every measure from the limits: sound for all populations inside, and no wider than they need be."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrank.bounds.band.areas import ends_in_band
from headrank.bounds.band.from_band import from_band
from headrank.bounds.band.population_limits import PopulationLimits
from headrank.curve import RocCurve
from headrank.datasets import Binormal
from headrank.measures import (
    AUC,
    BEDROC,
    KS,
    RIE,
    AveragePrecision,
    EnrichmentFactor,
    FPRAtTPR,
    FROCArea,
    Lift,
    LocalAUC,
    LocalRankingError,
    LocalRankingRisk,
    MassConstrainedError,
    Measure,
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
from headrank.measures.names import MEASURES
from headrank.measures.names import measure as measure_of
from reference.bands import curve_within, greatest_truncated_area, population_curve
from strategies import small_rankings

OF_CURVE = [
    AUC(), PartialAUC(max_fpr=0.1), PartialAUC(min_fpr=0.2, max_fpr=0.7), StandardizedPartialAUC(max_fpr=0.3),
    StandardizedPartialAUC(min_fpr=0.6, max_fpr=0.9), TwoWayPartialAUC(max_fpr=0.6, min_tpr=0.3),
    TwoWayPartialAUC(min_tpr=0.5, max_tpr=0.9),
    FROCArea(0.5, 2.0, 0.2), TPRAtFPR(0.0), TPRAtFPR(0.15), FPRAtTPR(0.7), FPRAtTPR(1.0), KS(),
]  # fmt: skip
OF_RANKS = [
    RankStatistic(np.sqrt), RankStatistic(np.ceil), PNormPush(0.5), PNormPush(4),
    BEDROC(0.9), BEDROC(20), RIE(20), PrecisionAt(0.2), RecallAt(0.3), EnrichmentFactor(0.1), Lift(0.5),
    AveragePrecision(), PrecisionRecallArea(), RPrecision(),
]  # fmt: skip
OF_TOP = [
    kind(top)
    for kind in (
        TopTPR, TopFPR, LocalAUC, TruncatedAUC, MassConstrainedError, LocalRankingError, LocalRankingRisk, WRanking
    )
    for top in (0.1, 0.5)
]  # fmt: skip
ALL = [*OF_CURVE, *OF_RANKS, *OF_TOP]
SIDES = ("two-sided", "lower", "upper")
METHODS = ("tail", "dkw")

pytestmark = pytest.mark.filterwarnings("ignore::headrank.exceptions.MeasureWarning")


def binormal(n_rows, seed=0, **kwargs):
    population = Binormal(**{"separation": 1.5, "positive_rate": 0.3} | kwargs)
    return RocCurve.from_scores(*population.sample_scores(n_rows, random_state=seed))


def test_the_list_is_complete():
    assert {type(measure) for measure in ALL} == {
        kind for kind in MEASURES if ends_in_band.dispatch(kind) is not ends_in_band.dispatch(Measure)
    }


# -- soundness: populations that keep to the limits ------------------------------------------------------------


def populations_within(measure, known, seeds):
    """Values of the measure on random populations that all the limits allow."""
    limits = known.curve_alone(rising=True) if measure in OF_CURVE else known.curve_beside(rising=None)
    low, high = known.positive_rates
    for seed in seeds:
        rng = np.random.default_rng(seed)
        fpr, tpr = curve_within(limits, rng)
        # Only the middle of tied ranks depends on how frequent one score is.
        if not isinstance(measure, (RankStatistic, PNormPush)) or np.diff(tpr).max() <= known.largest_pos_atom:
            p = rng.choice([low, high, rng.uniform(low, high)])
            yield measure.value(population_curve(fpr, tpr, p))


SAMPLES = {
    "untied": binormal(60),
    "tied": RocCurve.from_scores(*(lambda y, s: (y, np.round(2 * s)))(*Binormal(separation=1.0).sample_scores(80, 1))),
    "rare": binormal(300, separation=2.5, positive_rate=0.03),
    "reversed": RocCurve.from_scores(*(lambda y, s: (y, -s))(*Binormal(separation=1.0).sample_scores(50, 2))),
}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("measure", ALL, ids=str)
def test_no_population_within_the_limits_is_outside_the_ends(measure, name):
    n_tried = 0
    for positive_rate in (None, 0.1):
        known = PopulationLimits(SAMPLES[name], 0.2, "tail", "two-sided", positive_rate)
        ends = ends_in_band(measure, known)
        for value in populations_within(measure, known, range(12)):
            assert ends.low - 1e-7 <= value <= ends.high + 1e-7
            n_tried += 1
    assert n_tried >= 4


@pytest.mark.parametrize("measure", [m for m in ALL if m.prefix not in ("truncauc", "rankerr", "rankstat")], ids=str)
def test_populations_within_the_limits_come_close_to_both_ends(measure):
    known = PopulationLimits(binormal(4000, positive_rate=0.5), 0.2, "tail", "two-sided", 0.5)
    ends = ends_in_band(measure, known)
    values = list(populations_within(measure, known, range(40)))
    assert len(values) >= 10
    # These populations have no ties, which the limits of ranks must allow for.
    reached = 0.75 if isinstance(measure, PNormPush) else 0.97
    assert max(values) - min(values) >= reached * (ends.high - ends.low)


@pytest.mark.parametrize("top", [0.05, 0.3, 0.8])
def test_greatest_truncated_area_equals_a_search_along_the_control_line(top):
    known = PopulationLimits(binormal(2000), 0.1, "tail", "two-sided", 0.3)
    limits = known.curve_beside(rising=None)
    found = greatest_truncated_area(limits.upper.tpr_at, limits.lower.tpr_at, 0.3, top)
    high = ends_in_band(TruncatedAUC(top), known).high
    assert found - 1e-3 <= high <= 1.06 * found + 1e-3
    upper, lower = limits.lower.transposed(), limits.upper.transposed()
    found = 2 * 0.3 * 0.7 * greatest_truncated_area(upper.tpr_at, lower.tpr_at, 0.7, top)
    high = ends_in_band(LocalRankingError(top), known).high
    assert found - 1e-3 <= high <= 1.06 * found + 1e-3


def test_top_measures_of_untied_rows_on_the_envelopes_by_hand():
    known = PopulationLimits(binormal(3000), 0.1, "tail", "two-sided", 0.3)
    limits = known.curve_beside(rising=None)
    for measure, rate in ((TopTPR(0.2), 1), (TopFPR(0.2), 0)):
        ends = ends_in_band(measure, known)
        meetings = [float(envelope.meets(0.3, 0.2)[rate]) for envelope in (limits.lower, limits.upper)]
        assert (ends.low, ends.high) == pytest.approx((min(meetings), max(meetings)))


@pytest.mark.parametrize("measure", OF_TOP, ids=str)
def test_ties_make_the_top_no_larger(measure):
    """A score that ties everything: what is certified is chance, give or take, as without ties."""
    y = np.tile([1, 0], 5000)
    tied, untied = (
        from_band(RocCurve.from_scores(y, scores), measure, positive_rate=0.5)
        for scores in (np.zeros(y.size), np.random.default_rng(0).random(y.size))
    )
    chance = measure.chance_on(RocCurve.from_scores(y, y))
    assert tied.estimate == pytest.approx(chance)
    assert tied.high - chance < 1.5 * (untied.high - chance)
    assert chance - tied.low < 1.5 * (chance - untied.low) + 0.02


# -- shape -----------------------------------------------------------------------------------------------------


@given(small_rankings(max_rows=9), st.sampled_from(ALL), st.sampled_from(SIDES), st.sampled_from(METHODS))
def test_interval_holds_its_estimate_and_is_made_of_numbers(ranking, measure, side, method):
    curve = RocCurve.from_scores(*ranking[:2])
    for confidence in (1e-9, 0.5, 0.95, 1 - 1e-12):
        interval = from_band(curve, measure, confidence=confidence, side=side, method=method)
        assert np.isfinite([interval.low, interval.high]).all()
        assert interval.low <= interval.estimate <= interval.high
        assert interval.estimate == measure.value(curve)
        assert interval.simultaneous == (side == "two-sided")
        assert interval.finite_sample


@pytest.mark.parametrize("positive_rate", [None, 0.01, 0.99])
@pytest.mark.parametrize("measure", ALL, ids=str)
def test_extreme_samples(measure, positive_rate):
    samples = {
        "one of each, right": ([1, 0], [2, 1]),
        "one of each, wrong": ([1, 0], [1, 2]),
        "one of each, tied": ([1, 0], [1, 1]),
        "one positive": ([1] + [0] * 40, np.arange(41)),
        "one negative": ([0] + [1] * 40, np.arange(41)),
        "perfect": ([1] * 20 + [0] * 30, -np.arange(50)),
        "worst": ([0] * 20 + [1] * 30, -np.arange(50)),
        "all tied": ([1] * 20 + [0] * 30, np.zeros(50)),
    }
    least, greatest = measure.possible_values if isinstance(measure, EnrichmentFactor | RIE) else (0.0, 1.0)
    if isinstance(measure, StandardizedPartialAUC):
        least = -2.0
    if isinstance(measure, LocalRankingRisk):
        greatest = 1.25  # of two rows: pairs are counted over N (N - 1), which is half of N**2
    for name, (y, scores) in samples.items():
        curve = RocCurve.from_scores(y, scores)
        for side in SIDES:
            interval = from_band(curve, measure, side=side, positive_rate=positive_rate)
            assert least <= interval.low <= interval.estimate <= interval.high <= greatest, (name, side)
        if name == "one of each, tied" and measure in (AUC(), LocalAUC(0.5)):
            # Nothing is known from two rows, but that half of the rows can hold no more than half of all.
            assert interval.high > 0.9 * (min(0.5 / positive_rate, 1.0) if positive_rate and measure != AUC() else 1.0)


@pytest.mark.parametrize("measure", ALL, ids=str)
def test_one_side_is_at_least_as_close(measure):
    curve = binormal(400)
    both = from_band(curve, measure)
    lower, upper = (from_band(curve, measure, side=side) for side in ("lower", "upper"))
    assert both.low - 1e-3 <= lower.low <= both.estimate <= upper.high <= both.high + 1e-3
    assert lower.high >= both.high
    assert upper.low <= both.low
    if measure in OF_CURVE and both.low > 0 and both.high < 1:
        assert lower.low > both.low
        assert upper.high < both.high


@pytest.mark.parametrize("measure", ALL, ids=str)
def test_more_confidence_and_fewer_rows_are_wider(measure):
    small, large = binormal(300), binormal(30_000)
    narrow, wide = (from_band(small, measure, confidence=confidence) for confidence in (0.8, 0.99))
    assert wide.low <= narrow.low + 1e-9
    assert narrow.high <= wide.high + 1e-9
    assert from_band(large, measure).width < from_band(small, measure).width or narrow.width < 1e-9


def test_a_stated_share_of_positives_is_used_and_said():
    curve = binormal(2000)
    unknown, stated = from_band(curve, LocalAUC(0.1)), from_band(curve, LocalAUC(0.1), positive_rate=0.3)
    assert stated.width < unknown.width
    assert "random sample" in unknown.assumptions
    assert "share of positives in the population is 0.3" in stated.assumptions
    assert "random sample" not in from_band(curve, AUC()).assumptions
    # In a population with 1 % of positives, far fewer of the best tenth are positive than in the sample.
    elsewhere = from_band(curve, PrecisionAt(0.1), positive_rate=0.01)
    assert elsewhere.low < 0.1


def test_local_measures_of_all_rows_are_the_auc():
    curve = binormal(1000)
    whole = from_band(curve, LocalAUC(1.0))
    known = PopulationLimits(curve, 0.05, "tail", "two-sided", None)
    limits = known.curve_beside(rising=None)
    assert whole.low == pytest.approx(AUC().value(limits.lower.as_curve()), abs=1e-9)
    assert whole.high == pytest.approx(AUC().value(limits.upper.as_curve()), abs=1e-9)


def test_a_count_of_rows_is_a_fraction_of_the_sample():
    curve = binormal(1000)
    count, fraction = from_band(curve, PrecisionAt(100)), from_band(curve, PrecisionAt(0.1))
    assert (count.low, count.high) == pytest.approx((fraction.low, fraction.high))
    # A list shorter than the count: the hits are divided by the count.
    assert from_band(curve, PrecisionAt(2000)).high <= 0.5


def mean_precision(fpr, tpr, p, fraction):
    """The integral of the precision over the recall, as far as the mass above is at most the fraction: a fine grid."""
    part = np.linspace(0, 1, 20_001)
    i = np.arange(fpr.size)
    x, y = np.interp(part * i[-1], i, fpr), np.interp(part * i[-1], i, tpr)
    mass = p * y + (1 - p) * x
    precision = np.divide(p * y, mass, out=np.ones_like(mass), where=mass > 0)
    inside = mass[1:] <= fraction
    return float(np.sum(((precision[1:] + precision[:-1]) / 2 * np.diff(y))[inside]))


@pytest.mark.parametrize("k", [6, 30])
@pytest.mark.parametrize("name", ["untied", "tied", "reversed"])
def test_no_population_has_its_precision_among_the_first_rows_outside_the_ends(name, k):
    curve = SAMPLES[name]
    values = []
    for positive_rate in (None, 0.1):
        known = PopulationLimits(curve, 0.2, "tail", "two-sided", positive_rate)
        ends = ends_in_band(AveragePrecision(k), known)
        limits, (low, high) = known.curve_beside(rising=None), known.positive_rates
        for seed in range(12):
            rng = np.random.default_rng(seed)
            p = rng.choice([low, high, rng.uniform(low, high)])
            value = mean_precision(*curve_within(limits, rng), p, k / curve.n)
            assert ends.low - 1e-3 <= value <= ends.high + 1e-3
            values.append(value)
    assert max(values) > min(values) + 0.01


def test_the_precision_of_all_rows_is_the_limit_of_that_of_the_first():
    known = PopulationLimits(binormal(500), 0.1, "tail", "two-sided", None)
    whole, nearly = (ends_in_band(AveragePrecision(k), known) for k in (None, 499))
    assert (nearly.low, nearly.high) == pytest.approx((whole.low, whole.high), abs=0.01)


def test_phi_must_not_decrease_and_must_be_finite():
    curve = binormal(50)
    with pytest.raises(ValueError, match="not decrease"):
        from_band(curve, RankStatistic(lambda v: 1 - v))
    with pytest.raises(ValueError, match="finite"):
        from_band(curve, RankStatistic(np.log))


def test_unknown_measures_and_senseless_arguments_are_refused():
    class Other(Measure):
        prefix = "other"
        description = "other"

        def _value(self, curve):
            return 0.5

    curve = binormal(50)
    with pytest.raises(TypeError, match="register"):
        from_band(curve, Other())
    with pytest.raises(ValueError, match="positive_rate"):
        from_band(curve, AUC(), positive_rate=1.0)


@pytest.mark.parametrize("name", ["mrr", "success@3", "ndcg@5", "bpref"])
def test_lists_have_intervals_over_queries_only(name):
    with pytest.raises(ValueError, match=rf"^{name} of a single list.*pass qid"):
        from_band(binormal(50), measure_of(name))


def test_bedroc_warns_once_for_the_estimate_and_not_for_the_envelopes():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        from_band(binormal(100), BEDROC(20))
    assert len(caught) == 1

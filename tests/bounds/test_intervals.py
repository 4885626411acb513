"""hr.interval: every measure answers, from every sample, by a method that the scores had no say in."""

from math import inf, isfinite, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binom

import headrank as hr
from headrank.bounds.asymptotic.bootstrap import bootstrap
from headrank.bounds.band.areas import ends_in_band
from headrank.bounds.fixed import fixed_range, range_mean
from headrank.bounds.intervals import METHODS, interval_of, tightest
from headrank.datasets import Binormal
from headrank.labels import check_binary
from headrank.measures import (
    AUC,
    EnrichmentFactor,
    FPRAtTPR,
    LocalRankingRisk,
    Measure,
    RankStatistic,
    StandardizedPartialAUC,
    TPRAtFPR,
)
from headrank.measures.names import MEASURES
from strategies import small_rankings

AREAS = [*map(hr.measure, ("auc", "pauc@0.1", "pauc@0.2:0.7", "spauc@0.3", "spauc@0.8:1", "froc@0.5:2,images=0.2"))]
POINTS = [*map(TPRAtFPR, (0.0, 0.15, 1.0)), *map(FPRAtTPR, (0.0, 0.7, 1.0))]
OTHERS = [
    *map(hr.measure, ("tpauc@fpr=0.6,tpr=0.3", "ks", "locauc@0.1", "truncauc@0.3", "beta@0.1", "alpha@0.1")),
    *map(hr.measure, ("mass@0.1", "rankerr@0.1", "rankrisk@0.1", "w@0.2", "push@4", "bedroc@20", "p@0.2", "p@1")),
    *map(hr.measure, ("r@0.3", "ef@0.1", "ef@2", "lift@0.5", "ap", "ap@20", "prauc", "rprec", "rie@20")),
    RankStatistic(np.sqrt),
]
ALL = [*AREAS, *POINTS, *OTHERS]
SIDES = ("two-sided", "lower", "upper")
CONFIDENCES = (1e-9, 0.5, 0.95, 1 - 1e-12)

every_measure = pytest.mark.parametrize("measure", ALL, ids=str)
pytestmark = pytest.mark.filterwarnings("ignore::headrank.exceptions.MeasureWarning")


@pytest.fixture(scope="module")
def sample():
    """40 positives, 80 negatives, in 12 queries of 10 rows with both classes."""
    rng = np.random.default_rng(0)
    y = np.tile([1, 0, 0], 40)
    return y, rng.normal(size=120) + y


@pytest.fixture(scope="module")
def qid():
    return np.repeat(np.arange(12), 10)


def perfect(n_pos, n_neg):
    return np.repeat([1, 0], [n_pos, n_neg]), np.repeat([1.0, 0.0], [n_pos, n_neg])


def is_sound(interval):
    """No NaN, the estimate inside, both ends within what the measure can be."""
    least, greatest = interval.measure.possible_values
    return (
        all(map(isfinite, (interval.low, interval.estimate, interval.high)))
        and least <= interval.low <= interval.estimate <= interval.high <= greatest
    )


# -- every measure, every sample -------------------------------------------------------------------------------------


def test_the_list_of_measures_is_complete():
    assert {type(measure) for measure in ALL} == {
        kind for kind in MEASURES if ends_in_band.dispatch(kind) is not ends_in_band.dispatch(hr.Measure)
    }


@every_measure
def test_every_measure_answers_for_any_distribution_and_sample_size(measure, sample):
    interval = hr.interval(*sample, measure=measure)
    assert is_sound(interval)
    assert interval.finite_sample
    assert interval.measure == measure
    assert interval.estimate == pytest.approx(measure(*sample))
    assert (interval.n_pos, interval.n_neg, interval.confidence, interval.side) == (40, 80, 0.95, "two-sided")
    assert interval.theorem
    assert "independent draws" in interval.assumptions
    assert str(interval).startswith(f"{measure} is {interval.estimate:.4g} on 40 positives and 80 negatives; ")


EDGES = {
    "one pair in order": ([1, 0], [1, 0]),
    "one pair reversed": ([1, 0], [0, 1]),
    "one pair tied": ([1, 0], [0, 0]),
    "one positive, first": ([1] + [0] * 40, [50, *range(40)]),
    "one positive, last": ([1] + [0] * 40, [-50, *range(40)]),
    "one positive, amid": ([1] + [0] * 40, [20, *range(40)]),
    "one negative, first": ([0] + [1] * 40, [50, *range(40)]),
    "one negative, last": ([0] + [1] * 40, [-50, *range(40)]),
    "AUC 1": ([1] * 9 + [0] * 9, [*range(18, 0, -1)]),
    "AUC 0": ([1] * 9 + [0] * 9, [*range(18)]),
    "AUC 1, two scores": ([1] * 9 + [0] * 9, [1] * 9 + [0] * 9),
    "AUC 0, two scores": ([1] * 9 + [0] * 9, [0] * 9 + [1] * 9),
    "all tied": ([1] * 9 + [0] * 9, [0] * 18),
    "one tie away from 1": ([1] * 9 + [0] * 9, [1] * 9 + [1] + [0] * 8),
}


@every_measure
def test_edges(measure):
    for y, scores in EDGES.values():
        for confidence, side in zip((*CONFIDENCES, 0.95, 0.95), (*["two-sided"] * 4, "lower", "upper"), strict=True):
            interval = hr.interval(y, scores, measure=measure, confidence=confidence, side=side)
            assert is_sound(interval)
            assert interval.estimate == pytest.approx(measure(y, scores))


@settings(max_examples=120)
@given(small_rankings(max_rows=10), st.sampled_from(ALL), st.sampled_from(CONFIDENCES), st.sampled_from(SIDES))
def test_no_small_sample_leads_astray(ranking, measure, confidence, side):
    interval = hr.interval(*ranking[:2], measure=measure, confidence=confidence, side=side)
    assert is_sound(interval)
    assert interval.estimate in interval


@pytest.mark.parametrize("measure", ["pauc@0.001", "spauc@0.001", "pauc@0.001:0.002", "tpr@fpr=0.001"])
def test_ranges_of_less_than_one_negative(measure, sample):
    interval = hr.interval(*sample, measure=measure)  # 1 / n_neg = 0.0125
    assert is_sound(interval)
    assert interval.low == (interval.measure.possible_values[0])  # no negative proves a thing of so low a rate
    assert is_sound(hr.interval(*perfect(3, 2), measure=measure, confidence=1 - 1e-12))


@every_measure
def test_one_end_alone_is_no_farther_than_with_the_other(measure, sample):
    both, lower, upper = (hr.interval(*sample, measure=measure, side=side) for side in SIDES)
    assert both.low <= lower.low + 1e-12
    assert upper.high <= both.high + 1e-12
    # The other end is the least or the greatest value there is; of a measure without limits, at least no closer.
    assert upper.low <= both.low
    assert both.high <= lower.high
    assert (lower.side, upper.side) == ("lower", "upper")


@pytest.mark.parametrize(
    "measure", ["auc", "pauc@0.3", "tpr@fpr=0.3", "fpr@tpr=0.6", "push@4", "tpauc@fpr=0.9,tpr=0.1"]
)
def test_one_end_alone_is_closer(measure, sample):
    both, lower, upper = (hr.interval(*sample, measure=measure, side=side) for side in SIDES)
    assert both.low < lower.low
    assert upper.high < both.high
    assert (upper.low, lower.high) == both.measure.possible_values


@every_measure
def test_more_confidence_widens(measure, sample):
    less, more = (hr.interval(*sample, measure=measure, confidence=confidence) for confidence in (0.8, 0.99))
    assert more.low <= less.low + 1e-12
    assert less.high <= more.high + 1e-12
    assert more.width > less.width or less.width == 0 or (less.low, less.high) == measure.possible_values


# -- which method ----------------------------------------------------------------------------------------------------


def test_each_kind_of_measure_has_its_method(sample):
    made = {measure: hr.interval(*sample, measure=measure).method for measure in ALL}
    assert {made[measure] for measure in AREAS} <= {"fixed_range", "betting"}
    assert {made[measure] for measure in POINTS} == {"at_point"}
    firsts = {measure for measure in OTHERS if isinstance(measure, hr.PrecisionAt)}
    assert {made[measure] for measure in firsts} == {"at_fraction"}
    assert {made[measure] for measure in set(OTHERS) - firsts} == {"tail band"}
    assert {tightest(measure, 100, 1000) for measure in set(OTHERS) - firsts} == {"tail"}


def scorers_of(y):
    """Scores as different as can be on the same labels."""
    rng = np.random.default_rng(1)
    yield from (y, -y, np.zeros(len(y)), rng.normal(size=len(y)), rng.normal(size=len(y)) + 2 * y)


@every_measure
def test_the_scores_have_no_say_in_the_method(measure, sample):
    y, _ = sample
    made = [hr.interval(y, scores, measure=measure) for scores in scorers_of(y)]
    assert len({(one.method, one.theorem, one.assumptions, one.simultaneous) for one in made}) == 1


@pytest.mark.parametrize("measure", [*AREAS, *POINTS], ids=str)
@pytest.mark.parametrize(("n_pos", "n_neg"), [(10, 100), (100, 30), (1, 1)])
def test_the_scores_have_no_say_in_ranks_and_risks(measure, n_pos, n_neg, monkeypatch):
    """Every step behind the interval asks for the same ranks, sizes and risks, whatever the scores were."""
    asked = []

    def recorded(module, name, start):
        original = getattr(module, name)

        def spy(*args, **options):
            asked.append((name, *args[start:], *options.items()))
            return original(*args, **options)

        monkeypatch.setattr(module, name, spy)

    # The first argument of some is what was counted; that may, and must, depend on the scores.
    for module in (fixed_range, range_mean):
        for name in ("allowed_above", "needed_at_least"):
            recorded(module, name, 0)
    recorded(fixed_range, "clopper_pearson", 1)
    for name, start in (("mean_limits", 1), ("tail_limits", 0)):
        recorded(range_mean, name, start)
    y = np.repeat([1, 0], [n_pos, n_neg])
    seen = []
    for scores in scorers_of(y):
        asked.clear()
        hr.interval(y, scores, measure=measure)
        seen.append(tuple(asked))
    assert len(set(seen)) == 1


def test_the_counts_decide_between_the_two_ways_to_bound_a_range(monkeypatch):
    used = []
    for name in ("_window_low", "_limits_low"):
        monkeypatch.setattr(range_mean, name, lambda *_, name=name: used.append(name) or 0.0)
    for n_pos in (10, 1000):
        hr.interval(*perfect(n_pos, 500), measure="pauc@0.1")
        hr.interval(*perfect(n_pos, 500), measure="auc")
    assert used == ["_window_low", "_window_low", "_limits_low", "_window_low"]


@given(small_rankings(max_rows=12), st.sampled_from(CONFIDENCES), st.sampled_from(SIDES), st.sampled_from([1, 7, 300]))
def test_fixed_range_is_never_wider_than_what_else_is_sure_of_the_auc(ranking, confidence, side, times):
    curve = hr.RocCurve.from_scores(np.tile(ranking.y, times), np.tile(ranking.scores, times))
    auto = interval_of(curve, AUC(), confidence=confidence, side=side, method="fixed_range")
    for method in ("kl", "hoeffding", "mcdiarmid"):
        other = interval_of(curve, AUC(), confidence=confidence, side=side, method=method)
        assert other.low <= auto.low + 1e-12
        assert auto.high <= other.high + 1e-12


def test_auto_gains_where_neither_class_is_tiny():
    y, scores = Binormal(separation=1.5).sample_classes(500, 500, random_state=0)
    auto, kl = hr.interval(y, scores), hr.interval(y, scores, method="kl")
    assert auto.width < 0.95 * kl.width


def test_fifty_of_each_in_perfect_order():
    y, scores = perfect(50, 50)
    low = {method: hr.interval(y, scores, method=method).low for method in METHODS[:4]}
    assert low["kl"] == pytest.approx(0.025 ** (1 / 50))
    assert low["hoeffding"] == pytest.approx(1 - sqrt(np.log(40) / 100))
    assert low["mcdiarmid"] == pytest.approx(1 - sqrt(np.log(40) / 50))
    assert low["kl"] > low["hoeffding"] > low["mcdiarmid"]
    assert low["auto"] == low["kl"]
    band = hr.interval(y, scores, method="tail")
    assert 0.5 < band.low < low["kl"]


def test_by_hand():
    # Every pair tied, 30 of each: Bentkus, min over h of E max(Bin(30, q) - h, 0) / (15 - h) = 0.025.
    def bound(q):
        return min(binom.expect(lambda k, h=h: np.maximum(k - h, 0), (30, q)) / (15 - h) for h in range(15))

    interval = hr.interval([1, 0] * 30, [0] * 60)
    assert interval.low == pytest.approx(brentq(lambda q: bound(q) - 0.025, 0.1, 0.5), abs=1e-9)
    assert interval.high == pytest.approx(1 - interval.low)
    # One pair: a positive that beat its negative does so with probability 0.025 at least.
    assert hr.interval([1, 0], [1, 0]).low == pytest.approx(0.025)
    assert hr.interval([1, 0], [1, 0], side="lower").low == pytest.approx(0.05)
    assert hr.interval([1, 0], [0, 1], side="upper").high == pytest.approx(0.95)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers_for_the_auc(method, sample):
    if method in ("at_point", "at_fraction"):
        with pytest.raises(TypeError, match=r"at_point is for TPRAtFPR and FPRAtTPR|at_fraction is for PrecisionAt"):
            hr.interval(*sample, method=method)
        return
    interval = hr.interval(*sample, method=method, n_replicates=400, random_state=0)
    assert is_sound(interval)
    assert interval.finite_sample == (method not in ("delong", "delong_plain", "bootstrap"))
    expected = {"auto": "fixed_range", "tail": "tail band", "dkw": "dkw band"}.get(method, method)
    assert interval.method == expected
    assert interval.simultaneous == (method in ("tail", "dkw"))


@pytest.mark.parametrize("method", ["auto", "kl", "fixed_range", "tail", "dkw", "delong"])
def test_from_rows_and_from_their_curve_it_is_the_same(method, sample):
    curve = hr.RocCurve.from_scores(*sample)
    assert interval_of(curve, AUC(), method=method, confidence=0.9, side="lower") == hr.interval(
        *sample, method=method, confidence=0.9, side="lower"
    )


def test_the_bootstrap_from_a_curve(sample):
    curve = hr.RocCurve.from_scores(*sample)
    interval = interval_of(curve, AUC(), method="bootstrap")
    assert interval.method == "bootstrap"
    assert not interval.finite_sample
    assert hr.interval(*sample, method="bootstrap", n_replicates=400, random_state=3) == bootstrap(
        check_binary(*sample), AUC(), confidence=0.95, n_replicates=400, random_state=3
    )


def test_a_measure_of_ones_own_is_told_where_to_register():
    class Odd(Measure):
        prefix = "odd"
        description = "always 0.5"

        def _value(self, curve):
            return 0.5

    assert tightest(Odd(), 1, 1) == "tail"
    with pytest.raises(TypeError, match=r"Odd has no interval from a band; .*'bootstrap'"):
        hr.interval([1, 0], [1, 0], measure=Odd())


# -- over queries, and in words --------------------------------------------------------------------------------------


@every_measure
def test_over_queries_every_measure_with_limits_answers(measure, sample, qid):
    if inf in measure.possible_values:
        with pytest.raises(ValueError, match=r"needs a bounded measure.*method='bootstrap'"):
            hr.interval(*sample, measure=measure, qid=qid)
    else:
        interval = hr.interval(*sample, measure=measure, qid=qid)
        assert is_sound(interval)
        assert interval.method == "over_queries"


@every_measure
@pytest.mark.parametrize("side", SIDES)
def test_it_is_one_sentence_that_names_its_confidence(measure, side, sample):
    text = str(hr.interval(*sample, measure=measure, confidence=0.9, side=side))
    assert "\n" not in text
    assert ". " not in text
    assert " with 90 % confidence (" in text
    assert {"two-sided": "between", "lower": "at least", "upper": "at most"}[side] in text
    assert "nan" not in text


# -- what a measure can be at all ------------------------------------------------------------------------------------


@given(small_rankings(max_rows=10))
def test_no_sample_leaves_the_possible_values(ranking):
    for measure in ALL:
        least, greatest = measure.possible_values
        assert least - 1e-12 <= measure(*ranking[:2]) <= greatest + 1e-12


@pytest.mark.parametrize("measure", [AUC(), StandardizedPartialAUC(max_fpr=0.3), StandardizedPartialAUC(min_fpr=0.8)])
def test_the_possible_values_are_reached(measure):
    y, scores = perfect(10, 10)
    assert (measure(y, -scores), measure(y, scores)) == pytest.approx(measure.possible_values)


def test_possible_values_by_hand():
    assert StandardizedPartialAUC(min_fpr=0.8).possible_values == pytest.approx((-4, 1))
    assert EnrichmentFactor(0.1).possible_values == (0, 10)
    assert EnrichmentFactor(10).possible_values == (0, inf)
    assert LocalRankingRisk(0.1).possible_values == (0, 1.5)
    assert RankStatistic(np.sqrt).possible_values == (-inf, inf)

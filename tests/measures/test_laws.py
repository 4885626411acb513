"""Laws that every measure obeys; a new measure joins the list below and inherits them all."""

import pickle
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrank as hr
from headrank.exceptions import MeasureWarning, ShallowHeadError
from headrank.measures.names import MEASURES
from reference.measure_parameters import PARAMETERS as ALL
from reference.measures import TWINS, expand, twin
from strategies import any_rankings, fractional_rankings, small_rankings, weighted_rankings

# BEDROC warns where alpha times the share of positives is large, as it is in every small sample.
pytestmark = pytest.mark.filterwarnings("ignore::headrank.exceptions.MeasureWarning")

every_measure = pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
few = settings(max_examples=settings.default.max_examples // 4)
some = settings(max_examples=settings.default.max_examples // 2)


def close(value):
    return pytest.approx(value, rel=1e-11, abs=1e-12)


def test_lists_are_complete():
    assert set(ALL) == set(TWINS) == set(MEASURES)
    assert {kind.__name__ for kind in MEASURES} <= set(hr.__all__)


@every_measure
@given(data=st.data())
def test_equals_its_slow_twin(kind, data):
    measure, ranking = data.draw(ALL[kind]), data.draw(any_rankings())
    value = measure(ranking.y, ranking.scores, sample_weight=ranking.weights)
    assert type(value) is float
    assert value == close(twin(measure, expand(*ranking)))


@pytest.mark.parametrize("kind", [hr.PrecisionAt, hr.RecallAt, hr.EnrichmentFactor, hr.Lift])
@given(ranking=small_rankings(max_rows=6))
@few
def test_counts_up_to_the_whole_list(kind, ranking):
    for k in range(1, len(ranking.y) + 1):
        assert kind(k)(ranking.y, ranking.scores) == close(twin(kind(k), expand(*ranking)))
    # A list shorter than k is seen whole; precision counts the rows that are missing as no positives.
    n = len(ranking.y)
    seen = kind(n)(ranking.y, ranking.scores)
    assert kind(2 * n)(ranking.y, ranking.scores) == close(seen / 2 if kind is hr.PrecisionAt else seen)
    with pytest.raises(ValueError, match=f"k={2 * n}.*rescale"):
        kind(2 * n)(ranking.y, ranking.scores, sample_weight=np.ones(n))


@pytest.mark.parametrize("kind", [hr.WRanking, hr.LocalAUC, hr.RecallAt], ids=lambda kind: kind.__name__)
def test_hundredths_of_ninety_nine_rows(kind):
    # Ranks are divided by N + 1 = 100, and 0.56 * 100 is 56.00000000000001: one rank too many, if it were left so.
    rows = [(i % 2, float(i)) for i in range(99)]
    rounded = [percent for percent in range(1, 100) if percent / 100 * 100 != percent]
    assert len(rounded) > 5
    for percent in {*rounded, *range(1, 100, 7)}:
        measure = kind(percent / 100)
        assert measure(*zip(*rows, strict=True)) == close(twin(measure, rows))


@every_measure
@given(data=st.data())
@few
def test_ignores_the_order_of_rows(kind, data):
    measure, ranking = data.draw(ALL[kind]), data.draw(small_rankings())
    order = np.array(data.draw(st.permutations(range(len(ranking.y)))))
    assert measure(ranking.y[order], ranking.scores[order]) == measure(ranking.y, ranking.scores)


@every_measure
@given(data=st.data())
@few
def test_ignores_monotone_changes_of_the_scores(kind, data):
    measure, (y, scores, weights) = data.draw(ALL[kind]), data.draw(any_rankings())
    value = measure(y, scores, sample_weight=weights)
    for changed in (np.exp(scores), scores**3, scores * 1000 + 7, scores.astype(np.int8)):
        assert measure(y, changed, sample_weight=weights) == value


@every_measure
@given(data=st.data())
@few
def test_weight_is_multiplicity(kind, data):
    measure, ranking = data.draw(ALL[kind]), data.draw(weighted_rankings())
    repeated = ranking.repeated()
    value = measure(ranking.y, ranking.scores, sample_weight=ranking.weights)
    assert value == close(measure(repeated.y, repeated.scores))


@every_measure
@given(data=st.data())
@few
def test_weight_two_is_every_row_twice(kind, data):
    measure, (y, scores, _) = data.draw(ALL[kind]), data.draw(small_rankings())
    twice = measure(np.concatenate([y, y]), np.concatenate([scores, scores]))
    assert measure(y, scores, sample_weight=np.full(len(y), 2.0)) == close(twice)


@every_measure
@given(data=st.data())
@few
def test_merge_is_concatenation(kind, data):
    measure, one, two = data.draw(ALL[kind]), data.draw(small_rankings()), data.draw(small_rankings())
    merged = hr.RocCurve.from_scores(one.y, one.scores).merge(hr.RocCurve.from_scores(two.y, two.scores))
    y, scores = np.concatenate([one.y, two.y]), np.concatenate([one.scores, two.scores])
    assert measure.value(merged) == measure(y, scores)


@every_measure
@given(data=st.data())
@few
def test_head_of_its_depth_suffices(kind, data):
    measure, (y, scores, weights) = data.draw(ALL[kind]), data.draw(any_rankings())
    curve = hr.RocCurve.from_scores(y, scores, weights)
    whole = measure.value(curve)
    assert measure(y, scores, sample_weight=weights) == whole
    depth = None if weights is not None else measure.depth(curve.n_pos, curve.n_neg)  # a depth counts rows
    if depth is not None:
        asked = {field.name: getattr(depth, field.name) for field in fields(depth)}
        assert measure.value(curve.head(**asked)) == whole
        assert measure.value(hr.RocCurve.head_from_scores(y, scores, **asked)) == whole


@every_measure
@given(data=st.data())
@few
def test_shallow_head_is_refused_or_right(kind, data):
    measure, (y, scores, weights) = data.draw(ALL[kind]), data.draw(any_rankings())
    curve = hr.RocCurve.from_scores(y, scores, weights)
    whole = measure.value(curve)
    for n_rows in range(1, int(curve.n) + 1):
        try:
            value = measure.value(curve.head(n_rows=n_rows))
        except ShallowHeadError:
            continue
        assert value == whole


@pytest.mark.parametrize(
    "measure",
    [
        "pauc@0.1",
        "spauc@0.1",
        "tpauc@fpr=0.1,tpr=0.5",
        "tpauc@tpr=0.1:0.2",
        "locauc@0.1",
        "w@0.1",
        "tpr@fpr=0.1",
        "fpr@tpr=0.1",
        "p@10",
        "ap@10",
        "ap",
        "prauc",
        "auc",
        "ks",
    ],
)
def test_shallow_head_of_a_long_list_is_refused(measure):
    measure = hr.measure(measure)
    curve = hr.RocCurve.from_scores([0, 1] * 100, np.arange(200))
    assert measure.value(curve) == (
        measure.value(curve.head(n_rows=60)) if "@" in str(measure) else measure.value(curve)
    )
    with pytest.raises(ShallowHeadError):
        measure.value(curve.head(n_rows=5))


@every_measure
@given(data=st.data())
@few
def test_float32_is_float64(kind, data):
    measure, (y, scores, weights) = data.draw(ALL[kind]), data.draw(any_rankings())
    narrow = (scores / 7).astype(np.float32)
    value = measure(y, narrow, sample_weight=weights)
    assert value == measure(y, narrow.astype(np.float64), sample_weight=weights)
    assert value == measure(y, scores, sample_weight=weights)


# Ranks and pairs count rows, so for these half a row is not worth half; for all others only ratios of weights matter.
COUNT_ROWS = (
    hr.WRanking,
    hr.PNormPush,
    hr.RankStatistic,
    hr.TailStrength,
    hr.LocalRankingError,
    hr.LocalRankingRisk,
    hr.AveragePrecision,
    hr.NDCG,
    hr.ReciprocalRank,
    hr.BinaryPreference,
)


@every_measure
@given(data=st.data())
@some
def test_fractional_weights(kind, data):
    measure, (y, scores, weights) = data.draw(ALL[kind]), data.draw(fractional_rankings())
    curve = hr.RocCurve.from_scores(y, scores, weights)
    try:
        whole = measure.value(curve)
    except ValueError:  # fewer rows, by weight, than a count asks for
        with pytest.raises(ValueError, match=r"counts rows by weight|total weight above 1"):
            measure.value(curve)
        return
    value = measure(y, scores, sample_weight=weights)
    assert value == close(whole)  # the head that was sorted says the same, and does not refuse
    if kind in (hr.LocalRankingError, hr.LocalRankingRisk):
        return  # over N (N - 1) pairs, which is no number of pairs unless N is whole
    if kind not in (hr.EnrichmentFactor, hr.Lift, hr.RIE, hr.StandardizedPartialAUC, hr.TailStrength):
        assert 0 <= value <= 1
    counts_rows = isinstance(getattr(measure, "k", 0.5), int) or getattr(measure, "rounding", "") == "up"
    if kind not in COUNT_ROWS and not counts_rows:
        multiplicities = np.rint(weights * 30)
        assert value == close(measure(y, scores, sample_weight=multiplicities))


HARD = {
    "p@1": ([0, 1, 0, 0, 0, 1], [0.3, 0.1, 0.3, 0.1, 0.2, 0.2], 0.1),  # the head weighs a hair less than one row
    "beta@0.9": ([0, 1, 0, 0, 0, 0, 0, 1, 0, 1], [1 / 3] * 10, 2 / 3),
    "w@0.9": ([0, 1, 1, 0, 1], [0.3, 0.3, 0.2, 0.2, 0.1], None),  # a light row below the head has a rank in the top
    "tpauc@fpr=0.5,tpr=0.5": ([0, 1, 0, 0, 1], [0.3, 0.3, 0.1, 0.2, 0.1], 0.0),  # the curve rises at the very edge
    "fpr@tpr=0.5": ([0, 1, 1, 1, 0, 1, 1, 1], [0.7] * 8, 0.5),
    "tpr@fpr=0.5": ([0, 1, 0, 0, 1, 0, 0, 0], [0.1] * 8, 1.0),
    "locauc@0.3": ([0, 1, 1, 1, 0, 1, 1, 1, 0, 0], [1 / 3] * 10, 0.25),
}


@pytest.mark.parametrize("name", HARD)
def test_fractional_weights_that_do_not_add_up(name):
    y, weights, right = HARD[name]
    scores, measure = np.arange(len(y), 0, -1), hr.measure(name)
    whole = measure.value(hr.RocCurve.from_scores(y, scores, weights))
    assert measure(y, scores, sample_weight=weights) == close(whole)
    assert right is None or whole == close(right)


@every_measure
@given(data=st.data())
@few
def test_lies_in_its_range(kind, data):
    measure, ranking = data.draw(ALL[kind]), data.draw(any_rankings())
    value = measure(ranking.y, ranking.scores, sample_weight=ranking.weights)
    if kind in (hr.EnrichmentFactor, hr.Lift, hr.RIE):
        curve = hr.RocCurve.from_scores(*ranking)
        assert 0 <= value <= measure.attainable(curve) * (1 + 1e-12)
    else:
        assert value <= 1
        # McClish puts chance at 1/2, not the worst at 0; the tail strength puts it at 0
        assert value >= 0 or kind in (hr.StandardizedPartialAUC, hr.TailStrength)


@every_measure
@given(data=st.data())
@few
def test_constant_scorer_is_worth_chance(kind, data):
    measure, ranking = data.draw(ALL[kind]), data.draw(any_rankings() | fractional_rankings())
    curve = hr.RocCurve.from_scores(ranking.y, np.zeros(len(ranking.y)), ranking.weights)
    another = hr.RocCurve.from_scores(*ranking)
    if ranking.weights is not None and (curve.n <= 1 or isinstance(getattr(measure, "k", 0.5), int)):
        return  # fewer rows, by weight, than a count may ask for
    assert measure.value(curve) == close(measure.chance_on(another))
    if measure.chance is not None:
        assert measure.value(curve) == close(measure.chance)


@every_measure
@given(data=st.data())
@few
def test_prints_reads_back_and_travels(kind, data):
    measure, again = data.draw(ALL[kind]), pickle.loads
    assert again(pickle.dumps(measure)) == measure
    assert hash(again(pickle.dumps(measure))) == hash(measure)
    if kind is not hr.RankStatistic:  # a function has no name that could be read back
        assert hr.measure(str(measure)) == measure
        assert hash(hr.measure(str(measure))) == hash(measure)
        assert repr(hr.measure(str(measure))) == repr(measure)
    assert measure.description in repr(measure)
    for field in (field for field in fields(measure) if field.init):
        parameter = getattr(measure, field.name)
        assert f"{field.name}={parameter!r}" in repr(measure)
        if isinstance(parameter, float) and parameter > 0 and field.name != "images_per_negative":
            assert f"{parameter:g}" in measure.description or "whole list" in measure.description  # in words
        with pytest.raises(FrozenInstanceError):
            setattr(measure, field.name, 0.5)


@given(st.floats(1e-12, 1), st.floats(0, 1))
def test_any_number_is_read_back(rate, other):
    low, high = sorted((rate, other))
    made = [hr.LocalAUC(rate), hr.TPRAtFPR(other), hr.PrecisionAt(rate), hr.BEDROC(rate + 1e-6), hr.PNormPush(rate)]
    made += [hr.PartialAUC(min_fpr=low, max_fpr=high)] if low < high else []
    for measure in made:
        assert hr.measure(str(measure)) == measure


@every_measure
@given(data=st.data())
@few
def test_equal_only_if_always_the_same_number(kind, data):
    one, two = data.draw(ALL[kind]), data.draw(ALL[kind])
    assert (one == two) == (repr(one) == repr(two))


def test_one_row_is_not_all_rows():
    y, scores = [0, 1, 1], [3, 2, 1]
    for kind in (hr.PrecisionAt, hr.RecallAt, hr.EnrichmentFactor, hr.Lift):
        assert kind(1)(y, scores) == 0
        assert kind(1.0)(y, scores) > 0
        assert kind(1) != kind(1.0)


def test_bedroc_warns_where_it_cannot_be_compared():
    with pytest.warns(MeasureWarning, match="alpha"):
        hr.BEDROC(20.0)([1, 0], [1, 0])


@pytest.mark.parametrize("alpha", [1e-6, 1e-3, 600.0, 1e4])
def test_bedroc_stays_in_range_for_extreme_alpha(alpha):
    y, scores = [1, 0, 1, 0], [4, 3, 2, 1]
    assert hr.BEDROC(alpha)(y, scores[::-1]) + 1e-6 < hr.BEDROC(alpha)(y, scores) <= 1
    assert hr.BEDROC(alpha)([1, 1, 0, 0], scores) == pytest.approx(1)
    assert hr.BEDROC(alpha)([0, 0, 1, 1], scores) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    "bad",
    [
        lambda: hr.PartialAUC(max_fpr=0),
        lambda: hr.PartialAUC(min_fpr=0.5, max_fpr=0.2),
        lambda: hr.PartialAUC(max_fpr=1.5),
        lambda: hr.PartialAUC(max_fpr=float("nan")),
        lambda: hr.TwoWayPartialAUC(max_fpr=0.5, min_tpr=1.0),
        lambda: hr.LocalAUC(0),
        lambda: hr.LocalAUC(1.01),
        lambda: hr.PrecisionAt(0),
        lambda: hr.PrecisionAt(2.5),
        lambda: hr.BEDROC(0),
        lambda: hr.EnrichmentFactor(10, rounding="up"),
        lambda: hr.EnrichmentFactor(0.1, rounding="down"),
        lambda: hr.measure("tpauc@tpr=0.9:0.8"),
        lambda: hr.measure("tpauc@0.9"),
        lambda: hr.measure("nonsense"),
        lambda: hr.measure("pauc@"),
        lambda: hr.measure("pauc@a:b"),
        lambda: hr.measure("auc@0.5"),
    ],
)
def test_refuses_parameters_that_mean_nothing(bad):
    with pytest.raises(ValueError, match=r"must|expected|takes|unknown|cannot"):
        bad()

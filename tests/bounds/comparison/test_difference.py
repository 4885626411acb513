"""Paired differences of scorers: bounds, p-values, sentences, many at once."""

from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import headrank as hr
from headrank.bounds.comparison.difference import Difference, compare, difference_of
from headrank.bounds.comparison.evidence import Evidence
from headrank.bounds.comparison.many import compare_many, holm
from headrank.bounds.comparison.paired_pairs import count_dominated, disagreement, least_difference
from headrank.bounds.inequalities.chernoff import kl_lower
from headrank.bounds.intervals import interval_of
from headrank.datasets import Binormal
from headrank.exceptions import InvalidSampleError
from headrank.labels import check_binary
from headrank.measures import AUC
from reference.delong import mean_disagreement, paired_delong_variance
from reference.measures import expand
from strategies import Ranking, small_rankings


@st.composite
def two_scorers(draw: st.DrawFn, max_rows: int = 12) -> tuple[Ranking, np.ndarray]:
    ranking = draw(small_rankings(max_rows=max_rows))
    other = draw(st.lists(st.integers(-3, 3), min_size=len(ranking.y), max_size=len(ranking.y)))
    return ranking, np.array(other, dtype=float)


def noisy(n_pos: int = 200, n_neg: int = 800, noise: float = 0.7, seed: int = 0):
    y, a = Binormal(separation=1.5).sample_classes(n_pos, n_neg, random_state=seed)
    return y, a, a + np.random.default_rng(seed + 1000).normal(scale=noise, size=a.size)


# Counting pairs.


@given(two_scorers())
def test_disagreement_counts_pairs(scorers) -> None:
    (y, a, _), b = scorers
    expected = float(mean_disagreement(expand(y, a), expand(y, b)))
    assert disagreement(y == 1, a, b) == pytest.approx(expected, abs=1e-12)
    assert disagreement(y == 1, a, a) == pytest.approx(0, abs=1e-12)
    assert disagreement(y == 1, b, a) == pytest.approx(expected, abs=1e-12)
    assert disagreement(y == 1, a, np.exp(b)) == pytest.approx(expected, abs=1e-12)


@given(st.permutations(range(9)), st.lists(st.booleans(), min_size=9, max_size=9))
def test_dominated_pairs_are_counted_one_by_one(ranks: list[int], positive: list[bool]) -> None:
    for n in range(1, 10):  # sizes that are and are not powers of two
        first = np.argsort(np.argsort(ranks[:n]))
        pairs = [(i, j) for j in range(n) for i in range(j) if positive[j] and not positive[i]]
        counted = sum(bool(first[i] < first[j]) for i, j in pairs)
        assert count_dominated(first, np.array(positive[:n])) == counted


# The Chernoff bound.


def test_with_full_disagreement_it_is_the_kl_bound() -> None:
    for mean, k in ((0.0, 10), (0.3, 50), (-0.5, 200), (1.0, 5)):
        bound = 2 * kl_lower((1 + mean) / 2, k, 0.9 * 0.025) - 1
        assert least_difference(mean, 1.0, k, 0.025) == pytest.approx(bound, abs=1e-12)


def test_without_disagreement_it_is_a_count_of_none() -> None:
    # Never seen to differ: E|h| is at most s = 1 - (risk/10)^(1/k), and no difference is seen with probability
    # (1 - s + sqrt(s^2 - d^2))^k at most when it is d.
    s, seen = 1 - exp(log(0.005) / 100), exp(log(0.045) / 100)
    assert least_difference(0.0, 0.0, 100, 0.05) == pytest.approx(-sqrt(s**2 - (seen - 1 + s) ** 2), rel=1e-9)


@given(
    st.floats(-1, 1),
    st.floats(0, 1),
    st.integers(1, 10**6),
    st.sampled_from([1 - 1e-9, 0.5, 0.05, 1e-6, 1e-15]),
)
def test_the_bound_is_a_bound_of_the_right_shape(mean: float, share: float, k: int, risk: float) -> None:
    spread = abs(mean) + share * (1 - abs(mean))
    low = least_difference(mean, spread, k, risk)
    assert -1 <= low <= mean
    assert low <= least_difference(mean, spread, 2 * k, risk) + 1e-12  # more rows
    assert low <= least_difference(mean, spread, k, min(1 - 1e-9, 2 * risk)) + 1e-12  # more risk
    if abs(mean) <= 0.9 * spread:
        assert low <= least_difference(mean, 0.9 * spread, k, risk) + 1e-12  # less disagreement
    hoeffding = mean - sqrt(-2 * log(0.9 * risk) / k)
    assert low >= hoeffding - 1e-9


def test_agreeing_scorers_are_bounded_much_closer_than_by_hoeffding() -> None:
    low = least_difference(0.01, 0.03, 1000, 0.025)
    assert 0.01 - low < 0.3 * sqrt(2 * log(1 / 0.025) / 1000)


# compare


@pytest.mark.parametrize("method", ["auto", "paired", "delong", "bootstrap"])
def test_the_difference_is_that_of_the_measures(method: str) -> None:
    y, a, b = noisy()
    found = compare(y, a, b, method=method, n_replicates=99, random_state=0)
    assert found.estimate == pytest.approx(hr.AUC()(y, a) - hr.AUC()(y, b), abs=1e-12)
    assert found.values == pytest.approx((hr.AUC()(y, a), hr.AUC()(y, b)))
    assert -1 <= found.low <= found.estimate <= found.high <= 1
    assert found.finite_sample == (method in ("auto", "paired"))
    assert (found.n_pos, found.n_neg) == (200, 800)


@pytest.mark.parametrize("method", ["paired", "delong", "bootstrap"])
def test_swapping_the_scorers_mirrors_the_difference(method: str) -> None:
    y, a, b = noisy()
    there = compare(y, a, b, method=method, n_replicates=199, random_state=0)
    back = compare(y, b, a, method=method, n_replicates=199, random_state=0)
    assert (back.low, back.estimate, back.high) == pytest.approx((-there.high, -there.estimate, -there.low), abs=1e-9)
    assert back.p_value == pytest.approx(there.p_value, rel=1e-6)
    lower, upper = (
        compare(y, x, z, method=method, side=side, n_replicates=199, random_state=0).p_value
        for x, z, side in ((a, b, "lower"), (b, a, "upper"))
    )
    assert lower == pytest.approx(upper, rel=1e-6)


@given(two_scorers())
def test_paired_delong_by_definition(scorers) -> None:
    (y, a, _), b = scorers
    assume(2 <= y.sum() <= y.size - 2)
    error = sqrt(paired_delong_variance(expand(y, a), expand(y, b)))
    if error == 0:
        with pytest.raises(ValueError, match="sees no uncertainty"):
            compare(y, a, b, method="delong")
        return
    found = compare(y, a, b, method="delong")
    z = 1.959963984540054
    assert found.low == pytest.approx(max(found.estimate - z * error, -1), abs=1e-9)
    assert found.high == pytest.approx(min(found.estimate + z * error, 1), abs=1e-9)


def test_delong_p_value_is_the_normal_one() -> None:
    from scipy.stats import norm

    y, a, b = noisy()
    found = compare(y, a, b, method="delong")
    error = (found.high - found.estimate) / norm.ppf(0.975)
    assert found.p_value == pytest.approx(2 * norm.sf(found.estimate / error), rel=1e-6)
    above = compare(y, a, b, method="delong", side="lower")
    assert above.p_value == pytest.approx(norm.sf(found.estimate / error), rel=1e-6)
    assert above.high == 1.0
    below = compare(y, a, b, method="delong", side="upper")
    assert below.p_value == pytest.approx(norm.cdf(found.estimate / error), rel=1e-6)


@pytest.mark.parametrize("measure", ["pauc@0.1", "pauc@0.02:0.1", "spauc@0.1"])
def test_delong_of_partial_areas_agrees_with_the_bootstrap(measure: str) -> None:
    y, a, b = noisy(500, 4000)
    ours = compare(y, a, b, measure=measure, method="delong")
    drawn = compare(y, a, b, measure=measure, method="bootstrap", n_replicates=600, random_state=0)
    assert ours.high - ours.low == pytest.approx(drawn.high - drawn.low, rel=0.12)
    assert ours.estimate == pytest.approx(drawn.estimate, abs=1e-12)


@pytest.mark.parametrize("method", ["paired", "delong", "bootstrap"])
@pytest.mark.parametrize("side", ["two-sided", "lower", "upper"])
def test_p_values_go_with_the_intervals(method: str, side: str) -> None:
    y, a, b = noisy(100, 300, noise=0.3)
    p = compare(y, a, b, method=method, side=side, n_replicates=999, random_state=0).p_value
    assert p > 0.001
    if p < 1:
        wide = compare(y, a, b, method=method, side=side, confidence=1 - p * 0.98, n_replicates=999, random_state=0)
        assert not wide.told_apart
    if p < 0.9:
        assert compare(
            y, a, b, method=method, side=side, confidence=1 - p * 1.02, n_replicates=999, random_state=0
        ).told_apart


@pytest.mark.parametrize("measure", ["pauc@0.1", "tpr@fpr=0.1", "fpr@tpr=0.5"])
def test_other_measures_take_an_interval_for_each_scorer_at_half_the_risk(measure: str) -> None:
    y, a, b = noisy(300, 900, noise=3.0)
    found = compare(y, a, b, measure=measure, method="separate")
    what = hr.measure(measure)
    first, second = (
        interval_of(hr.RocCurve.from_scores(y, scores), what, confidence=1 - 0.05 / 2) for scores in (a, b)
    )
    assert found.method == "separate"
    assert found.finite_sample
    assert "conservative" in found.theorem
    assert (found.low, found.high) == pytest.approx((first.low - second.high, first.high - second.low), abs=1e-9)
    assert found.told_apart == (found.p_value <= 0.05)
    one = compare(y, a, b, measure=measure, method="separate", side="lower")
    assert found.low <= one.low
    assert one.high == 1.0
    back = compare(y, b, a, measure=measure, method="separate")
    assert (back.low, back.high) == pytest.approx((-found.high, -found.low))


def test_pairing_pays_where_the_scorers_agree() -> None:
    y, a, b = noisy(300, 900, noise=0.1)
    apart, together = (compare(y, a, b, method=method) for method in ("separate", "paired"))
    assert together.high - together.low < 0.6 * (apart.high - apart.low)


def test_equal_scorers_are_never_told_apart() -> None:
    y, a, _ = noisy(100, 300)
    same = compare(y, a, 2 * a)
    assert same.estimate == 0
    assert same.p_value == 1
    assert same.low < 0 < same.high
    assert "a and b are equal" in str(same)
    for method in ("delong", "bootstrap"):
        with pytest.raises(ValueError, match="sees no uncertainty"):
            compare(y, a, 2 * a, method=method, n_replicates=99, random_state=0)


def test_the_bootstrap_is_paired() -> None:
    y, a, b = noisy(300, 900, noise=0.1)
    together = compare(y, a, b, method="bootstrap", n_replicates=299, random_state=0)
    from headrank.bounds.asymptotic.bootstrap import bootstrap

    alone = bootstrap(hr.RocCurve.from_scores(y, a), hr.AUC(), n_replicates=299, random_state=0)
    assert together.high - together.low < 0.5 * alone.width
    assert compare(y, a, b, method="bootstrap", n_replicates=299, random_state=0, n_jobs=2) == together


def test_queries_are_the_units_where_there_are_some() -> None:
    y, a, b = noisy(600, 600)
    qid = np.random.default_rng(0).integers(0, 150, y.size)
    for method in ("auto", "bootstrap"):
        found = compare(y, a, b, qid=qid, measure="auc", method=method, random_state=0)
        assert found.estimate == pytest.approx(hr.AUC()(y, a, qid=qid) - hr.AUC()(y, b, qid=qid))
        assert found.low < found.estimate < found.high
        assert "queries" in found.assumptions
    assert compare(y, a, b, qid=qid, measure="p@2").finite_sample
    with pytest.raises(ValueError, match="method='bootstrap'"):
        compare(y, a, b, qid=qid, measure="ef@2")
    with pytest.raises(ValueError, match="'auto'"):
        compare(y, a, b, qid=qid, method="delong")


def test_weights_and_clusters_need_the_bootstrap() -> None:
    y, a, b = noisy(60, 200)
    weights = np.ones(y.size)
    weights[:10] = 0
    clusters = np.arange(y.size) // 2
    for method in ("auto", "paired", "delong"):
        with pytest.raises(ValueError, match="bootstrap"):
            compare(y, a, b, method=method, sample_weight=weights)
        with pytest.raises(ValueError, match="bootstrap"):
            compare(y, a, b, method=method, clusters=clusters)
    found = compare(
        y, a, b, method="bootstrap", sample_weight=weights, clusters=clusters, n_replicates=99, random_state=0
    )
    without = compare(
        y[10:], a[10:], b[10:], method="bootstrap", clusters=clusters[10:], n_replicates=99, random_state=0
    )
    assert (found.low, found.high) == pytest.approx((without.low, without.high))
    assert (found.n_pos, found.n_neg) == (50, 200)


@pytest.mark.parametrize(
    ("y", "a", "b"),
    [
        ([1, 0], [2, 1], [1, 2]),
        ([1, 0], [1, 1], [1, 1]),
        ([1, 0, 0, 0], [4, 3, 2, 1], [4, 3, 2, 1]),
        ([1, 1, 1, 0], [4, 3, 2, 1], [1, 2, 3, 4]),
        ([1, 1, 0, 0], [4, 3, 2, 1], [1, 2, 3, 4]),
    ],
)
@pytest.mark.parametrize("confidence", [1e-9, 0.95, 1 - 1e-12])
def test_tiny_samples(y: list[int], a: list[int], b: list[int], confidence: float) -> None:
    for side in ("two-sided", "lower", "upper"):
        found = compare(y, a, b, confidence=confidence, side=side)
        assert -1 <= found.low <= found.estimate <= found.high <= 1
        assert 0 <= found.p_value <= 1


def test_the_sentence_says_who_is_better_and_whether_it_is_certain() -> None:
    y, a, b = noisy(400, 2000, noise=2.0)
    sentence = str(compare(y, a, b, names=("clean", "noisy")))
    assert sentence.startswith("clean is better than noisy by 0.")
    assert "with 95 % confidence (betting: any distribution, any sample size), so they can be told apart" in sentence
    assert str(compare(y, b, a, names=("noisy", "clean"))).startswith("clean is better than noisy by 0.")
    lower_is_better = compare(y, a, b, measure="fpr@tpr=0.5", method="bootstrap", n_replicates=99, random_state=0)
    assert lower_is_better.estimate < 0
    assert str(lower_is_better).startswith("a is better than b by 0.")
    assert "asymptotic, for large samples" in str(lower_is_better)
    assert "is at least" in str(compare(y, a, b, side="lower"))
    assert repr(compare(y, a, b)).startswith("<Difference: a is better")


def test_the_frame_has_a_row_of_plain_values() -> None:
    y, a, b = noisy(50, 100)
    found = compare(y, a, b, names=("one", "other"))
    frame = found.to_frame()
    assert frame.shape[0] == 1
    assert frame["first"][0] == "one"
    assert frame["measure"][0] == "auc"
    assert frame["low"][0] == found.low


def test_it_refuses_what_it_cannot_do() -> None:
    y, a, b = noisy(50, 100)
    with pytest.raises(ValueError, match="method must be one of"):
        compare(y, a, b, method="magic")
    with pytest.raises(ValueError, match="'delong'"):
        compare(y, a, b, measure="pauc@0.1", method="paired")
    with pytest.raises(ValueError, match="not for p@5"):
        compare(y, a, b, measure="p@5", method="delong")
    with pytest.raises(ValueError, match="use at least"):
        compare(y, a, b, method="bootstrap", n_replicates=10)
    with pytest.raises(InvalidSampleError, match="one value per row"):
        compare(y, a, b[:-1])
    with pytest.raises(InvalidSampleError):
        compare(y, a, np.where(b > 0, b, np.nan))
    with pytest.raises(ValueError, match="both classes"):
        compare(np.ones(5), a[:5], b[:5])


# compare_many


def test_holms_correction() -> None:
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm(np.array([0.7, 0.6])) == pytest.approx([1.0, 1.0])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_holm_keeps_the_order_and_lies_between_the_raw_and_bonferronis(p: list[float]) -> None:
    raw = np.array(p)
    adjusted = holm(raw)
    assert np.all(adjusted >= raw)
    assert np.all(adjusted <= np.minimum(raw.size * raw, 1))
    assert np.all(np.diff(adjusted[np.argsort(raw)]) >= 0)


@pytest.mark.parametrize("method", ["auto", "delong", "bootstrap"])
def test_many_are_the_pairs_at_a_higher_confidence(method: str) -> None:
    y, a, b = noisy(150, 300)
    c = -np.abs(a)
    many = compare_many({"a": a, "b": b, "c": c}, y, method=method, n_replicates=400, random_state=0)
    assert [difference.names for difference in many] == [("a", "b"), ("a", "c"), ("b", "c")]
    single = compare(y, a, b, method=method, confidence=1 - 0.05 / 3, n_replicates=400, random_state=0)
    if method == "bootstrap":  # drawn with a third scorer, but the same rows
        assert many["a", "b"].low == pytest.approx(single.low, abs=1e-12)
    else:
        assert many["a", "b"] == single
    raw = np.array([difference.p_value for difference in many])
    assert many.adjusted_p_values == pytest.approx(holm(raw))
    frame = many.to_frame()
    assert frame.shape[0] == 3
    assert frame["adjusted_p_value"].to_list() == list(many.adjusted_p_values)
    table = str(many).splitlines()
    assert len(table) == (11 if method == "auto" else 5)
    assert table[2].startswith("a - b")


def test_all_against_one() -> None:
    y, a, b = noisy(150, 300)
    many = compare_many({"a": a, "b": b, "c": -a}, y, against="b")
    assert [difference.names for difference in many] == [("a", "b"), ("c", "b")]
    assert isinstance(many["c", "b"], Difference)
    assert many["c", "b"].estimate < 0
    with pytest.raises(KeyError, match="no difference is named"):
        many["b", "a"]
    with pytest.raises(ValueError, match="not one of the scorers"):
        compare_many({"a": a, "b": b}, y, against="z")
    with pytest.raises(ValueError, match="at least two"):
        compare_many({"a": a}, y)


@pytest.mark.parametrize(("monotone", "expected"), [(True, 1e-5), (False, 0.1)])
def test_a_bound_that_is_not_monotone_gives_the_largest_risk_at_which_0_is_inside(monotone, expected) -> None:
    """Excluded from a risk of 1e-5 on, but for the risks between 0.02 and 0.09."""

    def lower(risk: float) -> float:
        return 1.0 if risk >= 1e-5 and not 0.02 < risk < 0.09 else -1.0

    evidence = Evidence((0.8, 0.7), lower, lambda _risk: 1.0, "made up", "", "", monotone=monotone)
    y, a, _ = noisy(3, 5, noise=1.0)
    made = difference_of(evidence, AUC(), ("a", "b"), check_binary(y, a), 0.95, "lower")
    assert made.p_value == pytest.approx(expected, rel=1e-3)


def test_p_values_are_exact_far_below_1e_12() -> None:
    y, a, b = noisy(2000, 2000, noise=8.0)
    assert 1e-300 < compare(y, a, b, method="delong").p_value < 1e-30
    assert 1e-300 < compare(y, a, b, method="paired").p_value < 1e-30
    assert "(p < 1e-12)" in str(compare(y, a, b, method="paired"))

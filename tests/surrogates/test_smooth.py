"""Laws that every smooth surrogate obeys; a new learnable measure joins the list below and inherits them all."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import headrank as hr
from headrank.measures.names import MEASURES
from headrank.surrogates import RowFacts, surrogate_for
from headrank.surrogates.soft_counts import Crowd, soft_step
from reference import smooth as slow
from strategies import RATES, ranges, rates

below_one = st.sampled_from([rate for rate in RATES if rate < 1])
first_rows = st.sampled_from([1, 2, 5]) | rates


def over_ranges(kind):
    return ranges.map(lambda ends: kind(min_fpr=ends[0], max_fpr=ends[1]))


# One strategy per measure that can be learned: all its parameters.
PAIRS = {
    hr.AUC: st.just(hr.AUC()),
    hr.PartialAUC: over_ranges(hr.PartialAUC),
    hr.StandardizedPartialAUC: over_ranges(hr.StandardizedPartialAUC),
    hr.TwoWayPartialAUC: st.builds(hr.TwoWayPartialAUC, max_fpr=rates, min_tpr=st.just(0.0) | below_one),
    hr.FROCArea: st.sampled_from([(0.0, 0.5, 0.3), (0.2, 0.3, 0.7), (0.1, 3.3, 0.29)]).map(
        lambda p: hr.FROCArea(p[0], p[1], images_per_negative=p[2])
    ),
}
LOCAL = {
    kind: rates.map(kind)
    for kind in (hr.LocalAUC, hr.WRanking, hr.MassConstrainedError, hr.LocalRankingRisk, hr.TopTPR)
}
FIRST = {kind: first_rows.map(kind) for kind in (hr.PrecisionAt, hr.RecallAt, hr.EnrichmentFactor, hr.Lift)}
RANKS = {
    hr.PNormPush: st.sampled_from([1, 0.5, 2, 8.5]).map(hr.PNormPush),
    hr.RankStatistic: st.sampled_from([np.sqrt, np.square]).map(hr.RankStatistic),
}
LEARNABLE = {**PAIRS, **LOCAL, **FIRST, **RANKS}
NOT_LEARNABLE = [kind(0.3) for kind in (hr.TruncatedAUC, hr.TopFPR, hr.LocalRankingError, hr.TPRAtFPR, hr.FPRAtTPR)]
NOT_LEARNABLE += [hr.BEDROC(20.0), hr.KS()]
every_measure = pytest.mark.parametrize("kind", LEARNABLE, ids=lambda kind: kind.__name__)
some = settings(max_examples=settings.default.max_examples // 2)
few = settings(max_examples=settings.default.max_examples // 4)
bandwidths = st.sampled_from([0.2, 0.3, 0.7, 2.0, 10.0])


class Rows(NamedTuple):
    """Rows in any order, with what is known of them."""

    y: np.ndarray
    scores: np.ndarray
    weights: np.ndarray | None = None
    queries: np.ndarray | None = None

    @property
    def written_out(self):
        weights = np.ones(self.y.size) if self.weights is None else self.weights
        queries = np.zeros(self.y.size, int) if self.queries is None else self.queries
        columns = (part.tolist() for part in (self.y, self.scores, weights, queries))
        return [slow.Row(*row) for row in zip(*columns, strict=True)]

    @property
    def facts(self):
        return RowFacts(*(None if part is None else part[self.y == k] for part in self[2:] for k in (1, 0)))

    def take(self, at):
        return Rows(*(None if part is None else part[at] for part in self))

    def scored(self, scores):
        return self._replace(scores=scores)

    def slow(self, what, measure, h, *along):
        return what(measure, self.written_out, h, *along, weighted=self.weights is not None)

    def measured(self, measure):
        return measure(self.y, self.scores, sample_weight=self.weights, qid=self.queries)


def cut_of(measure, rows, h):
    """The risk, and its derivative in the order of the rows."""
    cut = surrogate_for(measure, "smooth", rows.facts, bandwidth=h)(*(rows.scores[rows.y == k] for k in (1, 0)))
    coef = np.empty(rows.y.size)
    coef[rows.y == 1], coef[rows.y == 0] = cut.pos_coef, cut.neg_coef
    return cut.risk, coef


def same(one, other, tol=1e-8):
    assert one[0] == pytest.approx(other[0], rel=tol, abs=tol)
    np.testing.assert_allclose(one[1], other[1], rtol=tol, atol=tol)


def untied(draw, n):
    """Scores that differ by a tenth at least."""
    gaps = np.random.default_rng(draw(st.integers(0, 10**6))).uniform(0.1, 1, n)
    return np.cumsum(gaps)[np.array(draw(st.permutations(range(n))))] - 3


def tied(draw, n):
    return np.array(draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n)), dtype=float)


@st.composite
def some_rows(draw, scores=None, weights=(None, [0.75, 1, 2, 3, 0]), grouped=(False, True), max_rows=9):
    """A few rows of both classes, not all tied, with weights and queries or without."""
    n = draw(st.integers(2, max_rows))
    y = np.array([1, 0, *draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))])
    values = (draw(st.sampled_from([tied, untied])) if scores is None else scores)(draw, n)
    choice, drawn = draw(st.sampled_from(weights)), None
    if choice is not None:
        drawn = np.array(draw(st.lists(st.sampled_from(choice), min_size=n, max_size=n)), dtype=float)
        drawn[:2] = np.maximum(drawn[:2], choice[0])
    queries = None
    if draw(st.sampled_from(grouped)):
        queries = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
        queries[1] = queries[0]
    rows = Rows(y, values, drawn, queries).take(np.array(draw(st.permutations(range(n)))))
    assume(slow.has_scale(rows.written_out))
    return rows


# The list


def test_the_list_is_complete():
    assert set(LEARNABLE) == set(slow.TWINS)
    assert not set(LEARNABLE) & {type(measure) for measure in NOT_LEARNABLE}
    assert set(LEARNABLE) | {type(measure) for measure in NOT_LEARNABLE} == set(MEASURES)


@pytest.mark.parametrize("measure", NOT_LEARNABLE, ids=str)
def test_the_others_are_refused(measure):
    with pytest.raises(ValueError, match=r"has no smooth surrogate; learn a measure that has"):
        surrogate_for(measure, "smooth")


# Equal to the definition


@every_measure
@given(data=st.data(), h=bandwidths)
@some
def test_equals_its_slow_twin(kind, data, h):
    measure, rows = data.draw(LEARNABLE[kind]), data.draw(some_rows())
    tol = 1e-6 if kind is hr.RankStatistic else 1e-8  # phi is read between knots
    assert cut_of(measure, rows, h)[0] == pytest.approx(rows.slow(slow.risk, measure, h), rel=tol, abs=tol)


@every_measure
@given(data=st.data(), h=bandwidths)
@some
def test_the_gradient_is_that_of_the_twin(kind, data, h):
    """Where no scores tie: where two rows swap places that count differently, a range makes a kink."""
    measure, rows = data.draw(LEARNABLE[kind]), data.draw(some_rows(scores=untied, max_rows=7))
    tol = 1e-3 if kind is hr.RankStatistic else 1e-5
    along = np.random.default_rng(data.draw(st.integers(0, 10**6))).normal(size=rows.y.size)
    slope = rows.slow(slow.derivative, measure, h, along.tolist())
    assert cut_of(measure, rows, h)[1] @ along == pytest.approx(slope, rel=tol, abs=tol)


@pytest.mark.parametrize("kind", [hr.AUC, *LOCAL, *FIRST, *RANKS], ids=lambda kind: kind.__name__)
@given(data=st.data(), h=bandwidths)
@few
def test_without_a_range_ties_are_no_kinks(kind, data, h):
    measure, rows = data.draw(LEARNABLE[kind]), data.draw(some_rows(scores=tied, max_rows=6))
    along = np.random.default_rng(data.draw(st.integers(0, 10**6))).normal(size=rows.y.size)
    slope = rows.slow(slow.derivative, measure, h, along.tolist())
    assert cut_of(measure, rows, h)[1] @ along == pytest.approx(slope, rel=1e-3, abs=1e-3)


def hard(measure, rows):
    """What the risk tends to: 1 - measure, the measure where lower is better, 1 - recall for those that count rows."""
    if isinstance(measure, tuple(FIRST)):
        return 1 - rows.measured(hr.RecallAt(measure.k))
    return 1 - rows.measured(measure) if measure.greater_is_better else rows.measured(measure)


def reach_of_none(rows):
    """A bandwidth with which no row of a list is within reach of the same border as another."""
    z = slow.standardised(rows.written_out, 1.0, weighted=False)
    gaps = [np.diff(np.sort([score for score, _ in ranked.rows])).min() for ranked in z]
    return min(gaps) / 2.01


@every_measure
@given(data=st.data(), fraction=st.sampled_from([1.0, 0.3, 0.01]))
@few
def test_tends_to_the_measure(kind, data, fraction):
    measure = data.draw(LEARNABLE[kind])
    # By weight, the local measures keep the row at the border whole, and their surrogates cut it.
    rows = data.draw(some_rows(scores=untied, weights=(None,) if kind in LOCAL else (None, [0.75, 1, 2, 3, 0])))
    if kind in FIRST and measure.is_count and rows.weights is not None:
        assume(measure.k <= min(ranked.n for ranked in slow.standardised(rows.written_out, 1.0, weighted=True)))
    risk = cut_of(measure, rows, reach_of_none(rows) * fraction)[0]
    assert risk == pytest.approx(hard(measure, rows), rel=0, abs=1e-7)


@pytest.mark.parametrize("kind", [*LOCAL, hr.RecallAt], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("n", [99, 100])
def test_hundredths_of_a_hundred_rows(kind, n):
    """Where a share is a whole number of rows, in decimals if not in floats, the row after it is in the top as well."""
    rows = Rows(np.arange(n) * 7 % 3 % 2, np.arange(n) * 1.0)
    for measure in (kind(percent / 100) for percent in range(1, 101)):
        assert cut_of(measure, rows, 1e-3)[0] == pytest.approx(hard(measure, rows), rel=0, abs=1e-7)


@given(data=st.data(), rows=some_rows(scores=untied, weights=([0.75, 1, 2, 3, 0],)))
def test_by_weight_the_top_tends_to_exactly_that_fraction(data, rows):
    top, h = data.draw(rates), reach_of_none(rows) / 3
    found = 1 - rows.measured(hr.RecallAt(top))
    assert cut_of(hr.TopTPR(top), rows, h)[0] == pytest.approx(found, rel=0, abs=1e-7)
    if rows.queries is None:
        p = float(rows.weights @ rows.y / rows.weights.sum())
        error = p * found + (top - p * (1 - found))
        assert cut_of(hr.MassConstrainedError(top), rows, h)[0] == pytest.approx(error, rel=0, abs=1e-7)


# Invariances


@every_measure
@given(data=st.data(), h=bandwidths, shift=st.integers(-1000, 1000), scale=st.sampled_from([1e-6, 0.1, 7, 1e6]))
@few
def test_ignores_shift_and_scale(kind, data, h, shift, scale):
    measure, rows = data.draw(LEARNABLE[kind]), data.draw(some_rows(scores=untied))
    risk, coef = cut_of(measure, rows, h)
    same(cut_of(measure, rows.scored(rows.scores + shift), h), (risk, coef), tol=1e-7)
    scaled = cut_of(measure, rows.scored(rows.scores * scale), h)
    same((scaled[0], scaled[1] * scale), (risk, coef), tol=1e-7)


@every_measure
@given(data=st.data(), h=bandwidths)
@few
def test_the_gradient_is_orthogonal_to_what_changes_nothing(kind, data, h):
    """To the scores themselves, and in each list to a common shift."""
    measure, rows = data.draw(LEARNABLE[kind]), data.draw(some_rows())
    coef = cut_of(measure, rows, h)[1]
    assert coef @ rows.scores == pytest.approx(0, abs=1e-8)
    for query in [None] if rows.queries is None else set(rows.queries):
        assert coef[... if query is None else rows.queries == query].sum() == pytest.approx(0, abs=1e-8)


@every_measure
@given(data=st.data(), h=bandwidths)
@few
def test_ignores_the_order_of_rows(kind, data, h):
    measure, rows = data.draw(LEARNABLE[kind]), data.draw(some_rows(scores=untied))
    order = np.array(data.draw(st.permutations(range(rows.y.size))))
    risk, coef = cut_of(measure, rows, h)
    same(cut_of(measure, rows.take(order), h), (risk, coef[order]))
    ties = rows.scored(np.round(rows.scores))  # where a range makes a kink, either slope may come
    assume(slow.has_scale(ties.written_out))
    assert cut_of(measure, ties.take(order), h)[0] == pytest.approx(cut_of(measure, ties, h)[0], rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("level", [0.0, 0.1, 1 / 3, -7.7, 1e5 + 0.1])
@pytest.mark.parametrize("grouped", [False, True])
def test_constant_scores_are_refused(level, grouped):
    """Whatever their mean is rounded to; scores that are constant in each list have no scale either."""
    for n in (1, 2, 3, 5, 6, 11, 50):
        queries = np.arange(2 * n) // 2 if grouped else None
        scores = level + np.repeat(np.arange(n), 2) * 1.0 if grouped else np.full(2 * n, level)
        rows = Rows(np.tile([1, 0], n), scores, None, queries)
        for measure in (hr.AUC(), hr.LocalAUC(0.3), hr.PNormPush(2)):
            with pytest.raises(ValueError, match="constant"):
                cut_of(measure, rows, 0.3)
        if n > 2:
            rows.scores[0] += 1e-3
            assert np.isfinite(cut_of(hr.AUC(), rows, 0.3)[0])


# Weights


@pytest.mark.parametrize("kind", {**PAIRS, **RANKS, **FIRST}, ids=lambda kind: kind.__name__)
@given(data=st.data(), h=bandwidths)
@few
def test_whole_weights_are_copies(kind, data, h):
    """But for the local measures, which count rows: those are floor(u N) + 1, and weights cannot be counted."""
    measure = data.draw(LEARNABLE[kind])
    rows = data.draw(some_rows(scores=untied, weights=([1, 2, 3, 0],)))
    copied = np.repeat(np.arange(rows.y.size), rows.weights.astype(int))
    risk, coef = cut_of(measure, rows.take(copied)._replace(weights=None), h)
    same(cut_of(measure, rows, h), (risk, np.bincount(copied, weights=coef, minlength=rows.y.size)))
    ties = rows.scored(np.round(rows.scores))
    assume(slow.has_scale(ties.written_out))
    risk, _ = cut_of(measure, ties.take(copied)._replace(weights=None), h)
    assert cut_of(measure, ties, h)[0] == pytest.approx(risk, rel=1e-8, abs=1e-8)


@every_measure
@given(data=st.data(), h=bandwidths)
@few
def test_a_weight_of_zero_is_an_absent_row(kind, data, h):
    measure = data.draw(LEARNABLE[kind])
    rows = data.draw(some_rows(scores=untied, weights=([0.75, 0, 2],)))
    there = rows.weights > 0
    risk, coef = cut_of(measure, rows, h)
    same(cut_of(measure, rows.take(there), h), (risk, coef[there]))
    assert not coef[~there].any()


@pytest.mark.parametrize(
    "kind", {**PAIRS, hr.LocalAUC: 0, hr.TopTPR: 0, hr.MassConstrainedError: 0}, ids=lambda kind: kind.__name__
)
@given(data=st.data(), h=bandwidths, factor=st.sampled_from([0.1, 1 / 3, 7, 1e-6, 1e6]))
@few
def test_shares_ignore_the_unit_of_weights(kind, data, h, factor):
    measure = data.draw(LEARNABLE[kind])
    rows = data.draw(some_rows(scores=untied, weights=([0.75, 1, 2, 3, 0],)))
    same(cut_of(measure, rows._replace(weights=rows.weights * factor), h), cut_of(measure, rows, h))


# Queries


@every_measure
@given(data=st.data(), h=bandwidths)
@few
def test_one_query_is_none_and_a_list_twice_is_worth_it_once(kind, data, h):
    measure, rows = data.draw(LEARNABLE[kind]), data.draw(some_rows(scores=untied, grouped=(False,)))
    risk, coef = cut_of(measure, rows, h)
    same(cut_of(measure, rows._replace(queries=np.full(rows.y.size, 2)), h), (risk, coef))
    twice = rows.take(np.tile(np.arange(rows.y.size), 2))._replace(queries=np.repeat([0, 1], rows.y.size))
    same(cut_of(measure, twice, h), (risk, np.tile(coef, 2) / 2))


@every_measure
@given(data=st.data(), h=bandwidths)
@few
def test_a_query_of_one_class_is_left_out(kind, data, h):
    measure, rows = data.draw(LEARNABLE[kind]), data.draw(some_rows(scores=untied, grouped=(True,)))
    label, n = data.draw(st.integers(0, 1)), data.draw(st.integers(1, 3))
    others = Rows(
        np.full(n, label),
        np.array(data.draw(st.lists(st.integers(-50, 50), min_size=n, max_size=n)), dtype=float),
        None if rows.weights is None else np.full(n, 2.0),
        np.full(n, 3),
    )
    joined = Rows(*(None if a is None else np.concatenate([a, b]) for a, b in zip(rows, others, strict=True)))
    risk, coef = cut_of(measure, rows, h)
    same(cut_of(measure, joined, h), (risk, np.concatenate([coef, np.zeros(n)])))


# Counting


@given(st.floats(-3, 3), st.sampled_from([0.1, 1.0, 2.5]))
def test_the_soft_step_is_the_integral_of_a_triangle(d, h):
    value, slope = soft_step(np.array([d]), h)
    rising, twice, falling = (max(d + shift, 0) ** 2 for shift in (h, 0, -h))
    assert value[0] == pytest.approx((rising - 2 * twice + falling) / (2 * h**2), rel=1e-9, abs=1e-9)
    assert value[0] == pytest.approx(slow.soft_step(d, h), rel=1e-12, abs=1e-12)
    assert slope[0] == pytest.approx(max(1 - abs(d) / h, 0) / h, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("reach", [0.003, 0.1, 1.0])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("tails", [False, True])
def test_a_crowd_of_thousands(reach, grouped, tails):
    """Sums of squares lose no digits that matter: against all pairs, with and without rows far out."""
    rng = np.random.default_rng(0)
    values, weights = (rng.standard_t(3, 4000) if tails else rng.normal(size=4000)), rng.uniform(0, 2, 4000)
    points = np.concatenate([rng.normal(size=300), values[:300]])
    queries, of_points = (rng.integers(0, 5, size) for size in (4000, 600))
    if not grouped:
        queries[:], of_points[:] = 0, 0
    order = np.lexsort((values, queries))
    crowd = Crowd(values[order], weights[order], queries[order] if grouped else None, 5)
    count, slope = crowd.below(points, of_points if grouped else None, reach)
    value, rise = soft_step(points[:, None] - values, reach)
    together = weights * (of_points[:, None] == queries)
    np.testing.assert_allclose(count, (value * together).sum(axis=1), rtol=1e-7, atol=1e-5)
    np.testing.assert_allclose(slope, (rise * together).sum(axis=1), rtol=1e-7, atol=1e-5)


# Types


@every_measure
@given(data=st.data())
@few
def test_float32_and_whole_scores_and_leaves_them_alone(kind, data):
    measure, rows = data.draw(LEARNABLE[kind]), data.draw(some_rows(scores=tied))
    expected = cut_of(measure, rows, 0.5)
    for dtype in (np.float32, np.int64):
        scores = rows.scores.astype(dtype)
        before = scores.copy()
        pos, neg = scores[rows.y == 1], scores[rows.y == 0]
        cut = surrogate_for(measure, "smooth", rows.facts, bandwidth=0.5)(pos, neg)
        assert cut.pos_coef.dtype == cut.neg_coef.dtype == np.float64
        assert cut.risk == pytest.approx(expected[0], rel=1e-9, abs=1e-9)
        assert (pos == before[rows.y == 1]).all()
        assert (neg == before[rows.y == 0]).all()

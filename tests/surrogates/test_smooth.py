"""Laws that every smooth surrogate obeys."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import headrank as hr
from headrank.measures.names import MEASURES
from headrank.surrogates import surrogate_for
from headrank.surrogates.registry import smooth_for
from reference import smooth as slow
from reference.smooth_rows import (
    FIRST,
    LEARNABLE,
    LOCAL,
    NOT_LEARNABLE,
    PAIRS,
    RANKS,
    Rows,
    bandwidths,
    cut_of,
    every_measure,
    few,
    same,
    some,
    some_rows,
    tied,
    untied,
)

# The list


def test_the_list_is_complete():
    assert set(LEARNABLE) == set(slow.TWINS)
    assert set(LEARNABLE) == {
        kind for kind in MEASURES if smooth_for.dispatch(kind) is not smooth_for.dispatch(hr.Measure)
    }


@pytest.mark.parametrize("measure", NOT_LEARNABLE, ids=str)
def test_the_others_are_refused(measure):
    with pytest.raises(ValueError, match=r"has no smooth surrogate; use .logistic. or .*, or learn one of"):
        surrogate_for(measure, "smooth")


# Equal to the definition


@every_measure
@given(data=st.data(), h=bandwidths)
@some
def test_equals_its_slow_twin(kind, data, h):
    measure, rows = data.draw(LEARNABLE[kind]), data.draw(some_rows())
    assert cut_of(measure, rows, h)[0] == pytest.approx(rows.slow(slow.risk, measure, h), rel=1e-8, abs=1e-8)


@every_measure
@given(data=st.data(), h=bandwidths)
@some
def test_the_gradient_is_that_of_the_twin(kind, data, h):
    """Where no scores tie: where two rows swap places that count differently, a range makes a kink."""
    measure, rows = data.draw(LEARNABLE[kind]), data.draw(some_rows(scores=untied, max_rows=7))
    tol = 1e-3 if kind is hr.RankStatistic else 1e-5  # known by its values, phi has a difference for a slope
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


@every_measure
@given(data=st.data(), h=bandwidths)
@few
def test_whole_weights_are_copies(kind, data, h):
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
    far = rows.scored(np.where(there, rows.scores, data.draw(st.sampled_from([1e14, -1e14, 1e200, -1e200]))))
    same(cut_of(measure, far, h), (risk, coef))


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
    unit = data.draw(st.sampled_from([1.0, 1e14]))
    others = Rows(
        np.full(n, label),
        unit * np.array(data.draw(st.lists(st.integers(-50, 50), min_size=n, max_size=n)), dtype=float),
        None if rows.weights is None else np.full(n, 2.0),
        np.full(n, 3),
    )
    joined = Rows(*(None if a is None else np.concatenate([a, b]) for a, b in zip(rows, others, strict=True)))
    risk, coef = cut_of(measure, rows, h)
    same(cut_of(measure, joined, h), (risk, np.concatenate([coef, np.zeros(n)])))


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

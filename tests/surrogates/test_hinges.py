"""Laws that every convex hinge of the partial AUC obeys; a new one joins the list below and inherits them all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrank as hr
from headrank.surrogates import RowFacts, StructuralHinge, TightHinge, surrogate_for
from headrank.surrogates.registry import KINDS
from reference import surrogates as slow
from scored_rows import Rows, any_rows, grouped_rows, halves, plain_rows, vectors, weighted_rows
from strategies import RANGES, ranges

TIGHT = {StructuralHinge: False, TightHinge: True}
hinges = pytest.mark.parametrize("hinge", TIGHT)


def cut_of(hinge, rows, ends):
    return hinge(*ends, rows.facts)(rows.pos, rows.neg)


def test_the_list_is_complete():
    measure = hr.PartialAUC(min_fpr=0.1, max_fpr=0.3)
    made = [surrogate_for(measure, name) for name, kind in KINDS.items() if kind.needs_range]
    assert {type(each) for each in made} == set(TIGHT)
    assert {(each.min_fpr, each.max_fpr) for each in made} == {(0.1, 0.3)}


# Equal to brute force


@hinges
@given(rows=plain_rows(max_pos=2, max_neg=4), ends=ranges)
def test_is_the_worst_of_all_orderings(hinge, rows, ends):
    expected = slow.over_all_orderings(rows.pos.tolist(), rows.neg.tolist(), *ends, tight=TIGHT[hinge])
    assert cut_of(hinge, rows, ends).risk == pytest.approx(float(expected), rel=1e-9, abs=1e-9)


@hinges
@given(rows=plain_rows(max_pos=5, max_neg=14), ends=ranges)
def test_is_the_worst_ordering_of_longer_lists(hinge, rows, ends):
    expected = slow.in_order_of_scores(rows.pos.tolist(), rows.neg.tolist(), *ends, tight=TIGHT[hinge])
    assert cut_of(hinge, rows, ends).risk == pytest.approx(float(expected), rel=1e-9, abs=1e-9)


@given(rows=plain_rows(max_pos=2, max_neg=4), ends=ranges)
def test_the_short_cut_for_longer_lists_is_right(rows, ends):
    for tight in (False, True):
        lists = rows.pos.tolist(), rows.neg.tolist()
        assert slow.in_order_of_scores(*lists, *ends, tight=tight) == slow.over_all_orderings(
            *lists, *ends, tight=tight
        )


@hinges
@pytest.mark.parametrize("ends", [(0.0, 0.07), (0.07, 0.14), (0.28, 0.29), (0.0, 0.55), (0.29, 0.57)])
@pytest.mark.parametrize("grouped", [False, True])
def test_an_end_that_is_whole_in_decimals_is_whole(hinge, ends, grouped):
    """0.07 * 100 is a little more than 7 in floating point; the eighth negative is not in the range."""
    neg, pos = np.linspace(5, -5, 100), np.array([-0.5, 1.0])
    facts = RowFacts(pos_queries=np.zeros(2, int), neg_queries=np.zeros(100, int)) if grouped else RowFacts()
    expected = slow.in_order_of_scores(pos.tolist(), neg.tolist(), *ends, tight=TIGHT[hinge])
    assert hinge(*ends, facts)(pos, neg).risk == pytest.approx(float(expected), rel=1e-9)


@hinges
@given(rows=plain_rows(max_neg=6))
def test_the_whole_range_is_the_pairwise_hinge(hinge, rows):
    expected = slow.mean_pairwise_hinge(rows.pos.tolist(), rows.neg.tolist())
    assert cut_of(hinge, rows, (0.0, 1.0)).risk == pytest.approx(float(expected), rel=1e-9, abs=1e-9)


# The other three laws, and what follows from them


@hinges
@given(data=st.data(), rows=any_rows, ends=ranges)
def test_is_a_subgradient(hinge, data, rows, ends):
    elsewhere = rows.scored(data.draw(vectors(rows.pos.size)), data.draw(vectors(rows.neg.size)))
    cut, other = cut_of(hinge, rows, ends), cut_of(hinge, elsewhere, ends)
    rise = cut.pos_coef @ (elsewhere.pos - rows.pos) + cut.neg_coef @ (elsewhere.neg - rows.neg)
    assert other.risk >= cut.risk + rise - 1e-9 * (1 + abs(rise))
    middle = cut_of(hinge, rows.scored((rows.pos + elsewhere.pos) / 2, (rows.neg + elsewhere.neg) / 2), ends)
    assert middle.risk <= (cut.risk + other.risk) / 2 + 1e-9 * (1 + other.risk)


@hinges
@given(rows=any_rows, ends=ranges)
def test_the_offset_is_the_height_of_the_plane_at_0(hinge, rows, ends):
    cut = hinge(*ends, rows.facts)(rows.pos, rows.neg)
    assert cut.offset == pytest.approx(cut.risk - cut.pos_coef @ rows.pos - cut.neg_coef @ rows.neg, abs=1e-9)


@hinges
@given(rows=any_rows, ends=ranges, size=st.sampled_from([1e12, 1e18, 1e30]))
def test_the_offset_is_a_loss_however_large_the_scores(hinge, rows, ends, size):
    """That of the ordering found, which is one of all and so bounds the risk from below, be it the worst or not."""
    cut = hinge(*ends, rows.facts)(size * rows.pos, size * rows.neg)
    assert -1e-12 <= cut.offset <= 1 + 1e-12


@hinges
@given(data=st.data(), rows=any_rows, ends=ranges)
def test_the_subgradient_is_the_slope(hinge, data, rows, ends):
    """Where no two of the numbers that are compared are close, the derivative is that of a small step."""
    noise = np.random.default_rng(len(rows.pos)).uniform(0.05, 0.2, rows.pos.size + rows.neg.size)
    rows = rows.scored(rows.pos + noise[: rows.pos.size] * np.pi, rows.neg + noise[rows.pos.size :])
    step = 1e-6
    direction = rows.scored(data.draw(vectors(rows.pos.size)), data.draw(vectors(rows.neg.size)))
    moved = [
        cut_of(hinge, rows.scored(rows.pos + e * direction.pos, rows.neg + e * direction.neg), ends)
        for e in (-step, step)
    ]
    cut = cut_of(hinge, rows, ends)
    low, slope, high = (c.pos_coef @ direction.pos + c.neg_coef @ direction.neg for c in (moved[0], cut, moved[1]))
    secant, tol = (moved[1].risk - moved[0].risk) / (2 * step), 1e-5 * (1 + abs(low) + abs(high))
    assert low - tol <= slope <= high + tol  # slopes of a convex function rise
    assert low - tol <= secant <= high + tol


@hinges
@given(rows=any_rows, ends=ranges, shift=st.integers(-100, 100))
def test_ignores_a_common_shift(hinge, rows, ends, shift):
    cut, moved = cut_of(hinge, rows, ends), cut_of(hinge, rows.scored(rows.pos + shift, rows.neg + shift), ends)
    assert moved.risk == pytest.approx(cut.risk, rel=1e-9, abs=1e-9)
    assert cut.pos_coef.sum() + cut.neg_coef.sum() == pytest.approx(0, rel=1e-9, abs=1e-9)
    assert (cut.pos_coef <= 0).all()
    assert (cut.neg_coef >= -1e-15).all()


@hinges
@given(rows=any_rows, ends=ranges)
def test_bounds_the_loss(hinge, rows, ends):
    assert cut_of(hinge, rows, ends).risk >= rows.measured(*ends) - 1e-9


@hinges
@given(rows=any_rows, ends=ranges, level=halves)
def test_is_one_at_constant_scores(hinge, rows, ends, level):
    constant = rows.scored(np.full(rows.pos.size, level), np.full(rows.neg.size, level))
    assert cut_of(hinge, constant, ends).risk == pytest.approx(1, rel=1e-9, abs=1e-9)


@given(rows=any_rows, ends=ranges)
def test_the_tight_one_is_never_looser(rows, ends):
    tight, loose = cut_of(TightHinge, rows, ends).risk, cut_of(StructuralHinge, rows, ends).risk
    assert tight <= loose + 1e-9
    if ends[1] == 1:
        assert tight == pytest.approx(loose)


def test_the_tight_one_can_be_tighter():
    rows = Rows(np.array([-1.0]), np.array([2.0, 1.0, 0.0, 0.0]))
    assert cut_of(TightHinge, rows, (0.0, 0.25)).risk < cut_of(StructuralHinge, rows, (0.0, 0.25)).risk - 1


# Weights


@hinges
@given(rows=weighted_rows(), whole_ends=st.tuples(st.integers(0, 8), st.integers(1, 9)))
def test_whole_weights_are_copies(hinge, rows, whole_ends):
    """Where the ends of the range fall between copies; within a row of weight 1 the row is cut, a copy is not."""
    total = int(rows.facts.neg_weights.sum())
    low, high = whole_ends[0] % total, whole_ends[0] % total + whole_ends[1]
    ends = low / total, min(high, total) / total
    pos, neg = slow.copies(rows.pos, rows.facts.pos_weights), slow.copies(rows.neg, rows.facts.neg_weights)
    weighted, repeated = cut_of(hinge, rows, ends), hinge(*ends)(np.array(pos), np.array(neg))
    assert weighted.risk == pytest.approx(repeated.risk, rel=1e-9, abs=1e-9)
    assert weighted.risk == pytest.approx(
        float(slow.in_order_of_scores(pos, neg, *ends, tight=TIGHT[hinge])), rel=1e-9, abs=1e-9
    )


@hinges
@given(rows=weighted_rows(), ends=ranges, factor=st.sampled_from([0.1, 1 / 3, 7, 1e-6, 1e6]))
def test_weights_are_scale_free(hinge, rows, ends, factor):
    facts = RowFacts(rows.facts.pos_weights * factor, rows.facts.neg_weights * (2 * factor))
    one, other = cut_of(hinge, rows, ends), cut_of(hinge, rows._replace(facts=facts), ends)
    assert other.risk == pytest.approx(one.risk, rel=1e-9, abs=1e-9)


@hinges
@given(rows=weighted_rows(), ends=ranges)
def test_a_weight_of_zero_is_an_absent_row(hinge, rows, ends):
    pos, neg = rows.facts.pos_weights > 0, rows.facts.neg_weights > 0
    facts = RowFacts(rows.facts.pos_weights[pos], rows.facts.neg_weights[neg])
    with_zeros, without = cut_of(hinge, rows, ends), cut_of(hinge, Rows(rows.pos[pos], rows.neg[neg], facts), ends)
    assert with_zeros.risk == pytest.approx(without.risk, rel=1e-9, abs=1e-9)
    assert not with_zeros.pos_coef[~pos].any()
    assert not with_zeros.neg_coef[~neg].any()


@hinges
@given(rows=plain_rows(), ends=st.sampled_from([ends for ends in RANGES if ends[0] == 0 and ends[1] == 1]))
def test_weights_of_one_change_nothing(hinge, rows, ends):
    facts = RowFacts(np.ones(rows.pos.size), np.ones(rows.neg.size))
    plain, weighted = cut_of(hinge, rows, ends), cut_of(hinge, rows._replace(facts=facts), ends)
    assert weighted.risk == pytest.approx(plain.risk, rel=1e-9, abs=1e-9)


def test_a_weighted_row_kept_together_would_not_be_convex():
    """As structural.py claims: two negatives that change places, of which one is two rows, make the formula jump."""
    weights, ends = [3, 1], (0.0, 0.25)
    one_end, other_end = [-1.5, -1.0], [-0.5, -0.625]
    middle = [-1.0, -0.8125]

    def together(neg):
        return float(slow.kept_together([0.0], neg, weights, *ends))

    assert together(one_end) == together(other_end) == 0
    assert together(middle) == 0.1875
    ours = StructuralHinge(*ends, RowFacts(np.ones(1), np.array(weights, dtype=float)))
    risks = [ours(np.zeros(1), np.array(neg)).risk for neg in (one_end, middle, other_end)]
    assert risks[1] <= (risks[0] + risks[2]) / 2 + 1e-12


# Queries


@hinges
@given(rows=grouped_rows(), ends=ranges)
def test_queries_are_averaged(hinge, rows, ends):
    numbered = [(q, 1, s) for q, s in zip(rows.facts.pos_queries.tolist(), rows.pos.tolist(), strict=True)]
    numbered += [(q, 0, t) for q, t in zip(rows.facts.neg_queries.tolist(), rows.neg.tolist(), strict=True)]
    expected = slow.mean_over_queries(numbered, *ends, tight=TIGHT[hinge])
    assert cut_of(hinge, rows, ends).risk == pytest.approx(float(expected), rel=1e-9, abs=1e-9)


@hinges
@pytest.mark.parametrize("ends", RANGES)
@pytest.mark.parametrize("weighted", [False, True])
def test_many_queries_equal_the_loop(hinge, ends, weighted):
    rng = np.random.default_rng(0)
    positive, queries = rng.random(6_000) < 0.1, rng.integers(0, 300, 6_000)
    scores, weights = rng.normal(size=6_000) + positive, rng.uniform(0.5, 2, 6_000)

    def facts(rows, queries):
        given_weights = (weights[rows & positive], weights[rows & ~positive]) if weighted else (None, None)
        return RowFacts(*given_weights, *queries)

    everything = np.ones(6_000, dtype=bool)
    at_once = hinge(*ends, facts(everything, (queries[positive], queries[~positive])))(
        scores[positive], scores[~positive]
    )
    parts = [queries == q for q in range(300)]
    parts = [part for part in parts if 0 < np.count_nonzero(part & positive) < np.count_nonzero(part)]
    coef, risk = np.zeros(6_000), 0.0
    for part in parts:
        cut = hinge(*ends, facts(part, (None, None)))(scores[part & positive], scores[part & ~positive])
        coef[part & positive], coef[part & ~positive] = cut.pos_coef / len(parts), cut.neg_coef / len(parts)
        risk += cut.risk / len(parts)
    assert at_once.risk == pytest.approx(risk, rel=1e-9)
    np.testing.assert_allclose(
        np.concatenate([at_once.pos_coef, at_once.neg_coef]),
        np.concatenate([coef[positive], coef[~positive]]),
        atol=1e-9,
    )


# Order and types


@hinges
@given(data=st.data(), rows=any_rows, ends=ranges)
def test_the_order_of_rows_does_not_matter(hinge, data, rows, ends):
    p, n = (np.array(data.draw(st.permutations(range(scores.size)))) for scores in (rows.pos, rows.neg))
    f = rows.facts
    facts = [
        None if values is None else values[at]
        for values, at in zip((f.pos_weights, f.neg_weights, f.pos_queries, f.neg_queries), (p, n, p, n), strict=True)
    ]
    assert cut_of(hinge, Rows(rows.pos[p], rows.neg[n], RowFacts(*facts)), ends).risk == pytest.approx(
        cut_of(hinge, rows, ends).risk, abs=1e-9
    )


@hinges
@pytest.mark.parametrize("ends", [(0.0, 0.1), (0.03, 0.1), (0.0, 1.0)])
def test_float32_scores(hinge, ends):
    rng = np.random.default_rng(1)
    pos, neg = rng.normal(1, 1, 300).astype(np.float32), rng.normal(0, 1, 5000).astype(np.float32)
    weights = RowFacts(rng.uniform(0.5, 2, 300), rng.uniform(0.5, 2, 5000))
    for facts in (RowFacts(), weights):
        single, double = hinge(*ends, facts)(pos, neg), hinge(*ends, facts)(pos.astype(float), neg.astype(float))
        assert single.risk == pytest.approx(double.risk, rel=1e-6)
        assert single.pos_coef.dtype == single.neg_coef.dtype == np.float64
        np.testing.assert_allclose(single.neg_coef, double.neg_coef, atol=2e-3 / 300)


@hinges
@given(rows=any_rows, ends=ranges)
def test_leaves_the_scores_alone(hinge, rows, ends):
    before = rows.pos.copy(), rows.neg.copy()
    cut_of(hinge, rows, ends)
    assert (rows.pos == before[0]).all()
    assert (rows.neg == before[1]).all()

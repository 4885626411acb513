"""Laws of the surrogates that press the highest negatives down; a new one joins the list and inherits them all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrank as hr
from headrank.surrogates import KINDS, RowFacts, TauFPL, TightHinge, TopPush, surrogate_for
from reference import thresholds_of_negatives as slow
from reference.surrogates import copies
from scored_rows import Rows, any_rows, grouped_rows, halves, joined, plain_rows, vectors, weighted_rows
from strategies import rates

TWINS = {
    "toppush": lambda pos, neg, _rate: slow.top_push(pos, neg),
    "tau-fpl": slow.tau_fpl,
    "patmat": lambda pos, neg, rate: slow.pat_mat(pos, neg, rate, 1.0),
    "patmat@0.125": lambda pos, neg, rate: slow.pat_mat(pos, neg, rate, 0.125),
    "patmat@5": lambda pos, neg, rate: slow.pat_mat(pos, neg, rate, 5.0),
    "asymmetric": lambda pos, neg, rate: slow.asymmetric(pos, neg, rate, 1.0),
    "asymmetric@0": lambda pos, neg, rate: slow.asymmetric(pos, neg, rate, 0.0),
    "asymmetric@2.5": lambda pos, neg, rate: slow.asymmetric(pos, neg, rate, 2.5),
}
NAMES = ("toppush", "tau-fpl", "patmat", "asymmetric")
every = pytest.mark.parametrize("name", NAMES)


def close(value):
    return pytest.approx(float(value), rel=1e-9, abs=1e-9)


def cut_of(name, rows, rate):
    return surrogate_for(hr.PartialAUC(max_fpr=rate), name, rows.facts)(rows.pos, rows.neg)


def test_the_list_is_complete():
    assert {name for name, kind in KINDS.items() if kind.collapses and not kind.needs_range} == set(NAMES)


# Equal to brute force


@pytest.mark.parametrize("name", TWINS)
@given(rows=plain_rows(max_pos=5, max_neg=9), rate=rates)
def test_equals_its_slow_twin(name, rows, rate):
    expected = TWINS[name](rows.pos.tolist(), rows.neg.tolist(), rate)
    assert cut_of(name, rows, rate).risk == close(expected)


@every
@given(rows=weighted_rows(), rate=rates)
def test_whole_weights_are_copies(name, rows, rate):
    pos, neg = copies(rows.pos, rows.facts.pos_weights), copies(rows.neg, rows.facts.neg_weights)
    assert cut_of(name, rows, rate).risk == close(TWINS[name](pos, neg, rate))


@every
@given(rows=grouped_rows(), rate=rates)
def test_queries_are_averaged(name, rows, rate):
    risks = []
    for query in range(4):
        pos, neg = rows.pos[rows.facts.pos_queries == query], rows.neg[rows.facts.neg_queries == query]
        if pos.size and neg.size:
            risks.append(float(TWINS[name](pos.tolist(), neg.tolist(), rate)))
    assert cut_of(name, rows, rate).risk == close(np.mean(risks))


@every
@pytest.mark.parametrize("weighted", [False, True])
def test_a_thousand_queries_equal_the_loop(name, weighted):
    rng = np.random.default_rng(0)
    positive, queries = rng.random(20_000) < 0.1, rng.integers(0, 1000, 20_000)
    scores, weights = rng.normal(size=20_000) + positive, rng.uniform(0.5, 2, 20_000)
    measure = hr.PartialAUC(max_fpr=0.3)

    def cut(part, grouped):
        pos, neg = part & positive, part & ~positive
        facts = RowFacts(
            *((weights[pos], weights[neg]) if weighted else (None, None)),
            *((queries[pos], queries[neg]) if grouped else (None, None)),
        )
        return surrogate_for(measure, name, facts)(scores[pos], scores[neg])

    at_once = cut(np.ones(20_000, dtype=bool), grouped=True)
    parts = [queries == q for q in range(1000)]
    parts = [part for part in parts if 0 < np.count_nonzero(part & positive) < np.count_nonzero(part)]
    coef, risk = np.zeros(20_000), 0.0
    for part in parts:
        of_part = cut(part, grouped=False)
        coef[part & positive], coef[part & ~positive] = of_part.pos_coef / len(parts), of_part.neg_coef / len(parts)
        risk += of_part.risk / len(parts)
    assert at_once.risk == pytest.approx(risk, rel=1e-9)
    np.testing.assert_allclose(
        joined(at_once.pos_coef, at_once.neg_coef), joined(coef[positive], coef[~positive]), atol=1e-9
    )


# The other laws of convex surrogates


@every
@given(data=st.data(), rows=any_rows, rate=rates)
def test_is_a_subgradient(name, data, rows, rate):
    elsewhere = rows.scored(data.draw(vectors(rows.pos.size)), data.draw(vectors(rows.neg.size)))
    cut, other = cut_of(name, rows, rate), cut_of(name, elsewhere, rate)
    rise = cut.pos_coef @ (elsewhere.pos - rows.pos) + cut.neg_coef @ (elsewhere.neg - rows.neg)
    assert other.risk >= cut.risk + rise - 1e-9 * (1 + abs(rise) + cut.risk)
    middle = cut_of(name, rows.scored((rows.pos + elsewhere.pos) / 2, (rows.neg + elsewhere.neg) / 2), rate)
    assert middle.risk <= (cut.risk + other.risk) / 2 + 1e-9 * (1 + cut.risk + other.risk)


@every
@given(rows=any_rows, rate=rates, size=st.sampled_from([1.0, 1e3, 1e6]))
def test_the_offset_is_the_height_of_the_plane_at_0(name, rows, rate, size):
    cut = cut_of(name, rows.scored(size * rows.pos, size * rows.neg), rate)
    products = [*(cut.pos_coef * size * rows.pos), *(cut.neg_coef * size * rows.neg)]
    expected = cut.risk - sum(products)
    assert cut.offset == pytest.approx(expected, abs=1e-9 * (1 + cut.risk + sum(map(abs, products))))


@every
@given(data=st.data(), rows=any_rows, rate=rates)
def test_the_subgradient_is_the_slope(name, data, rows, rate):
    """Where no two of the numbers that are compared are close, the derivative is that of a small step."""
    noise = np.random.default_rng(len(rows.pos)).uniform(0.05, 0.2, rows.pos.size + rows.neg.size)
    rows = rows.scored(rows.pos + noise[: rows.pos.size] * np.pi, rows.neg + noise[rows.pos.size :])
    direction = rows.scored(data.draw(vectors(rows.pos.size)), data.draw(vectors(rows.neg.size)))
    moved = [
        cut_of(name, rows.scored(rows.pos + e * direction.pos, rows.neg + e * direction.neg), rate)
        for e in (-1e-6, 1e-6)
    ]
    cut = cut_of(name, rows, rate)
    low, slope, high = (c.pos_coef @ direction.pos + c.neg_coef @ direction.neg for c in (moved[0], cut, moved[1]))
    secant, tol = (moved[1].risk - moved[0].risk) / 2e-6, 1e-5 * (1 + abs(low) + abs(high) + cut.risk)
    assert low - tol <= slope <= high + tol  # slopes of a convex function rise
    assert low - tol <= secant <= high + tol


@every
@given(rows=any_rows, rate=rates, shift=st.integers(-100, 100))
def test_ignores_a_common_shift(name, rows, rate, shift):
    cut, moved = cut_of(name, rows, rate), cut_of(name, rows.scored(rows.pos + shift, rows.neg + shift), rate)
    assert moved.risk == pytest.approx(cut.risk, rel=1e-9, abs=1e-9)
    assert cut.pos_coef.sum() + cut.neg_coef.sum() == pytest.approx(0, abs=1e-9 * (1 + cut.risk))
    if name != "asymmetric":  # of which the mean of all rows has a share
        assert (cut.pos_coef <= 0).all()
        assert (cut.neg_coef >= 0).all()


def lost_beyond(rows, rate):
    """1 - TPR at a false positive rate, by the measure itself."""
    facts = rows.facts
    return 1 - hr.TPRAtFPR(rate)(
        np.repeat([1, 0], [rows.pos.size, rows.neg.size]),
        joined(rows.pos, rows.neg),
        sample_weight=None if facts.neg_weights is None else joined(facts.pos_weights, facts.neg_weights),
        qid=None if facts.neg_queries is None else joined(facts.pos_queries, facts.neg_queries),
    )


@pytest.mark.parametrize("name", ["toppush", "tau-fpl", "patmat"])
@given(rows=any_rows, rate=rates)
def test_bounds_the_positives_lost_at_the_false_positive_rate(name, rows, rate):
    assert cut_of(name, rows, rate).risk >= lost_beyond(rows, rate) - 1e-9


@given(rows=any_rows, rate=rates)
def test_the_push_to_the_top_bounds_every_loss(rows, rate):
    risk = cut_of("toppush", rows, rate).risk
    assert risk >= lost_beyond(rows, 0.0) - 1e-9
    assert risk >= rows.measured(0.0, rate) - 1e-9


@every
@given(rows=any_rows, rate=rates, level=halves)
def test_the_risk_of_constant_scores(name, rows, rate, level):
    constant = rows.scored(np.full(rows.pos.size, level), np.full(rows.neg.size, level))
    expected = (1 + (1 - rate)) ** 2 if name == "patmat" else 1  # beta is 1
    assert cut_of(name, constant, rate).risk == pytest.approx(expected, rel=1e-9)


# How they are related


@given(rows=plain_rows(max_neg=8))
def test_the_mean_of_one_negative_is_the_highest(rows):
    one = TauFPL(1 / rows.neg.size)(rows.pos, rows.neg)
    top = TopPush()(rows.pos, rows.neg)
    assert one.risk == pytest.approx(top.risk, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(one.neg_coef, top.neg_coef, atol=1e-12)
    # The tight hinge of one negative is the mean of the same errors, not squared.
    assert top.risk >= TightHinge(0.0, 1 / rows.neg.size)(rows.pos, rows.neg).risk ** 2 - 1e-9


@given(rows=any_rows, low=rates, high=rates)
def test_the_wider_the_range_the_lower_the_threshold(rows, low, high):
    for name in ("tau-fpl", "patmat"):
        wide, narrow = (cut_of(name, rows, rate).risk for rate in (max(low, high), min(low, high)))
        assert wide <= narrow + 1e-9
    assert cut_of("tau-fpl", rows, low).risk <= cut_of("toppush", rows, low).risk + 1e-9


# Weights, order and types


@every
@given(rows=weighted_rows(), rate=rates, factor=st.sampled_from([0.1, 1 / 3, 7, 1e-6, 1e6]))
def test_weights_are_scale_free(name, rows, rate, factor):
    facts = RowFacts(rows.facts.pos_weights * factor, rows.facts.neg_weights * factor)
    one, other = cut_of(name, rows, rate), cut_of(name, rows._replace(facts=facts), rate)
    assert other.risk == pytest.approx(one.risk, rel=1e-8, abs=1e-9)


@every
@given(rows=plain_rows(), rate=rates)
def test_weights_of_one_change_nothing(name, rows, rate):
    facts = RowFacts(np.ones(rows.pos.size), np.ones(rows.neg.size))
    plain, weighted = cut_of(name, rows, rate), cut_of(name, rows._replace(facts=facts), rate)
    assert weighted.risk == pytest.approx(plain.risk, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(weighted.neg_coef, plain.neg_coef, atol=1e-9)


@every
@given(data=st.data(), rows=any_rows, rate=rates)
def test_the_order_of_rows_does_not_matter(name, data, rows, rate):
    """Nor do tied rows: they share the derivative."""
    p, n = (np.array(data.draw(st.permutations(range(scores.size)))) for scores in (rows.pos, rows.neg))
    there, here = cut_of(name, Rows(rows.pos[p], rows.neg[n], rows.facts.take(p, n)), rate), cut_of(name, rows, rate)
    assert there.risk == pytest.approx(here.risk, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(there.neg_coef, here.neg_coef[n], atol=1e-6 * (1 + here.risk))
    np.testing.assert_allclose(there.pos_coef, here.pos_coef[p], atol=1e-6 * (1 + here.risk))


@every
def test_float32_scores(name):
    rng = np.random.default_rng(1)
    pos, neg = rng.normal(1, 1, 300).astype(np.float32), rng.normal(0, 1, 5000).astype(np.float32)
    for facts in (RowFacts(), RowFacts(rng.uniform(0.5, 2, 300), rng.uniform(0.5, 2, 5000))):
        single, double = (cut_of(name, Rows(p, n, facts), 0.1) for p, n in ((pos, neg), (pos * 1.0, neg.astype(float))))
        assert single.risk == pytest.approx(double.risk, rel=1e-6)
        assert single.pos_coef.dtype == single.neg_coef.dtype == np.float64


@every
@given(rows=any_rows, rate=rates)
def test_leaves_the_scores_alone(name, rows, rate):
    before = rows.pos.copy(), rows.neg.copy()
    cut_of(name, rows, rate)
    assert (rows.pos == before[0]).all()
    assert (rows.neg == before[1]).all()


def test_pat_mat_ends_on_scores_of_every_size():
    """Each step of the root drops few of these: their mean is always near the lowest."""
    neg = -np.logspace(-150, 150, 400)
    cut = surrogate_for(hr.PartialAUC(max_fpr=0.01), "patmat@1000")(np.array([1.0]), neg)
    assert np.isfinite([cut.risk, cut.offset, *cut.neg_coef]).all()
    assert cut.neg_coef.sum() == pytest.approx(-cut.pos_coef.sum())

"""The smooth risk of NDCG with grades of relevance."""

import numpy as np
import pytest

import headrank as hr
from headrank.surrogates import RowFacts, surrogate_for


def graded_rows(seed=0, n=40, n_queries=4, weighted=False):
    rng = np.random.default_rng(seed)
    grades, queries = rng.integers(0, 4, n), np.sort(rng.integers(0, n_queries, n))
    weights = rng.integers(1, 3, n).astype(float) if weighted else None
    return grades, queries, rng.permutation(n) / 4.0, weights


def risk_of(measure, grades, queries, scores, weights, h):
    pos = grades > 0
    parts = [None if each is None else each[at] for each in (weights, queries) for at in (pos, ~pos)]
    surrogate = surrogate_for(measure, "smooth", RowFacts(*parts, grades[pos]), bandwidth=h)
    cut = surrogate(scores[pos], scores[~pos])
    coef = np.empty(scores.size)
    coef[pos], coef[~pos] = cut.pos_coef, cut.neg_coef
    return cut.risk, coef


MEASURES = [hr.NDCG(), hr.NDCG(3), hr.NDCG(5, gain="exponential")]


@pytest.mark.parametrize("measure", MEASURES, ids=str)
@pytest.mark.parametrize("grouped", [False, True])
def test_tends_to_the_measure(measure, grouped):
    grades, queries, scores, _ = graded_rows()
    queries = queries if grouped else None
    risk, _ = risk_of(measure, grades, queries, scores, None, 1e-4)
    assert risk == pytest.approx(1 - measure(grades, scores, qid=queries), abs=1e-9)


@pytest.mark.parametrize("measure", MEASURES, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_gradient_is_that_of_finite_differences(measure, weighted):
    grades, queries, scores, weights = graded_rows(1, weighted=weighted)
    _, coef = risk_of(measure, grades, queries, scores, weights, 0.4)
    assert np.abs(coef).max() > 1e-3
    for seed in range(5):
        along = np.random.default_rng(seed).normal(size=scores.size)
        ahead, behind = (
            risk_of(measure, grades, queries, scores + by * along, weights, 0.4)[0] for by in (1e-6, -1e-6)
        )
        assert coef @ along == pytest.approx((ahead - behind) / 2e-6, abs=1e-6)


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_whole_weights_are_copies_and_grade_one_is_a_class(measure):
    grades, queries, scores, weights = graded_rows(2, weighted=True)
    copied = np.repeat(np.arange(grades.size), weights.astype(int))
    once = risk_of(measure, grades, queries, scores, weights, 0.3)[0]
    assert risk_of(measure, grades[copied], queries[copied], scores[copied], None, 0.3)[0] == pytest.approx(once)
    ones = np.minimum(grades, 1)
    pos = ones > 0
    plain = surrogate_for(measure, "smooth", RowFacts(None, None, queries[pos], queries[~pos]), bandwidth=0.3)
    graded = risk_of(measure, ones, queries, scores, None, 0.3)[0]
    assert plain(scores[pos], scores[~pos]).risk == pytest.approx(graded)

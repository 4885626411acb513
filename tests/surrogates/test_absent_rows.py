"""Rows that do not count leave no trace, however far out they are: those of weight 0, those of a list of one class."""

import numpy as np
import pytest

import headrank as hr
from headrank.surrogates import KINDS, RowFacts, surrogate_for

EVERY_KIND = pytest.mark.parametrize("kind", KINDS)
FAR = pytest.mark.parametrize("far", [1e14, -1e14, 1e100, -1e100])


def a_sample(seed):
    """Scores, weights and three queries of 8 positives and 20 negatives."""
    rng = np.random.default_rng(seed)
    queries = [np.r_[0, 1, 2, rng.integers(0, 3, n - 3)] for n in (8, 20)]
    scores = [rng.normal(size=8) + 1, rng.normal(size=20)]
    return scores, [rng.uniform(0.5, 2, n) for n in (8, 20)], queries


def same(cut, expected, n_more_pos, n_more_neg):
    assert cut.risk == pytest.approx(expected.risk, rel=1e-9, abs=1e-9)
    for ours, theirs, n_more in (
        (cut.pos_coef, expected.pos_coef, n_more_pos),
        (cut.neg_coef, expected.neg_coef, n_more_neg),
    ):
        np.testing.assert_allclose(ours, np.r_[theirs, np.zeros(n_more)], rtol=1e-9, atol=1e-9)


@EVERY_KIND
@FAR
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_a_weight_of_zero_is_an_absent_row_however_far_out(kind, far, grouped, seed):
    (pos, neg), weights, queries = a_sample(seed)
    with_zeros, joined = [np.r_[w, 0.0] for w in weights], [np.r_[q, 1] for q in queries]
    measure = hr.PartialAUC(max_fpr=0.3)
    expected = surrogate_for(measure, kind, RowFacts(*weights, *(queries if grouped else ())))(pos, neg)
    surrogate = surrogate_for(measure, kind, RowFacts(*with_zeros, *(joined if grouped else ())))
    for pos_far, neg_far in ((far, 0.0), (0.0, far), (far, -far)):
        same(surrogate(np.r_[pos, pos_far], np.r_[neg, neg_far]), expected, 1, 1)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not KINDS[kind].sums])
@FAR
@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("query", [0, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_so_is_a_list_of_one_class(kind, far, label, query, weighted):
    """It may come before the other lists or after them."""
    (pos, neg), weights, queries = a_sample(0)
    queries = [q + 1 for q in queries]
    given = [*weights] if weighted else [None, None]
    measure = hr.PartialAUC(max_fpr=0.3)
    expected = surrogate_for(measure, kind, RowFacts(*given, *queries))(pos, neg)
    scores, more = [pos, neg], 1 - label
    scores[more] = np.r_[scores[more], far, 2 * far]
    queries[more] = np.r_[queries[more], query, query]
    if weighted:
        given[more] = np.r_[given[more], 1.0, 2.0]
    cut = surrogate_for(measure, kind, RowFacts(*given, *queries))(*scores)
    same(cut, expected, 2 * label, 2 * (1 - label))

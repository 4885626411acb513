"""Sizes that people really have. Slow, so ``make test-slow`` runs them."""

from functools import reduce

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import headrank as hr
from headrank.datasets import Binormal

pytestmark = pytest.mark.slow
POPULATION = Binormal(separation=1.5, positive_rate=0.01)
HEAD_MEASURES = ("pauc@0.05", "pauc@0.001:0.002", "locauc@0.001", "w@0.01", "tpr@fpr=0.0001", "p@1000", "fpr@tpr=0.3")


@pytest.fixture(scope="module")
def ten_million():
    return POPULATION.sample_scores(10_000_000, random_state=0)


@pytest.mark.parametrize("name", HEAD_MEASURES)
def test_head_of_ten_million_rows_says_what_the_whole_curve_says(ten_million, name):
    measure = hr.measure(name)
    assert measure(*ten_million) == pytest.approx(measure.value(hr.RocCurve.from_scores(*ten_million)), rel=1e-12)


def test_ten_million_rows_as_scikit_learn_has_it(ten_million):
    y, scores = ten_million
    assert hr.AUC()(y, scores) == pytest.approx(roc_auc_score(y, scores), rel=1e-12)
    ours = hr.StandardizedPartialAUC(max_fpr=0.05)(y, scores.astype(np.float32))
    assert ours == pytest.approx(roc_auc_score(y, scores.astype(np.float32), max_fpr=0.05), rel=1e-12)


def test_blocks_of_ten_million_rows_merge_to_the_whole(ten_million):
    y, scores = ten_million
    depth = 100_000
    parts = np.array_split(np.arange(y.size), 37)
    heads = [hr.RocCurve.head_from_scores(y[rows], scores[rows], n_neg=depth) for rows in parts]
    merged = reduce(hr.RocCurve.merge, heads).head(n_neg=depth)
    whole = hr.RocCurve.head_from_scores(y, scores, n_neg=depth)
    for name in ("scores", "pos", "neg", "n_pos", "n_neg", "floor"):
        np.testing.assert_array_equal(getattr(merged, name), getattr(whole, name))


def test_hundred_thousand_queries(ten_million):
    y, scores = (column[:1_000_000] for column in ten_million)
    qid = np.arange(y.size) // 10
    mean = hr.AUC()(y, scores, qid=qid)
    used = y.reshape(-1, 10).any(axis=1)
    assert (mean.n_queries, mean.n_left_out) == (used.sum(), (~used).sum())

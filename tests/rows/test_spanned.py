"""Rows in the space that they span: the same scores and lengths, and so the same minima."""

import numpy as np
import pytest
from scipy import sparse

import headrank as hr
from headrank.estimators._fitting import search
from headrank.estimators._problem import pose
from headrank.measures import measure
from headrank.rows import open_rows, spanned


def wide(kind, n_rows=12, n_features=40):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    if kind == "repeated rows":
        X[1:5] = X[0]
    if kind == "zero and constant columns":
        X[:, :10], X[:, 10] = 0, 3
    return sparse.csr_matrix(X) if kind == "sparse" else X


KINDS = ["plain", "repeated rows", "zero and constant columns", "sparse"]


@pytest.mark.parametrize("kind", KINDS)
def test_scores_and_lengths_are_the_same(kind):
    rows = open_rows(wide(kind))
    inner, basis = spanned(rows, 12)
    np.testing.assert_allclose(basis.T @ basis, np.eye(12), atol=1e-12)
    for z in np.random.default_rng(1).normal(size=(5, 12)):
        np.testing.assert_allclose(inner.scores(z), rows.scores(basis @ z), atol=1e-10)
        assert np.linalg.norm(basis @ z) == pytest.approx(np.linalg.norm(z))
    np.testing.assert_allclose(inner.X @ basis.T, rows.combine(np.eye(12)), atol=1e-10)


@pytest.mark.parametrize(("weighted", "standardize"), [(False, False), (True, True)])
@pytest.mark.parametrize("surrogate", ["logistic", "svc", "tight", "structural"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_minimum_is_that_of_the_features(kind, surrogate, weighted, standardize):
    X, positive = wide(kind), np.arange(12) % 3 == 0
    ranker = hr.LinearRanker("pauc@0.5", surrogate=surrogate, C=2.0, tol=1e-5, standardize=standardize)
    weights = np.arange(12) % 4 if weighted else None
    direct = pose(
        X,
        positive,
        measure=measure("pauc@0.5"),
        surrogate=surrogate,
        bandwidth=0.3,
        sample_weight=weights,
        qid=np.arange(12) // 6,
        standardize=standardize,
    )
    inner = direct.in_span()
    assert inner.rows.n_features == inner.risk.positive.size < direct.rows.n_features
    one, other = search(ranker, direct, 2.0), search(ranker, inner, 2.0)
    assert max(one.gap, other.gap) <= 1e-5
    assert one.objective == pytest.approx(other.objective, rel=3e-5)
    present = slice(None) if weights is None else weights > 0
    scores, inside = open_rows(X).scores(inner.coef(other.weights))[present], inner.scores(other)
    np.testing.assert_allclose(scores - scores.mean(), inside - inside.mean(), atol=1e-8)


def test_short_sparse_rows_stay_as_they_are():
    X = sparse.random(50, 400, density=0.05, random_state=0, format="csr")
    options = {"surrogate": "logistic", "bandwidth": 0.3, "sample_weight": None, "qid": None, "standardize": None}
    problem = pose(X, np.arange(50) % 2 == 0, measure=measure("auc"), **options)
    assert problem.in_span() is problem

"""The choice over blocks: on a sample of all of them that keeps the ratio of the classes, then fitted to all rows."""

import numpy as np
import pytest

import headrank as hr
from cuts import cut
from headrank.estimators._blocks import Given
from headrank.estimators.cv import block_sample

RNG = np.random.default_rng(0)
N = 1200
X = RNG.normal(size=(N, 4))
Y = (2 * X[:, 0] + RNG.normal(size=N) > 2.5).astype(int)
AT = [0, 300, 300, 301, N]
CHEAP = {"surrogates": ("logistic", "tight"), "Cs": (0.1, 1.0), "cv": 3}


def blocks_of(X=X, y=Y, **options):
    return hr.Blocks.from_arrays(cut(X, AT), cut(y, AT), **options)


def test_few_rows_are_all_sampled_and_the_fit_is_that_in_memory():
    one = hr.LinearRankerCV("pauc@0.2", **CHEAP).fit(X, Y)
    other = hr.LinearRankerCV("pauc@0.2", **CHEAP).fit(blocks_of(feature_names=list("abcd")))
    assert str(other.choice_) == str(one.choice_)
    assert list(other.feature_names_in_) == list("abcd")
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-6)
    assert other.score(blocks_of(feature_names=list("abcd"))) == pytest.approx(one.score(X, Y), rel=1e-9)


@pytest.mark.parametrize("enough", [20, 60])
@pytest.mark.parametrize("measure", ["pauc@0.2", "auc", "p@0.1", "p@30"])
def test_the_sample_keeps_the_ratio_of_the_classes(measure, enough, monkeypatch):
    monkeypatch.setattr(block_sample, "_ENOUGH", enough)
    given = Given(X, Y, None, None)
    drawn = block_sample.sampled(blocks_of(), given, hr.measure(measure), Y == 1, 0)
    n_pos, n_neg = int(Y.sum()), int((1 - Y).sum())
    pos = drawn.y == 1
    weights = np.ones(pos.size) if drawn.sample_weight is None else drawn.sample_weight
    assert weights[pos].sum() / weights[~pos].sum() == pytest.approx(n_pos / n_neg, rel=0.02)
    assert pos.sum() >= min(enough, n_pos)
    head = {"pauc@0.2": 0.2, "auc": 1.0, "p@0.1": 0.1, "p@30": 30 / N}[measure]
    assert (~pos).sum() >= min(enough / head, n_neg) - 1
    assert {tuple(row) for row in drawn.X} <= {tuple(row) for row in X}
    assert (drawn.y == [Y[np.flatnonzero((row == X).all(axis=1))[0]] for row in drawn.X]).all()


def test_many_rows_are_limited_by_memory(monkeypatch):
    monkeypatch.setattr(block_sample, "_MOST_VALUES", 4 * 200)
    drawn = block_sample.sampled(blocks_of(), Given(X, Y, None, None), hr.measure("auc"), Y == 1, 0)
    assert drawn.X.shape == (200, 4)


def test_weights_and_queries_are_carried_along(monkeypatch):
    monkeypatch.setattr(block_sample, "_ENOUGH", 10)
    weights, qid = RNG.integers(1, 4, N).astype(float), np.repeat(np.arange(N // 20), 20)
    given = Given(X, Y, weights, qid)
    drawn = block_sample.sampled(blocks_of(), given, hr.measure("auc"), Y == 1, 0)
    kept, sizes = np.unique(drawn.qid, return_counts=True)
    assert (len(kept), set(sizes)) == (10, {20})
    of_rows = np.isin(qid, kept)
    assert (drawn.sample_weight == weights[of_rows]).all()
    assert (X[of_rows] == drawn.X).all()


def test_the_choice_is_fitted_to_all_rows(monkeypatch):
    monkeypatch.setattr(block_sample, "_ENOUGH", 20)
    ranker = hr.LinearRankerCV("p@60", **CHEAP).fit(blocks_of())
    again = hr.LinearRankerCV("p@60", **CHEAP).fit(blocks_of())
    np.testing.assert_allclose(again.coef_, ranker.coef_, rtol=1e-9)
    assert sum(len(scores) for scores in ranker.out_of_fold_) < N
    assert ranker.measure_ == hr.measure("p@0.05")
    assert ranker.score(X, Y) > 0.8


def test_rows_of_weight_0_are_not_drawn(monkeypatch):
    monkeypatch.setattr(block_sample, "_ENOUGH", 20)
    weights = (np.arange(N) % 3 == 0).astype(float)
    given = Given(X, Y, weights, None)
    drawn = block_sample.sampled(blocks_of(), given, hr.measure("auc"), Y == 1, 0)
    assert (drawn.sample_weight > 0).all()
    assert (drawn.y == 1).sum() >= 20
    with pytest.raises(hr.exceptions.OneClassError):
        block_sample.sampled(blocks_of(), Given(X, Y, (Y == 0).astype(float), None), hr.measure("auc"), Y == 1, 0)


def test_a_number_of_first_rows_is_the_same_fraction_as_in_memory():
    """With weights, the rows are as many as their weights add up to."""
    weights = RNG.integers(0, 8, N).astype(float)
    cheap = CHEAP | {"surrogates": ("logistic",)}
    one = hr.LinearRankerCV("p@60", **cheap).fit(X, Y, sample_weight=weights)
    other = hr.LinearRankerCV("p@60", **cheap).fit(blocks_of(sample_weight=cut(weights, AT)))
    assert other.measure_ == one.measure_


def test_grades_are_sampled_by_whether_they_are_relevant():
    grades = Y * RNG.integers(1, 4, N)
    cheap = {"surrogates": ("smooth",), "Cs": (1.0,), "bandwidths": (0.3,), "cv": 3}
    one = hr.LinearRankerCV("ndcg", **cheap).fit(X, grades)
    other = hr.LinearRankerCV("ndcg", **cheap).fit(blocks_of(y=grades))
    assert sum(map(len, other.out_of_fold_)) == N
    assert other.best_score_ == pytest.approx(one.best_score_, rel=1e-6)

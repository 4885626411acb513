"""RankerCV over blocks: chosen on a sample; the linear part has seen all rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import headrank as hr
from cuts import cut
from headrank.estimators.combined import linear_part
from headrank.estimators.combined.linear_part import ScaledLinear
from headrank.estimators.cv import block_sample

RNG = np.random.default_rng(0)
N = 900
X = RNG.normal(size=(N, 4)).astype(np.float32)
Y = (2 * X[:, 0] + X[:, 1] + RNG.normal(size=N) > 2).astype(int)
X[RNG.random(X.shape) < 0.05] = np.nan
AT = [0, 300, 300, 301, N]


def blocks_of(rows=X, y=Y, **options):
    return hr.Blocks.from_arrays(cut(rows, AT), cut(y, AT), **options)


@pytest.fixture(autouse=True)
def _few_candidates(monkeypatch):
    monkeypatch.setattr(linear_part, "_surrogates_for", lambda _: ("logistic",))


def linear(rows, **options):
    return hr.RankerCV("pauc@0.2", families=("linear",), cv=3, **options).fit(rows)


def test_few_rows_are_all_sampled_and_the_fit_is_that_in_memory():
    one = hr.RankerCV("pauc@0.2", families=("linear",), cv=3).fit(X, Y)
    other = linear(blocks_of())
    assert_allclose(other.decision_function(X), one.decision_function(X), atol=1e-9)
    assert_allclose(other.decision_function(blocks_of()), other.decision_function(X), atol=1e-5)
    assert other.score(blocks_of()) == pytest.approx(one.score(X, Y), abs=1e-6)
    assert list(linear(blocks_of(feature_names=list("abcd"))).feature_names_in_) == list("abcd")


def test_the_linear_part_is_fitted_to_all_rows(monkeypatch):
    monkeypatch.setattr(block_sample, "_ENOUGH", 40)
    ranker = linear(blocks_of())
    part = ranker.parts_[0].scorer
    assert sum(map(len, ranker.out_of_fold_)) < N / 2
    # The same choice and scaling, fitted to the rows in memory.
    scaled = part._features(X)
    again = hr.LinearRankerCV("pauc@0.2").set_params(**part.ranker_.get_params())
    again.trials_, again.measure_ = part.ranker_.trials_, part.ranker_.measure_
    again.refit(scaled, Y)
    on_sample = linear(hr.Blocks.from_arrays([X[:150]], [Y[:150]])).parts_[0].scorer.ranker_
    mine, its, few = (each / np.linalg.norm(each) for each in (part.ranker_.coef_, again.coef_, on_sample.coef_))
    assert mine @ its > 0.9995  # each fit stops at a gap of 1e-3
    assert mine @ few < 0.999
    assert abs(np.mean(ranker.decision_function(X) > 0) - Y.mean()) < 0.01


def test_a_refit_over_blocks_tells_of_each_evaluation_and_keeps_the_scaling():
    ranker = linear(blocks_of(feature_names=list("abcd")))
    told = []
    centers = ranker.parts_[0].scorer.scaler_.centers_.copy()
    ranker.refit(blocks_of(X * 2, feature_names=list("abcd")), callback=told.append)
    assert told
    assert told[0].n_iter == 1
    assert_array_equal(ranker.parts_[0].scorer.scaler_.centers_, centers)


def test_blocks_are_scaled_as_rows_in_memory_with_categories_too():
    codes = np.column_stack([X[:, :2], RNG.integers(0, 3, N).astype(np.float32)])
    scaled = ScaledLinear("pauc@0.2", one_hot=[2], cv=3).fit(codes, Y)
    features = scaled._features(blocks_of(codes))
    assert_array_equal(features.take(np.arange(N)), scaled._features(codes))
    assert features.n_features == scaled._features(codes).shape[1]


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (
            lambda: hr.RankerCV(cv=[([0], [1])]).fit(blocks_of()),
            TypeError,
            "cv must be a number of folds or a splitter",
        ),
        (
            lambda: hr.BoostedRanker().fit(blocks_of()),
            TypeError,
            "BoostedRanker needs X in memory, got <Blocks.*RankerCV",
        ),
        (lambda: hr.LinearRanker().fit(blocks_of()), ValueError, "missing or infinite values.*or use RankerCV"),
        (
            lambda: hr.FPRBudgetClassifier(hr.LinearRanker()).fit(blocks_of()),
            TypeError,
            "needs X in memory, got <Blocks.*headrank.threshold_at",
        ),
        (lambda: hr.TopFractionClassifier(hr.LinearRanker()).fit(blocks_of()), TypeError, "needs X in memory"),
        (lambda: hr.RankerCV().fit(X), ValueError, "requires y to be passed"),
    ],
)
def test_refusals(call, kind, says):
    with pytest.raises(kind, match=says):
        call()

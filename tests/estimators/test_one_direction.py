"""Features that allow but one direction: the smooth risk cannot improve on its start, and must not lose it."""

import warnings

import numpy as np
import pytest

from headrank import LinearRanker, LinearRankerCV
from headrank.exceptions import CollapsedFitWarning


def one_feature(seed, *, n=300, dtype=np.float32):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.2
    return (rng.normal(size=n) + y)[:, None].astype(dtype), y


@pytest.mark.parametrize("C", [1.0, 100.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("anneal", [False, True])
def test_a_smooth_fit_of_one_feature_keeps_its_start(C, dtype, anneal):
    for seed in range(15):  # in single precision some first steps of L-BFGS end at the origin
        X, y = one_feature(seed, dtype=dtype)
        ranker = LinearRanker("pauc@0.1", surrogate="smooth", C=C, anneal=anneal).fit(X, y)
        assert not ranker.collapsed_
        assert ranker.coef_[0] > 0
        assert ranker.training_measure_ == ranker.start_measure_
        assert np.isfinite(ranker.risk_)
        assert ranker.objective_ == pytest.approx(C * ranker.risk_)


@pytest.mark.parametrize("others", ["copy", "zeros", "ones"])
def test_features_that_add_nothing_do_no_harm(others):
    for seed in range(10):
        X, y = one_feature(seed)
        more = {"copy": X, "zeros": 0 * X, "ones": 0 * X + 1}[others]
        ranker = LinearRanker("pauc@0.1", surrogate="smooth", C=100.0).fit(np.hstack([X, more]), y)
        assert not ranker.collapsed_
        assert ranker.training_measure_ == pytest.approx(ranker.start_measure_, abs=1e-6)


def test_a_choice_among_all_with_one_feature():
    for seed in range(4):
        X, y = one_feature(seed)
        ranker = LinearRankerCV("pauc@0.1").fit(X, y)
        assert ranker.coef_[0] > 0
        assert not ranker.collapsed_
        assert not any(trial.has_collapsed for trial in ranker.trials_ if trial.candidate.surrogate == "smooth")


def test_a_feature_that_is_constant_in_one_fold_counts_as_collapsed_there():
    X, y = one_feature(0)
    rows = np.arange(y.size)
    folds = [(rows[rows % 3 != k], rows[rows % 3 == k]) for k in range(3)]
    X[folds[0][0]] = 1.0
    ranker = LinearRankerCV("pauc@0.1", cv=folds, surrogates=("logistic", "smooth"), standardize=False).fit(X, y)
    for trial in ranker.trials_:
        if trial.candidate.surrogate == "smooth":
            assert trial.collapsed.tolist() == [True, False, False]
    assert ranker.coef_.any()


def test_a_feature_that_tells_queries_apart_and_not_their_rows_collapses():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(30), 10)
    y = rng.random(300) < 0.1 + 0.02 * qid
    X = qid[:, None].astype(float)  # says much about y, and nothing about the order within a query
    with pytest.warns(CollapsedFitWarning):
        ranker = LinearRanker("pauc@0.2", surrogate="smooth").fit(X, y, qid=qid)
    assert not ranker.coef_.any()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapsedFitWarning)
        chosen = LinearRankerCV("pauc@0.2", cv=3).fit(X, y, qid=qid)
    assert all(trial.collapsed.all() for trial in chosen.trials_ if trial.candidate.surrogate == "smooth")


def test_a_warm_start_on_the_other_side_comes_home():
    X, y = one_feature(0, dtype=np.float64)
    ranker = LinearRanker("pauc@0.1", surrogate="smooth", warm_start=True).fit(-X, y)
    assert ranker.fit(X, y).coef_.any()

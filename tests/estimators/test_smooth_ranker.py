"""LinearRanker with the smooth surrogates and the logistic loss: what it gains, its laws, and its limits."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import headrank as hr
from fits import alike
from headrank import LinearRanker
from headrank.estimators import _fitting, path
from headrank.exceptions import CollapsedFitWarning
from headrank.measures.names import MEASURES
from headrank.surrogates import surrogate_for
from headrank.surrogates.registry import smooth_for
from samples import gaussians, with_outlying_negatives


def smooth(measure="pauc@0.2", **parameters):
    return LinearRanker(measure, surrogate="smooth", **parameters)


def direction(ranker):
    return ranker.coef_ / np.linalg.norm(ranker.coef_)


# What it learns


def test_it_learns_where_the_hinges_collapse():
    X, y = with_outlying_negatives()
    with pytest.warns(CollapsedFitWarning):
        assert LinearRanker("pauc@0.01", C=10).fit(X, y).collapsed_
    ranker = smooth("pauc@0.01", C=100).fit(X, y)
    assert not ranker.collapsed_
    assert ranker.training_measure_ > ranker.start_measure_ + 0.02
    fresh = with_outlying_negatives(2000, 20_000, seed=5)
    start = LogisticRegression().fit(X, y)
    assert ranker.score(*fresh) > hr.measure("pauc@0.01")(fresh[1], start.decision_function(fresh[0])) + 0.02


def test_what_is_reported_of_the_fit():
    X, y = with_outlying_negatives(100, 500)
    ranker = smooth("pauc@0.1", C=10, start_C=0.3, tol=1e-7).fit(X, y)
    assert ranker.training_measure_ == pytest.approx(ranker.score(X, y))
    start = LinearRanker("pauc@0.1", surrogate="logistic", C=0.3 / X.var(axis=0).mean(), tol=1e-10).fit(X, y)
    assert ranker.start_measure_ == pytest.approx(start.score(X, y))
    assert np.isnan(start.start_measure_)
    assert np.isnan(ranker.lower_bound_)
    assert np.isnan(ranker.gap_)
    assert ranker.n_iter_ == len(ranker.trace_) > 3
    scores = X @ ranker.coef_
    risk = surrogate_for(hr.measure("pauc@0.1"), "smooth", bandwidth=0.3)(scores[y == 1], scores[y == 0]).risk
    assert ranker.risk_ == pytest.approx(risk)
    w0 = start.coef_ / (X @ start.coef_).std()
    away = np.linalg.norm(ranker.coef_ - w0) / np.linalg.norm(w0)
    assert ranker.objective_ == pytest.approx(away**2 / 2 + 10 * risk, rel=1e-6)
    at_start = surrogate_for(hr.measure("pauc@0.1"), "smooth", bandwidth=0.3)((X @ w0)[y == 1], (X @ w0)[y == 0])
    assert ranker.objective_ < 10 * at_start.risk - 0.001
    assert ranker.trace_[0].objective == pytest.approx(10 * at_start.risk, rel=1e-6)


@pytest.mark.parametrize("standardize", [False, True])
def test_a_vanishing_weight_of_the_risk_stays_at_the_logistic_scorer(standardize):
    X, y = with_outlying_negatives(60, 300)
    X = X * [1, 5, 0.2]
    ranker = smooth("pauc@0.05", C=1e-9, standardize=standardize, tol=1e-10).fit(X, y)
    C = 1.0 if standardize else 1 / X.var(axis=0).mean()
    start = LinearRanker(surrogate="logistic", C=C, standardize=standardize, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(direction(ranker), direction(start), atol=1e-4)
    assert (X @ ranker.coef_).std() == pytest.approx(1, rel=1e-6)
    assert ranker.training_measure_ == ranker.start_measure_
    far = smooth("pauc@0.05", C=100, standardize=standardize).fit(X, y)
    assert np.linalg.norm(direction(far) - direction(start)) > 0.05


def test_annealing_ends_at_the_same_bandwidth():
    X, y = with_outlying_negatives(100, 500)
    plain = smooth("pauc@0.05", C=100, bandwidth=0.1).fit(X, y)
    annealed = clone(plain).set_params(anneal=True).fit(X, y)
    scores = X @ annealed.coef_
    risk = surrogate_for(hr.measure("pauc@0.05"), "smooth", bandwidth=0.1)(scores[y == 1], scores[y == 0]).risk
    assert annealed.risk_ == pytest.approx(risk)
    assert annealed.trace_[0].objective != plain.trace_[0].objective  # it starts elsewhere
    assert annealed.objective_ <= plain.trace_[0].objective
    assert annealed.training_measure_ > annealed.start_measure_


def test_annealing_halves_the_bandwidth_each_starting_from_the_one_before(monkeypatch):
    X, y = with_outlying_negatives(100, 500)
    searched, bandwidths, starts, ends = _fitting.lbfgs, [], [], []

    def search(risk, *, start=None, **limits):
        solution = searched(risk, start=start, **limits)
        bandwidths.append(getattr(risk.surrogate, "bandwidth", None))
        starts.append(start)
        ends.append(solution.weights)
        return solution

    monkeypatch.setattr(_fitting, "lbfgs", search)
    smooth("pauc@0.05", C=100, bandwidth=0.1, anneal=True).fit(X, y)
    assert bandwidths == [None, pytest.approx(0.4), pytest.approx(0.2), 0.1]
    assert all((start == end).all() for start, end in zip(starts[2:], ends[1:], strict=False))


def test_a_wider_bandwidth_is_another_risk():
    X, y = with_outlying_negatives(100, 500)
    narrow, wide = (smooth("pauc@0.05", C=10, bandwidth=h).fit(X, y) for h in (0.05, 2.0))
    assert np.linalg.norm(direction(narrow) - direction(wide)) > 1e-2


# Every measure

LEARNABLE = [
    hr.AUC(),
    hr.PartialAUC(max_fpr=0.2),
    hr.PartialAUC(min_fpr=0.1, max_fpr=0.3),
    hr.StandardizedPartialAUC(max_fpr=0.2),
    hr.TwoWayPartialAUC(max_fpr=0.4, min_tpr=0.3),
    hr.FROCArea(0.0, 0.5, images_per_negative=0.3),
    hr.LocalAUC(0.1),
    hr.WRanking(0.1),
    hr.MassConstrainedError(0.2),
    hr.LocalRankingRisk(0.2),
    hr.TopTPR(0.1),
    hr.PrecisionAt(20),
    hr.PrecisionAt(0.1),
    hr.RecallAt(20),
    hr.EnrichmentFactor(0.1),
    hr.Lift(0.2),
    hr.AveragePrecision(),
    hr.NDCG(10),
    hr.AveragePrecision(30),
    hr.PNormPush(4.0),
    hr.RankStatistic(np.square),
]


def test_the_list_of_measures_is_complete():
    learnable = {kind for kind in MEASURES if smooth_for.dispatch(kind) is not smooth_for.dispatch(object)}
    assert {type(measure) for measure in LEARNABLE} == learnable


@pytest.mark.parametrize("measure", LEARNABLE, ids=str)
@pytest.mark.parametrize("given", ["plain", "weights and queries"])
def test_every_measure_is_learned(measure, given):
    X, y = with_outlying_negatives(60, 240)
    rng = np.random.default_rng(2)
    weights = rng.uniform(0.5, 2, y.size) if "weights" in given else None
    qid = rng.integers(0, 3, y.size) if "queries" in given else None
    ranker = smooth(measure, C=10).fit(X, y, sample_weight=weights, qid=qid)
    gained = ranker.training_measure_ - ranker.start_measure_
    assert (gained if measure.greater_is_better else -gained) >= -0.02  # soft counts are not the counts
    assert ranker.objective_ < ranker.trace_[0].objective  # but of these it gains
    assert ranker.training_measure_ == pytest.approx(measure(y, X @ ranker.coef_, sample_weight=weights, qid=qid))
    assert np.isfinite([ranker.risk_, ranker.objective_, ranker.intercept_]).all()
    assert hr.AUC()(y, ranker.decision_function(X)) > 0.6


@pytest.mark.parametrize("measure", ["bedroc@20", "alpha@0.1", "ks"])
def test_measures_that_cannot_be_learned_are_refused(measure):
    with pytest.raises(ValueError, match="no smooth surrogate"):
        smooth(measure).fit(*gaussians())


# Laws


def test_the_same_input_gives_the_same_answer():
    X, y = with_outlying_negatives(60, 300)
    ranker = smooth(C=10)
    first = ranker.fit(X, y).coef_
    assert alike(ranker.fit(X, y).coef_, first)
    assert alike(clone(ranker).fit(X, y).coef_, first)


def test_the_order_of_the_rows_does_not_matter():
    X, y = with_outlying_negatives(60, 300)
    order = np.random.default_rng(0).permutation(y.size)
    one, other = smooth(C=10).fit(X, y), smooth(C=10).fit(X[order], y[order])
    assert alike(one.coef_, other.coef_)


@pytest.mark.parametrize("factor", [1e3, 1e-3, 1e8, 1e-8])
def test_the_unit_of_the_rows_does_not_matter_when_standardised(factor):
    X, y = with_outlying_negatives(60, 300)
    one, other = (smooth(C=10, standardize=True).fit(rows, y) for rows in (X, X * factor))
    assert alike(other.coef_ * factor, one.coef_)
    assert alike(other.decision_function(X * factor), one.decision_function(X))
    assert other.objective_ == pytest.approx(one.objective_, rel=1e-6)


@pytest.mark.parametrize("factor", [1024.0, 1 / 1024, 1e6, 1e-6])
def test_the_unit_of_the_rows_does_not_matter_otherwise(factor):
    """start_C is in units of the features' typical size, and nothing else has a unit."""
    X, y = with_outlying_negatives(60, 300)
    X = X * [1, 5, 0.2]
    one, other = (smooth(C=10, tol=1e-5).fit(rows, y) for rows in (X, X * factor))
    np.testing.assert_allclose(other.coef_ * factor, one.coef_, rtol=1e-2)
    assert other.objective_ == pytest.approx(one.objective_, rel=1e-4)


@pytest.mark.parametrize("measure", ["auc", "pauc@0.2", "pauc@0.1:0.35", "tpauc@fpr=0.4,tpr=0.3"])
@pytest.mark.parametrize("standardize", [False, True])
def test_a_weight_of_two_is_the_row_twice(measure, standardize):
    X, y = gaussians(40, 100)
    X *= [1, 3, 1, 0.5]
    weights = np.arange(y.size) % 4  # some rows are absent
    weighted = smooth(measure, tol=1e-6, standardize=standardize).fit(X, y, sample_weight=weights)
    repeated = smooth(measure, tol=1e-6, standardize=standardize).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)
    assert weighted.training_measure_ == pytest.approx(repeated.training_measure_)
    assert weighted.start_measure_ == pytest.approx(repeated.start_measure_)
    np.testing.assert_allclose(direction(weighted), direction(repeated), atol=1e-4)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-4)
    unweighted = clone(weighted).fit(X, y)
    assert np.linalg.norm(direction(unweighted) - direction(weighted)) > 1e-2


@pytest.mark.parametrize("surrogate", ["smooth", "logistic"])
def test_equal_weights_of_two_are_every_row_twice(surrogate):
    X, y = gaussians()
    fit = LinearRanker("pauc@0.2", surrogate=surrogate, tol=1e-8).fit
    weighted = fit(X, y, sample_weight=np.full(y.size, 2.0)).coef_.copy()
    np.testing.assert_allclose(weighted, fit(np.repeat(X, 2, axis=0), np.repeat(y, 2)).coef_, atol=1e-4)


def test_queries_are_lists_of_their_own():
    """An offset per query hides the order of all rows, but not that within queries."""
    X, y = gaussians(60, 240, 2, shift=2.0)
    qid = np.random.default_rng(0).integers(0, 6, y.size)
    X[:, 1] += 20 * qid * (2 * (qid % 2) - 1)
    ranker = smooth("pauc@0.2", C=10).fit(X, y, qid=np.array(list("abcdef"))[qid])
    assert ranker.training_measure_ == pytest.approx(hr.measure("pauc@0.2")(y, X @ ranker.coef_, qid=qid))
    assert ranker.training_measure_ > 0.5
    assert ranker.objective_ != pytest.approx(clone(ranker).fit(X, y).objective_, rel=1e-2)


def test_storages_give_the_same_answer():
    X, y = gaussians(60, 300)
    X *= np.random.default_rng(1).random(X.shape) < 0.6
    X = X.astype(np.float32).astype(np.float64)
    for standardize in (False, True):
        dense = smooth(C=10, tol=1e-5, standardize=standardize).fit(X, y)
        for other in (sparse.csr_array(X), sparse.csc_matrix(X), X.astype(np.float32), np.asfortranarray(X)):
            ranker = clone(dense).fit(other, y)
            assert ranker.coef_.dtype == np.float64
            assert ranker.objective_ == pytest.approx(dense.objective_, rel=1e-4)
            np.testing.assert_allclose(direction(ranker), direction(dense), atol=0.02)
            assert spearmanr(ranker.decision_function(other), dense.decision_function(X)).statistic > 0.999


# Warm starts and paths


def test_warm_start():
    X, y = with_outlying_negatives(100, 500)
    ranker = smooth("pauc@0.05", C=100, warm_start=True, standardize=True).fit(X, y)
    objective = ranker.objective_
    ranker.fit(X, y)
    assert ranker.trace_[0].objective == pytest.approx(objective)
    assert ranker.objective_ <= objective * (1 + 1e-12)
    ranker.fit(X[:, :2], y)  # other features: a cold start
    assert ranker.trace_[0].objective == pytest.approx(clone(ranker).fit(X[:, :2], y).trace_[0].objective)


@pytest.mark.filterwarnings("ignore::headrank.exceptions.CollapsedFitWarning")
@pytest.mark.parametrize("before", ["tight", "smooth"])
def test_warm_start_after_a_collapse(before):
    """The way out that the warning names must work: weights of 0 are no start."""
    X, y = gaussians(100, 400, 3)
    ranker = LinearRanker("pauc@0.01", surrogate=before, C=10, warm_start=True).fit(np.ones_like(X), y)
    ranker.coef_ = np.zeros(3)
    ranker.set_params(surrogate="smooth").fit(X, y)
    assert not ranker.collapsed_
    assert alike(ranker.coef_, smooth("pauc@0.01", C=10).fit(X, y).coef_)


@pytest.mark.parametrize("surrogate", ["smooth", "logistic"])
def test_a_path_equals_single_fits(surrogate):
    X, y = with_outlying_negatives(60, 300)
    ranker = LinearRanker("pauc@0.2", surrogate=surrogate, standardize=True, tol=1e-5)
    result = path(ranker, X, y, Cs=[0.01, 1.0, 10.0])
    for i, C in enumerate(result.Cs):
        single = clone(ranker).set_params(C=C).fit(X, y)
        assert result.objectives[i] == pytest.approx(single.objective_, rel=1e-2)
        assert result.measures[i] == pytest.approx(hr.measure("pauc@0.2")(y, X @ result.coefs[i]))
    assert (np.diff(result.objectives) > 0).all()
    assert not result.collapsed.any()
    assert np.isnan(result.lower_bounds).all() == (surrogate == "smooth")


# Awkward samples


@pytest.mark.parametrize("standardize", [False, True])
def test_awkward_samples_are_learned(standardize):
    X, y = gaussians(30, 100, shift=2.0)
    fits = {
        "constant feature": (np.c_[X, np.full(130, 3.0)], y),
        "duplicated feature": (np.c_[X, X], y),
        "single feature": (X[:, :1], y),
        "one positive": (np.r_[X[y == 0], [[4.0, 0, 0, 0]]], np.r_[np.zeros(100), 1]),
        "one negative": (np.r_[X[y == 1], [[-4.0, 0, 0, 0]]], np.r_[np.ones(30), 0]),
        "separable": (X + 20 * y[:, None] * np.eye(4)[0], y),
        "far from the origin": (X + 1e5, y),
        "two rows": (np.array([[0.0], [2.0]]), [0, 1]),
    }
    for name, (rows, labels) in fits.items():
        ranker = smooth("pauc@0.3", C=10, standardize=standardize).fit(rows, labels)
        assert ranker.score(rows, labels) > 0.6, name
        assert not ranker.collapsed_, name
        assert ranker.training_measure_ >= ranker.start_measure_ - 0.01, name


@pytest.mark.parametrize("surrogate", ["smooth", "logistic"])
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1e6])
def test_constant_rows_teach_nothing(surrogate, standardize, value):
    X, y = np.full((9, 2), value), np.arange(9) % 2
    with pytest.warns(CollapsedFitWarning, match="no feature is informative"):
        ranker = LinearRanker("auc", surrogate=surrogate, standardize=standardize).fit(X, y)
    assert ranker.collapsed_
    assert (ranker.coef_ == 0).all()
    assert ranker.training_measure_ == 0.5
    assert (ranker.predict(X) == ranker.predict(X)[0]).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_rows_are_refused(bad):
    X, y = gaussians()
    X[3, 1] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        smooth().fit(X, y)


@pytest.mark.parametrize("parameter", ["bandwidth", "start_C", "C", "tol"])
@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_bad_parameters_are_refused(parameter, bad):
    with pytest.raises(ValueError, match=parameter):
        smooth(**{parameter: bad}).fit(*gaussians())

"""LinearRanker against independent convex programs, and the laws of its problem."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

import headrank as hr
from fits import alike
from headrank import LinearRanker
from headrank.estimators import path
from headrank.exceptions import CollapsedFitWarning
from reference.programs import solved
from reference.surrogates import exact, in_order_of_scores, n_reached, range_weights
from samples import separated_gaussians

SOLVERS = ["hybrid", "cutting-plane"]


def convex_risk(scores, y, low, high, *, tight):
    """The risk as a convex program: the r negatives above a positive are at worst the r highest."""
    pos, neg = scores[np.flatnonzero(y == 1)], scores[np.flatnonzero(y == 0)]
    n_pos, n_neg = int(y.sum()), int((1 - y).sum())
    loss = np.cumsum([float(c) for c in range_weights(n_neg, exact(low), exact(high))])
    gains = [0] + [loss[r - 1] + cp.sum_largest(neg, r) for r in range(1, n_reached(n_neg, exact(high), tight) + 1)]
    total = sum(cp.max(cp.hstack([gain - r * pos[i] for r, gain in enumerate(gains)])) for i in range(n_pos))
    return total / (n_pos * n_neg * (high - low))


def reference_minimum(X, y, C, low, high, *, tight, qid=None):
    w = cp.Variable(X.shape[1])
    qid = np.zeros(len(y)) if qid is None else qid
    groups = [np.flatnonzero(qid == q) for q in np.unique(qid)]
    groups = [rows for rows in groups if 0 < y[rows].sum() < rows.size]
    risk = sum(convex_risk(X[rows] @ w, y[rows], low, high, tight=tight) for rows in groups) / len(groups)
    return solved(cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * risk)))


# The answer


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("solver", SOLVERS)
def test_svm_auc_equals_the_pairwise_program(solver, C):
    X, y = separated_gaussians(8, 15, 3, shift=1.0)
    differences = (X[y == 1][:, None] - X[y == 0][None]).reshape(-1, 3)
    w = cp.Variable(3)
    risk = cp.sum(cp.pos(1 - differences @ w)) / len(differences)
    reference = solved(cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * risk)))
    ranker = LinearRanker("auc", surrogate="structural", C=C, tol=1e-6, solver=solver).fit(X, y)
    assert ranker.objective_ == pytest.approx(reference, rel=3e-6)
    at_coef = ranker.coef_ @ ranker.coef_ / 2 + C * np.maximum(1 - differences @ ranker.coef_, 0).mean()
    assert at_coef == pytest.approx(reference, rel=3e-6)
    assert np.linalg.norm(ranker.coef_) > 1e-2


@pytest.mark.parametrize("ends", [(0.0, 0.3), (0.0, 0.07), (0.1, 0.45), (0.25, 1.0)])
@pytest.mark.parametrize("C", [1.0, 50.0])
@pytest.mark.parametrize("surrogate", ["structural", "tight"])
def test_the_certificate_holds_the_optimum(surrogate, C, ends):
    X, y = separated_gaussians(6, 13, 3, shift=3.0, seed=1)
    reference = reference_minimum(X, y, C, *ends, tight=surrogate == "tight")
    measure = hr.PartialAUC(min_fpr=ends[0], max_fpr=ends[1])
    ranker = LinearRanker(measure, surrogate=surrogate, C=C, tol=1e-4).fit(X, y)
    assert ranker.gap_ <= 1e-4
    assert ranker.lower_bound_ - 1e-6 * reference <= reference <= ranker.objective_ * (1 + 1e-6)
    assert np.linalg.norm(ranker.coef_) > 1e-2
    scores = X @ ranker.coef_
    risk = float(in_order_of_scores(scores[y == 1], scores[y == 0], *ends, tight=surrogate == "tight"))
    assert ranker.risk_ == pytest.approx(risk, rel=1e-9)
    assert ranker.objective_ == pytest.approx(ranker.coef_ @ ranker.coef_ / 2 + C * risk, rel=1e-9)
    assert 1 - ranker.score(X, y) <= ranker.risk_ + 1e-12


def test_the_certificate_holds_with_queries():
    X, y = separated_gaussians(9, 18, 3, shift=2.0, seed=2)
    qid = np.random.default_rng(0).integers(0, 4, y.size)
    reference = reference_minimum(X, y, 10.0, 0.0, 0.4, tight=True, qid=qid)
    ranker = LinearRanker("pauc@0.4", C=10.0, tol=1e-4).fit(X, y, qid=qid)
    assert ranker.lower_bound_ - 1e-6 <= reference <= ranker.objective_ + 1e-6
    assert clone(ranker).fit(X, y).objective_ != pytest.approx(ranker.objective_, rel=1e-2)


@pytest.mark.parametrize("standardize", [False, True])
def test_a_weight_of_two_is_the_row_twice(standardize):
    X, y = separated_gaussians(15, 25, shift=1.0)
    X[y == 1] *= [1, 3, 1, 1]
    weights = np.where(y == 1, 1 + (np.arange(y.size) % 3), np.arange(y.size) % 2 + 1)
    fit = LinearRanker("auc", C=5, tol=1e-8, standardize=standardize).fit
    weighted = fit(X, y, sample_weight=weights).coef_.copy()
    repeated = fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted, repeated.coef_, atol=1e-3)
    assert np.abs(clone(repeated).fit(X, y).coef_ - repeated.coef_).max() > 1e-2


# Storage and scale


def test_sparse_and_float32_give_the_same_answer():
    X, y = separated_gaussians(60, 300)
    X *= np.random.default_rng(1).random(X.shape) < 0.6
    dense = LinearRanker("pauc@0.3", C=10, tol=1e-5).fit(X, y)
    for other in (sparse.csr_array(X), sparse.csc_matrix(X), X.astype(np.float32), np.asfortranarray(X), X.tolist()):
        ranker = clone(dense).fit(other, y)
        assert ranker.objective_ == pytest.approx(dense.objective_, rel=3e-5)
        np.testing.assert_allclose(ranker.decision_function(other), dense.decision_function(X), atol=0.02)


def test_standardising_equals_the_scaler():
    X, y = separated_gaussians(30, 200)
    X = X * [1, 100, 1e-3, 5] + [0, 7, 3, -2]
    inside = LinearRanker("pauc@0.3", C=10, tol=1e-7, standardize=True).fit(X, y)
    scaler = StandardScaler().fit(X)
    outside = LinearRanker("pauc@0.3", C=10, tol=1e-7).fit(scaler.transform(X), y)
    assert inside.objective_ == pytest.approx(outside.objective_, rel=2e-7)
    np.testing.assert_allclose(inside.coef_ * scaler.scale_, outside.coef_, atol=2e-3)
    np.testing.assert_allclose(inside.decision_function(X), outside.decision_function(scaler.transform(X)), atol=1e-2)
    for storage in (sparse.csr_array(X), X.astype(np.float32)):
        assert clone(inside).set_params(tol=1e-5).fit(storage, y).objective_ == pytest.approx(
            inside.objective_, rel=2e-5
        )


@pytest.mark.parametrize("factor", [1000.0, 1e9, 1e-9])
def test_standardised_fits_do_not_know_the_unit(factor):
    X, y = separated_gaussians(30, 200)
    ranker = LinearRanker("pauc@0.3", C=10, tol=1e-5, standardize=True)
    one, other = clone(ranker).fit(X, y), clone(ranker).fit(X * factor, y)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-5)
    assert alike(other.coef_ * factor, one.coef_)


@pytest.mark.parametrize("factor", [1e-9, 1e-4, 1e4, 1e9])
def test_huge_and_tiny_units_give_the_right_answer(factor):
    """Rows times f are weights divided by f: the same problem with C f^2, whose answer is known at both ends."""
    X, y = separated_gaussians(15, 40, 3, shift=2.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ranker = LinearRanker("auc", C=1.0, max_iter=60).fit(X * factor, y)
    assert ranker.gap_ <= 1e-3 or "set standardize=True" in str(caught[0].message)
    if factor < 1:  # so little to gain that w points along the difference of the means
        assert ranker.objective_ == pytest.approx(1.0)
        gradient = X[y == 1].mean(0) - X[y == 0].mean(0)
        assert ranker.coef_ / np.linalg.norm(ranker.coef_) == pytest.approx(
            gradient / np.linalg.norm(gradient), abs=1e-3
        )
    else:  # C as good as infinite: only the risk counts
        w, differences = cp.Variable(3), (X[y == 1][:, None] - X[y == 0][None]).reshape(-1, 3)
        least = solved(cp.Problem(cp.Minimize(cp.sum(cp.pos(1 - differences @ w)) / len(differences))))
        assert ranker.risk_ == pytest.approx(least, rel=2e-3)


# Collapse


@pytest.mark.parametrize("surrogate", ["structural", "tight"])
def test_collapse_is_certified_and_said(surrogate):
    X, y = separated_gaussians(500, 5000, 3, shift=1.0)
    ranker = LinearRanker("pauc@0.01", surrogate=surrogate, C=10)
    with pytest.warns(CollapsedFitWarning, match=r"collapsed.*negatives.*Use LinearRankerCV"):
        ranker.fit(X, y)
    assert ranker.collapsed_
    assert ranker.lower_bound_ >= 0.99 * 10  # R(0) = 1: nothing below C (1 - 1 %) exists
    assert ranker.objective_ <= 10 * (1 + 1e-9)
    with pytest.warns(ConvergenceWarning):  # the same, but not yet proved
        assert not ranker.set_params(max_iter=1).fit(X, y).collapsed_


@pytest.mark.parametrize("C", [1e-8, 1e-3, 1.0])
def test_a_small_regularisation_constant_is_not_a_collapse(C):
    X, y = separated_gaussians(500, 5000, 3, shift=4.0)
    assert not LinearRanker("auc", C=C, solver="cutting-plane").fit(X, y).collapsed_
    ranker = LinearRanker("pauc@0.1", C=C).fit(X, y)
    assert not ranker.collapsed_
    assert ranker.lower_bound_ <= C
    assert ranker.score(X, y) > 0.8


# Awkward samples


def test_awkward_samples_are_learned():
    X, y = separated_gaussians(30, 100)
    fits = {
        "constant feature": (np.c_[X, np.full(130, 3.0)], y),
        "duplicated feature": (np.c_[X, X], y),
        "single feature": (X[:, :1], y),
        "one positive": (np.r_[X[y == 0], [[4.0, 0, 0, 0]]], np.r_[np.zeros(100), 1]),
        "one negative": (np.r_[X[y == 1], [[-4.0, 0, 0, 0]]], np.r_[np.ones(30), 0]),
        "duplicated rows": (np.repeat(X, 3, axis=0), np.repeat(y, 3)),
        "two rows": (np.array([[0.0], [2.0]]), [0, 1]),
    }
    for name, (rows, labels) in fits.items():
        for standardize in (False, True):
            ranker = LinearRanker("pauc@0.3", C=10, standardize=standardize).fit(rows, labels)
            assert ranker.gap_ <= 1e-3, name
            assert ranker.score(rows, labels) > 0.7, name
    assert LinearRanker("auc").fit(*fits["constant feature"]).coef_[-1] == pytest.approx(0, abs=1e-12)


@pytest.mark.filterwarnings("ignore::headrank.exceptions.CollapsedFitWarning")
def test_constant_rows_teach_nothing():
    ranker = LinearRanker("auc", standardize=True).fit(np.ones((9, 2)), np.arange(9) % 2)
    assert ranker.collapsed_
    assert (ranker.objective_, ranker.lower_bound_) == pytest.approx((1, 1))
    assert ranker.coef_ == pytest.approx([0, 0], abs=1e-12)


BAD = {
    "NaN": ({}, {"X": np.full((4, 1), np.nan)}, "NaN"),
    "one class": ({}, {"y": [1, 1, 1, 1]}, "class"),
    "one class by weight": ({}, {"sample_weight": [0, 0, 1, 1]}, "class|positive"),
    "three classes": ({}, {"y": [0, 1, 2, 1]}, "binary"),
    "no feature": ({}, {"X": np.empty((4, 0))}, "0 feature"),
    "C = 0": ({"C": 0}, {}, "C must be above 0"),
    "max_iter": ({"max_iter": 0}, {}, "max_iter must be at least 1"),
    "measure": ({"measure": "locauc@0.1"}, {}, "no convex surrogate; learn it with surrogate='smooth'"),
    "empty range": ({"measure": "pauc@0.3:0.2"}, {}, "min_fpr"),
    "surrogate": ({"surrogate": "smoth"}, {}, "'tight', 'structural'.*'smoth'"),
    "solver": ({"solver": "newton"}, {}, "'hybrid', 'cutting-plane'.*'newton'"),
    "weights, too few": ({}, {"sample_weight": [1.0, 2.0]}, "sample_weight.*4 rows"),
    "weights, too many alike": ({}, {"sample_weight": np.ones(5)}, "sample_weight.*4 rows"),
    "weights, zero": ({}, {"sample_weight": [0, 0, 0, 0]}, "sample_weight is 0|zero"),
    "qid, too few": ({}, {"qid": [1, 2]}, "qid.*4 rows"),
    "qid, one class each": ({}, {"qid": [1, 1, 2, 2]}, "query"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_with_a_reason(case):
    parameters, arguments, message = BAD[case]
    given = {"X": np.array([[0.0], [0.5], [2.0], [3.0]]), "y": [0, 0, 1, 1]} | arguments
    with pytest.raises(ValueError, match=message):
        LinearRanker(**parameters).fit(**given)


def test_a_limit_that_is_too_small_is_said():
    X, y = separated_gaussians(100, 400, 10)
    with pytest.warns(ConvergenceWarning, match=r"gap .* > tol .* after 2 evaluations"):
        ranker = LinearRanker("pauc@0.3", C=1000, tol=1e-6, max_iter=2).fit(X, y)
    assert ranker.n_iter_ == len(ranker.trace_) == 2
    assert ranker.lower_bound_ <= LinearRanker("pauc@0.3", C=1000).fit(X, y).objective_


def test_verbose_shows_a_line_and_silence_is_the_default(capsys):
    X, y = separated_gaussians()
    LinearRanker("auc").fit(X, y)
    assert capsys.readouterr() == ("", "")
    LinearRanker("auc", verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    assert "\rstep 1: objective" in err
    assert "gap" in err
    assert err.endswith("\n")


# The path


@pytest.mark.parametrize("surrogate", ["structural", "tight"])
def test_a_path_equals_single_fits(surrogate):
    X, y = separated_gaussians(60, 240, shift=3.0)
    ranker, Cs = LinearRanker("pauc@0.2", surrogate=surrogate, standardize=True, tol=1e-4), [100.0, 0.01, 1.0]
    result = path(ranker, X, y, Cs=Cs)
    assert list(result.Cs) == sorted(Cs)
    for i, C in enumerate(result.Cs):
        single = clone(ranker).set_params(C=C).fit(X, y)
        assert result.objectives[i] == pytest.approx(single.objective_, rel=1.1e-4)
        assert result.lower_bounds[i] <= single.objective_ * (1 + 1e-9)
        assert single.lower_bound_ <= result.objectives[i] * (1 + 1e-9)
        assert result.measures[i] == pytest.approx(hr.PartialAUC(max_fpr=0.2)(y, X @ result.coefs[i]))
        assert result.collapsed[i] == single.collapsed_
    assert (np.diff(result.objectives) > 0).all()
    assert (np.diff(result.objectives / result.Cs) < 0).all()  # min |w|^2 / 2C + R falls as C grows
    frame = result.to_frame()
    assert frame.columns == ["C", "objective", "lower_bound", "pauc@0.2", "collapsed", "n_iter"]
    assert not hasattr(ranker, "coef_")
    for bad, message in (([], "at least one C"), ([1.0, 0.0], "C must be above 0")):
        with pytest.raises(ValueError, match=message):
            path(ranker, X, y, Cs=bad)

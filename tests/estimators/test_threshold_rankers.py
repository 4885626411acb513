"""Rankers that press the highest negatives down, against the programs of their papers: duals, linear constraints."""

import warnings

import cvxpy as cp
import numpy as np
import pytest

import headrank as hr
from headrank import LinearRanker
from headrank.exceptions import CollapsedFitWarning
from reference import thresholds_of_negatives as slow
from reference.programs import solved
from samples import separated_gaussians

NAMES = ("toppush", "tau-fpl", "patmat", "asymmetric")
every = pytest.mark.parametrize("name", NAMES)


def a_problem(seed):
    """A few rows of classes that overlap, a C and a false positive rate."""
    rng = np.random.default_rng(seed)
    n_pos, n_neg, n_features = rng.integers(4, 15), rng.integers(5, 25), rng.integers(2, 6)
    X, y = separated_gaussians(int(n_pos), int(n_neg), int(n_features), shift=rng.uniform(3, 5), seed=seed)
    return X + rng.normal(size=n_features), y, float(rng.choice([0.1, 1.0, 10.0])), float(rng.choice([0.1, 0.25, 0.6]))


def dual_of_top_push(X, y, C, _rate):
    """Maximise sum a - |a'P - q'N|^2 / 2 - n_pos / (4 C) sum a^2 over a, q >= 0 with sum a = sum q.

    That is the dual of Li, Jin & Zhou (2014) with 1 / C in the place of lambda times the number of positives.
    """
    P, N = X[y == 1], X[y == 0]
    a, q = cp.Variable(len(P), nonneg=True), cp.Variable(len(N), nonneg=True)
    w = P.T @ a - N.T @ q
    loss = cp.sum_squares(w) / 2 - cp.sum(a) + len(P) / (4 * C) * cp.sum_squares(a)
    return -solved(cp.Problem(cp.Minimize(loss), [cp.sum(a) == cp.sum(q)]), tol=1e-8)


def program_of_asymmetric_svm(X, y, C, rate, core=1.0):
    """The primal with core, margin and slacks (Wu et al. 2008), on centred rows; then what it means for our C."""
    n, n_pos, n_neg = y.size, int(y.sum()), int((1 - y).sum())
    mu = min(rate * n_neg, n_pos / (1 + core)) / n
    w, rho, gamma, xi = cp.Variable(X.shape[1]), cp.Variable(), cp.Variable(), cp.Variable(n, nonneg=True)
    scores, pos, neg = (X - X.mean(axis=0)) @ w, np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    loss = cp.sum_squares(w) / 2 - core * mu * rho - mu * gamma + cp.sum(xi) / n
    constraints = [scores[pos] >= rho - xi[pos], scores[neg] <= rho - gamma + xi[neg]]
    gain = -solved(cp.Problem(cp.Minimize(loss), constraints), tol=1e-8)
    return C / (1 + 2 * C * 2 * gain / mu**2)


def program_of_tau_fpl(X, y, C, rate):
    w, theta = cp.Variable(X.shape[1]), cp.Variable()
    mass = rate * int((1 - y).sum())
    threshold = theta + cp.sum(cp.pos(X[y == 0] @ w - theta)) / mass
    return _against(X, y, C, w, threshold, [])


def program_of_pat_mat(X, y, C, rate):
    w, threshold = cp.Variable(X.shape[1]), cp.Variable()
    reached = cp.sum(cp.pos(1 + X[y == 0] @ w - threshold)) / int((1 - y).sum())
    return _against(X, y, C, w, threshold, [reached <= rate])


def _against(X, y, C, w, threshold, constraints):
    errors = cp.Variable(int(y.sum()), nonneg=True)
    risk = cp.sum_squares(errors) / int(y.sum())
    constraints = [*constraints, errors >= 1 + threshold - X[y == 1] @ w]
    return solved(cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * risk), constraints), tol=1e-8)


PROGRAMS = {
    "toppush": dual_of_top_push,
    "tau-fpl": program_of_tau_fpl,
    "patmat": program_of_pat_mat,
    "asymmetric": program_of_asymmetric_svm,
}


def equals_its_program(name, seed):
    X, y, C, rate = a_problem(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapsedFitWarning)
        ranker = LinearRanker(hr.PartialAUC(max_fpr=rate), surrogate=name, C=C, tol=2e-7, max_iter=3000).fit(X, y)
    reference = PROGRAMS[name](X, y, C, rate)
    assert ranker.gap_ <= 2e-7
    assert ranker.objective_ == pytest.approx(reference, rel=1e-6)
    assert ranker.lower_bound_ <= reference * (1 + 1e-7)
    return ranker.collapsed_


@every
def test_equals_its_program(name):
    assert not all(equals_its_program(name, seed) for seed in range(3))


@pytest.mark.slow
@every
def test_equals_its_program_on_fifty_problems(name):
    collapsed = [equals_its_program(name, seed) for seed in range(100, 150)]
    assert sum(collapsed) < 25


@pytest.mark.parametrize("core", [0.0, 3.0])
def test_the_core_of_the_asymmetric_svm_is_its_tau_over_mu(core):
    X, y, C, rate = a_problem(1)
    ranker = LinearRanker(hr.PartialAUC(max_fpr=rate), surrogate=f"asymmetric@{core:g}", C=C, tol=2e-7).fit(X, y)
    assert ranker.objective_ == pytest.approx(program_of_asymmetric_svm(X, y, C, rate, core), rel=1e-6)


def test_the_direction_of_the_asymmetric_svm_is_the_same_for_every_regularisation():
    X, y, _, rate = a_problem(2)
    fits = [
        LinearRanker(hr.PartialAUC(max_fpr=rate), surrogate="asymmetric", C=C, tol=1e-9).fit(X, y) for C in (0.1, 100)
    ]
    short, long = (fit.coef_ / np.linalg.norm(fit.coef_) for fit in fits)
    assert short @ long == pytest.approx(1, abs=1e-4)
    assert np.linalg.norm(fits[0].coef_) < 0.9 * np.linalg.norm(fits[1].coef_)


TWINS = {
    "toppush": lambda pos, neg: slow.top_push(pos, neg),
    "tau-fpl": lambda pos, neg: slow.tau_fpl(pos, neg, 0.3),
    "patmat": lambda pos, neg: slow.pat_mat(pos, neg, 0.3, 1.0),
    "asymmetric": lambda pos, neg: slow.asymmetric(pos, neg, 0.3, 1.0),
}


@every
@pytest.mark.parametrize("grouped", [False, True])
def test_the_claims_of_a_fit(name, grouped):
    X, y = separated_gaussians(40, 160, 3, shift=4.0)
    qid = np.arange(y.size) % 4 if grouped else np.zeros(y.size)
    ranker = LinearRanker("pauc@0.3", surrogate=name, C=5.0, standardize=True).fit(X, y, qid=qid if grouped else None)
    assert not ranker.collapsed_
    assert ranker.gap_ <= 1e-3
    scores = X @ ranker.coef_
    lists = [(scores[(qid == q) & (y == 1)], scores[(qid == q) & (y == 0)]) for q in np.unique(qid)]
    risk = np.mean([float(TWINS[name](pos.tolist(), neg.tolist())) for pos, neg in lists])
    assert ranker.risk_ == pytest.approx(risk, rel=1e-9)
    length = ranker.coef_ * X.std(axis=0)
    assert ranker.objective_ == pytest.approx(length @ length / 2 + 5.0 * risk, rel=1e-9)
    assert ranker.lower_bound_ <= ranker.objective_
    assert ranker.score(X, y, qid=qid if grouped else None) > 0.8


@every
def test_one_positive_or_one_negative(name):
    X, y = separated_gaussians(30, 30, shift=2.0)
    for one in (0, 1):
        rows = np.r_[np.flatnonzero(y == one)[:1], np.flatnonzero(y != one)]
        moved = X[rows] + np.where(y[rows] == 1, 3.0, 0.0)[:, None]
        ranker = LinearRanker("pauc@0.3", surrogate=name, C=10).fit(moved, y[rows])
        assert ranker.score(moved, y[rows]) == 1


@pytest.mark.parametrize("name", ["toppush", "tau-fpl", "asymmetric@0"])
def test_collapse_is_certified_and_said(name):
    X, y = separated_gaussians(500, 5000, 3, shift=1.0)
    with pytest.warns(CollapsedFitWarning, match=r"collapsed.*highest negatives.*Use LinearRankerCV"):
        ranker = LinearRanker("pauc@0.01", surrogate=name, C=10).fit(X, y)
    assert ranker.collapsed_
    assert ranker.lower_bound_ >= 0.99 * 10
    for C in (1e-6, 1e-3):  # a small C alone is no collapse
        X, y = separated_gaussians(300, 2000, 3, shift=6.0)
        assert not LinearRanker("pauc@0.1", surrogate=name, C=C).fit(X, y).collapsed_


def test_pat_mat_learns_where_the_others_collapse():
    X, y = separated_gaussians(500, 5000, 3, shift=1.0)
    ranker = LinearRanker("pauc@0.01", surrogate="patmat", C=10).fit(X, y)
    assert not ranker.collapsed_
    assert ranker.training_measure_ > 0.02
    with pytest.warns(CollapsedFitWarning, match="collapsed"):  # no direction at all
        assert LinearRanker("pauc@0.1", surrogate="patmat").fit(np.ones((20, 2)), np.arange(20) % 2).collapsed_


@every
def test_a_weight_of_two_is_the_row_twice(name):
    X, y = separated_gaussians(15, 25, shift=3.0)
    weights = np.where(y == 1, 1 + (np.arange(y.size) % 3), np.arange(y.size) % 2 + 1)
    ranker = LinearRanker("pauc@0.3", surrogate=name, C=5, tol=1e-6)
    weighted = ranker.fit(X, y, sample_weight=weights).objective_
    assert ranker.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).objective_ == pytest.approx(
        weighted, rel=3e-6
    )


# The p-norm push


def test_the_push_of_power_1_is_logistic_regression():
    X, y = separated_gaussians(60, 200, shift=2.0)
    push, logistic = (LinearRanker("auc", surrogate=name, tol=1e-8).fit(X, y) for name in ("push@1", "logistic"))
    assert push.objective_ == pytest.approx(logistic.objective_, rel=1e-7)
    assert LinearRanker("auc", surrogate="push").fit(X, y).objective_ < 0.99 * logistic.objective_


def test_a_higher_power_lowers_the_highest_negatives():
    """Two features: one that is right for most rows, one that is right for the highest negatives."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [300, 3000])
    X = rng.normal(size=(3300, 2)) + np.where(y == 1, 1.0, 0.0)[:, None] * [1.5, 1.0]
    odd = rng.random(3300) < 0.03
    X[(y == 0) & odd, 0] += 4
    values = [LinearRanker("pauc@0.02", surrogate=f"push@{p}", C=1).fit(X, y).training_measure_ for p in (1, 16)]
    assert values[1] > values[0] + 0.01


# Cross-validation


def test_cross_validation_takes_them_by_name():
    X, y = separated_gaussians(60, 300, shift=2.5)
    names = ("toppush", "tau-fpl", "patmat@0.5", "asymmetric", "push@2", "push@8")
    ranker = hr.LinearRankerCV("pauc@0.2", surrogates=names, Cs=(1.0, 10.0), cv=3).fit(X, y)
    assert {trial.candidate.surrogate for trial in ranker.trials_ if trial.candidate.C} == set(names)
    assert ranker.score(X, y) > 0.6
    assert set(ranker.cv_results_["surrogate"]) >= set(names)


@pytest.mark.parametrize("measure", ["pauc@0.1:0.3", "locauc@0.2", "p@20", "tpr@fpr=0.1", "tpr@fpr=0"])
def test_cross_validation_finds_the_nearest_head(measure):
    """A range that starts later, a best fraction, a count of rows: the head that ends where they do, or the whole."""
    X, y = separated_gaussians(60, 300, shift=3.0)
    ranker = hr.LinearRankerCV(measure, surrogates=("toppush", "tau-fpl", "patmat"), Cs=(1.0,), cv=2).fit(X, y)
    assert len(ranker.trials_) >= 3
    assert ranker.score(X, y) > 0.5


def test_they_are_not_among_the_default_candidates():
    names = hr.LinearRankerCV().surrogates
    assert names == ("logistic", "svc", "auc", "tight", "structural", "smooth")


def test_cross_validation_refuses_bad_names():
    X, y = separated_gaussians()
    for names, message in ((("toppsh",), "surrogates must be some of"), (("push@x",), "power"), (("auc@3",), "auc")):
        with pytest.raises(ValueError, match=message):
            hr.LinearRankerCV(surrogates=names).fit(X, y)

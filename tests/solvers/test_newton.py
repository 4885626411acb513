"""Newton's method against L-BFGS: the same minimum, the same certificate, in few evaluations."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from headrank.estimators._risk import LinearRisk
from headrank.rows import DenseRows
from headrank.solvers import lbfgs, newton
from headrank.surrogates import LogisticLoss, RowFacts, SquaredHinge

LOSSES = {"logistic": LogisticLoss, "svc": SquaredHinge}


def features(kind, rng, n_rows=60):
    X = rng.normal(size=(n_rows, 5)) + 0.3
    if kind == "unequal":
        X *= [1e3, 10, 1, 0.1, 1e-3]
    if kind == "deficient":  # a column of zeros, a constant one, and one twice
        X[:, 0], X[:, 1], X[:, 2] = 0, 7, X[:, 3]
    if kind == "repeated rows":
        X[: n_rows // 2] = X[0]
    return X


def problem(kind, loss, *, n_pos=20, weighted=False, seed=0):
    rng = np.random.default_rng(seed)
    X = features(kind, rng)
    positive = np.arange(60) < n_pos
    X[positive] += 0.5 * X.std(axis=0)
    weights = rng.integers(1, 4, 60).astype(float)
    facts = RowFacts(weights[positive], weights[~positive]) if weighted else RowFacts()
    return LinearRisk(DenseRows(X), LOSSES[loss](rows=facts), positive)


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_pos", [1, 20])
@pytest.mark.parametrize("kind", ["plain", "unequal", "deficient", "repeated rows"])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_minimum_is_that_of_lbfgs(loss, kind, n_pos, weighted, C):
    risk = problem(kind, loss, n_pos=n_pos, weighted=weighted)
    one = newton(risk, n_features=5, C=C, tol=1e-6)
    other = lbfgs(risk, n_features=5, C=C, tol=1e-6, max_iter=20_000)
    assert one.converged
    assert one.gap <= 1e-6
    assert one.n_iter < 60
    assert other.lower <= one.objective * (1 + 1e-9)
    assert one.lower <= other.objective * (1 + 1e-9)
    weights = one.weights
    assert one.objective == pytest.approx(weights @ weights / 2 + C * risk.at(weights).value, rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["plain", "deficient"])
def test_the_hessian_is_the_derivative_of_the_gradient(loss, kind):
    risk = problem(kind, loss, weighted=True)
    weights, tiny = np.array([0.1, -0.2, 0.3, 0.1, 0.05]), 1e-6
    sides = [
        risk.subgradients([risk.at(weights + step)])[0] - risk.subgradients([risk.at(weights - step)])[0]
        for step in tiny * np.eye(5)
    ]
    np.testing.assert_allclose(risk.hessian(risk.at(weights)), np.array(sides) / (2 * tiny), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_hessian_of_float32_rows_keeps_its_digits(loss):
    """A constant feature has no curvature; with sums in float32 it has some of either sign, and C multiplies it."""
    X = np.random.default_rng(0).normal(size=(50_000, 3)).astype(np.float32)
    X[:, 0] = 1.1
    risk = LinearRisk(DenseRows(X), LOSSES[loss](), np.arange(50_000) < 5_000)
    curvature = np.linalg.eigvalsh(risk.hessian(risk.at(np.array([0.3, 0.2, 0.1]))))
    assert abs(curvature[0]) < 1e-11 * curvature[-1]


def test_it_is_scikit_learns_logistic_regression():
    risk = problem("plain", "logistic")
    solution = newton(risk, n_features=5, C=3.0, tol=1e-10)
    model = LogisticRegression(C=3.0, tol=1e-10, max_iter=10_000).fit(risk.rows.X, risk.positive)
    np.testing.assert_allclose(solution.weights, model.coef_[0], atol=1e-4)


def test_lbfgs_takes_over_where_the_hessian_is_not_finite(monkeypatch):
    risk = problem("plain", "logistic")
    monkeypatch.setattr(LinearRisk, "hessian", lambda _risk, _point: np.full((5, 5), np.nan))
    assert newton(risk, n_features=5, C=1.0).gap <= 1e-3


def test_an_interrupt_keeps_the_best_so_far():
    risk, steps = problem("unequal", "logistic"), []

    def stop(step):
        steps.append(step)
        if len(steps) == 3:
            raise KeyboardInterrupt

    solution = newton(risk, n_features=5, C=100.0, tol=1e-9, callback=stop)
    assert solution.interrupted
    assert not solution.converged
    assert solution.objective == min(step.objective for step in steps)
    assert solution.n_iter == 3


def test_evaluations_are_limited():
    solution = newton(problem("unequal", "svc"), n_features=5, C=100.0, tol=1e-12, max_iter=2)
    assert (solution.n_iter, solution.converged) == (2, False)

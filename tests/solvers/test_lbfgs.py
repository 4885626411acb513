"""L-BFGS on problems with a known answer on paper: the minimum, its certificate, and what it says without one."""

from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest

from headrank.solvers import FunctionRisk, lbfgs
from reference.programs import solved


def half_square(target):
    target = np.array(target)
    return lambda w: (float((w - target) @ (w - target)) / 2, w - target)


def flat(w):
    return 1.0, np.zeros(w.size)


ROOT = 0.5671432904097838  # of w exp(w) = 1
PAPER = {
    "square, C = 1": (half_square([3, -4]), 2, 1.0, 6.25, [1.5, -2]),
    "square, C = 1/4": (half_square([3, -4]), 2, 0.25, 2.5, [0.6, -0.8]),
    "square, C = 1000": (half_square([3, -4, 0]), 3, 1000.0, 12.5 * 1000 / 1001, [3000 / 1001, -4000 / 1001, 0]),
    "exponential": (lambda w: (float(np.exp(-w[0])), -np.exp(-w)), 1, 1.0, ROOT**2 / 2 + ROOT, [ROOT]),
    "flat": (flat, 2, 7.0, 7.0, [0, 0]),
}


@pytest.mark.parametrize("problem", PAPER)
@pytest.mark.parametrize("start", [None, 0.3])
@pytest.mark.parametrize("tol", [1e-3, 1e-9])
def test_known_answers(problem, start, tol):
    risk, n_features, C, minimum, weights = PAPER[problem]
    start = None if start is None else np.full(n_features, start)
    solution = lbfgs(FunctionRisk(risk), n_features=n_features, C=C, tol=tol, start=start)
    assert solution.gap <= tol
    assert solution.lower <= minimum * (1 + 1e-12)
    assert minimum * (1 - 1e-12) <= solution.objective <= minimum * (1 + 2 * tol)
    assert np.linalg.norm(solution.weights - weights) <= np.sqrt(4 * tol * minimum)
    assert not solution.interrupted


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_certificate_holds_the_optimum_at_every_step(seed, C):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(12, 4)) + 0.3

    def risk(w):
        margins = rows @ w
        return float(np.logaddexp(0, -margins).mean()), -(rows.T @ (1 / (1 + np.exp(margins)))) / 12

    w = cp.Variable(4)
    minimum = solved(cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * cp.sum(cp.logistic(-rows @ w)) / 12)))
    solution = lbfgs(FunctionRisk(risk), n_features=4, C=C, tol=1e-8, start=np.full(4, 2.0))
    assert solution.gap <= 1e-8
    assert solution.n_iter > 2
    for step in solution.trace:
        assert step.lower <= minimum * (1 + 1e-7)
        assert step.objective >= minimum * (1 - 1e-7)
    assert solution.point.value == pytest.approx(risk(solution.weights)[0])


def test_the_certificate_is_sharp_away_from_the_optimum():
    """F(w) - |g|^2 / 2 with F = w^2 / 2 + C (w - t): the bound of a linear risk is exact at once."""
    risk = FunctionRisk(lambda w: (float(w[0]) + 9, np.ones(1)))
    solution = lbfgs(risk, n_features=1, C=2.0, tol=1e-9, start=np.array([5.0]), max_iter=1)
    assert solution.lower == pytest.approx(18 - 2)  # at w = -C: C^2 / 2 + C (9 - C)
    assert solution.objective == pytest.approx(12.5 + 28)
    assert solution.gap == pytest.approx((40.5 - 16) / 40.5)


@pytest.mark.parametrize("C", [1e-6, 1e-3, 1.0])
@pytest.mark.parametrize("start", [None, 1e-9])
def test_at_most_a_hundredth_of_what_can_be_gained_is_left(C, start):
    """With a small C, w = 0 is within any tolerance of the objective, but what could be gained is all that ranks."""
    scales = np.array([30.0, 3.0, 1.0, 0.3])
    target = np.array([1.0, -1.0, 1.0, -1.0])

    def risk(w):
        away = scales * (w - target)
        return 1000 + float(away @ away) / 2, scales * away

    start = None if start is None else np.full(4, start)
    solution = lbfgs(FunctionRisk(risk), n_features=4, C=C, start=start)
    minimum = C * scales**2 * target / (1 + C * scales**2)
    best = float(minimum @ minimum) / 2 + C * risk(minimum)[0]
    at_zero = C * risk(np.zeros(4))[0]
    assert at_zero - best < 0.5 * at_zero
    assert solution.objective - best <= 0.01 * (at_zero - best)
    assert solution.gap <= 1e-3


# Without convexity


def two_wells(w):
    """(w^2 - 1)^2, whose wells are at -1 and 1."""
    return float((w[0] ** 2 - 1) ** 2), 4 * w * (w**2 - 1)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_nothing_is_proved_without_convexity(side):
    """w^2 / 2 + C (w^2 - 1)^2 has its wells where w^2 = 1 - 1 / (4 C); the one nearer the start is found."""
    solution = lbfgs(FunctionRisk(two_wells), n_features=1, C=5.0, tol=1e-6, start=np.array([0.6 * side]), convex=False)
    assert np.isnan(solution.lower)
    assert np.isnan(solution.gap)
    assert all(np.isnan(step.lower) for step in solution.trace)
    assert solution.weights == pytest.approx([side * np.sqrt(0.95)], rel=1e-3)
    assert solution.n_iter < 100


def test_a_smaller_tolerance_searches_longer_and_deeper_without_convexity():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 8))

    def wavy(w):
        phases = rows @ w
        return float((1 - np.cos(phases)).mean()), rows.T @ np.sin(phases) / 40

    start = np.full(8, 0.4)
    solutions = [
        lbfgs(FunctionRisk(wavy), n_features=8, C=50.0, tol=tol, start=start, convex=False) for tol in (10.0, 1e-7)
    ]
    assert solutions[0].n_iter < solutions[1].n_iter
    assert solutions[1].objective < solutions[0].objective < 50 * wavy(start)[0] + start @ start / 2


# Centre and unit


@pytest.mark.parametrize("convex", [True, False])
@pytest.mark.parametrize("unit", [1e-3, 1.0, 5.0, 1e4])
def test_the_penalty_is_around_the_centre_in_units(unit, convex):
    """1/2 |w - c|^2 / u^2 + C/2 |w - t|^2: the mean of c and t with weights 1 / u^2 and C, per coordinate."""
    centre, target, C = np.array([1.0, -2.0, 0.5]) * unit, np.array([4.0, 2.0, 0.5]) * unit, 3.0 / unit**2
    expected = (centre / unit**2 + C * target) / (1 / unit**2 + C)
    away, left = expected - centre, expected - target
    minimum = away @ away / unit**2 / 2 + C * (left @ left) / 2
    risk = FunctionRisk(half_square(target))
    solution = lbfgs(risk, n_features=3, C=C, tol=1e-8, centre=centre, unit=unit, convex=convex)
    np.testing.assert_allclose(solution.weights, expected, rtol=1e-3)
    assert solution.objective == pytest.approx(minimum, rel=1e-6)
    assert solution.trace[0].objective == pytest.approx(C * ((centre - target) @ (centre - target)) / 2)  # from centre
    if convex:
        assert solution.lower <= minimum * (1 + 1e-12)
        assert solution.gap <= 1e-8


def test_the_search_starts_where_it_is_told():
    start, centre = np.array([3.0, 1.0]), np.array([2.0, 0.0])
    before = start.copy(), centre.copy()
    solution = lbfgs(
        FunctionRisk(half_square([0, 0])), n_features=2, C=1.0, start=start, centre=centre, unit=2.0, max_iter=1
    )
    assert solution.objective == pytest.approx(2 / 4 / 2 + 10 / 2)
    assert (solution.weights == start).all()
    assert (start == before[0]).all()
    assert (centre == before[1]).all()


def test_a_vanishing_risk_stays_at_the_centre():
    centre = np.array([1.0, -3.0])
    solution = lbfgs(FunctionRisk(half_square([9, 9])), n_features=2, C=1e-12, tol=1e-9, centre=centre, convex=False)
    np.testing.assert_allclose(solution.weights, centre, rtol=1e-9)


# Trace, limits, interrupts


def stretched(w):
    """A long narrow valley, which takes many steps."""
    stretch = np.geomspace(1, 1e4, w.size)
    return float((stretch * (w - 1)) @ (w - 1)) / 2, stretch * (w - 1)


def test_the_trace_only_improves_and_the_callback_hears_it():
    told = []
    solution = lbfgs(FunctionRisk(stretched), n_features=10, C=10.0, tol=1e-8, callback=told.append)
    assert tuple(told) == solution.trace
    assert [step.n_iter for step in told] == list(range(1, solution.n_iter + 1))
    assert solution.n_iter > 5
    for before, after in pairwise(told):
        assert after.objective <= before.objective
        assert after.lower >= before.lower
        assert after.seconds >= before.seconds
    assert (solution.objective, solution.lower) == (told[-1].objective, told[-1].lower)


@pytest.mark.parametrize("convex", [True, False])
@pytest.mark.parametrize("max_iter", [1, 2, 7])
def test_max_iter_counts_evaluations(max_iter, convex):
    calls = []

    def counted(w):
        calls.append(w)
        return stretched(w)

    solution = lbfgs(FunctionRisk(counted), n_features=10, C=10.0, tol=1e-12, max_iter=max_iter, convex=convex)
    assert solution.n_iter == len(calls) == max_iter
    assert solution.objective == pytest.approx(
        solution.weights @ solution.weights / 2 + 10 * stretched(solution.weights)[0]
    )
    assert not solution.interrupted


@pytest.mark.parametrize("where", ["callback", "risk"])
@pytest.mark.parametrize("convex", [True, False])
def test_an_interrupt_keeps_the_best_so_far(where, convex):
    calls = []

    def risk(w):
        calls.append(w)
        if where == "risk" and len(calls) == 5:
            raise KeyboardInterrupt
        return stretched(w)

    def callback(step):
        if where == "callback" and step.n_iter == 4:
            raise KeyboardInterrupt

    solution = lbfgs(FunctionRisk(risk), n_features=10, C=10.0, tol=1e-9, convex=convex, callback=callback)
    assert solution.interrupted
    assert solution.n_iter == 4
    assert solution.objective == pytest.approx(
        solution.weights @ solution.weights / 2 + 10 * stretched(solution.weights)[0]
    )
    assert solution.objective < 10 * stretched(np.zeros(10))[0]


def test_an_interrupt_before_anything_is_known_goes_on():
    def risk(w):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lbfgs(FunctionRisk(risk), n_features=2, C=1.0)


def test_the_same_input_gives_the_same_answer():
    one, other = (lbfgs(FunctionRisk(stretched), n_features=10, C=10.0, tol=1e-8) for _ in range(2))
    assert one.weights == pytest.approx(other.weights, rel=1e-3)
    assert one.objective == pytest.approx(other.objective, rel=1e-7)


# -- when it ends ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3, 1e6])
def test_without_a_proof_the_size_of_the_objective_does_not_matter(scale):
    """All of the objective is multiplied: the risk, and the penalty through its unit."""
    rows = np.random.default_rng(0).normal(size=(40, 8))

    def waves(w):
        along = rows @ w
        return float((1 - np.cos(along)).mean()), rows.T @ np.sin(along) / 40

    def search(factor):
        risk = FunctionRisk(lambda w: tuple(factor * each for each in waves(w)))
        unit = 1 / np.sqrt(factor)
        return lbfgs(risk, n_features=8, C=50.0, start=np.full(8, 0.4), unit=unit, convex=False)

    plain, scaled = search(1.0), search(scale)
    assert plain.converged
    assert scaled.converged
    for one, factor in ((plain, 1.0), (scaled, scale)):  # the minimum is 0
        assert one.trace[0].objective > 1 * factor
        assert one.objective < 1e-4 * factor


def test_little_is_left_when_it_ends_without_a_proof():
    """A step that gains less than a hundredth of tol is the last one."""
    rows = np.random.default_rng(1).normal(size=(60, 5)) * [1, 3, 10, 30, 100]

    def bowl(w):
        return float(np.sqrt(1 + (rows @ w - 1) ** 2).mean()), rows.T @ (
            (rows @ w - 1) / np.sqrt(1 + (rows @ w - 1) ** 2)
        ) / 60

    rough, fine = (lbfgs(FunctionRisk(bowl), n_features=5, C=1.0, tol=tol, convex=False) for tol in (1e-3, 1e-12))
    assert rough.trace[0].objective - rough.objective >= 0.99 * (fine.trace[0].objective - fine.objective)


@pytest.mark.parametrize("convex", [True, False])
def test_it_says_whether_it_has_converged(convex):
    def search(**more):
        return lbfgs(FunctionRisk(half_square([3, -4])), n_features=2, C=1.0, convex=convex, **more)

    assert search().converged
    assert not search(max_iter=1).converged


def test_weights_within_tol_of_0_are_no_end():
    """With a small C the origin is within any tolerance, and a search that is stopped there has not converged."""
    risk = FunctionRisk(half_square([3, -4]))
    stopped = lbfgs(risk, n_features=2, C=1e-7, max_iter=1)
    assert stopped.gap <= 1e-3
    assert not stopped.converged
    assert lbfgs(risk, n_features=2, C=1e-7).converged

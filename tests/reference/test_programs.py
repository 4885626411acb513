"""The reference for solvers is right itself: known minima, true bounds, and a failure where nothing is proved."""

import cvxpy as cp
import numpy as np
import pytest

from reference.programs import SOLVERS, bounds, lower_bound, solved

ROOT = 0.5671432904097838  # of w exp(w) = 1
CLARABEL, SCS = SOLVERS
HASTY = {CLARABEL: {"max_iter": 3}, SCS: {"max_iters": 5}}
TARGET = np.array([3.0, -4.0])

# Each with |w|^2 / 2: the risk, the minimum and where it is.
KNOWN = {
    "square": (lambda w: cp.sum_squares(w - TARGET) / 2, 6.25, TARGET / 2),
    "hinge, and a constant": (lambda w: cp.sum(cp.pos(1 - w)) / 2 + 3, 3.75, [0.5, 0.5]),
    "exponential": (lambda w: cp.sum(cp.exp(-w)), ROOT**2 + 2 * ROOT, [ROOT, ROOT]),
    "the largest": (lambda w: cp.max(1 - w), 0.75, [0.5, 0.5]),
}


def problem(name):
    """Return a problem with a known answer, and its variable."""
    w = cp.Variable(2)
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + KNOWN[name][0](w))), w


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", KNOWN)
def test_known_minima(name, solver):
    program, w = problem(name)
    assert solved(program, solvers={solver: SOLVERS[solver]}) == pytest.approx(KNOWN[name][1], rel=1e-7)
    assert w.value == pytest.approx(KNOWN[name][2], abs=1e-3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_constraints_are_kept(solver):
    w = cp.Variable(2)
    program = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2), [cp.sum(w) >= 2])
    assert solved(program, solvers={solver: SOLVERS[solver]}) == pytest.approx(1, rel=1e-7)


def test_a_linear_program():
    w = cp.Variable(2)
    assert solved(cp.Problem(cp.Minimize(cp.sum(cp.pos(1 - w)) + cp.sum(w) / 2))) == pytest.approx(1)


@pytest.mark.parametrize("name", KNOWN)
def test_bounds_hold_wherever_a_solver_stops(name):
    for limit in range(1, 20):
        found = bounds(problem(name)[0], CLARABEL, {"max_iter": limit})
        assert found.lower <= KNOWN[name][1] * (1 + 1e-12)
        assert found.upper >= KNOWN[name][1] * (1 - 1e-12)


@pytest.mark.parametrize("name", KNOWN)
def test_any_point_gives_a_lower_bound(name):
    """Of the cone program without its constant, whose minimum is a little above the bound at the solver's answer."""
    data = problem(name)[0].get_problem_data(CLARABEL, solver_opts={})[0]
    constant = 3 if "constant" in name else 12.5 if name == "square" else 0
    rng = np.random.default_rng(0)
    for _ in range(200):
        x, z = rng.normal(size=data["c"].size) * 3, rng.normal(size=data["b"].size)
        assert lower_bound(data, x, z) + constant <= KNOWN[name][1]


def test_the_second_solver_is_asked_where_the_first_is_inaccurate():
    program, w = problem("hinge, and a constant")
    with pytest.raises(AssertionError):
        solved(program, solvers={CLARABEL: HASTY[CLARABEL]})
    assert solved(program, solvers={CLARABEL: HASTY[CLARABEL], SCS: SOLVERS[SCS]}) == pytest.approx(3.75)
    assert w.value == pytest.approx([0.5, 0.5], abs=1e-4)


def test_the_second_solver_is_not_asked_where_the_first_is_accurate():
    program, _ = problem("hinge, and a constant")
    assert solved(program, solvers={CLARABEL: SOLVERS[CLARABEL], "NONSENSE": {}}) == pytest.approx(3.75)


def test_a_failure_shows_both_values():
    program, _ = problem("exponential")
    found = [bounds(program, solver, options) for solver, options in HASTY.items()]
    with pytest.raises(AssertionError) as failure:
        solved(program, tol=1e-9, solvers=HASTY)
    for each in found:
        assert f"{each.solver}: between {each.lower!r} and {each.upper!r}" in str(failure.value)


@pytest.mark.parametrize("sign", [1, -1], ids=["infeasible", "unbounded"])
def test_a_program_without_a_minimum_fails(sign):
    w = cp.Variable(2)
    constraints = [w >= 1, w <= 0] if sign == 1 else []
    with pytest.raises(AssertionError, match=r"CLARABEL: between .* and inf"):
        solved(cp.Problem(cp.Minimize(cp.sum(w)), constraints))

"""Solvers on problems with a known answer on paper, and on random ones against an independent convex solver."""

from itertools import combinations, pairwise

import cvxpy as cp
import numpy as np
import pytest

from headrank.solvers import Bundle, FunctionRisk, cutting_plane, hybrid
from headrank.solvers.qp import solve_dual
from reference.programs import solved

SOLVERS = {"hybrid": hybrid, "cutting-plane": cutting_plane}


@pytest.fixture(params=SOLVERS)
def solve(request):
    return SOLVERS[request.param]


# Problems on paper: (risk, n_features, C, minimum, weights there)


def hinge(w):
    return max(0.0, 1 - w[0]), np.array([-1.0 if w[0] < 1 else 0.0])


def distance(to):
    return lambda w: (abs(w[0] - to), np.array([np.sign(w[0] - to)]))


def half_square(target):
    target = np.array(target)
    return lambda w: (float((w - target) @ (w - target)) / 2, w - target)


def largest_distance_from_ones(w):
    """A kink on which all coordinates meet: min is 3 t^2 / 2 + C (1 - t) at w = (t, t, t), t = min(1, C / 3)."""
    worst = int(np.argmax(np.abs(w - 1)))
    normal = np.zeros(w.size)
    normal[worst] = np.sign(w[worst] - 1)
    return float(abs(w[worst] - 1)), normal


def one_plus_sum_of_sizes(w):
    """At 0 no single subgradient is small, yet 0 is the minimum."""
    return 1 + float(np.abs(w).sum()), np.where(w >= 0, 1.0, -1.0)


def flat(w):
    return 1.0, np.zeros(w.size)


PAPER = {
    "hinge, C = 3": (hinge, 1, 3.0, 0.5, [1]),
    "hinge, C = 1/2": (hinge, 1, 0.5, 0.375, [0.5]),
    "hinge, C = 1e6": (hinge, 1, 1e6, 0.5, [1]),
    "distance to 2, C = 5": (distance(2.0), 1, 5.0, 2.0, [2]),
    "distance to -2, C = 1": (distance(-2.0), 1, 1.0, 1.5, [-1]),
    "distance to 1e6, C = 1e8": (distance(1e6), 1, 1e8, 5e11, [1e6]),
    "distance to 1e-6, C = 1e-3": (distance(1e-6), 1, 1e-3, 5e-13, [1e-6]),
    "square, C = 1": (half_square([3, -4]), 2, 1.0, 6.25, [1.5, -2]),
    "square, C = 1/4": (half_square([3, -4]), 2, 0.25, 2.5, [0.6, -0.8]),
    "square, C = 1000": (half_square([3, -4, 0]), 3, 1000.0, 12.5 * 1000 / 1001, [3000 / 1001, -4000 / 1001, 0]),
    "kink in 3-D, C = 1": (largest_distance_from_ones, 3, 1.0, 5 / 6, [1 / 3] * 3),
    "kink in 3-D, C = 10": (largest_distance_from_ones, 3, 10.0, 1.5, [1, 1, 1]),
    "kink in 2-D, C = 1000": (largest_distance_from_ones, 2, 1000.0, 1.0, [1, 1]),
    "minimum at 0, C = 1": (one_plus_sum_of_sizes, 4, 1.0, 1.0, [0] * 4),
    "minimum at 0, C = 100": (one_plus_sum_of_sizes, 4, 100.0, 100.0, [0] * 4),
    "flat": (flat, 2, 7.0, 7.0, [0, 0]),
}


@pytest.mark.parametrize("problem", PAPER)
@pytest.mark.parametrize("start", [None, 0.3])
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_known_answers(solve, problem, start, tol):
    risk, n_features, C, minimum, weights = PAPER[problem]
    start = None if start is None else np.full(n_features, start)
    solution = solve(FunctionRisk(risk), n_features=n_features, C=C, tol=tol, start=start, max_iter=2000)
    assert solution.gap <= tol
    rounding = 1e-15 * C * risk(np.zeros(n_features) if start is None else start)[0]
    assert solution.lower <= minimum * (1 + 1e-9) + rounding
    assert minimum * (1 - 1e-9) <= solution.objective <= minimum * (1 + 2 * tol)
    # Strong convexity: the distance to the minimum is at most sqrt(2 (objective - minimum)).
    assert np.linalg.norm(solution.weights - weights) <= np.sqrt(4 * tol * minimum)


# Random problems: the largest of affine functions, and 0


class MaxOfAffine:
    """The risk max(0, A w + b), which has a kink wherever it matters."""

    def __init__(self, seed, n_features=4, n_pieces=12, scale=1.0):
        rng = np.random.default_rng(seed)
        self.normals = rng.normal(size=(n_pieces, n_features)) * scale
        self.offsets = rng.normal(1, 1, n_pieces)
        self.n_features = n_features

    def __call__(self, w):
        values = self.normals @ w + self.offsets
        best = int(np.argmax(values))
        return (float(values[best]), self.normals[best]) if values[best] > 0 else (0.0, np.zeros(w.size))

    def objective(self, w, C):
        return float(w @ w) / 2 + C * self(w)[0]

    def minimum(self, C):
        w = cp.Variable(self.n_features)
        risk = cp.pos(cp.max(self.normals @ w + self.offsets))
        return solved(cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * risk)))


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("seed", range(4))
def test_random_problems_agree_with_an_independent_solver(solve, seed, C):
    risk = MaxOfAffine(seed, n_features=2 + seed, n_pieces=5 * (1 + seed))
    reference = risk.minimum(C)
    slack = 1e-6 * (1 + reference)
    solution = solve(FunctionRisk(risk), n_features=risk.n_features, C=C, tol=1e-5)
    assert solution.gap <= 1e-5
    assert solution.lower - slack <= reference <= solution.objective + slack
    assert solution.objective == pytest.approx(risk.objective(solution.weights, C), rel=1e-12)
    assert np.linalg.norm(solution.weights) > 1e-3
    assert reference < 0.999 * C * risk(np.zeros(risk.n_features))[0]
    for step in solution.trace:
        assert step.lower <= reference + slack
        assert step.objective >= reference - slack


@pytest.mark.parametrize("seed", range(4))
def test_the_trace_only_improves_and_counts(solve, seed):
    told = []
    risk = MaxOfAffine(seed, 6, 60)
    solution = solve(FunctionRisk(risk), n_features=6, C=100.0, tol=1e-6, callback=told.append)
    assert tuple(told) == solution.trace
    assert [step.n_iter for step in told] == list(range(1, solution.n_iter + 1))
    assert solution.n_iter > 3
    for before, after in pairwise(told):
        assert after.objective <= before.objective
        assert after.lower >= before.lower
        assert after.seconds >= before.seconds
    assert (solution.objective, solution.lower, solution.gap) == (told[-1].objective, told[-1].lower, told[-1].gap)
    assert not solution.interrupted


@pytest.mark.parametrize("max_iter", [1, 2, 5])
def test_max_iter_is_respected_and_the_bound_still_holds(solve, max_iter):
    risk = MaxOfAffine(0, 6, 60)
    solution = solve(FunctionRisk(risk), n_features=6, C=1000.0, tol=1e-9, max_iter=max_iter)
    assert solution.n_iter == max_iter
    assert solution.gap > 1e-9
    assert solution.lower <= risk.minimum(1000.0) * (1 + 1e-6) <= solution.objective * (1 + 2e-6)
    assert solution.objective == pytest.approx(risk.objective(solution.weights, 1000.0))


def test_an_interrupt_keeps_the_best_so_far(solve):
    risk = MaxOfAffine(1, 6, 60)
    told = []

    def stop_at_the_third(step):
        told.append(step)
        if step.n_iter == 3:
            raise KeyboardInterrupt

    solution = solve(FunctionRisk(risk), n_features=6, C=100.0, tol=1e-9, callback=stop_at_the_third)
    assert solution.interrupted
    assert solution.objective == min(step.objective for step in told)
    assert solution.objective == pytest.approx(risk.objective(solution.weights, 100.0))
    assert solution.lower <= risk.minimum(100.0) * (1 + 1e-6)
    assert solution.n_iter == 3  # evaluations, of which there were three


def test_an_interrupt_that_does_not_go_away_is_caught_too(solve):
    """As from a callback that stops on a limit of its own, which is still exceeded when it is asked again."""

    def stop_from_the_third_on(step):
        if step.n_iter >= 3:
            raise KeyboardInterrupt

    risk = FunctionRisk(MaxOfAffine(1))
    try:
        solution = solve(risk, n_features=4, C=100.0, tol=1e-9, callback=stop_from_the_third_on)
    except KeyboardInterrupt:  # which would end the whole run of tests
        pytest.fail("the second interrupt escaped, and with it the best so far")
    assert solution.interrupted


def test_an_interrupt_within_the_risk_keeps_the_best_so_far(solve):
    risk, calls = MaxOfAffine(1, 6, 60), []

    def interrupted(w):
        calls.append(w)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return risk(w)

    solution = solve(FunctionRisk(interrupted), n_features=6, C=100.0, tol=1e-9)
    assert solution.interrupted
    assert solution.objective == pytest.approx(risk.objective(solution.weights, 100.0))
    assert solution.objective <= 100.0 * risk(np.zeros(6))[0]


@pytest.mark.parametrize("at", [1, 6])
def test_rows_that_are_lost_end_the_search(solve, at):
    """With the best so far, if there is any."""
    risk, calls = MaxOfAffine(1, 6, 60), []

    def lost(w):
        calls.append(w)
        if len(calls) >= at:
            raise ConnectionError("gone")
        return risk(w)

    if at == 1:
        with pytest.raises(ConnectionError, match="gone"):
            solve(FunctionRisk(lost), n_features=6, C=100.0, tol=1e-9)
        return
    solution = solve(FunctionRisk(lost), n_features=6, C=100.0, tol=1e-9)
    assert not solution.interrupted
    assert solution.objective == pytest.approx(risk.objective(solution.weights, 100.0))
    assert solution.stopped_by.__traceback__ is None
    with pytest.raises(ConnectionError, match="gone"):
        solution.raise_if_stopped()


@pytest.mark.parametrize("Cs", [(1.0, 10.0, 1000.0), (1000.0, 1.0, 0.01)])
def test_a_bundle_serves_another_regularisation(solve, Cs):
    risk, bundle, start = MaxOfAffine(2, 5, 30), Bundle(), None
    for C in Cs:
        reference = risk.minimum(C)
        solution = solve(FunctionRisk(risk), n_features=5, C=C, tol=1e-5, bundle=bundle, start=start)
        assert solution.bundle is bundle
        assert solution.gap <= 1e-5
        assert solution.lower - 1e-6 * reference <= reference <= solution.objective * (1 + 1e-6)
        start = solution.weights
    again = solve(FunctionRisk(risk), n_features=5, C=Cs[-1], tol=1e-4, bundle=bundle, start=start)
    assert again.n_iter <= 2


def test_a_start_at_the_answer_is_not_lost(solve):
    risk = MaxOfAffine(3, 5, 30)
    answer = solve(FunctionRisk(risk), n_features=5, C=50.0, tol=1e-7)
    start = answer.weights.copy()
    again = solve(FunctionRisk(risk), n_features=5, C=50.0, tol=1e-5, start=start)
    assert again.trace[0].objective == pytest.approx(answer.objective, rel=1e-9)
    assert (start == answer.weights).all()


def test_the_hybrid_needs_fewer_evaluations_on_a_nearly_smooth_risk():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2000, 20)) + 0.3

    def mean_hinge(w):
        slack = 1 - rows @ w
        return float(np.maximum(slack, 0).mean()), -rows[slack > 0].sum(0) / len(rows)

    quick, slow = (s(FunctionRisk(mean_hinge), n_features=20, C=100.0, tol=1e-4) for s in (hybrid, cutting_plane))
    assert quick.objective == pytest.approx(slow.objective, rel=2e-4)
    assert 2 * quick.n_iter < slow.n_iter


# The small quadratic program


def dual_value(normals, offsets, a):
    return float(offsets @ a) - float((a @ normals) @ (a @ normals)) / 2


def best_of_all_active_sets(normals, offsets, total):
    """The optimum by trying which cuts carry weight, and whether the whole total is spent. Cuts few, scales any."""
    size, height = np.linalg.norm(normals, axis=1).max(), np.abs(offsets).max()
    unit = min(total, height / size**2)  # in these units all numbers are near 1, but for the total
    A, b, limit, best = normals * np.sqrt(unit / height), offsets / height, total / unit, 0.0
    for k in range(1, len(b) + 1):
        for rows in map(list, combinations(range(len(b)), k)):
            G = A[rows] @ A[rows].T
            free = np.linalg.lstsq(G, b[rows], rcond=None)[0]
            ones = np.ones((k, 1))
            spent = np.linalg.lstsq(np.block([[G, ones], [ones.T, 0]]), np.append(b[rows], limit), rcond=None)[0][:-1]
            for a in (free, spent):
                if (a >= 0).all() and a.sum() <= limit * (1 + 1e-9):
                    best = max(best, dual_value(A[rows], b[rows], a))
    return best * height * unit


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("total", [1e-4, 1.0, 1e4, 1e8])
@pytest.mark.parametrize("height", [1e-3, 1.0, 1e3])
def test_the_dual_at_every_scale(scale, total, height):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        normals, offsets = rng.normal(size=(6, 2)) * scale, rng.normal(0.5, 1, 6) * height
        a = solve_dual(normals @ normals.T, offsets, total)
        best = best_of_all_active_sets(normals, offsets, total)
        assert (a >= 0).all()
        assert a.sum() <= total * (1 + 1e-12)
        assert best > 0
        value, stretch = dual_value(normals, offsets, a), total * scale**2 / height
        assert value >= 0  # the weights 0 are feasible and prove as much
        if stretch <= 1e12:  # beyond, the rounding of the Gram matrix itself hides the answer
            assert value == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("total", [0.1, 10.0, 1e4])
@pytest.mark.parametrize("n_features", [1, 3, 10])
def test_the_dual_with_many_cuts_nearly_alike(total, n_features):
    rng = np.random.default_rng(n_features)
    normals = rng.normal(size=n_features) + rng.normal(size=(40, n_features)) * np.geomspace(1, 1e-7, 40)[:, None]
    offsets = rng.normal(1, 0.1, 40)
    a = solve_dual(normals @ normals.T, offsets, total)
    w, risk = cp.Variable(n_features), cp.Variable(nonneg=True)
    best = solved(cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + total * risk), [risk >= normals @ w + offsets]))
    assert (a >= 0).all()
    assert a.sum() <= total * (1 + 1e-12)
    assert dual_value(normals, offsets, a) == pytest.approx(best, rel=1e-6)


def test_the_dual_of_flat_cuts():
    """Nothing to trade off: all weight on the highest cut, none if they all lie below 0."""
    assert solve_dual(np.zeros((3, 3)), np.array([0.2, 0.7, -1.0]), 5.0) == pytest.approx([0, 5, 0])
    assert solve_dual(np.zeros((2, 2)), np.array([-0.2, -1.0]), 5.0) == pytest.approx([0, 0])
    assert solve_dual(np.zeros((1, 1)), np.zeros(1), 5.0).sum() <= 5


def test_the_dual_of_one_cut():
    """max b a - g a^2 / 2 over [0, C]: at b / g or at C."""
    assert solve_dual(np.array([[4.0]]), np.array([2.0]), 5.0) == pytest.approx([0.5])
    assert solve_dual(np.array([[4.0]]), np.array([2.0]), 0.1) == pytest.approx([0.1])
    assert solve_dual(np.array([[4.0]]), np.array([-2.0]), 5.0) == pytest.approx([0], abs=1e-9)


def test_the_dual_with_one_flat_cut_among_others():
    """A constant cut of 1 and a slope: the risk is at least 1, so the minimum is C."""
    normals, offsets = np.array([[0.0, 0.0], [3.0, 1.0]]), np.array([1.0, 0.5])
    a = solve_dual(normals @ normals.T, offsets, 2.0)
    assert dual_value(normals, offsets, a) == pytest.approx(2.0, rel=1e-7)

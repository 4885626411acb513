"""Progress of a fit over all rows: gap, speed, and what is left by the rate at which the gap falls."""

from math import nan

from headrank.solvers import Step
from headrank.training.evaluations import Evaluations


def shown(gaps, tol=1e-3):
    told, clock = [], iter(range(100))
    show = Evaluations("fit", 10, tol, lambda *state: told.append(state), clock=lambda: next(clock))
    for number, gap in enumerate(gaps, 1):
        show(Step(number, 1.0, 1 - gap, number, 0.0))
    return told


def test_what_is_left_follows_from_the_rate_of_the_gap():
    assert [state[1:3] for state in shown([1e-1, 1e-2, 1e-3])] == [(1, 2), (2, 3), (3, 3)]
    assert [state[2] for state in shown([0.2, 0.1, 0.05], tol=0.0125)] == [2, 5, 5]


def test_without_a_gap_as_many_again_are_expected():
    told = shown([nan, nan])
    assert [state[1:3] for state in told] == [(1, 2), (2, 4)]
    assert told[0][3].detail == "10 rows per second"


def test_a_gap_that_does_not_fall_tells_nothing():
    assert [state[2] for state in shown([0.1, 0.1, 0.2])] == [2, 4, 6]

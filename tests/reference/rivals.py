"""The rivals' routines by brute force: every angle in exact arithmetic, splines by SciPy, roughness by quadrature."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
from scipy.interpolate import CubicSpline


def best_of_all_angles(positive, score, column, worth, queries=None):
    """The best value of ``score + slope * column`` over all slopes at which no rows are tied by chance.

    Scores and columns are whole numbers; ``worth`` takes the places of the rows, which are exact.
    """
    rows = range(len(positive))
    points = {
        Fraction(int(score[j] - score[i]), int(column[i] - column[j]))
        for i in rows
        for j in rows
        if positive[i] and not positive[j] and column[i] != column[j]
        if queries is None or queries[i] == queries[j]
    }
    ordered = sorted(points) or [Fraction(0)]
    between = [(a + b) / 2 for a, b in pairwise(ordered)]
    slopes = [ordered[0] - 1, *between, ordered[-1] + 1]
    return max(
        worth(_places([int(s) + slope * int(x) for s, x in zip(score, column, strict=True)])) for slope in slopes
    )


def natural_spline(knots, values, at):
    """The natural cubic spline through values at knots, continued as lines."""
    spline = CubicSpline(knots, values, bc_type="natural")
    low, high = knots[0], knots[-1]
    inside = spline(np.clip(at, low, high))
    return inside + spline(low, 1) * np.minimum(at - low, 0) + spline(high, 1) * np.maximum(at - high, 0)


def roughness(knots, values, n=20_001):
    """The integral of the squared second derivative, with knots scaled to lie between 0 and 1, by quadrature."""
    scaled = (knots - knots[0]) / (knots[-1] - knots[0])
    at = np.linspace(0, 1, n)
    return np.trapezoid(CubicSpline(scaled, values, bc_type="natural")(at, 2) ** 2, at)


def _places(scores):
    distinct = sorted(set(scores))
    return np.array([distinct.index(each) for each in scores], dtype=float)

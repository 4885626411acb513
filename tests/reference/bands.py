"""Slow, obvious versions of the bands: closed forms in rational numbers, populations made by hand, brute force."""

from fractions import Fraction
from math import comb, factorial, floor

import numpy as np

from headrank.curve import RocCurve


def steck(lower, upper) -> Fraction:
    """P(lower_i <= U_(i) <= upper_i for all i): n! times a determinant (Steck 1971), in rational numbers."""
    n = len(lower)
    low, high = [Fraction(x) for x in lower], [Fraction(x) for x in upper]

    def entry(i: int, j: int) -> Fraction:
        power = j - i + 1
        if power < 0:
            return Fraction(0)
        base = max(high[i] - low[j], Fraction(0))
        return base**power / factorial(power) if power else Fraction(1)

    return factorial(n) * _determinant([[entry(i, j) for j in range(n)] for i in range(n)])


def _determinant(matrix: list[list[Fraction]]) -> Fraction:
    if not matrix:
        return Fraction(1)
    first, *rest = matrix
    minors = ([row[:j] + row[j + 1 :] for row in rest] for j in range(len(first)))
    return sum(
        (-1) ** j * value * _determinant(minor) for j, (value, minor) in enumerate(zip(first, minors, strict=True))
    )


def kolmogorov_one_sided(n: int, width: float) -> float:
    """P(F_n - F <= width everywhere), in closed form (Birnbaum & Tingey 1951)."""
    terms = (
        comb(n, j) * (1 - width - j / n) ** (n - j) * (width + j / n) ** (j - 1)
        for j in range(floor(n * (1 - width)) + 1)
    )
    return 1 - width * sum(terms)


def population_curve(fpr, tpr, positive_rate: float) -> RocCurve:
    """Population whose curve runs straight between these points, each stretch one score; as a curve of 1e12 rows."""
    rows = 1e12
    pos, neg = np.diff(tpr) * positive_rate * rows, np.diff(fpr) * (1 - positive_rate) * rows
    kept = (pos > 0) | (neg > 0)
    n_pos, n_neg = positive_rate * rows, (1 - positive_rate) * rows
    return RocCurve(-np.arange(kept.sum()), pos[kept], neg[kept], n_pos, n_neg, weighted=True)


def curve_within(limits, rng, points_per_gap: int = 12):
    """A random curve that the limits allow: between two scores of the sample the rates wander within one box."""
    low = np.stack([limits.lowest_fpr, limits.lowest_tpr])
    high = np.stack([limits.highest_fpr, limits.highest_tpr])
    goals = np.stack([_goals(a, b, rng) for a, b in zip(low, high, strict=True)])
    before = np.concatenate([np.zeros((2, 1)), goals[:, :-1]], axis=1)
    starts = np.clip(before + rng.random(goals.shape[1]) * (goals - before), low, high)
    starts[:, 0] = 0.0
    inside = np.linspace(starts, goals, points_per_gap, axis=2).reshape(2, -1)
    x, y = np.concatenate([np.zeros((2, 1)), inside, np.ones((2, 1))], axis=1)
    return x, y


def _goals(low, high, rng):
    """Where the rate of one class arrives before each next score: at its lowest, at its highest, or anywhere."""
    part = {0: 0.0, 1: 1.0, 2: rng.random(low.size)}[int(rng.integers(3))]
    return np.maximum.accumulate(low + part * (high - low))


def greatest_truncated_area(upper, lower, p: float, mass: float, steps: int = 20_000) -> float:
    """Greatest area from 0 to alpha of curves below ``upper`` that end at (alpha, beta) on the control line."""
    best = 0.0
    x = np.linspace(0.0, 1.0, steps)
    heights = upper(x)
    for alpha in np.linspace(0.0, 1.0, 400):
        beta = (mass - (1 - p) * alpha) / p
        if 0 <= beta <= 1 and lower(alpha) <= beta <= upper(alpha):
            inside = x <= alpha
            best = max(best, float(np.minimum(heights[inside], beta).sum() / steps))
    return best

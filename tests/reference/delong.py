"""Slow, obvious twins of DeLong's variance, of its partial-area analogue and of the paired counts, pair by pair.

A sample is a list of rows ``(label, score)``, as in `reference.measures`.
"""

from fractions import Fraction

from reference.measures import HALF, Row, credit, negatives, positives


def placements(rows: list[Row]) -> tuple[list[Fraction], list[Fraction]]:
    """DeLong's V10 and V01: the share of the other class on the right side of each row, ties half."""
    pos, neg = positives(rows), negatives(rows)
    v10 = [sum((credit(s, t) for t in neg), Fraction(0)) / len(neg) for s in pos]
    v01 = [sum((credit(s, t) for s in pos), Fraction(0)) / len(pos) for t in neg]
    return v10, v01


def sample_variance(values: list[Fraction]) -> Fraction:
    mean = sum(values, Fraction(0)) / len(values)
    return sum(((value - mean) ** 2 for value in values), Fraction(0)) / (len(values) - 1)


def delong_variance(rows: list[Row]) -> Fraction:
    v10, v01 = placements(rows)
    return sample_variance(v10) / len(v10) + sample_variance(v01) / len(v01)


def paired_delong_variance(first: list[Row], second: list[Row]) -> Fraction:
    parts = [
        [u - v for u, v in zip(a, b, strict=True)] for a, b in zip(placements(first), placements(second), strict=True)
    ]
    return sum((sample_variance(part) / len(part) for part in parts), Fraction(0))


def weighted_mean_tpr(rows: list[Row], weights: list[Fraction], low: Fraction, high: Fraction) -> Fraction:
    """Mean height of the polyline over [low, high] when row i stands for ``weights[i]`` rows."""
    totals = {k: sum(w for (label, _), w in zip(rows, weights, strict=True) if label == k) for k in (0, 1)}
    area, fpr, tpr = Fraction(0), Fraction(0), Fraction(0)
    for z in sorted({score for _, score in rows}, reverse=True):
        rise = {k: sum(w for row, w in zip(rows, weights, strict=True) if row == (k, z)) / totals[k] for k in (0, 1)}
        left, right = max(fpr, low), min(fpr + rise[0], high)
        if left < right:
            middle = ((left + right) / 2 - fpr) / rise[0]
            area += (right - left) * (tpr + middle * rise[1])
        fpr, tpr = fpr + rise[0], tpr + rise[1]
    return area / (high - low)


def partial_variance(rows: list[Row], low: Fraction, high: Fraction) -> float:
    """Variance from each row's numerical derivative: how the area moves when that row weighs a trifle more."""
    step = Fraction(1, 10**9)
    total = 0.0
    for label in (0, 1):
        numbers = [i for i, row in enumerate(rows) if row[0] == label]
        moves = []
        for i in numbers:
            more, less = ([Fraction(1)] * len(rows) for _ in range(2))
            more[i], less[i] = 1 + step, 1 - step
            slope = weighted_mean_tpr(rows, more, low, high) - weighted_mean_tpr(rows, less, low, high)
            moves.append(slope / (2 * step) * len(numbers))
        total += float(sample_variance(moves)) / len(moves)
    return total


def mean_disagreement(first: list[Row], second: list[Row]) -> Fraction:
    """Mean of |h_a - h_b| over all pairs of a positive and a negative."""
    pairs = zip(
        ((s, t) for s in positives(first) for t in negatives(first)),
        ((s, t) for s in positives(second) for t in negatives(second)),
        strict=True,
    )
    gaps = [abs(credit(*a) - credit(*b)) for a, b in pairs]
    assert all(gap in (0, HALF, 1) for gap in gaps)
    return sum(gaps, Fraction(0)) / len(gaps)

"""Slow, obvious twins of the surrogates, from OP1 and OP2 of Narasimhan & Agarwal (2013), in fractions.

An ordering is an order of the negatives, and for each positive the number of negatives it is put below. Its loss
counts the j-th negative with the length of [j - 1, j] inside [n a, n b]; its violation counts each pair in the wrong
order with the difference of its scores. Rates are taken as the decimal the user wrote: ``exact(0.29)`` is 29/100.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import permutations, product
from math import ceil
from typing import Any

Scores = Sequence[float]


def exact(value: float | str) -> Fraction:
    return Fraction(str(float(value))).limit_denominator(10**6)  # 5 / 6 means five sixths


def range_weights(n_neg: int, low: Fraction, high: Fraction) -> list[Fraction]:
    """How much of each rank lies inside the range: 1 within, fractions at the ends, 0 elsewhere."""
    return [
        max(Fraction(0), min(Fraction(j), n_neg * high) - max(Fraction(j - 1), n_neg * low))
        for j in range(1, n_neg + 1)
    ]


def n_reached(n_neg: int, high: Fraction, tight: bool) -> int:
    """How many negatives a positive may be put below: all, or only those that the range reaches."""
    return ceil(n_neg * high) if tight else n_neg


def loss_and_violation(pos: Scores, order: Scores, places: Sequence[int], c: list[Fraction]) -> Fraction:
    """What one ordering costs: positive i is put below the first places[i] of the negatives in this order."""
    return sum(
        (c[j] + Fraction(order[j]) - Fraction(s) for s, place in zip(pos, places, strict=True) for j in range(place)),
        Fraction(0),
    )


def over_all_orderings(pos: Scores, neg: Scores, low: float, high: float, *, tight: bool = False) -> Fraction:
    """The risk: the largest loss plus violation of any ordering whatsoever, not only of those Theorem 1 speaks of."""
    a, b = exact(low), exact(high)
    c, last = range_weights(len(neg), a, b), n_reached(len(neg), b, tight)
    worst = max(
        loss_and_violation(pos, order, places, c)
        for order in set(permutations(neg))
        for places in product(range(last + 1), repeat=len(pos))
    )
    return worst / (len(pos) * len(neg) * (b - a))


def in_order_of_scores(pos: Scores, neg: Scores, low: float, high: float, *, tight: bool = False) -> Fraction:
    """The same by Theorem 1, for lists too long for all orderings: negatives by score, each positive by itself."""
    a, b = exact(low), exact(high)
    c, last = range_weights(len(neg), a, b), n_reached(len(neg), b, tight)
    order = sorted(neg, reverse=True)
    total = sum(
        (max(loss_and_violation([s], order, [place], c) for place in range(last + 1)) for s in pos), Fraction(0)
    )
    return total / (len(pos) * len(neg) * (b - a))


def mean_pairwise_hinge(pos: Scores, neg: Scores) -> Fraction:
    """Joachims' risk for the AUC: how far each positive is from beating each negative by 1."""
    hinges = [max(Fraction(0), 1 - (Fraction(s) - Fraction(t))) for s in pos for t in neg]
    return sum(hinges, Fraction(0)) / len(hinges)


def copies(scores: Iterable[float], weights: Iterable[int]) -> list[float]:
    """Write multiplicities out as rows."""
    return [float(score) for score, weight in zip(scores, weights, strict=True) for _ in range(int(weight))]


def kept_together(pos: Scores, neg: Scores, neg_weights: Sequence[int], low: float, high: float) -> Fraction:
    """The tempting formula for weighted rows, c_j + v_j (t_j - s_i) over the rows by score. It is not convex."""
    total = sum(neg_weights)
    a, b = total * exact(low), total * exact(high)
    ranked = sorted(zip(neg, neg_weights, strict=True), reverse=True)
    risk = Fraction(0)
    for s in pos:
        best = gain = Fraction(0)
        left = Fraction(0)
        for t, width in ranked:
            right = left + width
            gain += max(Fraction(0), min(right, b) - max(left, a)) + width * (Fraction(t) - Fraction(s))
            best, left = max(best, gain), right
        risk += best
    return risk / (len(pos) * (b - a))


def mean_over_queries(rows: Iterable[tuple[Any, int, float]], low: float, high: float, *, tight: bool) -> Fraction:
    """The mean risk of the queries that have both classes; a row is (query, label, score)."""
    rows = list(rows)
    risks = []
    for query in sorted({q for q, _, _ in rows}):
        pos = [score for q, label, score in rows if q == query and label == 1]
        neg = [score for q, label, score in rows if q == query and label == 0]
        if pos and neg:
            risks.append(in_order_of_scores(pos, neg, low, high, tight=tight))
    return sum(risks, Fraction(0)) / len(risks)

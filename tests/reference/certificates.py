"""What a fit claims, computed anew from ``coef_`` alone: scores in fractions, risks by the slow twins.

Matrices of any storage and type are read number by number; entries that stand twice in a sparse matrix add up.
"""

from fractions import Fraction
from itertools import accumulate
from math import sqrt
from statistics import mean

import numpy as np
from scipy import sparse

from reference.smooth import Row, least_logistic_loss, least_squared_hinge
from reference.surrogates import exact, n_reached, range_weights
from reference.thresholds_of_negatives import asymmetric, pat_mat, tau_fpl, top_push


def exact_rows(X):
    """Every number of X as a fraction."""
    if sparse.issparse(X):
        rows = [[Fraction(0)] * X.shape[1] for _ in range(X.shape[0])]
        entries = X.tocoo(copy=True)
        for i, j, value in zip(entries.row, entries.col, entries.data, strict=True):
            rows[i][j] += Fraction(float(value))
        return rows
    return [[Fraction(float(value)) for value in row] for row in np.asarray(X)]


def exact_scores(rows, coef):
    """The scores, less that of the first row: no surrogate notices a common shift."""
    weights = [Fraction(float(w)) for w in coef]
    scores = [sum((w * x for w, x in zip(weights, row, strict=True)), Fraction(0)) for row in rows]
    return [score - scores[0] for score in scores]


def deviations(rows, weights):
    """Standard deviation of each feature, weighted; 0 where the feature is constant."""
    total = sum(weights)
    result = []
    for column in zip(*rows, strict=True):
        mean = sum(w * x for w, x in zip(weights, column, strict=True)) / total
        variance = sum(w * (x - mean) ** 2 for w, x in zip(weights, column, strict=True)) / total
        result.append(root(variance))
    return result


def root(value):
    """Square root of a fraction, also of one whose float would be infinite or 0."""
    power = 0
    while value and value > 10**200:
        value, power = value / 10**200, power + 100
    while value and value < Fraction(1, 10**200):
        value, power = value * 10**200, power - 100
    return Fraction(sqrt(value)) * Fraction(10) ** power


def risk(kind, y, scores, weights, queries, low, high):
    """The surrogate's risk; ``weights`` are whole numbers times a common factor, the least of them."""
    if kind in ("logistic", "svc", "push"):
        least = {"logistic": least_logistic_loss, "svc": least_squared_hinge, "push": _least_push}[kind]
        return least([Row(int(label), float(s), float(w)) for label, s, w in zip(y, scores, weights, strict=True) if w])
    unit = min(w for w in weights if w)
    # Rows of unequal weight are cut where a range ends: ten times as many copies, and tenths of them end between two.
    finer = 1 if len({w for w in weights if w}) == 1 else 10
    lists = {}
    for label, score, weight, query in zip(y, scores, weights, queries, strict=True):
        lists.setdefault(query, ([], []))[int(label)].append((score, finer * round(weight / unit)))
    if kind in _OF_THRESHOLDS:
        written_out = [[[score for score, n in rows for _ in range(n)] for rows in both] for both in lists.values()]
        risks = [_OF_THRESHOLDS[kind](pos, neg, high) for neg, pos in written_out if neg and pos]
        return float(mean(risks))
    risks = [_hinge(pos, neg, exact(low), exact(high), kind == "tight") for neg, pos in lists.values()]
    return float(mean([value for value in risks if value is not None]))


_OF_THRESHOLDS = {
    "toppush": lambda pos, neg, _high: top_push(pos, neg),
    "tau-fpl": tau_fpl,
    "patmat": lambda pos, neg, high: pat_mat(pos, neg, high, 1.0),
    "asymmetric": lambda pos, neg, high: asymmetric(pos, neg, high, 1.0),
}


def _least_push(rows):
    return least_logistic_loss(rows, 4.0)


def _hinge(pos, neg, low, high, tight):
    """The mean over the positives of the best place for each, among negatives in the order of their scores."""
    order = sorted((score for score, n in neg for _ in range(n)), reverse=True)
    n_pos = sum(n for _, n in pos)
    if not order or not n_pos:
        return None
    reached = list(zip(range_weights(len(order), low, high), order, strict=True))[: n_reached(len(order), high, tight)]
    total = Fraction(0)
    for score, n in pos:
        sums = accumulate((c + t - score for c, t in reached), initial=Fraction(0))
        total += n * max(sums)
    return total / (n_pos * len(order) * (high - low))


def objective(coef, scale, C, risk_there):
    """1/2 |w|^2 + C R(w), w being the coefficients of the scaled features."""
    square = sum((Fraction(float(w)) * s) ** 2 for w, s in zip(coef, scale, strict=True))
    return square / 2 + Fraction(C) * Fraction(risk_there)

"""Cut-offs by counting rows, one threshold after the other."""

from math import hypot, inf

import numpy as np


def counts(y, scores, threshold):
    """Flagged positives and negatives, and all of each."""
    flagged = [score >= threshold for score in scores]
    tp = sum(bool(f and label) for f, label in zip(flagged, y, strict=True))
    return tp, sum(flagged) - tp, sum(map(bool, y)), len(y) - sum(map(bool, y))


def point(y, scores, threshold, prevalence=None):
    """All rates at one threshold; None where a denominator is 0 (infinite ratios included)."""
    tp, fp, n_pos, n_neg = counts(y, scores, threshold)
    share = n_pos / (n_pos + n_neg) if prevalence is None else prevalence
    tpr, fpr = tp / n_pos, fp / n_neg
    flagged, rest = share * tpr + (1 - share) * fpr, share * (1 - tpr) + (1 - share) * (1 - fpr)
    precision = share * tpr / flagged if flagged else None
    return {
        "tpr": tpr,
        "fpr": fpr,
        "precision": precision,
        "npv": (1 - share) * (1 - fpr) / rest if tp + fp < n_pos + n_neg else None,
        "lr_positive": tpr / fpr if fp else None,
        "lr_negative": (1 - tpr) / (1 - fpr) if fp < n_neg else None,
        "lift": None if precision is None else precision / share,
        "n_flagged": tp + fp,
    }


def least_loss(y, scores, loss):
    """The least loss(tpr, fpr) over all thresholds, and the most rows that the best of them leaves unflagged."""
    best = (inf, 0)
    for threshold in [inf, *sorted(set(scores), reverse=True)]:
        tp, fp, n_pos, n_neg = counts(y, scores, threshold)
        value = loss(tp / n_pos, fp / n_neg)
        if value < best[0] - 1e-12:
            best = (value, tp + fp)
    return best


LOSSES = {
    "youden": lambda tpr, fpr: 1 - tpr + fpr,
    "closest": lambda tpr, fpr: hypot(1 - tpr, fpr),
    "cost": lambda tpr, fpr: 0.3 * 4 * (1 - tpr) + 0.7 * 1 * fpr,
}
"""Of "cost": a share of positives of 0.3, costs of 4 and 1."""

SUBARACHNOID_S100B = (
    # Cut-off between values, negatives below it, positives at or above it.
    *((0.035, 0, 40), (0.045, 5, 40), (0.055, 8, 40), (0.065, 10, 40), (0.075, 16, 37), (0.085, 22, 36)),
    *((0.095, 28, 34), (0.105, 35, 32), (0.115, 39, 31), (0.125, 39, 30), (0.135, 42, 28), (0.145, 46, 27)),
    *((0.155, 50, 27), (0.165, 53, 26), (0.175, 55, 26), (0.185, 56, 26), (0.205, 58, 26), (0.225, 58, 25)),
    *((0.235, 58, 24), (0.245, 59, 24), (0.255, 59, 23), (0.265, 59, 22), (0.275, 59, 21), (0.29, 60, 21)),
    *((0.31, 60, 20), (0.325, 61, 19), (0.335, 62, 18), (0.345, 63, 18), (0.365, 63, 17), (0.395, 64, 17)),
    *((0.42, 64, 16), (0.435, 65, 16), (0.445, 65, 14), (0.455, 66, 14), (0.465, 67, 14), (0.475, 69, 14)),
    *((0.485, 70, 13), (0.495, 70, 12), (0.51, 72, 12), (0.54, 72, 0)),
)
"""S100B in 41 patients with a poor and 72 with a good outcome (Turck et al. 2010): counts as tabulated by pROC's tests.

The last row is ours: the 12 positives above all negatives are given one score, which changes no rate up to 0.51 and no
area.
"""
SUBARACHNOID_WFNS = ((0.5, 0, 41), (1.5, 37, 39), (2.5, 57, 27), (3.5, 60, 26), (4.5, 68, 18), (5.5, 72, 0))
"""The WFNS grade of the same patients; not copied from a table, but checked by the published unpaired statistics."""


def rows_of_table(table, n_neg=72, n_pos=41):
    """Labels and scores that have these counts at each cut-off; a score lies half a step below its cut-off."""
    y, scores = [], []
    below, above = 0, n_pos
    for cut, tn, tp in [*table, (table[-1][0] + 1, n_neg, 0)]:
        y += [0] * (tn - below) + [1] * (above - tp)
        scores += [cut - 0.005] * (tn - below + above - tp)
        below, above = tn, tp
    return np.array(y), np.array(scores)

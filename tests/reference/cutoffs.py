"""Cut-offs by counting rows, one threshold after the other."""

from math import hypot, inf


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

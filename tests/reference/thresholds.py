"""Slow, obvious versions of the binomial limits, the certified thresholds and the partial AUC as a mean."""

from fractions import Fraction
from itertools import combinations
from math import comb, inf, nextafter

import numpy as np


def binomial_at_most(n, rate, r):
    """P(Bin(n, rate) <= r), in fractions."""
    rate = Fraction(rate)
    return sum(comb(n, i) * rate**i * (1 - rate) ** (n - i) for i in range(r + 1))


def allowed_above(n, rate, risk):
    return max((r for r in range(n) if binomial_at_most(n, rate, r) <= Fraction(risk)), default=-1)


def needed_at_least(n, rate, risk):
    return min((k for k in range(n + 1) if 1 - binomial_at_most(n, rate, k - 1) <= Fraction(risk)), default=n + 1)


def batch_risk(n, n_future, most, allowed):
    """By trying all ways to place the new draws among the old ones."""
    places = list(combinations(range(n + n_future), n_future))
    broken = 0
    for new in places:
        old = [place for place in range(n + n_future) if place not in new]
        broken += sum(place < old[allowed] for place in new) > most
    return broken / len(places)


def rate_with_tail(successes, n, risk, *, lower):
    """Clopper-Pearson by bisection on the exact tail."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        at_most = binomial_at_most(n, middle, successes - 1 if lower else successes)
        tail = 1 - at_most if lower else at_most  # as many successes or more, or as few or fewer
        if (tail > risk) == lower:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def lowest_threshold(y, scores, max_fpr, confidence):
    """Go down the list as long as no more negatives are flagged than are allowed; None if there are none to allow."""
    negatives = sorted((score for label, score in zip(y, scores, strict=True) if not label), reverse=True)
    allowed = allowed_above(len(negatives), max_fpr, 1 - confidence)
    if allowed < 0:
        return None
    candidates = sorted({nextafter(score, inf) for score in negatives})
    return next(c for c in candidates if sum(score >= c for score in negatives) <= allowed)


def mean_credit(y, scores, low, high, n_steps=2000):
    """Partial AUC as the mean over positives of g, averaged over the places among the negatives they tie with."""
    y, scores = np.asarray(y), np.asarray(scores)
    negatives = scores[y == 0]
    shares = []
    for score in scores[y == 1]:
        start, end = np.mean(negatives > score), np.mean(negatives >= score)
        places = start + (end - start) * (np.arange(n_steps) + 0.5) / n_steps
        shares.append(np.clip((high - places) / (high - low), 0, 1).mean())
    return float(np.mean(shares))


def window_mean(y, scores, start, end, *, lower):
    """Mean height of the curve over the negatives ranked after ``start`` and before ``end``, pair by pair.

    Ties inside count half; those with the negative at the end nothing for a lower bound, those with the one at the
    start a whole point for an upper one.
    """
    positives = [score for label, score in zip(y, scores, strict=True) if label]
    negatives = sorted((score for label, score in zip(y, scores, strict=True) if not label), reverse=True)
    at_start = negatives[start - 1] if start > 0 else None
    at_end = negatives[end - 1] if end <= len(negatives) else None
    points = []
    for negative in negatives[start : end - 1]:
        tie = 0.5
        if lower and negative == at_end:
            tie = 0.0
        if not lower and negative == at_start:
            tie = 1.0
        points += [1.0 if positive > negative else tie * (positive == negative) for positive in positives]
    return sum(points) / len(points)

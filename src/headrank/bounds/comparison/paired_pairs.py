"""Two scorers on the same pairs: how often they order a positive and a negative differently, and what follows.

Legend: for a positive and a negative row, h_a is 1, 1/2 or 0 when scorer a puts the positive above, level with or below
the negative, and h = h_a - h_b. The mean of h over all pairs is the difference of the two AUCs; the mean of |h| is the
scorers' disagreement. The less they disagree, the closer the difference is to its expectation.
"""

from __future__ import annotations

from math import inf, log, sqrt

import numpy as np

from headrank._types import BoolVector, IntVector, Vector
from headrank.bounds.inequalities.chernoff import kl_upper
from headrank.bounds.sample_curves import Levels

DISAGREEMENT_SHARE = 0.1
"""Share of the risk spent on the bound for E|h|; the rest goes to the difference itself. Fixed in advance."""
_HALVINGS = 60


def disagreement(positive: BoolVector, a: Vector, b: Vector) -> float:
    """Mean of |h_a - h_b| over all pairs of a positive and a negative row, in [0, 1]. O(n log n).

    ``|h_a - h_b| = h_a + h_b - 2 min(h_a, h_b)``, and min(h_a, h_b) is half the indicator that both scorers put the
    positive above, plus half the indicator that neither puts it below: two counts of pairs in order in two rankings.

    >>> disagreement(np.array([True, False, True, False]), np.array([4, 3, 2, 1]), np.array([4, 3, 1, 2]))
    0.25
    """
    n_pos = int(np.count_nonzero(positive))
    pairs = n_pos * (positive.size - n_pos)
    scorers = (Levels.of(a), Levels.of(b))
    in_order = sum(levels.curve(positive).mean_tpr() for levels in scorers)
    above = not_below = _pairs_above_in_both(positive, scorers, ties=False)
    if any(levels.scores.size < positive.size for levels in scorers):
        not_below = _pairs_above_in_both(positive, scorers, ties=True)
    return max(in_order - (above + not_below) / pairs, 0.0)


def least_difference(mean: float, mean_abs: float, k: int, risk: float) -> float:
    """Lower bound for the expectation of h in [-1, 1], from the means of h and |h|. 124 halvings.

    No published proof of just this; here is one. Of k independent pairs, the moment generating function obeys
    ``E exp(t h) <= M(t) = 1 + E h sinh t + E|h| (cosh t - 1)``, since exp is convex on [-1, 0] and on [0, 1]. M grows
    with E|h|, which lies below `kl_upper` of the mean of |h| except for a tenth of the risk. So the mean of h exceeds x
    with probability at most ``inf_t (exp(-t x) M(t))^k`` (Chernoff), and the bound is the E h for which that is what
    remains of the risk. What holds for the mean of k independent variables holds for a two-sample U-statistic with
    k = min(n_pos, n_neg) (Hoeffding 1963, section 5). With E|h| = 1 it is the KL bound for (1 + h)/2.

    Parameters
    ----------
    mean, mean_abs : float
        Means of h, in [-1, 1], and of its absolute value.
    k : int
        Effective number of independent variables.
    risk : float
        Probability in (0, 1) that the bound fails.

    >>> round(least_difference(0.06, 0.08, 500, 0.025), 4)
    0.0155
    """
    spread = kl_upper(mean_abs, k, DISAGREEMENT_SHARE * risk)
    return _least_mean(mean, spread, -log((1 - DISAGREEMENT_SHARE) * risk) / k)


def _least_mean(observed: float, spread: float, exponent: float) -> float:
    """Return the least E h under which a mean of h this high is not too unlikely, rounded downwards."""
    low, high = -spread, min(observed, spread)
    if low >= high or _rate(observed, low, spread) <= exponent:
        return min(low, observed)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _rate(observed, middle, spread) <= exponent:
            high = middle
        else:
            low = middle
    return low


def _rate(observed: float, mean: float, spread: float) -> float:
    """Return sup over t >= 0 of ``t x - ln(1 + mean sinh t + spread (cosh t - 1))``, x = observed >= mean.

    With z = exp(t) the stationary point solves a quadratic equation: (1-x) up z^2 - x none z - (1+x) down = 0, where
    up, none and down are the probabilities of h = 1, 0, -1 in the worst case.
    """
    up, down, none = (spread + mean) / 2, (spread - mean) / 2, 1 - spread
    square, linear, constant = (1 - observed) * up, observed * none, (1 + observed) * down
    if square <= 0 and linear >= 0:  # the supremum is a limit, at t = infinity
        likelihood = up if observed >= 1 else none if observed == 0 else 0.0
        return -log(likelihood) if likelihood > 0 else inf
    root = sqrt(linear**2 + 4 * square * constant)
    # The form without cancellation, for either sign of the linear term.
    z = (linear + root) / (2 * square) if linear >= 0 else 2 * constant / (root - linear)
    return observed * log(z) - log(none + up * z + down / z) if z > 1 else 0.0


def _pairs_above_in_both(positive: BoolVector, scorers: tuple[Levels, Levels], *, ties: bool) -> int:
    """Count pairs whose positive is above the negative by both scorers; with ties, those where it is not below."""
    # Ties are broken by putting the class that wins them after the other; levels count from the top.
    last = positive if ties else ~positive
    by_a, by_b = (np.argsort(last - 2 * levels.of_row) for levels in scorers)
    rank = np.empty(positive.size, dtype=np.int64)
    rank[by_b] = np.arange(positive.size)
    return count_dominated(rank[by_a], positive[by_a])


def count_dominated(ranks: IntVector, positive: BoolVector) -> int:
    """Count the pairs of a negative and a later positive with a higher rank. O(n log n), vectorised.

    Ranks are a permutation of 0..n-1. A merge sort from the bottom up: blocks twice as wide at each pass are sorted by
    rank, and each positive from a block's right half is paired with the negatives from its left half that precede it.

    >>> count_dominated(np.array([0, 2, 1, 3]), np.array([False, False, True, True]))
    3
    """
    n = ranks.size
    size = 1 << (n - 1).bit_length()
    # Two bits below the rank: bit 0 says positive, bit 1 says from the right half. The padding has the highest rank.
    keys: IntVector = np.full(size, 4 * n, dtype=np.int32 if n < 2**28 else np.int64)
    keys[:n] = 4 * ranks + positive
    total, width = 0, 2
    while width <= size:
        blocks = keys.reshape(-1, width)
        blocks[:, : width // 2] &= ~2
        blocks[:, width // 2 :] |= 2
        blocks.sort(axis=1)
        marks = keys & 3
        left_negatives = np.cumsum(marks == 0)
        right_positives = marks == 3
        before_block = np.concatenate([[0], left_negatives[width - 1 : -1 : width]])
        per_block = np.add.reduceat(right_positives, np.arange(0, size, width), dtype=np.int64)
        total += int(left_negatives[right_positives].sum()) - int(before_block @ per_block)
        width *= 2
    return total

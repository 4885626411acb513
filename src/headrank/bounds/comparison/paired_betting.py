"""Lower bounds for the difference of two areas on the same rows, by betting on the difference of each positive.

Legend: d_i in [-1, 1] is the difference of the two scorers' credits for positive i, fixed given the negatives.

**AUC.** The credit is the placement V: the share of the n_neg negatives that the positive beats, ties counting half.
Given the negatives, the d_i are independent with the mean m = mean over negatives of g(z), g the difference of the two
probabilities that a positive beats z. The g(z) are independent, lie in [-1, 1], and their expectation is the true
difference Delta. With h the difference of h_a and h_b for one pair (`paired_pairs`), ``E exp(t g) <= E exp(t h) <= 1 +
Delta sinh t + E|h| (cosh t - 1)`` by Jensen's inequality and convexity, so with eta = m - Delta

    ``prod_i (1 + lambda (d_i - eta - Delta))``  and  ``exp(n_neg t m) / (1 + Delta sinh t + s (cosh t - 1))^n_neg``

have expectations of at most 1, the first given the negatives, if s >= E|h|; so has their product. s is the upper limit
of the U-statistic E|h|. eta is unknown: the least product within its limits counts. s and these limits take a part of
the risk. The best lambda depends on how much the scorers disagree, which is not known in advance: the product is
averaged over several lambda, each half of the one before, with the t that balances it. The largest leaves every factor
at least 0.1 for each eta within the limits that hold if the scorers always disagree. So lambda and t depend on Delta,
the counts and the risk alone, as they must: given the negatives, a bet may not depend on the positives.

**Partial AUC.** The credit of a positive is that of `headrank.bounds.fixed.range_mean`, from limits of the rates of
the negatives: the lowest possible for the first scorer, the highest possible for the second. The limits of each scorer
take a part of the risk. Given them, the mean of the d_i is bounded by the first factor above, with eta = 0.

The order of rows does not matter, and nothing is drawn at random.
"""

from __future__ import annotations

from math import exp, log, sqrt

import numpy as np

from headrank._types import Vector
from headrank.bounds.inequalities.bounded_mean import mean_limits
from headrank.bounds.inequalities.e_values import bernstein, curvature, first_kept, log_mean_exp

_SHARE_OF_SPREAD = 0.05
"""Part of the risk spent on E|h|."""
_SHARE_OF_LIMITS = 0.02
"""Part of the risk spent on the limits of eta."""
_LARGEST_LOSS = 0.9
"""No positive can divide a product by more than 10."""
_MOST_BETS = 8
_LARGEST_TILT = 30.0
"""Of t; only reached with many more positives than negatives."""
_TYPICAL = 7.4
"""2 ln(1/risk) at the usual risk. The bets do not depend on the risk, so that `least_mean` is monotone in it."""
_GRID = 129
"""Values of eta at which the product is computed."""


def least_paired_difference(values: Vector, mean_abs: float, n_neg: int, risk: float) -> float:
    """Return a lower bound for the difference of two AUCs; O(n_pos) for each of some 25 truths.

    Parameters
    ----------
    values : array of shape (n_pos,)
        The difference of the placements of each positive.
    mean_abs : float
        The scorers' `disagreement`.
    n_neg : int
        Number of negatives.
    risk : float
        Probability in (0, 1) that the bound fails.

    >>> values = np.linspace(-0.1, 0.2, 500)
    >>> round(least_paired_difference(values, 0.1, 10_000, 0.025), 3)
    0.032
    """
    spread = mean_limits(mean_abs, min(values.size, n_neg), _SHARE_OF_SPREAD * risk)[1]
    wanted = -log((1 - _SHARE_OF_SPREAD - _SHARE_OF_LIMITS) * risk)
    # g has a variance of at most E|h|, and its deviations from Delta are at most 2: Bernstein for half of g.
    reach, farthest = (
        2 * bernstein(each / 4, n_neg, -log(_SHARE_OF_LIMITS / 2 * risk)) for each in (min(spread, 1.0), 1.0)
    )
    etas = np.linspace(-reach, reach, _GRID)
    return first_kept(
        lambda truth: _paired_excess(values, truth, spread, n_neg, etas, farthest, wanted), -1.0, float(values.mean())
    )


def least_mean(values: Vector, risk: float) -> float:
    """Return a lower bound for the mean expectation of independent variables in [-1, 1]; as above, with eta = 0.

    >>> round(least_mean(np.linspace(-0.1, 0.2, 500), 0.025), 3)
    0.036
    """
    none = np.zeros(1)
    return first_kept(
        lambda truth: _paired_excess(values, truth, 0.0, 0, none, 0.0, -log(risk)), -1.0, float(values.mean())
    )


def _paired_excess(
    values: Vector, truth: float, spread: float, n_neg: int, etas: Vector, farthest: float, wanted: float
) -> float:
    """Return the logarithm of the least product over eta, less that of 1/risk; no eta is above ``farthest``."""
    base = values - truth
    largest = _LARGEST_LOSS / max(1 + truth + farthest, 0.1)
    smallest = sqrt(_TYPICAL / values.size)  # about the best bet if all differences were -1 or 1
    # As many bets for every truth: an average over fewer could exceed that of a lower truth.
    n_bets = min(max(int(np.log2(max(_LARGEST_LOSS / smallest, 1.0))) + 1, 1), _MOST_BETS)
    logs = np.empty((n_bets, etas.size))
    for i in range(n_bets):
        bet = largest / 2**i
        factors = 1 + bet * base
        pull = bet / factors
        least = -np.minimum(float(pull.max()) * np.maximum(etas, 0.0), 1 - 1e-9)
        logs[i] = np.log(factors).sum() - etas * pull.sum() - curvature(least) * etas**2 * (pull**2).sum()
        if n_neg:
            t = min(bet * values.size / n_neg, _LARGEST_TILT)
            most = max(spread, abs(truth))  # E|h| >= |Delta|
            moment = log(1 - most + (most + truth) / 2 * exp(t) + (most - truth) / 2 * exp(-t))
            logs[i] += n_neg * (t * (truth + etas) - moment)
    return float(log_mean_exp(logs).min()) - wanted

"""Exact binomial limits, and what the highest scores of a sample imply for future scores.

Throughout, S_1, ..., S_n are independent draws from any one distribution, s_(1) >= s_(2) >= ... are the same draws in
descending order, and a tail is P(S > z) or P(S >= z). Every certified threshold follows from two lemmas; neither
requires a continuous distribution.

**From above.** P(P(S > s_(r+1)) >= x) <= P(Bin(n, x) <= r). Proof: A = {z : P(S > z) >= x} contains with z every lower
number, so it is everything below some q, with or without q. With q, s_(r+1) in A means that at most r draws exceed q,
and P(S > q) >= x. Without q, it means that at most r draws reach q, and P(S >= q) >= x as a limit of tails that are.
Either way a binomial variable with a rate of at least x is at most r.

**From below.** P(P(S >= s_(k)) <= x) <= P(Bin(n, x) >= k). Proof: B = {z : P(S >= z) <= x} contains with z every higher
number, and P(S in B) <= x, again as a limit if B has no least number. That s_(k) is in B means that at least k draws
are.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log, log1p

import numpy as np

from headrank._types import Counts, Vector


def clopper_pearson(successes: int, n: int, risk: float) -> tuple[float, float]:
    """Return the exact lower and upper limit of a binomial rate; *each* fails with probability at most ``risk``.

    Clopper & Pearson (1934). For an interval that fails with probability at most d, pass d / 2. O(1).

    >>> low, high = clopper_pearson(9, 10, 0.025)
    >>> round(low, 4), round(high, 4)
    (0.555, 0.9975)
    >>> clopper_pearson(0, 10, 0.05)[0], round(clopper_pearson(0, 10, 0.05)[1], 4)
    (0.0, 0.2589)
    """
    low, high = exact_limits(np.array([successes]), n, risk)
    return float(low[0]), float(high[0])


def exact_limits(successes: Counts, n: Counts | int, risk: float) -> tuple[Vector, Vector]:
    """Return the limits of `clopper_pearson` for each number of successes; without a draw they are 0 and 1.

    >>> exact_limits(np.array([0, 9, 0]), np.array([10, 10, 0]), 0.025)[1].round(4)
    array([0.3085, 0.9975, 1.    ])
    """
    from scipy.special import betainccinv, betaincinv

    failures = n - successes
    # The first argument of either function must be above 0; these entries are replaced.
    low = np.where(successes == 0, 0.0, betaincinv(np.maximum(successes, 1), failures + 1, risk))
    high = np.where(failures == 0, 1.0, betainccinv(successes + 1, np.maximum(failures, 1), risk))
    return low, high


def allowed_above(n: int, rate: float, risk: float) -> int:
    """Return the largest r with P(Bin(n, rate) <= r) <= risk, or -1 if there is none. O(log n).

    P(S > s_(r+1)) < rate then holds except with this risk (the first lemma of this module).

    >>> allowed_above(1000, 0.01, 0.05), allowed_above(298, 0.01, 0.05), allowed_above(299, 0.01, 0.05)
    (4, -1, 0)
    """
    from scipy.special import betaincc  # bdtr is off by 1e-4 near the middle of ten million draws

    return _last(lambda r: bool((betaincc(r + 1, n - r, rate) if r < n else 1.0) <= risk), -1, n)


def needed_at_least(n: int, rate: float, risk: float) -> int:
    """Return the smallest k with P(Bin(n, rate) >= k) <= risk, or n + 1 if there is none up to n. O(log n).

    P(S >= s_(k)) > rate then holds except with this risk (the second lemma of this module).

    >>> needed_at_least(1000, 0.01, 0.05), needed_at_least(10, 0.9, 0.05)
    (16, 11)
    """
    from scipy.special import betainc

    return n - _last(lambda j: bool((betainc(n - j, j + 1, rate) if j < n else 1.0) <= risk), -1, n)


def draws_needed(rate: float, risk: float) -> int:
    """Return the smallest n for which the highest draw is a valid threshold: (1 - rate)**n <= risk.

    >>> draws_needed(0.001, 0.05), draws_needed(0.01, 0.05), draws_needed(0.5, 0.5)
    (2995, 299, 1)
    """
    n = max(ceil(log(risk) / log1p(-rate)), 1)
    # The quotient of two logarithms may round to just above a whole number.
    return n - 1 if n > 1 and allowed_above(n - 1, rate, risk) >= 0 else n


def allowed_above_for_batch(n: int, n_future: int, most: int, risk: float) -> int:
    """Return the largest r with P(more than ``most`` of ``n_future`` new draws exceed s_(r+1)) <= risk.

    Put all n + n_future draws in one descending order, ties broken at random. More than ``most`` new ones precede
    s_(r+1) exactly when at most r old ones are among the first r + 1 + ``most``, and the positions of the old draws are
    uniformly random: a hypergeometric probability, known exactly (Wilks 1942). New draws that exceed s_(r+1) precede
    it, so ties only help. Returns -1 if even s_(1) is too low. O((n + most) log n) at worst.

    >>> allowed_above_for_batch(1000, 1000, 10, 0.05), allowed_above_for_batch(18, 1, 0, 0.05)
    (3, -1)
    >>> allowed_above_for_batch(19, 1, 0, 0.0501)
    0
    """
    return _last(lambda r: batch_risk(n, n_future, most, r) <= risk, -1, n)


def batch_risk(n: int, n_future: int, most: int, allowed: int) -> float:
    """Return P(more than ``most`` of ``n_future`` new draws precede the (allowed + 1)-th of n old ones).

    Requires ``most < n_future`` and ``allowed < n``. O(allowed + most).
    """
    from scipy.special import gammaln

    first, total = allowed + 1 + most, n + n_future
    # Probability of `old` old draws among the first: from the largest count down, by the ratios of neighbours.
    old = np.arange(allowed, max(first - n_future, 0), -1.0)
    ratios = old * (n_future - first + old) / ((n - old + 1) * (first - old + 1))
    logs = np.concatenate([[0.0], np.cumsum(np.log(ratios))])
    # Products of ratios near 1; the logarithms of factorials of all draws would lose half the digits.
    before = gammaln(first + 1) - gammaln(allowed + 1) - gammaln(most + 2)
    before += np.log1p(-n_future / (total - np.arange(allowed))).sum()
    new = np.arange(most + 1)
    before += np.log((n_future - new) / (total - allowed - new)).sum()
    return min(float(np.exp(logs + before).sum()), 1.0)


def draws_needed_for_batch(n_future: int, most: int, risk: float) -> int:
    """Return the smallest n with P(more than ``most`` of ``n_future`` new draws exceed s_(1)) <= risk.

    >>> draws_needed_for_batch(1, 0, 1 - 0.95), draws_needed_for_batch(1000, 10, 0.05)
    (19, 312)
    """
    high = 1
    while batch_risk(high, n_future, most, 0) > risk:
        high *= 2
    return _last(lambda n: batch_risk(n, n_future, most, 0) > risk, 0, high) + 1


def _last(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the last number at which a monotone condition holds; it holds at ``low`` and fails at ``high``."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low

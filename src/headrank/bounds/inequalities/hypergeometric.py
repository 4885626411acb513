"""Two samples of exchangeable rows, compared by counts: hypergeometric tails, exact or bounded from above.

Put two samples of n and m independent draws from one distribution together. Given the n + m values, every choice of n
of them as the first sample is equally likely. So if K of all values lie in a set that was fixed in advance, the number
of those from the first sample is hypergeometric: n draws without replacement from n + m values, K of them special. This
is Fisher's exact test. It needs neither large samples nor continuous distributions, and accounts for the size of both.
"""

from __future__ import annotations

from math import log

import numpy as np

from headrank._types import Counts, Vector

_TERMS = 60
"""Terms of a tail that are added up; the rest is bounded by a geometric series."""


def log_upper_tail(k: Counts, special: Counts, drawn: Counts, total: Counts) -> Vector:
    """Return the logarithm of P(X >= k), or slightly more, for X special ones among ``drawn`` of ``total``. O(1).

    p(x + 1) / p(x) decreases in x (the distribution is log-concave). So the terms behind the last one that is added up
    are at most a geometric series with the ratio there. The first 60 terms are exact, and so are small samples; with t
    standard deviations between the mean and k, the bound exceeds the tail by a factor of about 1 + 1 / t^2 at most. Up
    to the mode, where the terms still grow, the bound is 1. Logarithms of factorials leave a relative error of 1e-6 for
    a hundred million rows.

    Parameters
    ----------
    k, special, drawn, total : arrays of whole numbers, of one shape
        With 0 <= special, drawn <= total.

    Examples
    --------
    >>> given = (np.array([each]) for each in (9, 10, 12, 30))
    >>> round(float(np.exp(log_upper_tail(*given))[0]), 6)  # (C(10, 9) C(20, 3) + C(20, 2)) / C(30, 12)
    0.000134
    """
    k, special, drawn, total = (np.asarray(each, dtype=np.float64) for each in (k, special, drawn, total))
    lowest, highest = np.maximum(drawn + special - total, 0.0), np.minimum(special, drawn)
    at = np.clip(k, lowest, highest)
    first = _log_probability(at, special, drawn, total)
    ratio = _ratio(at, special, drawn, total)
    central = ratio >= 1
    sums, term = np.zeros(at.shape), np.where(central, 0.0, 1.0)
    for _ in range(_TERMS):
        sums += term
        term = term * np.minimum(ratio, 1.0)
        at = at + 1
        ratio = _ratio(at, special, drawn, total)
    rest = term / (1 - np.where(central, 0.0, ratio))
    found = np.where(central, 0.0, np.minimum(first + np.log(np.where(central, 1.0, sums + rest)), 0.0))
    return np.where(k <= lowest, 0.0, np.where(k > highest, -np.inf, found))


def log_lower_tail(k: Counts, special: Counts, drawn: Counts, total: Counts) -> Vector:
    """Return the logarithm of P(X <= k), or slightly more: see `log_upper_tail`."""
    k, drawn = np.asarray(k, dtype=np.float64), np.asarray(drawn, dtype=np.float64)
    return log_upper_tail(drawn - k, np.asarray(total, dtype=np.float64) - special, drawn, total)


def log_p_of_counts(old: Counts, n_old: int, new: Counts, n_new: int) -> Vector:
    """Return the logarithm of the two-sided p-value that ``new`` of n_new rows lie in a set with ``old`` of n_old.

    Fisher's exact test, twice the smaller tail. The sets must not depend on either sample. O(1) per set.

    >>> np.exp(log_p_of_counts(np.array([5, 5]), 100, np.array([6, 30]), 100)).round(7)
    array([1.0e+00, 3.5e-06])
    """
    total = np.full(np.shape(old), n_old + n_new)
    inside = np.asarray(old) + np.asarray(new)
    drawn = np.full(np.shape(old), n_new)
    tails = log_upper_tail(new, inside, drawn, total), log_lower_tail(new, inside, drawn, total)
    return np.minimum(np.minimum(*tails) + log(2), 0.0)


def log_p_above_ranks(ranks: Counts, n_old: int, above: Counts, at_or_above: Counts, n_new: int) -> Vector:
    """Return the logarithm of the two-sided p-value of so many new draws above the old ones of given ranks.

    The ranks, 1 for the highest, are fixed in advance; their values are not. Put all draws in one descending order,
    ties broken at random. At least c new draws precede the j-th old one exactly if at most j - 1 of the first j + c - 1
    draws are old, and at most c do exactly if at least j of the first j + c are (Wilks 1942). Draws strictly above a
    value precede it, and those below it do not, so ties only raise the p-value. O(1) per rank.

    Parameters
    ----------
    ranks : int array
        In 1..n_old.
    n_old, n_new : int
        Size of both samples.
    above, at_or_above : int arrays, as ``ranks``
        New draws above the old draw of this rank, and those not below it.

    Examples
    --------
    >>> np.exp(log_p_above_ranks(np.array([1]), 19, np.array([1]), np.array([1]), 1)).round(6)
    array([0.1])
    """
    total, old = np.full(np.shape(ranks), n_old + n_new), np.full(np.shape(ranks), n_old)
    many = log_lower_tail(ranks - 1, old, np.maximum(ranks + above - 1, 0), total)
    few = log_upper_tail(ranks, old, ranks + at_or_above, total)
    return np.minimum(np.minimum(many, few) + log(2), 0.0)


def _ratio(x: Vector, special: Vector, drawn: Vector, total: Vector) -> Vector:
    """P(X = x + 1) / P(X = x); 0 from the highest possible x on."""
    left = np.maximum(special - x, 0.0) * np.maximum(drawn - x, 0.0)
    result: Vector = left / ((x + 1) * np.maximum(total - special - drawn + x + 1, 1.0))
    return result


def _log_probability(x: Vector, special: Vector, drawn: Vector, total: Vector) -> Vector:
    result: Vector = _log_choose(special, x) + _log_choose(total - special, drawn - x) - _log_choose(total, drawn)
    return result


def _log_choose(n: Vector, k: Vector) -> Vector:
    from scipy.special import gammaln

    result: Vector = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return result

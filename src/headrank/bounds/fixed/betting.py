"""Bounds on the area over [0, b] from a product of e-values: the narrowest finite-sample method for large samples.

An e-value is a nonnegative statistic whose expectation is at most 1 under a hypothesis; by Markov's inequality it
exceeds 1/risk with probability at most ``risk``. Three independent sources of error each get their own, and the
product is an e-value too, so that the three errors add like standard errors (squares), not like the parts of a union
bound.

Legend: R the true curve, M(u) its mean over [0, u], theta = M(b) the truth, n negatives. Rank k = b (n + 1), rounded,
is fixed in advance; u is the position of negative number k on the FPR axis of the true curve, rho = u / b, and N = k -
1 negatives are inside, above it. Given u these are independent draws from [0, u], so the mean m of R at their
positions has the expectation M(u). For a positive, I is 1 if it is above negative k, and D the share of the N that it
does not beat (0 if I = 0). Given the negatives, the positives are independent, E I = R(u) and E D = R(u) - m. For the
AUC, k is beyond the last negative, I = rho = 1, and N = n.

**The curve.** R does not decrease, so for u on either side of b

    ``b theta >= u M(u) + (b - u) R(u)``,  that is  ``theta >= E(I - rho D) - rho eta``,  ``eta = m - M(u)``.

The bound from above has the same form plus ``|1 - rho|`` times the share of positives between u and b. These lie
between two ranks k1 < k < k2 with u(k1) <= b <= u(k2) except with a small risk: J- between k and k2, J+ between k1 and
k.

**Positives, given the negatives.** To reject all truths up to theta, bet that ``I - rho (D + eta)`` exceeds theta:
``prod_i (1 + lambda (I_i - rho (D_i + eta) - theta))`` has an expectation of at most 1 (Waudby-Smith & Ramdas 2024,
with one bet lambda for all rows, so that the order of rows does not matter). From above likewise.

**Negatives inside, given u.** eta is the deviation of the mean of N independent values of R, which lie in [0, 1]. With
their variance v and t >= 0, ``exp(N (t eta - v (e^t - 1 - t)))`` is an e-value (Bennett 1962). Twice the variance is
the probability that two positives are both between two negatives inside: a U-statistic, whose upper limit (Bentkus)
costs a part of the risk. A larger v gives a smaller e-value. It is averaged over a few t proportional to rho.

**Position.** u is a beta variable with parameters k and n + 1 - k; ``u^s / E u^s``, averaged over a few s, is an
e-value.

**Together.** eta and rho are unknown, so the least product over all their values counts, each within limits that fail
with a small part of the risk. Since ``log(1 + z) >= z - c z^2`` with c from the least z, the product has a lower bound
that is quadratic in the unknowns, with coefficients that are sums over the positives: O(n_levels) for each theta. All
of lambda, t, s and k depend on theta, the counts, the range and the risk alone. Where a single positive, seen or not,
could lose more than 95 % by the bet, given eta and rho, the bet is not made and its e-value is 1: this depends on the
negatives alone. theta is rejected if the product reaches 1/risk, and the bound is the first theta that is not, so it
fails with probability at most ``risk``. (The search takes for granted that no theta below a rejected one is kept.)

Ties inside count half: R is the mean height of a slanted segment. Rows tied with negative k are placed at random (a
generator with a fixed seed), which makes them draws of one continuous position, as if scores had one more digit.

With 20 negatives per positive, the widths are 1.4 to 1.8 times DeLong's at 500 positives and 1.4 to 1.5 times at
5,000 (AUC and [0, 0.05], binormal scores, AUC 0.80 to 0.98). The factor tends to sqrt(2 ln(2/d)) / z, 1.39 at 95 %.

References
----------
I. Waudby-Smith & A. Ramdas, Estimating means of bounded random variables by betting, JRSS B 86, 2024.
G. Bennett, Probability inequalities for the sum of independent random variables, JASA 57, 1962.
V. Vovk & R. Wang, E-values: calibration, combination and applications, Annals of Statistics 49, 2021.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, log, sqrt

import numpy as np

from headrank._types import Vector
from headrank.bounds.confidence import Side
from headrank.bounds.fixed.fixed_range import interval_from_ends
from headrank.bounds.fixed.places import (
    SHARE_OF_LIMITS,
    SHARE_OF_VARIANCE,
    Places,
    n_inside,
    places_of,
    variance_limit,
)
from headrank.bounds.inequalities.e_values import bernstein, curvature, first_kept, log_mean_exp
from headrank.bounds.interval import Interval, require_counts
from headrank.curve import RocCurve
from headrank.measures.area import AreaMeasure

_BETS = np.array([0.8, 1.0, 1.25])
"""The t over which the e-value of the negatives is averaged, in units of the one that balances the bet."""
_TILTS = np.array([0.15, 0.3, 0.6, 1.2])
"""The s over which the e-value of the position is averaged, likewise."""
_TYPICAL_DOUBLED = 0.03
"""Typical mean of `_twice_variance`; used for the size of the bet."""
_LEAST_SPREAD = 0.02
"""theta (1 - theta) is taken to be at least this for the size of the bet."""
_LARGEST_LOSS = 0.9
"""With a typical variance, no positive can divide the product by more than 10."""
_LEAST_FACTOR = 0.05
"""A bet by which a positive could divide the product by more than 20 is not made."""
_FEWEST_OF_CLASS = 50
"""Rows of the smaller class from which betting pays for the AUC; a partial area needs twice as many positives."""
_FEWEST_INSIDE = 250
"""Negatives inside the range from which betting pays."""
_RATIO = 4
"""Rows of the larger class per row of the smaller one from which betting pays for the AUC."""
_GRID = 17
"""Values of each unknown at which the product is computed; three times again around the least."""


def betting(curve: RocCurve, measure: AreaMeasure, *, confidence: float = 0.95, side: Side = "two-sided") -> Interval:
    """Return an interval for the AUC or for a partial AUC from FPR 0 on, by a product of e-values.

    Proved in the module's docstring. O(n_levels) for each of some 40 values; 0.1 seconds for 5,000 positives.

    Parameters
    ----------
    curve : RocCurve
        Unweighted; a head suffices if it reaches a little below ``max_fpr``.
    measure : AUC, PartialAUC, StandardizedPartialAUC or FROCArea
        The range must start at 0.
    confidence : float, default=0.95
        Probability that the interval contains the true value, for rows independent within each class.
    side : {"two-sided", "lower", "upper"}, default="two-sided"
        Which ends are guaranteed.

    Examples
    --------
    >>> from headrank.datasets import Binormal
    >>> from headrank.measures import AUC
    >>> curve = RocCurve.from_scores(*Binormal(separation=2.0).sample_classes(500, 5000, random_state=0))
    >>> interval = betting(curve, AUC())  # the truth is 0.9214
    >>> round(interval.low, 3), round(interval.estimate, 3), round(interval.high, 3)
    (0.898, 0.919, 0.936)
    """
    if not isinstance(measure, AreaMeasure) or measure.fpr_range[0] > 0:
        raise ValueError(
            f"method='betting' is for areas over a range that starts at FPR 0, not for {measure}; use method='auto'"
        )
    require_counts(curve, "betting")
    max_fpr = measure.fpr_range[1]
    rescaled = measure.from_mean_tpr
    return interval_from_ends(
        curve,
        measure,
        lambda risk: rescaled(bet_low(curve, max_fpr, risk)),
        lambda risk: rescaled(bet_high(curve, max_fpr, risk)),
        "betting",
        "product of e-values for positives (Waudby-Smith & Ramdas 2024), negatives (Bennett 1962) and the end of the "
        "range; proved in headrank.bounds.fixed.betting",
        confidence,
        side,
    )


def betting_pays(min_fpr: float, max_fpr: float, n_pos: int, n_neg: int) -> bool:
    """Return whether `betting` is expected to be narrower than `fixed_range`, from the range and the counts alone.

    Found by simulation (binormal scores, AUC 0.69 to 0.98; a range that did not pay at half of the AUCs is left out).

    >>> betting_pays(0.0, 1.0, 50, 1000), betting_pays(0.0, 0.05, 500, 10_000), betting_pays(0.0, 0.01, 500, 10_000)
    (True, True, False)
    """
    if min_fpr > 0:
        return False
    if max_fpr == 1:
        return min(n_pos, n_neg) >= _FEWEST_OF_CLASS and max(n_pos, n_neg) >= _RATIO * min(n_pos, n_neg)
    return n_pos >= 2 * _FEWEST_OF_CLASS and n_inside(n_neg, max_fpr) >= _FEWEST_INSIDE


def bet_low(curve: RocCurve, max_fpr: float, risk: float) -> float:
    """Return a lower bound on the mean TPR over [0, max_fpr] that fails with probability at most ``risk``.

    O(n_levels) for each of some 20 values of theta; see the module.
    """
    curve = _few_positives(curve, max_fpr)
    if n_inside(int(curve.n_neg), max_fpr) < 1:
        return 0.0
    test = _Test(places_of(curve, max_fpr, risk), risk, low=True)
    return first_kept(test.excess, 0.0, curve.mean_tpr(max_fpr=max_fpr))


def bet_high(curve: RocCurve, max_fpr: float, risk: float) -> float:
    """Return an upper bound on the mean TPR over [0, max_fpr], as for `bet_low`."""
    curve = _few_positives(curve, max_fpr)
    if n_inside(int(curve.n_neg), max_fpr) < 1:
        return 1.0
    test = _Test(places_of(curve, max_fpr, risk), risk, low=False)
    return 1 - first_kept(lambda rest: test.excess(1 - rest), 0.0, 1 - curve.mean_tpr(max_fpr=max_fpr))


def _few_positives(curve: RocCurve, max_fpr: float) -> RocCurve:
    """Swap the classes for the AUC if there are more positives: the smaller class should be the one that bets."""
    if max_fpr < 1 or curve.n_pos <= curve.n_neg:
        return curve
    return RocCurve(-curve.scores[::-1], curve.neg[::-1], curve.pos[::-1], curve.n_neg, curve.n_pos)


class _Test:
    """The product of e-values against one truth; ``low`` if truths that are too low are to be rejected."""

    def __init__(self, places: Places, risk: float, *, low: bool) -> None:
        from scipy.special import betaincinv

        self.places, self.low = places, low
        spent = SHARE_OF_VARIANCE + SHARE_OF_LIMITS * (1 if places.whole else 2 if low else 3)
        self.wanted = -log((1 - spent) * risk)
        tail = SHARE_OF_LIMITS / 2 * risk
        self.limit_exponent = -log(tail)
        self.typical_variance = variance_limit(_TYPICAL_DOUBLED, places.n_pos, places.inside, risk)
        self.middle, self.rhos = 1.0, np.ones((1, 1))
        self.columns = np.ones((1, places.counts.size))
        if not places.whole:
            rank, rest = places.rank, places.n_neg + 1 - places.rank
            ends = np.array([betaincinv(rank, rest, tail), 1 - betaincinv(rest, rank, tail)]) / places.max_fpr
            self.middle = rank / (places.n_neg + 1) / places.max_fpr
            self.rhos = np.linspace(ends[0], ends[1], _GRID)[None, :]
            self.columns = np.stack([self.columns[0], places.behind, places.near_below, places.near_above])

    def excess(self, theta: float) -> float:
        """Return the logarithm of the least product, less that of 1/risk: rejected if this is not negative."""
        places = self.places
        spread = max(theta * (1 - theta), _LEAST_SPREAD)
        bet = self._bet(theta, spread)
        slope = bet * places.n_pos
        variance = min(places.variance, spread) if places.whole else places.variance
        reach = bernstein(variance, places.inside, self.limit_exponent)
        log_wealth = self._log_wealth(theta, bet)

        def log_product(etas: Vector, rhos: Vector) -> Vector:
            of_negatives = self._log_of_negatives(etas, rhos * slope, variance)
            return np.asarray(log_wealth(etas, rhos) + of_negatives + self._log_of_position(rhos, slope * spread))

        return _least(log_product, np.linspace(-reach, reach, _GRID)[:, None], self.rhos) - self.wanted

    def _log_wealth(self, theta: float, bet: float) -> Callable[[Vector, Vector], Vector]:
        """Return the e-value of the positives, or less: its logarithm as a function of eta and rho."""
        counts = self.places.counts
        factors = 1 + bet * self._base(theta)
        pull = bet / factors
        start = float(counts @ np.log(factors))
        first = self.columns @ (counts * pull)
        second = (self.columns * (counts * pull**2)) @ self.columns.T
        strongest = (self.columns * pull).max(axis=1)

        def log_wealth(etas: Vector, rhos: Vector) -> Vector:
            moves = self._moves(etas, rhos)
            least_factor = 1 - bet * self._largest_loss(theta, etas, rhos)
            # Two lower limits of z for all positives: by the columns, and from the least and the greatest factor.
            by_columns = -np.tensordot(strongest, np.maximum(moves, 0.0), 1)
            least = np.maximum(by_columns, np.maximum(least_factor, _LEAST_FACTOR) / factors.max() - 1)
            squared = np.einsum("iab,ij,jab->ab", moves, second, moves)
            bound = start - np.tensordot(first, moves, 1) - curvature(least) * squared
            return np.where(least_factor >= _LEAST_FACTOR, bound, 0.0)

        return log_wealth

    def _bet(self, theta: float, spread: float) -> float:
        """Return lambda: the best one for normal errors of typical size, and never more than a bet may lose."""
        places = self.places
        square = spread * (0.75 - 0.5 * places.max_fpr) / places.n_pos + self.typical_variance / places.inside
        if not places.whole:
            square += (0.6 * spread) ** 2 / places.rank
        reach = bernstein(min(self.typical_variance, spread), places.inside, self.limit_exponent)
        highest = float(self.rhos.max())
        worst = (theta if self.low else 1 - theta) + highest * reach + 2 * max(highest - 1, 0.0)
        return min(sqrt(2 * self.wanted / square) / places.n_pos, _LARGEST_LOSS / worst)

    def _largest_loss(self, theta: float, etas: Vector, rhos: Vector) -> Vector:
        """Return the most that any positive, seen or not, can take off the bet, in units of lambda."""
        if self.low:
            return np.asarray(theta + np.maximum(rhos - 1, 0.0) + rhos * etas)
        return np.asarray(1 - theta + np.abs(rhos - 1) + rhos * etas)

    def _base(self, theta: float) -> Vector:
        """Return what each positive adds to the bet at eta = 0 and the middle rho."""
        places, rho = self.places, self.middle
        base = places.above - rho * places.behind - theta
        if self.low:
            return base
        return np.asarray(-base - max(1 - rho, 0.0) * places.near_below - max(rho - 1, 0.0) * places.near_above)

    def _moves(self, etas: Vector, rhos: Vector) -> Vector:
        """Return how much each column takes off the bet at other unknowns; shape (n_columns, n_etas, n_rhos)."""
        by_eta = rhos * etas
        if self.places.whole:
            return by_eta[None]
        drift = rhos - self.middle
        if self.low:
            parts = [by_eta, drift, 0 * drift, 0 * drift]
        else:
            below = np.maximum(1 - rhos, 0.0) - max(1 - self.middle, 0.0)
            parts = [by_eta, -drift, below, np.maximum(rhos - 1, 0.0) - max(self.middle - 1, 0.0)]
        return np.stack(np.broadcast_arrays(*parts))

    def _log_of_negatives(self, etas: Vector, slopes: Vector, variance: float) -> Vector:
        n = self.places.inside
        t = np.minimum(_BETS[:, None, None] * slopes / n, 50.0)
        return log_mean_exp(n * (t * etas - variance * (np.expm1(t) - t)))

    def _log_of_position(self, rhos: Vector, slope: float) -> Vector:
        from scipy.special import betaln

        places = self.places
        if places.whole:
            return np.zeros(rhos.shape)
        tilts = _TILTS * slope if self.low else -np.minimum(_TILTS * slope, places.rank / 2)
        rest = places.n_neg + 1 - places.rank
        means = betaln(places.rank + tilts, rest) - betaln(places.rank, rest)
        return log_mean_exp(tilts[:, None, None] * np.log(rhos * places.max_fpr) - means[:, None, None])


def _least(function: Callable[[Vector, Vector], Vector], etas: Vector, rhos: Vector) -> float:
    """Return the least value on a grid, refined three times around it."""
    found = inf
    for _ in range(4):
        values = function(etas, rhos)
        i, j = np.unravel_index(int(values.argmin()), values.shape)
        found = min(found, float(values[i, j]))
        etas, rhos = _around(etas[:, 0], int(i))[:, None], _around(rhos[0], int(j))[None, :]
    return found


def _around(values: Vector, i: int) -> Vector:
    return np.linspace(values[max(i - 1, 0)], values[min(i + 1, values.size - 1)], values.size)

"""Intervals for the AUC that hold for every distribution of scores and every sample size.

The truth is the expected ranking accuracy of Agarwal, Graepel, Herbrich & Roth (2004), Definition 1: the probability A
that a positive outscores a negative, plus half the probability that they tie. Its estimate, the AUC of the sample, is
unbiased (Lemma 1) and a two-sample U-statistic with the kernel h = 1, 1/2, 0 for a pair in order, tied, out of order.
All four guarantees are conditional on the numbers of positives and negatives, so they also hold when these are random
(Theorem 3). Ties need no special case; `bernstein` makes use of them.

The intervals are for one scorer fixed in advance. To hold simultaneously for |F| scorers, and so for one selected on
the same rows, divide the risk: ``confidence = 1 - (1 - confidence) / |F|`` turns ln(2/d) into ln|F| + ln(2/d), as in
Theorems 4 and 5 and Corollary 3.

References
----------
S. Agarwal, T. Graepel, R. Herbrich & D. Roth, A large deviation bound for the area under the ROC curve, NIPS 2004.
W. Hoeffding, Probability inequalities for sums of bounded random variables, JASA 58, 1963.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import log

from headrank.bounds.confidence import Side
from headrank.bounds.inequalities.chernoff import crossing, divergence_below, hoeffding_radius, kl_lower
from headrank.bounds.interval import INDEPENDENT_ROWS, Interval, require_counts
from headrank.curve import RocCurve
from headrank.measures import AUC

TIE_SHARE = 0.1
"""Part of its risk that `bernstein` spends on the probability of a tie."""


def mcdiarmid(curve: RocCurve, *, confidence: float = 0.95, side: Side = "two-sided") -> Interval:
    """AUC by bounded differences: the estimate ± ``sqrt(ln(2/d) / (2 p (1-p) N))``, d = 1 - confidence.

    Agarwal et al. (2004), Theorem 2, Corollary 1 and, with random labels, Theorem 3. One row moves the AUC by at most
    1/n_pos or 1/n_neg, and the squares of all these add up to ``1/n_pos + 1/n_neg = 1 / (p (1-p) N)``. One-sided,
    ln(1/d) replaces ln(2/d). Never narrower than `hoeffding`; included because it is the paper's bound. O(n_levels).

    Parameters
    ----------
    curve : RocCurve
        Complete and unweighted: rows on which the scorer was not trained, independent within each class.
    confidence : float in (0, 1)
        The probability that the interval contains the true value.
    side : {"two-sided", "lower", "upper"}
        Which ends are guaranteed.

    Examples
    --------
    >>> perfect = RocCurve.from_scores([1] * 50 + [0] * 50, [1] * 50 + [0] * 50)
    >>> mcdiarmid(perfect)
    <Interval: auc is 1 on 50 positives and 50 negatives; the truth is between 0.7283 and 1 with 95 % confidence
    (mcdiarmid: any distribution, any sample size)>
    """
    theorem = "Agarwal, Graepel, Herbrich & Roth (2004), Corollary 1 and Theorem 3"
    return _interval(curve, "mcdiarmid", theorem, _mcdiarmid_lower, confidence, side)


def hoeffding(curve: RocCurve, *, confidence: float = 0.95, side: Side = "two-sided") -> Interval:
    """AUC as a U-statistic: the estimate ± ``sqrt(ln(2/d) / (2 k))``, k = min(n_pos, n_neg), d = 1 - confidence.

    Hoeffding (1963), section 5 with Theorem 1: the AUC is the average, over all matchings of the smaller class into
    the larger, of the mean of k independent h in [0, 1]. Never wider than `mcdiarmid`,
    whose 1/n_pos + 1/n_neg exceeds 1/k, and never narrower than `kl`. Parameters as for `mcdiarmid`. O(n_levels).

    >>> perfect = RocCurve.from_scores([1] * 50 + [0] * 50, [1] * 50 + [0] * 50)
    >>> round(hoeffding(perfect).low, 4)
    0.8079
    """
    theorem = "Hoeffding (1963), section 5 with Theorem 1, (2.3), for the two-sample U-statistic"
    return _interval(curve, "hoeffding", theorem, _hoeffding_lower, confidence, side)


def kl(curve: RocCurve, *, confidence: float = 0.95, side: Side = "two-sided") -> Interval:
    """AUC as a U-statistic, in Chernoff's form: all A with ``k KL(estimate || A) <= ln(2/d)``, k = min(n_pos, n_neg).

    Hoeffding (1963), section 5 with Theorem 1, (2.1), before it is simplified to `hoeffding`: never wider, about
    ``2 sqrt(A (1-A))`` times as wide, and for a perfect ranking of order 1/k rather than 1/sqrt(k). The one to use
    unless many pairs are tied. Parameters as for `mcdiarmid`. O(n_levels).

    >>> perfect = RocCurve.from_scores([1] * 50 + [0] * 50, [1] * 50 + [0] * 50)
    >>> round(kl(perfect).low, 4), round(kl(perfect, side="lower").low, 4)      # 0.025 ** (1/50), 0.05 ** (1/50)
    (0.9289, 0.9418)
    """
    theorem = "Hoeffding (1963), section 5 with Theorem 1, (2.1), for the two-sample U-statistic"
    return _interval(curve, "kl", theorem, _kl_lower, confidence, side)


def bernstein(curve: RocCurve, *, confidence: float = 0.95, side: Side = "two-sided") -> Interval:
    """AUC as a U-statistic of small variance: like `kl`, but narrower if many positives tie with negatives.

    A kernel h in {0, 1/2, 1} with mean A has the variance ``A (1-A) - T/4``, T the probability of a tie. Each end
    spends a tenth of its risk on a lower bound t for T, whose estimate is a U-statistic too: `kl`'s theorem. The rest
    goes to Hoeffding's (1963) Theorem 3, sharper than Bernstein's and Bennett's inequalities: the A kept are those with

        ``k KL((v + b r)/s || v/s) <= ln(1/risk)``, with ``r = estimate - A``, ``b = 1 - A``, ``v = A b - t/4``,
        ``s = v + b^2``

    and ``t/2 <= A <= 1 - t/2``; likewise above. Proof: where T >= t the true variance is at most v, and the bound grows
    with the variance; by Jensen's inequality it holds for the average over matchings; the risks add up. For t = 0 the
    inequality is that of `kl`, so without ties this is `kl` at nine tenths of the risk, 1.4 % wider. With k = 1000 it
    is narrower if more than a twentieth of all pairs are tied, with k = 50 a fifth; with half of them tied it saves a
    quarter of the width (k = 1000) or an eighth (k = 50). Meant for scores with few levels. Parameters as for
    `mcdiarmid`. O(n_levels).

    >>> constant = RocCurve.from_scores([1] * 50 + [0] * 50, [0] * 100)
    >>> round(kl(constant).width, 2), round(bernstein(constant).width, 2)
    (0.37, 0.11)
    """
    theorem = "Hoeffding (1963), section 5 with Theorem 3, and Theorem 1 for the probability of a tie"
    return _interval(curve, "bernstein", theorem, _bernstein_lower, confidence, side)


@dataclass(frozen=True)
class _Pairs:
    """Input of the methods: the shares of pairs in order (ties half) and of tied pairs, and the counts."""

    auc: float
    tied: float
    n_pos: int
    n_neg: int

    @property
    def k(self) -> int:
        """Pairs in one matching: independent draws of the kernel."""
        return min(self.n_pos, self.n_neg)

    @property
    def reversed(self) -> _Pairs:
        """The pairs under the reversed order, whose lower bounds are upper bounds here."""
        return replace(self, auc=1 - self.auc)


def _mcdiarmid_lower(pairs: _Pairs, risk: float) -> float:
    return pairs.auc - hoeffding_radius(1 / (1 / pairs.n_pos + 1 / pairs.n_neg), risk)


def _hoeffding_lower(pairs: _Pairs, risk: float) -> float:
    return pairs.auc - hoeffding_radius(pairs.k, risk)


def _kl_lower(pairs: _Pairs, risk: float) -> float:
    return kl_lower(pairs.auc, pairs.k, risk)


def _bernstein_lower(pairs: _Pairs, risk: float) -> float:
    tied = kl_lower(pairs.tied, pairs.k, TIE_SHARE * risk)
    exponent = -log((1 - TIE_SHARE) * risk) / pairs.k

    def divergence(r: float) -> float:
        # Grows with r: v/s falls and (v + b r)/s rises as A falls, as long as A <= 1 - tied/2, and the estimate is.
        b = 1 - pairs.auc + r
        s = b - tied / 4
        rest = b * (b - r) / s  # 1 - (v + b r)/s
        return divergence_below(1 - rest, rest, b * r / s)

    return pairs.auc - crossing(divergence, exponent, max(pairs.auc - tied / 2, 0.0))


def _interval(
    curve: RocCurve,
    method: str,
    theorem: str,
    lower: Callable[[_Pairs, float], float],
    confidence: float,
    side: Side,
) -> Interval:
    """Bound the AUC from below, and from above by the lower bound under the reversed order."""
    require_counts(curve, f"the {method} interval")
    n_pos, n_neg = int(curve.n_pos), int(curve.n_neg)
    auc = AUC().value(curve)
    pairs = _Pairs(auc, float(curve.pos @ curve.neg.astype(float)) / n_pos / n_neg, n_pos, n_neg)
    risk = (1 - confidence) / (2 if side == "two-sided" else 1)
    # The reversed estimate is rounded once more; this must not move an end past the estimate.
    return Interval(
        low=0.0 if side == "upper" else max(min(lower(pairs, risk), auc), 0.0),
        estimate=auc,
        high=1.0 if side == "lower" else min(max(1 - lower(pairs.reversed, risk), auc), 1.0),
        confidence=confidence,
        measure=AUC(),
        method=method,
        theorem=theorem,
        assumptions=INDEPENDENT_ROWS,
        n_pos=n_pos,
        n_neg=n_neg,
        side=side,
    )

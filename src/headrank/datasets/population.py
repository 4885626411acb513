"""Population: the true value of every measure, computed from the true ROC curve.

Legend, as in Clémençon & Vayatis (2007): u = ``top``, p = ``positive_rate``; alpha and beta the false and true
positive rates of the best u of all instances, where the curve meets the control line u = p beta + (1 - p) alpha.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from headrank._numbers import ordered, rate, real
from headrank._types import ArrayLike, BoolVector, Vector

_FARTHEST_QUANTILE = 37.5  # Phi(-37.5) = 5e-308, about the smallest normal float64
_LAST_QUANTILE = 10.0  # end of integrals: 1 - Phi(10) = 8e-24
_LEFT_OUT = 1e-20  # share of the range of FPR left out of an integral
_PANEL = 0.5  # widest panel of the quadrature, in units of x


class Population(ABC):
    """A distribution of scores and labels whose true measures are known.

    A subclass defines the true curve and the share of positives; the measures are computed by quadrature, with errors
    near 1e-12. It may override them with closed forms. Tied scores are a straight segment of the curve, as in a sample.

    Examples
    --------
    >>> class Guess(Population):  # scores independent of the label
    ...     positive_rate = 0.3
    ...
    ...     def sample_scores(self, n_rows, random_state=None):
    ...         rng = np.random.default_rng(random_state)
    ...         return rng.random(n_rows) < 0.3, rng.random(n_rows)
    ...
    ...     def _tpr(self, fpr):
    ...         return fpr
    >>> round(Guess().auc(), 12), round(Guess().local_auc(top=0.2), 12)
    (0.5, 0.18)
    """

    positive_rate: float
    """Share of positives among all instances, in (0, 1)."""

    @abstractmethod
    def sample_scores(self, n_rows: int, random_state: Any = None) -> tuple[BoolVector, Vector]:
        """Draw labels and scores of independent rows: (y, scores)."""

    @abstractmethod
    def _tpr(self, fpr: Vector) -> Vector:
        """Return the true curve, non-decreasing from 0 to 1, at rates that are known to lie in [0, 1]."""

    def _tpr_at_quantile(self, x: Vector) -> Vector:
        """Return the true curve at FPR = Phi(x); override it if the curve is known in x.

        Near FPR 1 float64 resolves quantiles much better than rates.
        """
        from scipy.special import ndtr

        return self._tpr(ndtr(x))

    def _breaks(self) -> Vector:
        """Return breakpoints x for the quadrature: none if the curve rises nowhere more steeply than Phi(x)."""
        return np.empty(0)

    def roc(self, fpr: ArrayLike) -> Vector:
        """Return the true positive rate at each false positive rate, as an array of the shape of ``fpr``."""
        rates = np.asarray(fpr, dtype=np.float64)
        inside = (rates >= 0) & (rates <= 1)
        if not np.all(inside):
            raise ValueError(f"fpr must lie in [0, 1], got {rates[~inside][0]:g}; rates are fractions, not percent")
        return self._tpr(rates)

    def tpr_at(self, fpr: float) -> float:
        """Return the true positive rate at one false positive rate, which `TPRAtFPR` estimates."""
        return float(self.roc(real("fpr", fpr)))

    def auc(self) -> float:
        """Return the area under the whole curve."""
        return self._area(1.0)

    def partial_auc(self, min_fpr: float = 0.0, max_fpr: float = 1.0) -> float:
        """Return the mean true positive rate between two false positive rates: the area there over the width."""
        low, high = ordered("fpr", min_fpr, max_fpr)
        return self._mean_tpr(low, high)

    def rates_at_top(self, top: float) -> tuple[float, float]:
        """Return (alpha, beta), the false and true positive rates of the best ``top`` of all instances.

        This is the point where the curve meets the control line ``top = p * beta + (1 - p) * alpha``.
        """
        from scipy.optimize import brentq
        from scipy.special import ndtr

        u, p = rate("top", top, above_zero=True), self.positive_rate

        # Solved for the normal quantile x: alpha = Phi(x) may be 1e-12 and needs a small relative error.
        def surplus(x: float) -> float:
            return p * float(self._tpr_at_quantile(np.asarray(x))) + (1 - p) * float(ndtr(x)) - u

        if u == 1:
            return 1.0, 1.0
        if surplus(-_FARTHEST_QUANTILE) >= 0:  # the curve has passed the line before FPR 1e-307
            return 0.0, u / p
        if surplus(_FARTHEST_QUANTILE) <= 0:  # or passes it after FPR 1 - 1e-307
            return 1.0, (u - (1 - p)) / p
        x = brentq(surplus, -_FARTHEST_QUANTILE, _FARTHEST_QUANTILE, xtol=1e-16)
        return float(ndtr(x)), float(self._tpr_at_quantile(np.asarray(x)))

    def truncated_auc(self, top: float) -> float:
        """Return the area under the curve from 0 to alpha, not normalised."""
        return self._area(self.rates_at_top(top)[0])

    def local_auc(self, top: float) -> float:
        """Return P(a positive is in the top and outscores a negative): truncated area + beta (1 - alpha)."""
        alpha, beta = self.rates_at_top(top)
        return self._area(alpha) + beta * (1 - alpha)

    def w_ranking(self, top: float) -> float:
        """Return the positives' mean of F(score) 1{F(score) > 1 - top}: p/2 beta (2 - beta) + (1 - p) LocalAUC."""
        p, beta = self.positive_rate, self.rates_at_top(top)[1]
        return p / 2 * beta * (2 - beta) + (1 - p) * self.local_auc(top)

    def mass_error(self, top: float) -> float:
        """Return the error rate if the top is classified as positive: p (1 - beta) + (1 - p) alpha."""
        p, (alpha, beta) = self.positive_rate, self.rates_at_top(top)
        return p * (1 - beta) + (1 - p) * alpha

    def local_ranking_error(self, top: float) -> float:
        """Return R, the probability that two independent instances are in the top and wrongly ordered.

        R = 2 p (1 - p) (alpha beta - truncated area).
        """
        p, (alpha, beta) = self.positive_rate, self.rates_at_top(top)
        return 2 * p * (1 - p) * max(alpha * beta - self._area(alpha), 0.0)

    def local_ranking_risk(self, top: float) -> float:
        """Return M = R + (1 - p) L, with R the `local_ranking_error` and L the `mass_error`."""
        return self.local_ranking_error(top) + (1 - self.positive_rate) * self.mass_error(top)

    def _area(self, max_fpr: float) -> float:
        """Area under the curve from 0 to a false positive rate."""
        return self._mean_tpr(0.0, max_fpr) * max_fpr if max_fpr > 0 else 0.0

    def _mean_tpr(self, min_fpr: float, max_fpr: float) -> float:
        """Mean height of the curve between two false positive rates, by Gauss quadrature.

        With FPR = Phi(x) the integrand is smooth even if the curve starts or ends vertically. The lowest 1e-20 of the
        range is left out: the curve does not decrease, so at most that share of the area is lost.
        """
        from scipy.special import ndtri

        start = max(float(ndtri(max(min_fpr, _LEFT_OUT * max_fpr))), -_FARTHEST_QUANTILE)
        end = min(float(ndtri(max_fpr)), _LAST_QUANTILE)
        if start >= end:  # a range below 1e-307, or so narrow that its ends have the same quantile
            return float(self._tpr(np.asarray(max_fpr)))
        # Adaptive quadrature misses steps (error 3e-9) or warns of roundoff in the far tail.
        ends = np.unique(np.clip(np.concatenate([np.arange(start, end, _PANEL), self._breaks(), [end]]), start, end))
        nodes, weights = np.polynomial.legendre.leggauss(20)
        x = (ends[1:, None] * (1 + nodes) + ends[:-1, None] * (1 - nodes)) / 2
        share = np.diff(ends)[:, None] * weights * np.exp(-(x**2) / 2)
        # Dividing by the sum of the same weights keeps the mean between the lowest and the highest value, even on a
        # very narrow range.
        return float((self._tpr_at_quantile(x) * share).sum() / share.sum())

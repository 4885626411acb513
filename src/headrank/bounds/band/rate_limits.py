"""RateLimits: limits of both rates at every threshold, and the envelopes of the curves within them.

Legend: after g of the sample's distinct scores there are fp_g negatives and tp_g positives. At every threshold there,
the true FPR lies in [Ln_g, Un_g] and the true TPR in [Lp_g, Up_g]: `TailLimits` of each class.

The true curve lies above the polyline through the points (Un_g, Lp_g) and below the one through (Ln_g, Up_g). Proof:
at a score z the true curve runs straight from a = (P(neg > z), P(pos > z)) to b = (P(neg >= z), P(pos >= z)). If z is
the sample's score number g + 1, then a is at least as high and as far left as (Un_g, Lp_g), b as (Un_g+1, Lp_g+1), and
so is each point between a and b compared with the one that divides those two in the same ratio. A rising curve through
such a point lies above. The converse is analogous; a z that is not a score of the sample has a and b in the box of one
g. Both polylines are curves within the limits, so the values read from them are the exact optimum for every measure
that is monotone in the curve.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import expm1, log1p

import numpy as np

from headrank._types import Vector
from headrank.bounds.band.envelope import Envelope
from headrank.bounds.confidence import Side
from headrank.bounds.inequalities.tail_limits import Method, tail_limits
from headrank.curve import RocCurve


@dataclass(frozen=True, eq=False)
class RateLimits:
    """Limits of both rates after each number of distinct scores: arrays of shape (n_levels + 1,), ascending."""

    lowest_fpr: Vector
    highest_fpr: Vector
    lowest_tpr: Vector
    highest_tpr: Vector

    @cached_property
    def lower(self) -> Envelope:
        """The lower envelope of the curves within the limits."""
        return Envelope(_framed(self.highest_fpr), _framed(self.lowest_tpr))

    @cached_property
    def upper(self) -> Envelope:
        """The upper envelope of the curves within the limits."""
        return Envelope(_framed(self.lowest_fpr), _framed(self.highest_tpr))


def rate_limits(curve: RocCurve, *, risk: float, method: Method, side: Side = "two-sided") -> RateLimits:
    """Return limits of both rates that hold simultaneously at all thresholds, except with probability ``risk``.

    The classes are independent, so the limits of each must hold with probability sqrt(1 - risk). A guarantee for the
    lower envelope alone needs only the upper limits of FPR and the lower limits of TPR.
    """
    of_fpr: Side = {"two-sided": "two-sided", "lower": "upper", "upper": "lower"}[side]  # type: ignore[assignment]
    each = -expm1(log1p(-risk) / 2)
    neg = tail_limits(int(curve.n_neg), risk=each, side=of_fpr, method=method)
    pos = tail_limits(int(curve.n_pos), risk=each, side=side, method=method)
    return RateLimits(neg.lower(curve.fp), neg.upper(curve.fp), pos.lower(curve.tp), pos.upper(curve.tp))


def _framed(rates: Vector) -> Vector:
    return np.concatenate([[0.0], rates, [1.0]])

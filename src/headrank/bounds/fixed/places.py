"""Where the positives are among the negatives of a range: what `headrank.bounds.fixed.betting` reads from a curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headrank._types import Vector
from headrank.bounds.inequalities.binomial import allowed_above, needed_at_least
from headrank.bounds.inequalities.bounded_mean import mean_limits
from headrank.curve import RocCurve
from headrank.exceptions import ShallowHeadError

SHARE_OF_VARIANCE = 0.05
"""Part of the risk spent on the variance of the negatives inside."""
SHARE_OF_LIMITS = 0.02
"""Part of the risk spent on the limits of each unknown, and on the two ranks around b."""


def n_inside(n_neg: int, max_fpr: float) -> int:
    """Return N, the number of negatives above the one whose position stands for the end of the range.

    >>> n_inside(1000, 0.05), n_inside(1000, 1.0), n_inside(10, 0.05)
    (49, 1000, 0)
    """
    return n_neg if max_fpr == 1 else max(min(round(max_fpr * (n_neg + 1)), n_neg) - 1, 0)


@dataclass(frozen=True, eq=False)
class Places:
    """Where the positives are among the negatives, per distinct score; the legend is that of `betting`."""

    counts: Vector
    above: Vector
    behind: Vector
    near_below: Vector
    near_above: Vector
    n_pos: int
    n_neg: int
    inside: int
    max_fpr: float
    variance: float
    """Upper limit of the variance of R at the position of a negative inside."""

    @property
    def whole(self) -> bool:
        """Whether this is about the AUC."""
        return self.max_fpr == 1

    @property
    def rank(self) -> int:
        """The rank of the negative whose position stands for the end of the range."""
        return self.inside + 1


def places_of(curve: RocCurve, max_fpr: float, risk: float) -> Places:
    """Locate the positives. O(n_levels)."""
    n_pos, n_neg = int(curve.n_pos), int(curve.n_neg)
    inside = n_inside(n_neg, max_fpr)
    rank, levels = inside + 1, curve.scores.size
    end = levels if max_fpr == 1 else _level_of(curve, rank)
    each = SHARE_OF_LIMITS * risk / 2
    first = 0 if max_fpr == 1 else _level_of(curve, allowed_above(n_neg, max_fpr, each) + 1)
    last = levels if max_fpr == 1 else _level_of(curve, needed_at_least(n_neg, max_fpr, each))
    above, behind = np.zeros(levels), np.zeros(levels)
    above[:end] = 1.0
    behind[:end] = (curve.fp[:end] + curve.neg[:end] / 2) / max(inside, 1)
    tied_places = np.zeros(0)
    if end < levels:
        # Tied with the end of the range: random places among the negatives of that score, the highest first.
        places = np.sort(np.random.default_rng(0).random(int(curve.neg[end])))
        before = rank - 1 - int(curve.fp[end])
        above[end] = places[before]
        tied_places = places[:before]
        behind[end] = places[before] - tied_places.sum() / max(inside, 1)
    level = np.arange(levels)
    near_below, near_above = (level >= end) & (level <= last), (level >= first) & (level <= end)
    kept = np.flatnonzero(curve.pos)
    # Positives below the head, or beyond everything that is looked at.
    rest = n_pos - int(curve.tp[-1])
    variance = variance_limit(twice_variance(curve, end, tied_places, inside), n_pos, inside, risk)
    return Places(
        counts=np.append(curve.pos[kept], rest).astype(float),
        above=np.append(above[kept], 0.0),
        behind=np.append(behind[kept], 0.0),
        near_below=np.append(near_below[kept], 0.0),
        near_above=np.append(near_above[kept], 0.0),
        n_pos=n_pos,
        n_neg=n_neg,
        inside=inside,
        max_fpr=max_fpr,
        variance=variance,
    )


def _level_of(curve: RocCurve, rank: int) -> int:
    """Return the index of the score of the negative of that rank: 0 for rank 0, beyond the last for rank n + 1."""
    if rank > curve.n_neg:
        curve.require_complete("this bound")
        return curve.scores.size
    if rank > curve.fp[-1]:
        raise ShallowHeadError(
            f"the bound needs the {rank:,} highest negatives, but this head has {int(curve.fp[-1]):,}; use a deeper "
            "head"
        )
    return max(int(np.searchsorted(curve.fp, rank)) - 1, 0)


def twice_variance(curve: RocCurve, end: int, places: Vector, n_inside: int) -> float:
    """Return the share of (two positives, two negatives inside) with both positives between the two negatives.

    Its expectation is E (R(position) - R(position'))^2, twice the variance. A positive that ties with one of the
    negatives is half between them. Given two negatives, with h half-counts per positive: (sum h)^2 - sum h^2, where
    sum h = |T - T'|, T the number of positives above a negative.
    """
    n_pos = int(curve.n_pos)
    if n_pos < 2 or n_inside < 2:
        return 1.0
    tied = curve.pos[:end].astype(float)
    counts = np.append(curve.neg[:end].astype(float), np.ones(places.size))
    at_end = places * (curve.pos[end] if places.size else 0.0)
    above = np.append(curve.tp[:end] + tied / 2, curve.tp[end] + at_end)
    # What a tie takes off sum h^2, at most, and how many other negatives there are.
    own = np.append(tied / 4, at_end)
    others = n_inside - np.append(curve.neg[:end], np.zeros(places.size))
    total, before = float(counts @ above), np.cumsum(counts) - counts
    squared = 2 * (n_inside * float(counts @ above**2) - total**2)
    # Both sorted upwards: each T is subtracted once for every negative after it, and added for every one before.
    distances = 2 * float(counts @ (above * (2 * before + counts - n_inside)))
    taken = 2 * float((counts * own) @ others)
    pairs = n_inside * (n_inside - 1.0) * n_pos * (n_pos - 1.0)
    return min(max((squared - distances + taken) / pairs, 0.0), 1.0)


def variance_limit(doubled: float, n_pos: int, inside: int, risk: float) -> float:
    """Return an upper limit of the variance from the U-statistic for twice the variance, at most 1/4."""
    pairs = max(min(n_pos, inside) // 2, 1)
    return min(mean_limits(doubled, pairs, SHARE_OF_VARIANCE * risk)[1] / 2, 0.25)

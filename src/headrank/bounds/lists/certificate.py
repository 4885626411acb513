"""ListCertificate: how many of the first k new rows are positive, at least, for all k simultaneously.

*Theorem.* Let t_(1) >= t_(2) >= ... be the scores of n labelled negatives, and u_i limits of `precedence`: if m new
negatives were exchangeable with them, then with the stated confidence at most u_i of the new ones would precede t_(i)
in the common order with ties broken at random, for all i that have a limit. Let r_i be the number of new rows scoring
strictly above t_(i). Then, with at least that confidence, simultaneously for all k::

    positives among the first k new rows  >=  max_i ( min(k, r_i) - u_i )

*Proof.* Only some of the m new rows are negatives; add further draws until there are m. The real ones that score above
t_(i) precede it in every order of ties, so they are at most u_i. If k <= r_i, all of the first k rows score above
t_(i), and at most u_i of them are negative. If k > r_i, at least r_i - u_i of the first r_i are positive. No order of
tied new rows was used, and labelled negatives tied with a new row count as above it.

If all labelled and new rows are exchangeable ("same rows"), sort by class first: negatives by score, then all
positives. The labelled rows of this order are exchangeable with the new ones, and as long as i is at most the number of
labelled negatives, the i-th of them is t_(i). At the next rank all new negatives precede it: r_i = m.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from headrank._extras import needs_extra
from headrank._format import counted, percent, shown
from headrank._numbers import rate, whole
from headrank._types import ArrayLike, IntVector, Vector
from headrank.bounds.confidence import check_confidence
from headrank.bounds.inequalities.interleavings import precedence
from headrank.bounds.lists.rows import ASSUMPTIONS, Assumption, ListRows, list_rows, warn_if_shifted
from headrank.curve import shares
from headrank.labels import with_labels
from headrank.levels import starts_of_runs

THEOREM = (
    "exact joint law of how many new rows precede the highest labelled negatives (negative hypergeometric), with equal "
    "local levels"
)


@dataclass(frozen=True, eq=False, repr=False)
class ListCertificate:
    """What is promised of a list of new rows, returned by `certify_list`; prints as a sentence.

    Attributes
    ----------
    promised : int array of shape (n_new,)
        ``promised[k - 1]`` of the first k new rows are positive, at least. Non-decreasing, in steps of 0 or 1. All
        promises hold simultaneously, so k may be chosen after looking at them.
    likely : array of shape (n_new,)
        Estimated number of positives among the first k, without a guarantee.
    new_scores : array of shape (n_new,)
        Scores of the new rows, in the order given.
    confidence : float
        The probability that all promises hold.
    assume : {"same negatives", "same rows"}
        What the labelled and the new rows have in common.
    n_pos, n_neg, n_new : int
        Labelled positives and negatives, and new rows.
    reach, allowed : int arrays of shape (n_limits,)
        The first ``reach[j]`` new rows contain at most ``allowed[j]`` negatives.
    """

    promised: IntVector
    likely: Vector
    new_scores: Vector
    confidence: float
    assume: Assumption
    n_pos: int
    n_neg: int
    n_new: int
    reach: IntVector
    allowed: IntVector

    @cached_property
    def order(self) -> IntVector:
        """The list: positions of the new rows by descending score; tied rows stay in the order given."""
        return np.argsort(-self.new_scores, kind="stable")

    @property
    def theorem(self) -> str:
        """The theorem that the promises rest on."""
        return THEOREM

    @property
    def assumptions(self) -> str:
        """What the promises assume."""
        return ASSUMPTIONS[self.assume]

    def at_least(self, k: int) -> int:
        """Return how many of the first k new rows are positive, at least."""
        k = whole("k", k)
        if k > self.n_new:
            raise ValueError(f"k must be at most {self.n_new}, the number of new rows, got {k}")
        return int(self.promised[k - 1]) if k else 0

    def precision_at_least(self, k: int) -> float:
        """Return the least share of positives among the first k new rows."""
        return self.at_least(whole("k", k, at_least=1)) / k

    def largest_list(self, precision: float = 0.9) -> int:
        """Return the largest k such that at least this share of the first k is promised to be positive, or 0.

        `explain` says why it is 0. O(n_new).
        """
        asked = rate("precision", precision, above_zero=True)
        enough = np.flatnonzero(self.promised >= shares(asked, np.arange(1, self.n_new + 1)))
        return int(enough[-1]) + 1 if enough.size else 0

    def explain(self, precision: float = 0.9) -> str:
        """Return a sentence about the largest list with this promised precision, or about why there is none."""
        k = self.largest_list(precision)
        sure = f"with {percent(self.confidence)} confidence"
        if k:
            return f"at least {self.at_least(k):,} of the first {k:,} new rows are positive, {sure}"
        start = f"no list with a precision of {shown(precision)} can be promised {sure}: "
        more = "more labelled negatives help (headrank.plan_list says how many)"
        if not self.allowed.size:
            return f"{start}{counted(self.n_neg, 'labelled negative')} cannot rule out that all are negative; {more}"
        reach, allowed = int(self.reach[0]), int(self.allowed[0])
        if precision < 1 and (needed := ceil(allowed / (1 - precision) - 1e-9)) > reach:
            return (
                f"{start}up to {allowed:,} negatives cannot be ruled out above the highest labelled negatives, so at "
                f"least {needed:,} new rows would have to score above them, but {reach:,} do; {more}"
            )
        return f"{start}up to {allowed:,} negatives cannot be ruled out among the first {reach:,} new rows; {more}"

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers of rows, the confidence and the assumptions as plain values."""
        names = ("confidence", "assume", "n_pos", "n_neg", "n_new", "theorem", "assumptions")
        return {name: getattr(self, name) for name in names}

    def to_frame(self) -> Any:
        """Return a polars data frame: k, row, at_least, precision_at_least and likely, for each length k of the list.

        ``row`` is the position of the k-th row of the list among the new rows.
        """
        with needs_extra("cli"):
            import polars as pl

        k = np.arange(1, self.n_new + 1)
        columns = {"k": k, "row": self.order, "at_least": self.promised, "precision_at_least": self.promised / k}
        return pl.DataFrame({**columns, "likely": self.likely})

    def __str__(self) -> str:
        lists = (self.largest_list(precision) for precision in (0.9, 0.5))
        k = next((each for each in lists if each), int(np.argmax(self.promised)) + 1)
        found = (
            f"at least {self.at_least(k):,} of the first {k:,} new rows are positive, with {percent(self.confidence)} "
            "confidence, simultaneously with the promises for all other numbers of rows"
            if self.at_least(k)
            else self.explain(0.5)
        )
        return (
            f"{found} ({counted(self.n_neg, 'labelled negative')}, {counted(self.n_new, 'new row')}; {self.theorem}; "
            f"assumes {self.assume}: {self.assumptions})"
        )

    def __repr__(self) -> str:
        return f"<ListCertificate: {self}>"


def certify_list(
    y: ArrayLike,
    scores: ArrayLike,
    new_scores: ArrayLike,
    *,
    confidence: float = 0.95,
    assume: Assumption = "same negatives",
    pos_label: Any = None,
    missing: str = "refuse",
) -> ListCertificate:
    """Promise how many of the first k new rows are positive, for all k at once, from labelled rows.

    The list is sorted by descending score. For the limits u_i of `headrank.bounds.inequalities.interleavings`, and r_i
    the number of new rows scoring above the i-th highest labelled negative, at least max_i (min(k, r_i) - u_i) of the
    first k new rows are positive. The probability that this holds for all k is computed exactly, by counting lattice
    paths; nothing is simulated. It is a probability over the labelled and the new rows; a new list needs its own
    certificate, and the promises of several lists made with the same labelled rows do not hold simultaneously.

    *Assumptions.* With ``"same negatives"`` the negatives among the new rows are drawn from the same distribution as
    the labelled negatives. The share of positives may be different, and so may their scores: labelled positives
    are used for the estimate ``likely`` only. With ``"same rows"`` all labelled and all new rows are drawn from one
    distribution. This is tighter, as a new row is then known to be negative only in part of all cases, but a batch
    with a smaller share of positives than the labelled rows (label shift) breaks it. In both cases the scorer was not
    trained or selected on the labelled rows. A `ShiftedScoresWarning` says that the new scores cannot be a mixture of
    labelled positives and negatives (or, with ``"same rows"``, cannot have the distribution of the labelled rows); it
    is false with probability at most 0.001.

    Ties only make the promise safer: labelled negatives tied with a new row count as above it. O(n log n): two sorts,
    and less than two seconds for the limits of a million labelled and a million new rows, which are cached.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels: 0/1, -1/+1, bool, or any two values with ``pos_label``.
    scores : array-like of shape (n,)
        Finite scores of the labelled rows, higher = more positive.
    new_scores : array-like of shape (n_new,)
        Finite scores of the new rows, by the same scorer.
    confidence : float in (0, 1), default=0.95
        The probability that the promises hold for all k.
    assume : {"same negatives", "same rows"}
        See above.
    pos_label : optional
        The label of the positive class in ``y``.
    missing : {"refuse", "drop"}
        What to do about missing labels: raise, or drop their rows, with a warning that says how many.

    Returns
    -------
    ListCertificate

    Examples
    --------
    >>> from headrank.datasets import Binormal
    >>> population = Binormal(separation=3.0)
    >>> y, scores = population.sample_classes(100, 2000, random_state=0)
    >>> _, new_scores = population.sample_classes(100, 900, random_state=1)
    >>> certificate = certify_list(y, scores, new_scores)
    >>> certificate.at_least(50), certificate.precision_at_least(50), round(float(certificate.likely[49]), 1)
    (44, 0.88, 49.5)
    >>> certificate.largest_list(precision=0.8)
    85
    """
    sure = check_confidence(confidence)
    y, scores = with_labels(missing, y, scores)
    rows = list_rows(y, scores, new_scores, assume=assume, pos_label=pos_label)
    warn_if_shifted(rows)
    return certificate_of(rows, sure)


def at_least_in_head(y: ArrayLike, scores: ArrayLike, head: ArrayLike, n_new: int, *, confidence: float = 0.95) -> int:
    """Return how many of the best new rows are positive, at least, from the scores of these rows alone.

    The same number as ``certify_list(y, scores, new_scores).at_least(k)``, for a list of which only the first k scores
    are known: the number of new rows above a labelled negative matters only up to k. O(k log k) in time and memory.

    Parameters
    ----------
    y, scores, confidence
        As in `certify_list`.
    head : array-like of shape (k,)
        The k highest scores of the new rows.
    n_new : int
        Number of all new rows.

    Examples
    --------
    >>> from headrank.datasets import Binormal
    >>> y, scores = Binormal(separation=3.0).sample_classes(100, 2000, random_state=0)
    >>> _, new_scores = Binormal(separation=3.0).sample_classes(100, 900, random_state=1)
    >>> at_least_in_head(y, scores, sorted(new_scores)[-50:], 1000)
    44
    """
    sure = check_confidence(confidence)
    rows = list_rows(y, scores, head, assume="same negatives")
    k = rows.new.size
    n_all = whole("n_new", n_new, at_least=k)
    limits = precedence(rows.n_old, n_all, 1 - sure)
    cuts = rows.negatives[rows.negatives.size - limits.ranks]
    reach = k - np.searchsorted(np.sort(rows.new), cuts, side="right")
    return int((reach - limits.most).max(initial=0))


def certificate_of(rows: ListRows, confidence: float) -> ListCertificate:
    """Certify checked rows; see `certify_list`."""
    n_new, n_neg = rows.new.size, rows.negatives.size
    ascending = np.sort(rows.new)
    limits = precedence(rows.n_old, n_new, 1 - confidence)
    known = int(np.searchsorted(limits.ranks, n_neg, side="right"))  # limits at ranks of labelled negatives
    cuts = rows.negatives[n_neg - limits.ranks[:known]]
    reach = n_new - np.searchsorted(ascending, cuts, side="right")
    if known < limits.ranks.size:  # among all labelled rows, the next one is positive: all new negatives precede it
        reach, known = np.append(reach, n_new), known + 1
    allowed = limits.most[:known]
    promised = _promises(reach, allowed, n_new)
    return ListCertificate(
        promised=promised,
        likely=_estimates(rows, ascending, promised),
        new_scores=rows.new,
        confidence=confidence,
        assume=rows.assume,
        n_pos=rows.positives.size,
        n_neg=n_neg,
        n_new=n_new,
        reach=reach,
        allowed=allowed,
    )


def _promises(reach: IntVector, allowed: IntVector, n_new: int) -> IntVector:
    """Return max(0, max_i (min(k, reach_i) - allowed_i)) for k = 1..n_new. O(n_new); both inputs do not decrease."""
    promised = np.zeros(n_new, dtype=np.intp)
    best = start = 0
    for stop, most in zip(reach.tolist(), allowed.tolist(), strict=True):
        promised[start:stop] = np.maximum(np.arange(start + 1, stop + 1) - most, best)
        best, start = max(best, stop - most), max(start, stop)
    promised[start:] = best
    return promised


def _estimates(rows: ListRows, ascending: Vector, promised: IntVector) -> Vector:
    """Estimate the number of positives among the first k new rows, for each k.

    The negatives among the new rows are expected at the false positive rates of the labelled negatives. Their share is
    that of the labelled rows ("same rows"), or estimated.
    """
    n_new, n_neg = ascending.size, rows.negatives.size
    k = np.arange(1, n_new + 1)
    if not n_neg:
        return k.astype(np.float64)
    alike = rows.assume == "same rows"
    new_negatives = n_new * n_neg / rows.n_old if alike else _negatives_left(rows, ascending)
    # The rates at the last of each group of tied new rows, in descending order, linear in between.
    first = starts_of_runs(ascending)[::-1]
    rates = rows.at_or_above(ascending[first]) / n_neg
    false = np.interp(k, np.append(0, n_new - first), np.append(0.0, new_negatives * rates))
    return np.maximum.accumulate(np.clip(k - false, promised, k))


def _negatives_left(rows: ListRows, ascending: Vector) -> float:
    """Estimate the number of negatives among the new rows from the share of new rows above one threshold.

    That share is a mean of the true and the false positive rate; the threshold is the one where these differ most
    (Forman 2008). All new rows count as negative if no threshold separates the classes, or no positive is labelled.
    """
    n_new = ascending.size
    tpr = 1 - np.searchsorted(rows.positives, rows.positives) / max(rows.positives.size, 1)
    fpr = rows.at_or_above(rows.positives) / rows.negatives.size
    if not (tpr > fpr).any():
        return n_new
    best = int(np.argmax(tpr - fpr))
    above = 1 - float(np.searchsorted(ascending, rows.positives[best])) / n_new
    return float(n_new * (1 - np.clip((above - fpr[best]) / (tpr[best] - fpr[best]), 0.0, 1.0)))

"""Candidates: new rows chosen so that the expected share of negatives among them is limited.

Conformal selection (Jin & Candès 2023) for two classes. Legend: n labelled rows that are exchangeable with new ones
(the negatives, or all), m new rows, G(t) the number of labelled negatives scoring at least t, R(t) that of new rows, q
the limit. The p-value of a new row with score s is (1 + G(s)) / (n + 1), and the Benjamini-Hochberg procedure chooses
all new rows with a score of at least the lowest t with::

    m (1 + G(t)) / (n + 1)  <=  q R(t)

*Theorem.* The expectation of (chosen negatives) / max(1, chosen rows) is at most q; with "same negatives" at most q
times the share of negatives among the new rows.

*Proof.* Fix a new negative j. Let D be the scores of the n labelled rows and of j (labelled positives count as minus
infinity) without their order, and G' and R' the counts with j taken from the new rows to the labelled ones:
G'(t) = #{D >= t}, R'(t) = 1 + the number of other new rows >= t. For t <= s_j, G' = 1 + G and R' = R, so
if j is chosen, the chosen t is also the lowest one, T, with m G'(T) / (n + 1) <= q R'(T); and the number of chosen rows
is R'(T). T depends on D and the other new rows only, and given these, each of the n + 1 values of D is equally likely
to be that of j. So E[1{j chosen} / chosen] <= (G'(T) / (n + 1)) / R'(T) <= q / m. Sum over the new negatives. Neither
continuous scores nor random tie-breaking are needed.

**Weights** (weighted conformal selection, Jin & Candès 2023, with deterministic pruning). If new rows have density
w(x) relative to labelled ones, then given D the value of j is d with probability w_d / sum(w). With W the total weight
of the labelled rows and G(t) by weight, p_j = (w_j + G(s_j)) / (w_j + W) is a p-value. Let R_j be the number of rows
that Benjamini-Hochberg chooses if p_j is replaced by 0 and j is added to the labelled rows in all other p-values: it
depends on D only. Rows with p_j <= q R_j / m are kept, and among them those with R_j <= r are chosen, for the largest r
that leaves at least r of them. A chosen j has R_j <= r <= chosen rows, so E[1{j chosen} / chosen] is at most
E[1{p_j <= q R_j / m} / R_j] <= q / m as before.

R_j for all j takes one sort instead of m^2 steps: row j is kept exactly if some t <= s_j has
(w_j + G(t)) / (w_j + W) <= a(t), where a(t) = q R(t) / m, and then R_j = R(t) for the lowest such t. (A threshold
t > s_j gives R_j <= R(s_j), and then j is not kept: if p_j <= q R(s_j) / m, t = s_j qualifies.) That is w_j <= c(t) =
(a(t) W - G(t)) / (1 - a(t)), so the lowest t with c(t) >= w_j is found by binary search in the running maximum of c.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf
from typing import Any

import numpy as np

from headrank._extras import needs_extra
from headrank._format import counted, rounded_up, shown
from headrank._numbers import inner_rate
from headrank._types import ArrayLike, BoolVector, IntVector, Vector
from headrank.bounds.lists.rows import ASSUMPTIONS, Assumption, ListRows, list_rows, warn_if_shifted
from headrank.exceptions import InvalidSampleError
from headrank.labels import check_weights, with_labels
from headrank.levels import starts_of_runs

THEOREMS = {
    False: "conformal selection (Jin & Candès 2023), deterministic form",
    True: "weighted conformal selection (Jin & Candès 2023) with deterministic pruning",
}
"""By whether rows have weights."""
_WEIGHTED = (
    "; new rows have the given weights as densities relative to labelled rows with the same features, up to a factor"
)
_ROUNDING = 1e-14
"""Rounding error of a sum of weights, relative to the total weight."""


@dataclass(frozen=True, eq=False, repr=False)
class Candidates:
    """New rows chosen with a limited expected share of negatives, returned by `choose`; prints as a sentence.

    Attributes
    ----------
    chosen : bool array of shape (n_new,)
        Which new rows are chosen, in the order given.
    threshold : float
        The lowest score of a chosen row; infinity if none is chosen. Without weights, exactly the new rows that score
        at least as high are chosen.
    max_false_share : float
        Limit of the expected share of negatives among the chosen rows.
    false_share : float
        Estimated share of negatives among the chosen rows, at most ``max_false_share``; the best that any threshold has
        if none is chosen. It counts all new rows as negative, so it tends to be too high.
    p_values : array of shape (n_new,)
        Probability that a negative scores as high as the new row, estimated so that it is a valid p-value.
    assume : {"same negatives", "same rows"}
        What the labelled and the new rows have in common.
    n_pos, n_neg, n_new : int
        Labelled positives and negatives, and new rows.
    n_needed : int or None
        If no row is chosen, the number of labelled rows (negatives for "same negatives") with which some would be, if
        further ones score below the new rows that are now above all labelled negatives. None if some are chosen, if
        there is no such new row, or if rows have weights.
    weighted : bool
        Whether rows have weights.
    """

    chosen: BoolVector
    threshold: float
    max_false_share: float
    false_share: float
    p_values: Vector
    assume: Assumption
    n_pos: int
    n_neg: int
    n_new: int
    n_needed: int | None
    weighted: bool

    @property
    def n_chosen(self) -> int:
        """Number of chosen rows."""
        return int(np.count_nonzero(self.chosen))

    @property
    def theorem(self) -> str:
        """The theorem that the limit rests on."""
        return THEOREMS[self.weighted]

    @property
    def assumptions(self) -> str:
        """What the limit assumes."""
        return ASSUMPTIONS[self.assume] + (_WEIGHTED if self.weighted else "")

    def as_dict(self) -> dict[str, Any]:
        """Return all but the arrays as plain values."""
        names = ("n_chosen", "threshold", "max_false_share", "false_share", "assume", "n_pos", "n_neg", "n_new")
        return {name: getattr(self, name) for name in (*names, "n_needed", "weighted", "theorem", "assumptions")}

    def to_frame(self) -> Any:
        """Return a polars data frame with the columns chosen and p_value, one row per new row in the order given."""
        with needs_extra("cli"):
            import polars as pl

        return pl.DataFrame({"chosen": self.chosen, "p_value": self.p_values})

    @property
    def outcome(self) -> str:
        """How many rows are chosen, or why none can be, in a sentence without its assumptions."""
        limit = f"an expected share of negatives of at most {shown(self.max_false_share)}"
        if self.n_chosen:
            return (
                f"{self.n_chosen:,} of {counted(self.n_new, 'new row')} are chosen, with {limit} (estimated share "
                f"{rounded_up(self.false_share)}; lowest score {self.threshold!r})"
            )
        return f"none of {counted(self.n_new, 'new row')} can be chosen with {limit}: {self._why_none}"

    def __str__(self) -> str:
        return f"{self.outcome}. {self.theorem}; assumes {self.assume}: {self.assumptions}"

    @property
    def _why_none(self) -> str:
        best = f"the lowest estimate for any threshold is {rounded_up(self.false_share)}"
        if self.n_needed is None:
            return f"{best}; allow a larger share or use a better scorer"
        rows = "labelled negatives" if self.assume == "same negatives" else "labelled rows"
        n = self.n_neg + (self.n_pos if self.assume == "same rows" else 0)
        return (
            f"{best}. It takes at least {self.n_needed:,} {rows}, but there are {n:,}; label more rows or allow a "
            "larger share"
        )

    def __repr__(self) -> str:
        return f"<Candidates: {self}>"


def choose(
    y: ArrayLike,
    scores: ArrayLike,
    new_scores: ArrayLike,
    *,
    max_false_share: float = 0.1,
    assume: Assumption = "same negatives",
    weights: ArrayLike | None = None,
    new_weights: ArrayLike | None = None,
    pos_label: Any = None,
    missing: str = "refuse",
) -> Candidates:
    """Choose new rows so that the expected share of negatives among them is at most ``max_false_share``.

    Chooses all new rows scoring at least t, the lowest score with m (1 + G(t)) / (n + 1) <= q R(t), where G(t) and R(t)
    are the labelled negatives and new rows scoring at least t, m the new rows, n the labelled negatives (or rows) and q
    the limit: the Benjamini-Hochberg procedure with conformal p-values. Controls the false discovery rate, an
    expectation over labelled and new rows: in a single list the share may be larger. For a promise about the list at
    hand see `certify_list`. Deterministic; labelled negatives tied with a new row count as above it. O(n log n).

    *Assumptions.* As for `certify_list`: ``"same negatives"`` allows any share of positives among the new rows. With
    ``"same rows"``, n is the number of all labelled rows and more rows are chosen, but a smaller share of positives
    among the new rows breaks the limit. The scorer was not trained or selected on the labelled rows.

    *Covariate shift.* If the new rows have other features than the labelled ones, ``weights`` and ``new_weights`` are
    the ratio dP_new / dP_labelled of the densities at each row, up to a common factor. What is then assumed: the
    weights are right (estimated ones make the limit approximate), and rows of equal features have equal chances to be
    positive in both samples. The chosen rows are then not all above one threshold.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels: 0/1, -1/+1, bool, or any two values with ``pos_label``.
    scores : array-like of shape (n,)
        Finite scores of the labelled rows, higher = more positive.
    new_scores : array-like of shape (n_new,)
        Finite scores of the new rows, by the same scorer.
    max_false_share : float in (0, 1), default=0.1
        Limit of the expected share of negatives among the chosen rows.
    assume : {"same negatives", "same rows"}
        See above.
    weights, new_weights : array-like of shape (n,) and (n_new,), optional
        See above; either both or none. Those of new rows are above 0.
    pos_label : optional
        The label of the positive class in ``y``.
    missing : {"refuse", "drop"}
        What to do about missing labels: raise, or drop their rows, with a warning that says how many.

    Returns
    -------
    Candidates
        If no row can be chosen, ``str`` of it says why and how many labelled rows it would take.

    Examples
    --------
    >>> from headrank.datasets import Binormal
    >>> population = Binormal(separation=3.0)
    >>> y, scores = population.sample_classes(100, 2000, random_state=0)
    >>> _, new_scores = population.sample_classes(100, 900, random_state=1)
    >>> candidates = choose(y, scores, new_scores, max_false_share=0.1)
    >>> candidates.n_chosen, round(candidates.false_share, 3)
    (83, 0.072)
    >>> bool((candidates.chosen == (new_scores >= candidates.threshold)).all())
    True
    """
    limit = inner_rate("max_false_share", max_false_share)
    if (weights is None) != (new_weights is None):
        given, absent = ("weights", "new_weights") if new_weights is None else ("new_weights", "weights")
        raise TypeError(f"weights and new_weights must be given together, got {given} without {absent}")
    y, scores, weights = with_labels(missing, y, scores, weights)
    rows = list_rows(y, scores, new_scores, assume=assume, pos_label=pos_label, weights=weights)
    if new_weights is None:
        warn_if_shifted(rows)
        return candidates_of(rows, limit)
    return candidates_of(rows, limit, _checked_new_weights(new_weights, rows.new.size))


def _checked_new_weights(new_weights: ArrayLike, n_new: int) -> Vector:
    checked = check_weights(new_weights, "new_weights")
    if checked.size != n_new:
        raise InvalidSampleError(f"new_weights must have one value per new row: expected {n_new}, got {checked.size}")
    if not checked.all():
        raise InvalidSampleError(
            f"new_weights must be above 0, but {int(np.count_nonzero(checked == 0))} are 0: a row that occurs among "
            "the new rows has a positive density there"
        )
    return checked


def candidates_of(rows: ListRows, limit: float, new_weights: Vector | None = None) -> Candidates:
    """Choose among checked rows; see `choose`."""
    weight = np.ones(1) if new_weights is None else new_weights
    n_new, total = rows.new.size, rows.old_weight
    order = np.argsort(rows.new)
    ascending = rows.new[order]  # searches in order of the scores are several times faster
    above = rows.at_or_above(ascending)
    p_values = np.empty(n_new)
    p_values[order] = above
    p_values = (weight + p_values) / (weight + total)
    first = starts_of_runs(ascending)
    thresholds, above, counts = ascending[first], above[first], n_new - first  # at each distinct score
    shares = limit * counts / n_new
    highest = (shares * total - above + _ROUNDING * total) / (1 - shares)  # c(t), allowing for rounding
    sizes = _sizes(weight, rows.new, thresholds, counts, highest)
    ranked = np.sort(sizes[sizes > 0])
    r = np.flatnonzero(ranked <= np.arange(1, ranked.size + 1)).max(initial=-1) + 1
    chosen = (sizes > 0) & (sizes <= r)
    n_chosen = int(np.count_nonzero(chosen))
    if n_chosen:
        false_share = float(n_new * p_values[chosen].max() / n_chosen)
    else:
        false_share = float((n_new * (weight.min() + above) / ((weight.min() + total) * counts)).min())
    return Candidates(
        chosen=chosen,
        threshold=float(rows.new[chosen].min()) if n_chosen else inf,
        max_false_share=limit,
        false_share=min(false_share, 1.0),
        p_values=p_values,
        assume=rows.assume,
        n_pos=rows.positives.size,
        n_neg=rows.negatives.size,
        n_new=n_new,
        n_needed=None if n_chosen or new_weights is not None else _needed(counts[above == 0], n_new, limit),
        weighted=new_weights is not None,
    )


def _sizes(weight: Vector, new: Vector, thresholds: Vector, counts: IntVector, highest: Vector) -> Any:
    """Return R_j of each new row that is kept, and 0 for the others. O(m log m); thresholds in ascending order."""
    at = np.searchsorted(np.maximum.accumulate(highest), weight)  # the lowest threshold with c(t) >= weight
    found = np.minimum(at, thresholds.size - 1)
    kept = (at < thresholds.size) & (new >= thresholds[found])
    return np.where(kept, counts[found], 0)


def _needed(counts: IntVector, n_new: int, limit: float) -> int | None:
    """Return the n with m / (n + 1) <= q R for the R new rows above all labelled negatives; None if there are none."""
    n_above = int(counts.max(initial=0))
    return ceil(n_new / (limit * n_above) * (1 - 1e-12)) - 1 if n_above else None

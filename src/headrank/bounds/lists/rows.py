"""The labelled rows and the new rows of a list: checked, comparable, and tested for what the guarantees assume."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import log, sqrt
from typing import Any, Literal, get_args

import numpy as np

from headrank._numbers import option
from headrank._types import ArrayLike, Vector
from headrank.exceptions import OneClassError, ShiftedScoresWarning
from headrank.labels import check_binary, check_scores

Assumption = Literal["same negatives", "same rows"]
"""What the new rows have in common with the labelled ones: their negatives, or everything."""

ASSUMPTIONS: dict[Assumption, str] = {
    "same negatives": (
        "the negatives among the new rows have the same distribution of scores as the labelled negatives; the share of "
        "positives and their scores may differ; rows are independent, and the scorer was not trained on them"
    ),
    "same rows": (
        "the new rows have the same distribution as the labelled rows, including the share of positives; rows are "
        "independent, and the scorer was not trained on them"
    ),
}

_FALSE_ALARMS = 0.001
"""Probability of a warning about shifted scores if there is no shift: at most this."""
_MOST_THRESHOLDS = 500
"""Thresholds from each sample at which scores are compared; fewer thresholds only make the test less powerful."""


@dataclass(frozen=True, eq=False)
class ListRows:
    """Labelled and new rows whose scores can be compared.

    Attributes
    ----------
    negatives, positives : arrays
        Scores of the labelled rows of each class, in ascending order.
    new : array of shape (n_new,)
        Scores of the new rows, in the order given.
    assume : {"same negatives", "same rows"}
        Which labelled rows are exchangeable with new ones.
    negative_weights : array, optional
        Weights of the negatives, in their order.
    positive_weight : float
        Total weight of the positives: their number without weights.
    """

    negatives: Vector
    positives: Vector
    new: Vector
    assume: Assumption
    negative_weights: Vector | None
    positive_weight: float

    @property
    def n_old(self) -> int:
        """Number of labelled rows that are exchangeable with new ones."""
        return self.negatives.size + (self.positives.size if self.assume == "same rows" else 0)

    @property
    def old_weight(self) -> float:
        """Their total weight, which is their number without weights."""
        negative = self.negatives.size if self.negative_weights is None else float(self.negative_weights.sum())
        return negative + (self.positive_weight if self.assume == "same rows" else 0)

    def at_or_above(self, scores: Vector) -> Any:
        """Return the number, by weight, of labelled negatives that score at least as high as each of these scores."""
        below = np.searchsorted(self.negatives, scores)
        if self.negative_weights is None:
            return self.negatives.size - below
        # Summed from the top, so that the head has the smallest rounding errors.
        return np.append(np.cumsum(self.negative_weights[::-1])[::-1], 0.0)[below]


def list_rows(
    y: ArrayLike,
    scores: ArrayLike,
    new_scores: ArrayLike,
    *,
    assume: Any,
    pos_label: Any = None,
    weights: ArrayLike | None = None,
) -> ListRows:
    """Check all rows and sort the labelled ones.

    If the scores have different precisions, such as float64 in memory and float32 in a file, all are rounded to the
    lower one: what was the same score is then a tie, and ties never help a promise.
    """
    assumption: Assumption = option("assume", assume, get_args(Assumption))  # type: ignore[assignment]
    new = check_scores(new_scores, "new_scores")
    sample = check_binary(y, scores, weights, pos_label=pos_label)
    if assumption == "same negatives" and sample.positive.all():
        raise OneClassError(
            "assume='same negatives' needs labelled negatives, but "
            f"{'the only labelled row is' if sample.positive.size == 1 else 'all labelled rows are'} positive: use a "
            "sample with negatives, or check pos_label"
        )
    labelled, new = _comparable(sample.scores, new, np.asarray(scores).dtype, np.asarray(new_scores).dtype)
    classes = [np.flatnonzero(sample.positive == positive) for positive in (False, True)]
    if sample.weights is None:
        negatives, positives = (np.sort(labelled[rows]) for rows in classes)
        return ListRows(negatives, positives, new, assumption, None, positives.size)
    negative, positive = (rows[np.argsort(labelled[rows])] for rows in classes)
    total = float(sample.weights[positive].sum())
    return ListRows(labelled[negative], labelled[positive], new, assumption, sample.weights[negative], total)


def _comparable(labelled: Vector, new: Vector, *given: np.dtype[Any]) -> tuple[Vector, Vector]:
    """Round all scores to the lowest precision in which some were given, unless some would overflow."""
    floats = [dtype for dtype in given if dtype.kind == "f"]
    if not floats or given[0] == given[1] or (lowest := min(floats, key=lambda each: each.itemsize)).itemsize >= 8:
        return labelled, new
    with np.errstate(over="ignore"):
        rounded = [each.astype(lowest).astype(np.float32) for each in (labelled, new)]
    return (rounded[0], rounded[1]) if all(np.isfinite(each).all() for each in rounded) else (labelled, new)


def warn_if_shifted(rows: ListRows) -> None:
    """Warn if the new scores cannot come from the distributions of the labelled rows.

    Under "same negatives" the new rows are a mixture of positives and negatives in some proportion, so for one share p
    and all thresholds c, P(new >= c) = p P(positive >= c) + (1 - p) P(negative >= c), unless new positives score
    differently, which the guarantees allow. Under "same rows" all labelled
    rows are one sample and new rows have its distribution. Each distribution lies in a band of constant width around
    that of its sample (Dvoretzky-Kiefer-Wolfowitz with the constant of Massart 1990), all bands together except with
    probability 0.001. If no p between 0 and 1 fits the bands at all thresholds, there is a shift. O(n log n).
    """
    if rows.assume == "same rows":
        both = np.sort(np.concatenate([rows.negatives, rows.positives]))
        positives, negatives = both, both
    else:
        positives, negatives = rows.positives, rows.negatives
    low, high = _mixture_shares(positives, negatives, np.sort(rows.new))
    if low <= high:
        return
    if rows.assume == "same rows":
        than, consequence = "the labelled rows", "the guarantee does not hold for such rows"
    else:
        than = "any mixture of the labelled positives and negatives"
        consequence = "the guarantee holds only if it is the positives among them that differ"
    labelled = np.concatenate([rows.negatives, rows.positives])
    warnings.warn(
        f"the {rows.new.size:,} new scores, from {rows.new.min():.4g} to {rows.new.max():.4g}, have another "
        f"distribution than {than}, from {labelled.min():.4g} to {labelled.max():.4g} (Dvoretzky-Kiefer-Wolfowitz "
        f"bands, level {_FALSE_ALARMS:g}); {consequence}. Check that the same scorer and scale were used for all rows",
        ShiftedScoresWarning,
        stacklevel=3,
    )


def _mixture_shares(positives: Vector, negatives: Vector, new: Vector) -> tuple[float, float]:
    """Return the range of shares of positives that the bands allow; it is empty if the first exceeds the second.

    All scores in ascending order.
    """
    samples = (positives, negatives, new)
    thresholds = np.concatenate([each[:: max(each.size // _MOST_THRESHOLDS, 1)] for each in samples])
    (pos_low, pos_high), (neg_low, neg_high), (new_low, new_high) = (_band(each, thresholds) for each in samples)
    # p pos_high + (1 - p) neg_high >= new_low and p pos_low + (1 - p) neg_low <= new_high, linear in p.
    slopes = np.concatenate([pos_high - neg_high, neg_low - pos_low])
    gaps = np.concatenate([new_low - neg_high, neg_low - new_high])  # slope * p >= gap
    if np.any((slopes == 0) & (gaps > 0)):
        return 1.0, 0.0
    ends = np.divide(gaps, slopes, out=np.zeros_like(gaps), where=slopes != 0)
    return float(ends[slopes > 0].max(initial=0.0)), float(ends[slopes < 0].min(initial=1.0))


def _band(ascending: Vector, thresholds: Vector) -> tuple[Vector, Vector]:
    """Return limits of P(score >= c) at all thresholds c, for a third of the false alarms."""
    if not ascending.size:
        return np.zeros(thresholds.size), np.ones(thresholds.size)
    n = ascending.size
    shares = 1 - np.searchsorted(ascending, thresholds) / n
    width = sqrt(log(6 / _FALSE_ALARMS) / (2 * n))
    return np.maximum(shares - width, 0.0), np.minimum(shares + width, 1.0)

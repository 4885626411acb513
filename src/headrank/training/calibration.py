"""Calibration: from scores to estimated probabilities, by isotonic regression on the holdout."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Self

import numpy as np
from scipy.optimize import isotonic_regression

from headrank._types import BoolVector, Vector
from headrank.exceptions import InvalidSampleError

_N_FOLDS = 5
_N_BINS = 10


@dataclass(frozen=True, eq=False)
class Calibration:
    """A table of steps from scores to probabilities: a row with at least ``edges[i]`` has ``values[i]``.

    An estimate without guarantee. The model was selected on the same rows, and the probabilities hold for tables with
    the same share of positives.

    Attributes
    ----------
    edges : array of shape (n_steps,)
        Lowest score of each step, increasing; lower scores than the first have its value.
    values : array of shape (n_steps,)
        Estimated probability of being positive, not decreasing.
    brier : float
        Mean of (probability - label)², 0 at best, on rows that the steps were not fitted to: by five-fold cross-fitting
        on the holdout.
    brier_of_share : float
        The same for a constant, the share of positives: what any calibration must beat.
    calibration_error : float
        Mean distance between probability and share of positives in ten bins with about as many rows each, on the same
        rows as ``brier``.

    Examples
    --------
    >>> steps = calibrated([False, True, False, True] * 5, [1, 2, 3, 4] * 5)
    >>> steps.edges.tolist(), steps.values.tolist()
    ([1.0, 1.5, 3.5], [0.0, 0.5, 1.0])
    >>> steps.probabilities(np.array([0.0, 2.0, 3.0, 9.0])).tolist()
    [0.0, 0.5, 0.5, 1.0]
    """

    edges: Vector
    values: Vector
    brier: float = nan
    brier_of_share: float = nan
    calibration_error: float = nan

    def __post_init__(self) -> None:
        edges, values = np.asarray(self.edges), np.asarray(self.values)
        if edges.ndim != 1 or not edges.size or edges.shape != values.shape:
            raise ValueError("a calibration has one probability for each of its edges")
        if not (np.all(np.diff(edges) > 0) and np.all(np.diff(values) >= 0) and 0 <= values[0] <= values[-1] <= 1):
            raise ValueError("the edges of a calibration must increase, and its probabilities must not decrease")

    def probabilities(self, scores: Vector) -> Vector:
        """Return the probability of each score. O(log n_steps) per row."""
        result: Vector = self.values[np.maximum(np.searchsorted(self.edges, scores, side="right") - 1, 0)]
        return result

    def __str__(self) -> str:
        return (
            f"{self.edges.size} steps; Brier score {self.brier:.4g} by cross-fitting on the holdout, against "
            f"{self.brier_of_share:.4g} of the share of positives; calibration error {self.calibration_error:.4g}; an "
            "estimate without guarantee"
        )

    @classmethod
    def of(cls, positive: BoolVector, scores: Vector) -> Self:
        """Fit steps to rows, without measuring them. O(n log n)."""
        levels, places = np.unique(scores, return_inverse=True)  # equal scores have one probability
        n_rows = np.bincount(places)
        fitted = isotonic_regression(np.bincount(places, weights=positive) / n_rows, weights=n_rows)
        first = fitted.blocks[:-1]
        if first.size > 1:  # blocks of the same value are one step
            first = first[np.concatenate([[True], np.diff(fitted.x[first]) > 0])]
        below, edges = levels[np.maximum(first - 1, 0)], levels[first]
        half_way = below + (edges - below) / 2
        edges = np.where(half_way > below, half_way, edges)  # the first edge, and neighbouring numbers
        return cls(edges, np.clip(fitted.x[first], 0.0, 1.0))


def calibrated(positive: BoolVector, scores: Vector, *, random_state: int = 0) -> Calibration:
    """Fit steps to all rows, and measure by cross-fitting how good such steps are on other rows. O(n log n).

    Parameters
    ----------
    positive : bool array of shape (n,)
        Which rows of the holdout are positive.
    scores : array of shape (n,)
        Their scores.
    random_state : int, default=0
        Of the folds, which have the same share of both classes.
    """
    positive, scores = np.asarray(positive, dtype=bool), np.asarray(scores, dtype=np.float64)
    if positive.size < 2:
        raise InvalidSampleError(f"expected at least two rows for a calibration, got {positive.size}")
    rng = np.random.default_rng(random_state)
    fold = np.empty(positive.size, dtype=np.intp)
    order = np.concatenate([rng.permutation(np.flatnonzero(positive)), rng.permutation(np.flatnonzero(~positive))])
    fold[order] = np.arange(positive.size) % _N_FOLDS
    out_of_fold = np.empty(positive.size)
    for i in range(_N_FOLDS):
        steps = Calibration.of(positive[fold != i], scores[fold != i])
        out_of_fold[fold == i] = steps.probabilities(scores[fold == i])
    share = float(positive.mean())
    whole = Calibration.of(positive, scores)
    return Calibration(
        whole.edges,
        whole.values,
        brier=float(np.mean((out_of_fold - positive) ** 2)),
        brier_of_share=share * (1 - share),
        calibration_error=_calibration_error(positive, out_of_fold),
    )


def _calibration_error(positive: BoolVector, probabilities: Vector) -> float:
    """Mean over the rows of the distance in their bin; equal probabilities are in the same bin."""
    edges = np.quantile(probabilities, np.arange(1, _N_BINS) / _N_BINS)
    bins = np.searchsorted(edges, probabilities, side="left")
    gaps = np.bincount(bins, weights=probabilities - positive, minlength=_N_BINS)
    return float(np.abs(gaps).sum() / positive.size)

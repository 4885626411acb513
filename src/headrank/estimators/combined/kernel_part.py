"""The kernel family: smooth scorers of all features together, by ridge regression with a Gaussian kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import sqrt
from operator import add
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from headrank._numbers import seed
from headrank._types import ArrayLike, BoolVector, IntVector, Vector
from headrank.estimators._labelled import Labelled
from headrank.estimators._matrix import checked_matrix
from headrank.estimators._scorer import admitted
from headrank.estimators.combined.gaussian_ridge import GaussianKernel, GaussianSum, RidgeSums, squared_distances
from headrank.estimators.combined.scaled_features import OnScaledFeatures
from headrank.estimators.cv.fold_rows import FoldRows
from headrank.estimators.cv.tally import Tally, tally_for
from headrank.estimators.cv.tied import tied_best
from headrank.estimators.threads import limit_blas_threads
from headrank.measures import Measure
from headrank.measures import measure as measure_of
from headrank.rows import open_rows

WIDTHS = (3.0, 1.0, 1 / 3)
"""Squared, in units of the median squared distance of rows."""
PENALTIES = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
"""From loose to stiff; the loss is a mean over rows."""
_MOST_LANDMARKS = 1_500
_MOST_PRODUCTS = 5e9
"""Rows times squared landmarks, of which there are fewer if the rows are many: it bounds the time of sums over rows."""
_MOST_PARTS = 12
"""Of the rows, whose sums are kept for all folds: 18 MB each with 1,500 landmarks."""
_ROWS_FOR_WIDTH = 500
_LEAST_RANGE = 1e-9
"""Of the scores of a fold, whose targets are 0 and 1, below which they are constant."""


class ScaledKernel(OnScaledFeatures):
    """Ridge regression of the labels with Gaussian kernels, whose width and penalty are selected by the measure.

    A sum of Gaussian functions around *landmarks*, training rows: all of them, or 1,500, fewer with more than 2,200
    rows, half of them positive if there are enough. Widths are about the median distance of rows. Each fold is scored
    by sums around the landmarks that were trained on; candidates that the folds cannot tell apart are averaged. Where a
    smooth function of many features separates the classes, this ranks better than trees (docs/trees.md).

    Cost: for each of three widths, O(n_rows n_landmarks²) for all folds together, as their sums over rows are shared,
    and O(n_landmarks³) for each fold and penalty: at most some seconds. Sums of more than 12 folds are
    computed one by one.

    Parameters
    ----------
    measure, cv, random_state, verbose
        As in `LinearRankerCV`.
    n_jobs : int, optional
        Threads over the widths.
    one_hot : sequence of int, optional
        Features that are codes of categories.

    Attributes
    ----------
    sums_ : tuple of GaussianSum
        What is added up: one for each width in use.
    selected_ : tuple of (float, float)
        Squared widths, in units of the median squared distance, and penalties.
    out_of_fold_ : tuple of arrays
        Of each fold, the scores of the rows left out, in their order.
    means_ : array
        Of the scaled features in training.
    intercept_ : float
        Such that as many of the scores out of fold are above 0 as rows are positive.
    numbers_, codes_, scaler_
        As in `OnScaledFeatures`.
    """

    sums_: tuple[GaussianSum, ...]
    out_of_fold_: tuple[Vector, ...]
    measure_: Measure

    def __init__(
        self,
        measure: Measure | str = "pauc@0.1",
        *,
        one_hot: Sequence[int] | None = None,
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int | Callable[[int, int], None] = 0,
    ) -> None:
        self.measure = measure
        self.one_hot = one_hot
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None) -> Self:
        """Scale, select and fit."""
        measure = measure_of(self.measure)
        given, (X, positive) = X, admitted(self, X, y)
        labelled = Labelled.of(positive, sample_weight, qid)
        folds = FoldRows.of(measure, labelled, self.cv, given, y, sample_weight, qid, random_state=self.random_state)
        self.measure_ = folds.measure
        features = self._scaled(X if labelled.present is None else X[labelled.present])
        rng = np.random.default_rng(check_random_state(seed(self.random_state)).randint(2**31 - 1))
        chosen = _landmarks(labelled.positive, rng)
        median = _median_square(features[rng.permutation(labelled.size)[:_ROWS_FOR_WIDTH]])
        kernels = [GaussianKernel(features[chosen], 1 / (width * median)) for width in WIDTHS]
        n_values = features.shape[0] * chosen.size
        with tally_for(self.verbose, f"kernels for {self.measure_}") as tally, limit_blas_threads(n_values):
            parts = _parts(folds.splits, labelled.size)
            tally.expect(len(kernels) * (len(parts) + len(folds.splits)))
            of_widths = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(_of_width)(kernel, folds, parts, features, chosen, tally) for kernel in kernels
            )
            self._select(folds, kernels, of_widths)
        self.intercept_ = -folds.threshold(self.out_of_fold_)
        self.means_ = open_rows(features).combine(np.full(labelled.size, 1 / labelled.size))
        return self

    def _select(self, folds: FoldRows, kernels: Sequence[GaussianKernel], of_widths: Sequence[_OfWidth]) -> None:
        """Select the best width and penalty, or the average of what is tied with them."""
        scores = [of_penalty for of_width in of_widths for of_penalty in of_width.scores]
        best = tied_best(folds, scores, [folds.values(each) for each in scores])
        shares = np.zeros((len(kernels), len(PENALTIES)))
        shares.flat[list(best.members)] = 1 / np.array(best.divisors)
        self.sums_ = tuple(
            GaussianSum(kernel, of_width.weights(of_penalties))
            for kernel, of_width, of_penalties in zip(kernels, of_widths, shares, strict=True)
            if of_penalties.any()
        )
        self.selected_ = tuple((WIDTHS[i], PENALTIES[j]) for i, j in np.argwhere(shares))
        self.out_of_fold_ = best.scores
        self.collapsed_ = all(np.ptp(of_fold) < _LEAST_RANGE for of_fold in scores[best.tied[0]])
        if self.collapsed_:  # what differs is rounding errors
            self.sums_ = tuple(replace(each, weights=np.zeros_like(each.weights)) for each in self.sums_)

    def _scores(self, X: Any) -> Vector:
        return self._summed(self._features(X)) + self.intercept_

    def _summed(self, features: Any) -> Vector:
        total: Vector = np.sum([each.scores(features) for each in self.sums_], axis=0)
        return total

    def contributions(self, X: Any) -> Vector:
        """Return what each feature adds to the score of each row, on the way from the mean of the training rows.

        The last column is the score of the mean, the same for all rows. See `GaussianSum.contributions`.
        """
        check_is_fitted(self)
        X = checked_matrix(self, X, reset=False, finite=False)
        features = self._features(X)
        of_features: Vector = np.sum([each.contributions(features, self.means_) for each in self.sums_], axis=0)
        return self._by_column(of_features, float(self._summed(self.means_[None, :])[0]) + self.intercept_)


@dataclass(frozen=True, eq=False)
class _OfWidth:
    """Of one width: for each penalty, scores out of fold; sums over all rows; functions of the landmarks."""

    scores: tuple[tuple[Vector, ...], ...]
    sums: RidgeSums
    between: Vector

    def weights(self, shares: Vector) -> Vector:
        """Return the weights of the landmarks by all rows, given the share of each penalty."""
        penalties = [penalty for penalty, share in zip(PENALTIES, shares, strict=True) if share]
        of_penalties = self.sums.solved(self.between, penalties, np.ones(len(self.between), dtype=bool))
        weights: Vector = of_penalties @ shares[shares > 0]
        return weights


def _of_width(
    kernel: GaussianKernel,
    folds: FoldRows,
    parts: Sequence[tuple[BoolVector, IntVector]],
    features: Any,
    chosen: IntVector,
    tally: Tally,
) -> _OfWidth:
    """Solve for all penalties on all folds."""
    labelled, between = folds.labelled, kernel.values(kernel.landmarks)
    target = labelled.positive.astype(np.float64)
    sums = []
    for _, rows in parts:
        sums.append(RidgeSums.of(kernel, features, rows, target, labelled.weights))
        tally.done()
    of_folds = []
    for fold, (train, test) in enumerate(folds.splits):
        if len(parts) > 1:
            of_train = reduce(add, (each for each, (learns, _) in zip(sums, parts, strict=True) if learns[fold]))
        else:
            of_train = RidgeSums.of(kernel, features, train, target, labelled.weights)
        weights = of_train.solved(between, PENALTIES, np.isin(chosen, train))
        of_folds.append(kernel.sums(features[test], weights).T)
        tally.done()
    return _OfWidth(tuple(zip(*of_folds, strict=True)), reduce(add, sums), between)


def _landmarks(positive: BoolVector, rng: np.random.Generator) -> IntVector:
    """Draw the rows to put functions around: all, or as many as the cost allows, half of them positive if possible."""
    size = positive.size
    n_landmarks = min(size, _MOST_LANDMARKS, max(1, int(sqrt(_MOST_PRODUCTS / size))))
    of_class = [np.flatnonzero(positive), np.flatnonzero(~positive)]
    n_pos = max(min(of_class[0].size, n_landmarks // 2), n_landmarks - of_class[1].size)
    drawn = [rng.choice(rows, n, replace=False) for rows, n in zip(of_class, (n_pos, n_landmarks - n_pos), strict=True)]
    return np.sort(np.concatenate(drawn))


def _median_square(some: Any) -> float:
    """Return the median squared distance of these rows; 1 if most of them are equal."""
    squares = squared_distances(some, some)
    return float(np.median(squares[np.triu_indices_from(squares, 1)])) or 1.0


def _parts(splits: Sequence[tuple[IntVector, IntVector]], size: int) -> list[tuple[BoolVector, IntVector]]:
    """Return the rows in parts, each with the folds that learn from it; one part if these would be too many."""
    learns = np.zeros((size, len(splits)), dtype=bool)
    for fold, (train, _) in enumerate(splits):
        learns[train, fold] = True
    patterns, part_of = np.unique(learns, axis=0, return_inverse=True)
    if len(patterns) > _MOST_PARTS:
        return [(np.ones(len(splits), dtype=bool), np.arange(size))]
    return [(pattern, np.flatnonzero(part_of.ravel() == number)) for number, pattern in enumerate(patterns)]

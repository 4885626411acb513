"""GreedyCombination: columns added one by one, each with the coefficient that maximises the measure."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import cos, sin
from typing import Any, Self

import numpy as np

from headrank._numbers import whole
from headrank._types import ArrayLike, IntVector, Vector
from headrank.estimators._labelled import Labelled, threshold_of
from headrank.estimators._scorer import LinearScorer, admitted
from headrank.exceptions import CollapsedFitWarning
from headrank.measures import Measure
from headrank.measures import measure as measure_of
from headrank.rivals.angles import Angle, Worth, n_pairs, searched, swept
from headrank.rivals.columns import in_blocks

_LEAST_GAIN = 1e-12
_ROUNDING = 1e-9
"""A column is constant if its standard deviation is at most this share of its largest value."""


class GreedyCombination(LinearScorer):
    """Linear combination by greedy search, after Ricamato & Tortorella (2011), for any measure.

    The columns are features, or scores of other models. Each is standardised, and negated if that is better. The best
    one is the start. The others follow in the order of what they are worth alone; of each, the angle to the combination
    so far is found that maximises the measure on the training rows, and the column is kept if the measure rises. So the
    training value never falls below that of the best single column.

    The measure changes with the angle only where a positive and a negative row swap places. With at most ``max_pairs``
    such pairs, all intervals between these angles are tried, and each angle is the best of those that tie no further
    pair. With more, a grid of angles is searched and refined around the best one.

    Nothing is regularised, so with many columns and few positives the training value is optimistic: see
    `LinearRankerCV` for a scorer that is chosen on folds.

    Cost: for each column tried, ``n_angles`` + 63 measurements, each O(n_rows log n_rows) at most, or as many as there
    are pairs. One column of X is copied at a time.

    Parameters
    ----------
    measure : Measure or str, default="pauc@0.1"
        What to maximise, on the training rows; any measure.
    max_columns : int, default=100
        Columns to try, at most: the best ones alone.
    n_angles : int, default=101
        Angles of the grid, between -90 and 90 degrees.
    max_pairs : int, default=2000
        Pairs of a positive and a negative row up to which the search for each angle is exact. With ``qid``, pairs of
        rows of the same query.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        The weights of the columns, in the units of X.
    intercept_ : float
        Chosen so that ``decision_function`` is above 0 for as many training rows as there are positives.
    order_ : int array
        The columns kept, in the order in which they were added.
    values_ : array
        The measure on the training rows after each of them; the first is that of the best single column.
    search_ : {"exact", "grid"}
        How angles were found.
    training_measure_ : float
        The last of ``values_``.
    collapsed_ : bool
        Whether no column ranks the training rows better than constant scores. A `CollapsedFitWarning` says so.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The paper was read in its abstract, and in how Narasimhan & Agarwal (2013) used it. Decided here: the order of the
    columns (alone, from best to worst, each tried once), angles instead of coefficients (so that no coefficient is out
    of reach), both signs, and what is kept.

    References
    ----------
    M. T. Ricamato & F. Tortorella, Partial AUC maximization in a linear combination of dichotomizers, Pattern
    Recognition 44, 2011.

    Examples
    --------
    >>> from headrank.datasets import coarse_eights
    >>> X, y = coarse_eights()
    >>> ranker = GreedyCombination("pauc@0.3", max_columns=5).fit(X, y)
    >>> ranker.search_, bool(ranker.training_measure_ >= ranker.values_[0])
    ('grid', True)
    """

    order_: IntVector
    values_: Vector
    search_: str
    training_measure_: float
    collapsed_: bool

    def __init__(
        self,
        measure: Measure | str = "pauc@0.1",
        *,
        max_columns: int = 100,
        n_angles: int = 101,
        max_pairs: int = 2000,
    ) -> None:
        self.measure = measure
        self.max_columns = max_columns
        self.n_angles = n_angles
        self.max_pairs = max_pairs

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None) -> Self:
        """Combine the columns.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            Features or scores: finite numbers.
        y : array-like of shape (n_rows,)
            Two classes; the greater one, in sorted order, is the positive one.
        sample_weight : array-like of shape (n_rows,), optional
            A row of weight 2 counts as two rows.
        qid : array-like of shape (n_rows,), optional
            Query of each row. The measure is then the mean over the queries that have both classes.
        """
        max_columns = whole("max_columns", self.max_columns, at_least=1)
        n_angles = whole("n_angles", self.n_angles, at_least=2)
        max_pairs, measure = whole("max_pairs", self.max_pairs), measure_of(self.measure)
        X, positive = admitted(self, X, y)
        labelled = Labelled.of(positive, sample_weight, qid)
        self.search_ = "exact" if n_pairs(labelled) <= max_pairs else "grid"
        sign = 1.0 if measure.greater_is_better else -1.0

        def worth(scores: Vector) -> float:
            return sign * float(measure.of_sample(labelled.sample(scores)))

        def best_angle(score: Vector, column: Vector, current: float) -> Angle:
            if self.search_ == "exact":
                return swept(score, column, labelled, worth, current)
            return searched(score, column, worth, current, n_angles)

        columns = _Columns(X, labelled)
        chance = worth(np.zeros(labelled.size))
        ranked = columns.ranked(worth)[:max_columns]
        found = _added_up(columns, ranked, best_angle)
        self.order_, self.values_ = np.array(found.order, dtype=np.intp), sign * np.array(found.worth or [chance])
        self.training_measure_ = float(self.values_[-1])
        self.collapsed_ = not found.worth or found.worth[-1] <= chance
        self.coef_ = found.weights / columns.spreads
        self.intercept_ = -(threshold_of(labelled.sample(found.score)) + float(columns.means @ self.coef_))
        if self.collapsed_:
            warnings.warn(
                "the fit has learned nothing: no column, nor its negative, ranks the training rows better than at "
                "random; check that X is informative about the classes",
                CollapsedFitWarning,
                stacklevel=2,
            )
        return self


@dataclass(frozen=True)
class _Alone:
    """A column, its better sign, and what it is worth with it."""

    worth: float
    number: int
    sign: float


@dataclass(frozen=True, eq=False)
class _Found:
    """The combination: its scores, the weights of standardised columns, the columns in order, and values with each."""

    score: Vector
    weights: Vector
    order: list[int]
    worth: list[float]


class _Columns:
    """The columns of the labelled rows, standardised."""

    def __init__(self, X: Any, labelled: Labelled) -> None:
        self._X, self._labelled = X, labelled
        self.means, self.spreads = np.zeros(X.shape[1]), np.ones(X.shape[1])

    def standardised(self, numbers: IntVector) -> Iterator[Vector]:
        """Yield columns with mean 0 and variance 1; constant ones become 0."""
        weights, present = self._labelled.weights, self._labelled.present
        for number, column in zip(numbers, in_blocks(self._X, numbers), strict=True):
            values = column if present is None else column[present]
            mean = np.average(values, weights=weights)
            centred = values - mean
            spread = self.spread(centred)
            if spread <= _ROUNDING * float(np.abs(values).max()):
                centred, spread = np.zeros_like(centred), 1.0
            self.means[number], self.spreads[number] = mean, spread
            yield centred / spread

    @property
    def size(self) -> int:
        """Number of rows."""
        return self._labelled.size

    def spread(self, score: Vector) -> float:
        """Standard deviation of a combination, whose mean is 0; 1 if it is constant."""
        return float(np.sqrt(np.average(score**2, weights=self._labelled.weights))) or 1.0

    def ranked(self, worth: Worth) -> list[_Alone]:
        """The columns that are not constant, the best one first."""
        found = []
        for number, column in enumerate(self.standardised(np.arange(self.means.size))):
            if column.any():
                signed = [_Alone(worth(sign * column), number, sign) for sign in (1.0, -1.0)]
                found.append(max(signed, key=lambda each: each.worth))
        return sorted(found, key=lambda each: -each.worth)  # stable: of equals, the first column


def _added_up(
    columns: _Columns, ranked: Sequence[_Alone], best_angle: Callable[[Vector, Vector, float], Angle]
) -> _Found:
    """Start with the first column, and add each of the others if it gains."""
    weights: Vector = np.zeros(columns.means.size)
    score: Vector = np.zeros(columns.size)
    order: list[int] = []
    values: list[float] = []
    chosen = columns.standardised(np.array([alone.number for alone in ranked], dtype=np.intp))
    for alone, standardised in zip(ranked, chosen, strict=True):
        column = alone.sign * standardised
        if not order:
            score, weights[alone.number] = column, alone.sign
            order.append(alone.number)
            values.append(alone.worth)
            continue
        angle = best_angle(score, column, values[-1])
        if angle.worth <= values[-1] + _LEAST_GAIN:
            continue
        score = angle.combined(score, column)
        weights *= cos(angle.radians)
        weights[alone.number] = alone.sign * sin(angle.radians)
        spread = columns.spread(score)
        score, weights = score / spread, weights / spread
        order.append(alone.number)
        values.append(angle.worth)
    return _Found(score, weights, order, values)

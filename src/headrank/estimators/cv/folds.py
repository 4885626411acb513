"""The default folds: each has both classes, or queries with both."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_random_state

from headrank._numbers import seed, short_repr, whole
from headrank._types import ArrayLike, BoolVector, IntVector
from headrank.estimators._labelled import Labelled
from headrank.exceptions import InvalidSampleError, OneClassError
from headrank.labels import check_weights
from headrank.measures import EnrichmentFactor, Measure, PrecisionAt, RecallAt


def folds(
    positive: BoolVector, queries: IntVector | None, n_folds: int, *, random_state: Any = 0
) -> list[tuple[IntVector, IntVector]]:
    """Return the training and test row numbers of each fold.

    Rows are stratified by class. With queries, whole queries are assigned to folds, those with both classes evenly. A
    fold without such a query cannot be measured, and scikit-learn's `StratifiedGroupKFold` may produce one.

    >>> [(train.size, test.size) for train, test in folds(np.arange(50) < 10, None, 5)]
    [(40, 10), (40, 10), (40, 10), (40, 10), (40, 10)]
    """
    random_state = seed(random_state)
    if queries is None:
        return list(StratifiedKFold(n_folds, shuffle=True, random_state=random_state).split(positive, positive))
    with_pos, with_neg = np.unique(queries[positive]), np.unique(queries[~positive])
    rng = check_random_state(random_state)
    mixed, others = np.intersect1d(with_pos, with_neg), np.setxor1d(with_pos, with_neg)
    # The others continue where the mixed ones ended, so that folds differ by at most one query.
    dealt = np.concatenate([rng.permutation(mixed), rng.permutation(others)])
    fold_of = np.empty(int(queries.max()) + 1, dtype=np.intp)
    fold_of[dealt] = np.arange(dealt.size) % n_folds
    fold = fold_of[queries]
    return [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(n_folds)]


def splits_of(
    labelled: Labelled,
    cv: Any,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    qid: ArrayLike | None,
    *,
    random_state: Any,
    measured: bool = True,
) -> list[tuple[IntVector, IntVector]]:
    """Return rows to learn from and rows to measure on, by their numbers among the labelled rows, or raise.

    ``cv`` is what scikit-learn takes: a number of folds, a splitter of the rows as the user gave them, or its result.
    Fewer folds are made, with a warning, if there are too few rows or queries for that number. Rows that are only
    scored, not ``measured``, may be of one class.
    """
    cv = 5 if cv is None else cv
    if isinstance(cv, str | bytes):
        raise _no_folds(cv)
    if isinstance(cv, Integral):
        n_folds = _possible(whole("cv", cv, at_least=2), labelled)
        splits = folds(labelled.positive, labelled.queries, n_folds, random_state=random_state)
    else:
        numbers = np.arange(labelled.size) if sample_weight is None else _numbers(sample_weight)
        of_all = cv.split(X, y, qid) if hasattr(cv, "split") else cv
        try:
            splits = [(_present(numbers[train]), _present(numbers[test])) for train, test in of_all]
        except (TypeError, ValueError, IndexError):
            if hasattr(cv, "split"):
                raise  # the error of the splitter itself
            raise _no_folds(cv) from None
    if not splits:
        raise ValueError("cv has no folds; pass an int, a splitter, or an iterable of (train, test) row numbers")
    for k, parts in enumerate(splits):
        for rows, purpose in zip(parts, ("learn from", "measure on")[: 1 + measured], strict=False):
            if not labelled.take(rows).has_both_classes():
                what = "rows of both classes" if labelled.queries is None else "query with positive and negative rows"
                raise OneClassError(
                    f"fold {k + 1} of {len(splits)} has no {what} to {purpose}; pass a number of folds, which are "
                    "then stratified, or folds that have"
                )
    return splits


def of_any_size(measure: Measure, n_rows: float) -> Measure:
    """Return the measure as it applies to a fold: the first k rows of all become the same fraction of a fold's."""
    if isinstance(measure, PrecisionAt | RecallAt | EnrichmentFactor) and measure.is_count:
        return type(measure)(min(measure.k / n_rows, 1.0))
    return measure


def total_weight(labels: Any, sample_weight: ArrayLike | None) -> float:
    """Return the number of rows, each counted with its weight."""
    return labels.size if sample_weight is None else float(check_weights(sample_weight).sum())


def _possible(n_folds: int, labelled: Labelled) -> int:
    """Return the number of folds, or as many as can be measured, with a warning; raise if no two can."""
    positive, queries = labelled.positive, labelled.queries
    if queries is None:
        n_most, of_what = int(min(np.count_nonzero(positive), np.count_nonzero(~positive))), "rows of each class"
    else:
        n_most = np.intersect1d(queries[positive], queries[~positive]).size
        of_what = "queries with positive and negative rows"
    if n_most < 2:
        raise InvalidSampleError(f"folds need at least 2 {of_what}, got {n_most}; add rows")
    if n_most < n_folds:
        warnings.warn(
            f"cv={n_folds} folds need as many {of_what}; there are {n_most}, so {n_most} folds are used", stacklevel=4
        )
    return min(n_folds, n_most)


def _no_folds(cv: Any) -> ValueError:
    return ValueError(
        f"cv must be an int, a splitter, or an iterable of (train, test) row numbers, got {short_repr(cv)}"
    )


def _numbers(sample_weight: ArrayLike) -> IntVector:
    """The number of each row in the problem, -1 for rows of weight 0, which are absent there."""
    is_there = np.asarray(sample_weight) > 0
    return np.where(is_there, np.cumsum(is_there) - 1, -1)


def _present(numbers: IntVector) -> IntVector:
    return numbers[numbers >= 0]

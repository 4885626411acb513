"""The default folds: each has both classes, or queries with both."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_random_state

from headrank._numbers import seed
from headrank._types import BoolVector, IntVector


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

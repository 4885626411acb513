"""The folds by which the ranker is chosen: whole groups, forward in time, or given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from headrank._types import BoolVector, IntVector
from headrank.exceptions import InvalidSampleError
from headrank.training.holdout import N_FOLDS
from headrank.training.holdout_time import require_one_value

_LEAST_FOLDS = 2


@dataclass(frozen=True, eq=False)
class ChoiceFolds:
    """The fold of each training row.

    Attributes
    ----------
    fold : int array of shape (n_train,)
        From 0. If ``forward``, a block of time: the rows of block k are predicted from those of blocks before k.
    words : str
        The folds in words.
    forward : bool
        Whether to learn from earlier blocks only.
    groups : int array of shape (n_train,) or None
        Rows of a group that was learned from are not predicted.
    """

    fold: IntVector
    words: str
    forward: bool = False
    groups: IntVector | None = None

    def take(self, rows: IntVector) -> ChoiceFolds:
        """The folds of some of the training rows."""
        return replace(self, fold=self.fold[rows], groups=None if self.groups is None else self.groups[rows])

    def splits(
        self, y: BoolVector, queries: IntVector | None = None, rows: IntVector | None = None
    ) -> list[tuple[IntVector, IntVector]]:
        """Return rows to learn from and rows to predict, fold by fold, numbered within ``rows``.

        Folds without both classes (with queries: a query with both) on either side are left out.

        Parameters
        ----------
        y : bool array of shape (n_train,)
            Which training rows are positive.
        queries : int array of shape (n_train,), optional
            Query of each training row.
        rows : int array, optional
            Some of the training rows; by default all.
        """
        rows = np.arange(y.size) if rows is None else rows
        fold = self.fold[rows]
        found = []
        for k in range(1 if self.forward else 0, int(self.fold.max()) + 1):
            learn = np.flatnonzero(fold < k if self.forward else fold != k)
            predict = np.flatnonzero(fold == k)
            if self.groups is not None:
                predict = predict[~np.isin(self.groups[rows[predict]], self.groups[rows[learn]])]
            if all(_both(y[rows[side]], None if queries is None else queries[rows[side]]) for side in (learn, predict)):
                found.append((learn, predict))
        return found


def group_folds(y: BoolVector, groups: IntVector, *, random_state: int) -> ChoiceFolds:
    """Assign whole groups to folds, each with both classes if there are enough groups.

    Groups with positives only, with both classes and with negatives only are dealt in this order, large ones first:
    groups with a positive are consecutive, and so are those with a negative, so every fold gets one of each if there
    are as many as folds.

    >>> groups = np.repeat(np.arange(10), 3)
    >>> group_folds(groups % 2 == 0, groups, random_state=0).fold.reshape(10, 3)[:, 0].tolist()
    [0, 4, 4, 0, 1, 2, 2, 3, 3, 1]
    """
    _, numbers = np.unique(groups, return_inverse=True)
    n_pos, n_neg = np.bincount(numbers[y], minlength=numbers.max() + 1), np.bincount(numbers[~y])
    n_neg = np.pad(n_neg, (0, n_pos.size - n_neg.size))
    for name, n in (("positive", n_pos), ("negative", n_neg)):
        if np.count_nonzero(n) < N_FOLDS:
            raise InvalidSampleError(
                f"{N_FOLDS} folds need at least {N_FOLDS} groups with {name} rows for training, but there are "
                f"{np.count_nonzero(n)}; use more groups"
            )
    kind = np.where(n_neg == 0, 0, np.where(n_pos > 0, 1, 2))
    noise = np.random.default_rng([random_state, 2]).random(kind.size)
    fold_of = np.empty(kind.size, dtype=np.intp)
    fold_of[np.lexsort((noise, -(n_pos + n_neg), kind))] = np.arange(kind.size) % N_FOLDS
    return ChoiceFolds(fold_of[numbers], f"{N_FOLDS} folds of whole groups")


def forward_folds(
    y: BoolVector, times: npt.NDArray[Any], queries: IntVector | None = None, groups: IntVector | None = None
) -> ChoiceFolds:
    """Divide the training rows into blocks of time; each block is predicted from all earlier ones.

    The blocks have about the same share of the rows of both classes, each class counting half, and both classes. Rows
    of equal time are in one block.
    """
    counted = np.ones(y.size, dtype=bool)
    if queries is not None:
        require_one_value(times, queries, "time", "query")
        counted = np.isin(queries, np.intersect1d(queries[y], queries[~y]))
    blocks = time_blocks(times, y, counted, N_FOLDS + 1)
    plan = ChoiceFolds(blocks, "", forward=True, groups=groups)
    n_folds = len(plan.splits(y, queries))
    if n_folds < _LEAST_FOLDS:
        also = "" if groups is None else " of groups that do not occur before"
        raise InvalidSampleError(
            f"to choose the ranker forward in time, at least {_LEAST_FOLDS + 1} periods of the training rows need "
            f"positive and negative rows{also}, but there are {n_folds + 1 if n_folds else 'fewer'}; use more rows, a "
            "finer time" + ("" if groups is None else ", or omit --group")
        )
    return ChoiceFolds(plan.fold, f"{n_folds} folds forward in time", forward=True, groups=groups)


def time_blocks(times: npt.NDArray[Any], y: BoolVector, counted: BoolVector, n_blocks: int) -> IntVector:
    """Divide rows into at most ``n_blocks`` blocks of time; return the block of each row. O(n log n).

    Each block has a positive and a negative row among the ``counted``, and about the same share of them, each class
    counting half. Rows of equal time are in one block.

    >>> time_blocks(np.repeat([2020, 2021, 2022, 2023], 2), np.arange(8) % 2 == 0, np.ones(8, dtype=bool), 2)
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """
    _, place = np.unique(times, return_inverse=True)
    n_times = int(place.max()) + 1
    pos, neg = (np.cumsum(np.bincount(place[counted & side], minlength=n_times)) for side in (y, ~y))
    mass = pos / pos[-1] + neg / neg[-1]
    block_of = np.zeros(n_times, dtype=np.intp)
    start, block = 0, 0
    while start < n_times:
        n_pos, n_neg, used = (pos[start - 1], neg[start - 1], mass[start - 1]) if start else (0, 0, 0.0)
        if pos[-1] == n_pos or neg[-1] == n_neg:  # one class is used up: the rest joins the last block
            block_of[start:] = max(block - 1, 0)
            break
        wanted = used + (2 - used) / max(n_blocks - block, 1) * (1 - 1e-9)
        end = max(
            int(np.searchsorted(mass, wanted)),
            int(np.searchsorted(pos, n_pos + 1)),
            int(np.searchsorted(neg, n_neg + 1)),
        )
        block_of[start : end + 1] = block
        start, block = end + 1, block + 1
    return block_of[place]


def given_folds(
    y: BoolVector,
    values: npt.NDArray[Any],
    queries: IntVector | None = None,
    groups: IntVector | None = None,
) -> ChoiceFolds:
    """Use each value of a column as a fold, or raise if there is only one, or one without both classes."""
    names, fold = np.unique(values, return_inverse=True)
    if names.size < _LEAST_FOLDS:
        raise InvalidSampleError(
            f"the training rows have only one fold, {names[0]!s}; at least {_LEAST_FOLDS} different values are needed"
        )
    for unit, units in (("query", queries), ("group", groups)):
        if units is not None:
            require_one_value(fold, units, "fold", unit)
    plan = ChoiceFolds(fold, f"{names.size} given folds")
    for k, name in enumerate(names):
        for side, where in ((fold == k, "in"), (fold != k, "outside")):
            if not _both(y[side], None if queries is None else queries[side]):
                what = "rows of both classes" if queries is None else "query with both classes"
                raise InvalidSampleError(
                    f"there are no {what} {where} fold {name!s} of the training rows; merge it with another"
                )
    return plan


def _both(y: BoolVector, queries: IntVector | None) -> bool:
    if queries is not None:
        return bool(np.intersect1d(queries[y], queries[~y]).size)
    return bool(y.any() and not y.all())

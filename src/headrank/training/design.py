"""Which rows are trained on, which are held out, and by which folds the ranker is chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from headrank._types import ArrayLike, BoolVector, IntVector
from headrank.exceptions import InvalidSampleError
from headrank.labels import check_labels, check_queries
from headrank.training.choice_folds import ChoiceFolds, forward_folds, given_folds, group_folds
from headrank.training.goal import Goal
from headrank.training.handover import Handover
from headrank.training.holdout import LEAST_HELD_OUT, N_FOLDS, USUAL_SHARE, Split, split, usual_share
from headrank.training.holdout_groups import split_groups, without_known
from headrank.training.holdout_time import check_times, printed_time, split_latest
from headrank.training.stored_table import StoredTable
from headrank.training.table_info import HoldoutInfo


@dataclass(frozen=True, eq=False)
class HoldoutFile:
    """A holdout that was given, with the same columns as the training table.

    Attributes
    ----------
    features : polars.DataFrame, CSR matrix, Handover of either, or StoredTable
        One row per case; a StoredTable if the training table is one.
    y : array-like of shape (n,)
        Which rows are positive.
    source, sha256 : str
        Name and hash of the file, for the report.
    qid, ids, groups, times : array-like of shape (n,), optional
        As in `headrank.training.train.train`, which needs the same ones for both files.
    """

    features: Any
    y: ArrayLike
    source: str
    sha256: str = ""
    qid: ArrayLike | None = None
    ids: ArrayLike | None = None
    groups: ArrayLike | None = None
    times: ArrayLike | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.features.n_rows if isinstance(self.features, StoredTable) else self.handed_over().n_rows

    def handed_over(self) -> Handover:
        """The features, to be taken once."""
        return self.features if isinstance(self.features, Handover) else Handover(self.features)


@dataclass(frozen=True, eq=False)
class RowRoles:
    """All that is known of the rows except their features: first those of the table, then those of a given holdout.

    Attributes
    ----------
    y : bool array of shape (n,)
        Which rows are positive.
    n_table : int
        Rows of the table.
    names, qid, group_names : array of shape (n,) or None
        Name, query and group of each row, as given.
    queries, groups : int array of shape (n,) or None
        The number of each row's query and group.
    times : array of shape (n,) or None
        The time of each row.
    folds : array of shape (n_table,) or None
        The given fold of each row of the table.
    """

    y: BoolVector
    n_table: int
    names: npt.NDArray[Any] | None
    qid: npt.NDArray[Any] | None
    group_names: npt.NDArray[Any] | None
    queries: IntVector | None
    groups: IntVector | None
    times: npt.NDArray[Any] | None
    folds: npt.NDArray[Any] | None

    @classmethod
    def of(
        cls,
        y: ArrayLike,
        *,
        n_rows: int,
        qid: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        times: ArrayLike | None = None,
        folds: ArrayLike | None = None,
        test: HoldoutFile | None = None,
    ) -> RowRoles:
        """Check one value per row of each, join both files, or raise."""
        labels = check_labels(y)
        _require_one_per_row(n_rows, y=labels, qid=qid, ids=ids, groups=groups, times=times, folds=folds)
        if qid is not None and groups is not None:
            raise InvalidSampleError("expected queries or groups, got both; omit the groups: queries are kept whole")
        if times is not None and folds is not None:
            raise InvalidSampleError("expected times or folds, got both; omit the folds: with times they go forward")
        if test is None:
            names, joined_qid, joined_groups, joined_times = (
                None if each is None else np.asarray(each) for each in (ids, qid, groups, times)
            )
        else:
            n_test = test.n_rows
            _require_one_per_row(n_test, y=test.y, qid=test.qid, ids=test.ids, groups=test.groups, times=test.times)
            labels = np.concatenate([labels, _labels_of(test)])
            names = None
            if ids is not None or test.ids is not None:
                names = _joined(np.arange(1, n_rows + 1) if ids is None else ids, test.ids, np.arange(1, n_test + 1))
            joined_qid, joined_groups, joined_times = (
                None if mine is None else _joined(mine, _required(its, name))
                for name, mine, its in (
                    ("qid", qid, test.qid),
                    ("groups", groups, test.groups),
                    ("times", times, test.times),
                )
            )
        return cls(
            y=labels,
            n_table=n_rows,
            names=names,
            qid=joined_qid,
            group_names=joined_groups,
            queries=None if joined_qid is None else check_queries(joined_qid),
            groups=None if joined_groups is None else _several(check_queries(joined_groups, "groups")),
            times=None if joined_times is None else check_times(joined_times),
            folds=None if folds is None else np.asarray(folds),
        )

    def take(self, rows: IntVector) -> RowRoles:
        """Some of the rows, ascending, without given folds."""
        taken: dict[str, Any] = {
            name: None if (values := getattr(self, name)) is None else values[rows]
            for name in ("y", "qid", "group_names", "queries", "groups", "times")
        }
        names = self.names_of(rows)
        return RowRoles(n_table=int(np.searchsorted(rows, self.n_table)), folds=None, names=names, **taken)

    def names_of(self, rows: IntVector) -> npt.NDArray[Any]:
        """The names of some rows; by default their numbers in their file, from 1."""
        if self.names is not None:
            return np.asarray(self.names[rows])
        return np.where(rows < self.n_table, rows, rows - self.n_table) + 1

    def split(self, *, holdout: float | None, goal: Goal, random_state: int) -> Split:
        """Hold out the given rows, the latest ones, or rows, groups or queries drawn at random."""
        by_class = goal.top is None
        if holdout is None:
            n_pos = int(np.count_nonzero(self.y))
            in_units = self.groups is not None or self.queries is not None  # many rows may be few units
            holdout = USUAL_SHARE if in_units else usual_share(n_pos, self.y.size - n_pos, goal.budget.limit)
        if self.n_table < self.y.size:
            parts = Split(np.arange(self.n_table), np.arange(self.n_table, self.y.size))
        elif self.times is not None:
            parts = split_latest(self.y, self.times, self.queries, holdout=holdout)
        elif self.groups is not None:
            return split_groups(self.y, self.groups, holdout=holdout, by_class=by_class, random_state=random_state)
        else:
            return split(self.y, self.queries, by_class=by_class, holdout=holdout, random_state=random_state)
        if self.groups is not None:
            parts = without_known(parts, self.groups, self.y, by_class=by_class, random_state=random_state)
            self._require_measurable(parts)
        return parts

    def _require_measurable(self, parts: Split) -> None:
        n_pos = int(np.count_nonzero(self.y[parts.measured_rows]))
        for name, n in (("positive", n_pos), ("negative", parts.measured_rows.size - n_pos)):
            if n < LEAST_HELD_OUT:
                raise InvalidSampleError(
                    f"expected at least {LEAST_HELD_OUT} groups whose drawn row is {name} in the holdout, but there "
                    f"are {n}: {parts.n_known:,} rows were left out because their group occurs in training; use more "
                    "groups, or omit --group if new rows will come from known groups"
                )

    def choice_folds(self, parts: Split, *, random_state: int) -> ChoiceFolds | None:
        """Return the folds of the training rows; None for folds drawn at random."""
        rows = parts.train
        y = self.y[rows]
        queries, groups, times = (
            None if each is None else each[rows] for each in (self.queries, self.groups, self.times)
        )
        if self.folds is not None:
            return given_folds(y, self.folds[rows], queries, groups)
        if times is not None:
            return forward_folds(y, times, queries, groups)
        return None if groups is None else group_folds(y, groups, random_state=random_state)

    def info(self, parts: Split, folds: ChoiceFolds | None, test: HoldoutFile | None) -> HoldoutInfo:
        """Describe the holdout for the report."""
        numbers: dict[str, Any] = {}
        if self.groups is not None:
            numbers = {
                "n_groups": np.unique(self.groups).size,
                "n_holdout_groups": parts.measured_rows.size,
                "n_group_rows": parts.holdout.size,
            }
        times: dict[str, Any] = {}
        if self.times is not None:
            held_out = self.times[parts.measured_rows]
            times = {
                "train_last": printed_time(self.times[parts.train].max()),
                "first": printed_time(held_out.min()),
                "last": printed_time(held_out.max()),
            }
        return HoldoutInfo(
            kind="file" if test is not None else "random" if self.times is None else "latest",
            n_known_rows=parts.n_known,
            test_source=None if test is None else test.source,
            test_sha256=None if test is None else test.sha256,
            folds=f"{N_FOLDS} folds drawn at random" if folds is None else folds.words,
            **numbers,
            **times,
        )


def _labels_of(test: HoldoutFile) -> BoolVector:
    labels = check_labels(test.y)
    n_pos = int(np.count_nonzero(labels))
    for name, n in (("positive", n_pos), ("negative", labels.size - n_pos)):
        if n < LEAST_HELD_OUT:
            raise InvalidSampleError(
                f"{test.source} has {n} {name} rows; expected at least {LEAST_HELD_OUT} of each class to measure on"
            )
    return labels


def _require_one_per_row(n_rows: int, **others: Any) -> None:
    for name, values in others.items():
        if values is not None and len(values) != n_rows:
            raise InvalidSampleError(
                f"{name} must have one value per row: the table has {n_rows:,} rows, {name} {len(values):,}"
            )


def _required(values: ArrayLike | None, name: str) -> ArrayLike:
    if values is None:
        raise InvalidSampleError(f"{name} are given for the table, but not for its holdout; give both or neither")
    return values


def _joined(mine: ArrayLike, its: ArrayLike | None, otherwise: ArrayLike | None = None) -> npt.NDArray[Any]:
    """Join both columns; as text if only one of them is."""
    parts = [np.asarray(mine), np.asarray(otherwise if its is None else its)]
    if len({part.dtype.kind == "M" for part in parts}) > 1:
        raise InvalidSampleError("the times are dates in one file and numbers in the other; convert one of them")
    if len({part.dtype.kind in "OUST" for part in parts}) > 1:
        parts = [part.astype(str).astype(object) for part in parts]
    return np.concatenate(parts)


def _several(groups: IntVector) -> IntVector:
    if groups.max() == 0:
        raise InvalidSampleError(
            f"all {groups.size:,} rows are in the same group, so no group is left to measure on; name a column with "
            "one value per patient, customer or the like"
        )
    return groups

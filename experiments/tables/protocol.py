"""The protocol that all tables share: split, scale, choose a setting, fit, and measure the test rows.

A `Table` declares what the paper states: data, parts, scaling, methods and measures. A `Cell` is one method on one
split of one task, the unit in which results are computed and kept.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from headrank import Measure, path

_BLOCK = 20_000
"""Rows scored at a time: rivals with spline bases need many values per row."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Features, labels 0/1, and the group of each row that no split may divide: its query or its patient."""

    X: Any
    y: Any
    groups: Any = None
    lists: bool = False
    """Whether each group is a list of its own, to be ranked and measured separately (a query)."""

    def take(self, kept: Any) -> Rows:
        """Return a subset of the rows."""
        return replace(self, X=self.X[kept], y=self.y[kept], groups=None if self.groups is None else self.groups[kept])

    @property
    def qid(self) -> Any:
        """The query of each row, or None."""
        return self.groups if self.lists else None


@dataclass(frozen=True, eq=False)
class Parts:
    """Row numbers of the parts of one split; without a validation part, settings are chosen by cross-validation."""

    train: Any
    test: Any
    validation: Any = None


@dataclass(frozen=True)
class Method:
    """A method: how a model is made for a measure and one setting, and the settings to choose from.

    Settings of a ranker ``along_path`` are values of C, fitted in increasing order with warm starts. A method that is
    trained for another measure than the one of the table has a ``target``, which may depend on the training rows.
    """

    name: str
    make: Callable[[Measure, Any], Any]
    settings: tuple[Any, ...] = (None,)
    along_path: bool = False
    in_paper: bool = True
    target: Callable[[Measure, Rows], Measure] | None = None


@dataclass(frozen=True, eq=False)
class Fit:
    """Scores of the test rows, and whether the weights are (nearly) 0."""

    scores: Any
    collapsed: bool


Splitter: TypeAlias = Callable[[Rows, int], Parts]
Scaling: TypeAlias = Callable[[Rows, Parts], Rows]


@dataclass(frozen=True)
class Published:
    """What is known of the printed table: the order of the methods in words, and values (mean, standard deviation)."""

    order: str
    values: tuple[tuple[str, str, float, float], ...] = ()
    """Task, method, mean, standard deviation over the splits."""
    n_splits: int = 10


@dataclass(frozen=True)
class Task:
    """Rows, read from a folder, and measures; the first is trained for, and settings are chosen by it."""

    name: str
    read: Callable[[Path], Rows]
    measures: tuple[Measure, ...]
    left_out: tuple[str, ...] = ()
    """Names of methods that are not run on these rows."""


@dataclass(frozen=True)
class Table:
    """One table of a paper."""

    name: str
    title: str
    tasks: tuple[Task, ...]
    split: Splitter
    scale: Scaling
    methods: tuple[Method, ...]
    n_splits: int
    quick_tasks: tuple[str, ...]
    published: Published
    paper_says: str
    decided: str
    found: str
    n_folds: int = 5
    n_quick_splits: int = 3

    @property
    def task_names(self) -> tuple[str, ...]:
        """The names of the tasks."""
        return tuple(task.name for task in self.tasks)

    def methods_of(self, task_name: str) -> tuple[Method, ...]:
        """Return the methods that are run on a task."""
        (task,) = (task for task in self.tasks if task.name == task_name)
        return tuple(method for method in self.methods if method.name not in task.left_out)


@dataclass(frozen=True)
class Cell:
    """One method on one split of one task of a table."""

    table: str
    task: str
    split: int
    method: str

    def __str__(self) -> str:
        return f"{self.table}, {self.task}, split {self.split}, {self.method}"


@dataclass(frozen=True)
class Outcome:
    """A test value of a cell."""

    table: str
    task: str
    split: int
    method: str
    measure: str
    value: float
    seconds: float
    """Processor seconds of choosing the setting and of the last fit."""
    setting: str
    remark: str
    """Whether the last fit collapsed, or had not converged to its certificate."""


def cells_of(table: Table, *, tasks: Sequence[str], n_splits: int) -> list[Cell]:
    """Return the cells of a table, split by split, so that an unfinished run covers every task."""
    return [
        Cell(table.name, task, split, method.name)
        for split in range(n_splits)
        for task in tasks
        for method in table.methods_of(task)
    ]


def outcomes(table: Table, cell: Cell, folder: Path) -> list[Outcome]:
    """Choose a setting, fit, and measure the test rows."""
    task = next(each for each in table.tasks if each.name == cell.task)
    measures, rows = task.measures, task.read(folder)
    parts = table.split(rows, cell.split)
    rows = table.scale(rows, parts)
    method = next(each for each in table.methods if each.name == cell.method)
    train, test = rows.take(parts.train), rows.take(parts.test)
    start = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        setting = chosen(method, measures[0], rows, parts, n_folds=table.n_folds)
        caught.clear()
        (fit,) = fits(method, measures[0], train, test, (setting,))
    seconds = time.process_time() - start
    unfinished = any(issubclass(each.category, ConvergenceWarning) for each in caught)
    return [
        Outcome(
            **vars(cell),
            measure=str(measure),
            value=float(measure(test.y, fit.scores, qid=test.qid)),
            seconds=round(seconds, 2),
            setting="" if setting is None else str(setting),
            remark="collapsed" if fit.collapsed else "not converged" if unfinished else "",
        )
        for measure in measures
    ]


def chosen(method: Method, measure: Measure, rows: Rows, parts: Parts, *, n_folds: int) -> Any:
    """Return the setting with the best mean on the validation part, or over folds of the training part.

    The first of several equally good ones.
    """
    if len(method.settings) == 1:
        return method.settings[0]
    train = rows.take(parts.train)
    if parts.validation is not None:
        pairs = [(train, rows.take(parts.validation))]
    else:
        pairs = [(train.take(learn), train.take(hold)) for learn, hold in folds_of(train, n_folds)]
    values = np.zeros(len(method.settings))
    for learn, hold in pairs:
        found = fits(method, measure, learn, hold, method.settings)
        values += [measure(hold.y, fit.scores, qid=hold.qid) for fit in found]
    return method.settings[int(np.argmax(values))]


def fits(method: Method, measure: Measure, train: Rows, test: Rows, settings: Sequence[Any]) -> list[Fit]:
    """Fit the method with each setting, and score the test rows."""
    by_query = {} if train.qid is None else {"qid": train.qid}
    if method.target is not None:
        measure = method.target(measure, train)
    if method.along_path:
        along = path(method.make(measure, settings[0]), train.X, train.y, Cs=settings, **by_query)
        return [
            Fit(test.X @ coef, bool(collapsed)) for coef, collapsed in zip(along.coefs, along.collapsed, strict=True)
        ]
    models = (method.make(measure, setting).fit(train.X, train.y, **by_query) for setting in settings)
    return [Fit(_in_blocks(model, test.X), bool(getattr(model, "collapsed_", False))) for model in models]


def _in_blocks(model: Any, X: Any) -> Any:
    starts = range(0, X.shape[0], _BLOCK)
    return np.concatenate([model.decision_function(X[start : start + _BLOCK]) for start in starts])


def folds_of(rows: Rows, n_folds: int) -> list[tuple[Any, Any]]:
    """Return stratified folds that keep groups whole, at most ``n_folds`` and one for each positive."""
    if rows.groups is None:
        n_folds = min(n_folds, int(rows.y.sum()))
        return list(StratifiedKFold(n_folds, shuffle=True, random_state=0).split(rows.y, rows.y))
    n_folds = min(n_folds, len(np.unique(rows.groups[rows.y == 1])))
    folds = StratifiedGroupKFold(n_folds, shuffle=True, random_state=0).split(rows.y, rows.y, rows.groups)
    return [(learn, hold) for learn, hold in folds if 0 < rows.y[hold].sum() < hold.size]


# --- Splits and scalings -----------------------------------------------------------------------------------------


def stratified(*shares: float) -> Splitter:
    """Return a split into shares of each class: train and test, or train, validation and test."""

    def split(rows: Rows, seed: int) -> Parts:
        rng = np.random.default_rng(seed)
        found: list[list[Any]] = [[] for _ in shares]
        for label in (0, 1):
            order = rng.permutation(np.flatnonzero(rows.y == label))
            ends = np.rint(np.cumsum(shares) * order.size).astype(int)
            for part, block in zip(found, np.split(order, ends[:-1]), strict=True):
                part.append(block)
        return _as_parts([np.sort(np.concatenate(part)) for part in found])

    return split


def by_groups(*shares: float) -> Splitter:
    """Return a split into shares of the groups with and without positives, each kept whole."""

    def split(rows: Rows, seed: int) -> Parts:
        names, first = np.unique(rows.groups, return_inverse=True)
        positive = np.bincount(first, weights=rows.y, minlength=names.size) > 0
        parts = stratified(*shares)(Rows(names, positive.astype(int)), seed)
        blocks = (
            [parts.train, parts.validation, parts.test] if parts.validation is not None else [parts.train, parts.test]
        )
        return _as_parts([np.flatnonzero(np.isin(first, block)) for block in blocks])

    return split


def _as_parts(blocks: Sequence[Any]) -> Parts:
    return Parts(blocks[0], blocks[-1], blocks[1] if len(blocks) == 3 else None)


def unscaled(rows: Rows, _parts: Parts) -> Rows:
    """Leave the features as they are."""
    return rows


def standardised(rows: Rows, parts: Parts) -> Rows:
    """Give each feature mean 0 and variance 1 on the training rows."""
    return _standardised(rows, rows.X[parts.train])


def standardised_by_all(rows: Rows, _parts: Parts) -> Rows:
    """Give each feature mean 0 and variance 1 on all rows (transductive)."""
    return _standardised(rows, rows.X)


def _standardised(rows: Rows, reference: Any) -> Rows:
    if sp.issparse(rows.X):
        raise ValueError("expected dense features, got a sparse matrix, which centring would fill; use unscaled")
    mean, deviation = reference.mean(axis=0, dtype=np.float64), reference.std(axis=0, dtype=np.float64)
    deviation[deviation == 0] = 1.0
    return replace(rows, X=(rows.X - mean) / deviation)

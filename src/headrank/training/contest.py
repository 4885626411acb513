"""Contest: the models that were trained, and how they did on rows none of them has seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from headrank._types import BoolVector, Vector
from headrank.bounds.comparison.selection import Selection
from headrank.bounds.threshold import Threshold
from headrank.training.columns import Column
from headrank.training.goal import Goal


@dataclass(frozen=True)
class Coefficient:
    """How much a feature moves the score, per unit of the scaled feature; positive means towards the positives."""

    feature: str
    value: float


@dataclass(frozen=True, eq=False)
class Entrant:
    """A trained model and what it says of the holdout.

    Attributes
    ----------
    name : str
        In plain words: "ranker", "logistic regression", "gradient boosting".
    model : estimator
        Fitted to the training rows; scores the feature columns (or the sparse matrix) with ``decision_function``.
    scores : array of shape (n_holdout,)
        Of the holdout rows, higher = more positive.
    remark : str
        How it was chosen, or what went wrong; may be empty.
    collapsed : bool
        Whether it has learned nothing.
    coefficients : tuple of Coefficient or None
        The largest in absolute value first; None for models that have none.
    """

    name: str
    model: Any
    scores: Vector
    remark: str = ""
    collapsed: bool = False
    coefficients: tuple[Coefficient, ...] | None = None


@dataclass(frozen=True)
class Origin:
    """Where the rows come from: the part of `Facts` that only the caller of `train` knows.

    Attributes
    ----------
    source, sha256, target, positive, id_column, qid_column, dropped, command
        As in `Facts`.
    """

    source: str
    sha256: str
    target: str
    positive: str
    id_column: str | None = None
    qid_column: str | None = None
    dropped: tuple[str, ...] = ()
    command: str = ""


@dataclass(frozen=True)
class Facts:
    """What the table is like, in plain data.

    Attributes
    ----------
    source : str
        Name of the file, without its folder.
    sha256 : str
        Of the file's bytes.
    target, positive : str
        The target column, and the value that means positive, as printed.
    n_rows, n_pos : int
        Rows of the table, and positives among them.
    n_train, n_train_pos, n_holdout, n_holdout_pos : int
        The same on either side of the split.
    columns : tuple of Column
        The feature columns; empty for svmlight files.
    n_features : int
        Numbers that the linear models see per row.
    id_column, qid_column : str or None
        Columns that are no features.
    dropped : tuple of str
        Columns that were left out on request.
    n_queries, n_holdout_queries : int or None
        Queries, all and in the holdout, if there are any.
    warnings : tuple of str
        What looks wrong with the data, each a sentence with what to do.
    command : str
        The command that does it all again.
    random_state : int
        Of the split and everything else.
    versions : mapping of str to str
        Of headrank and the libraries that decide the numbers.
    """

    source: str
    sha256: str
    target: str
    positive: str
    n_rows: int
    n_pos: int
    n_train: int
    n_train_pos: int
    n_holdout: int
    n_holdout_pos: int
    columns: tuple[Column, ...]
    n_features: int
    id_column: str | None
    qid_column: str | None
    dropped: tuple[str, ...]
    n_queries: int | None
    n_holdout_queries: int | None
    warnings: tuple[str, ...]
    command: str
    random_state: int
    versions: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Contest:
    """All that the files and the report are made of.

    Attributes
    ----------
    goal : Goal
        Which part of the list matters.
    confidence : float
        Of every promise.
    entrants : tuple of Entrant
        In the order in which they were trained.
    selection : Selection
        Which one is the best by ``goal.measure`` on the holdout, with a certificate that pays for all of them.
    y : bool array of shape (n_holdout,)
        Which holdout rows are positive.
    ids : array of shape (n_holdout,)
        Values of the id column, or the number of the row in the file, from 1.
    qid : array of shape (n_holdout,) or None
        Query of each holdout row.
    threshold : Threshold or None
        From which score on to act, certified on the holdout; None where it could not be had.
    no_threshold : str
        Why there is none: too few rows, with the number needed, or queries.
    facts : Facts
        What the table is like.
    """

    goal: Goal
    confidence: float
    entrants: tuple[Entrant, ...]
    selection: Selection
    y: BoolVector
    ids: npt.NDArray[Any]
    qid: npt.NDArray[Any] | None
    threshold: Threshold | None
    no_threshold: str
    facts: Facts

    @property
    def winner(self) -> Entrant:
        """The one to use."""
        return self.entrant(self.selection.picked)

    def entrant(self, name: str) -> Entrant:
        """The entrant of this name."""
        return next(each for each in self.entrants if each.name == name)

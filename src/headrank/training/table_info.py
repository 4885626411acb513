"""Metadata of a table, declared once for training, model and report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from headrank.training.columns import Column
from headrank.training.naming import Nouns, positive_nouns


@dataclass(frozen=True, kw_only=True)
class ColumnRoles:
    """The columns that are not features, and their roles.

    Attributes
    ----------
    target, positive : str
        The target column and its positive value, as printed.
    id_column, qid_column : str or None
        Columns with the ids of rows and of queries.
    group_column, time_column, fold_column : str or None
        Columns that decide which rows are held out together, last, and in which fold.
    dropped : tuple of str
        Columns dropped on request, or because they cannot be exported.
    first_feature : int
        Number of the first feature in an svmlight file: 0 or 1.
    """

    target: str
    positive: str
    id_column: str | None = None
    qid_column: str | None = None
    group_column: str | None = None
    time_column: str | None = None
    fold_column: str | None = None
    dropped: tuple[str, ...] = ()
    first_feature: int = 0


@dataclass(frozen=True, kw_only=True)
class HoldoutInfo:
    """How the holdout was chosen.

    Attributes
    ----------
    kind : {"random", "latest", "file", "scores"}
        Rows (or groups, or queries) drawn at random, the latest rows, or the rows of another file; "scores" if nothing
        was trained, and all rows were given with their scores.
    n_groups, n_holdout_groups : int or None
        Number of groups, in total and in the holdout; None without groups.
    n_group_rows : int or None
        All rows of the holdout's groups. The numbers of the report come from one row of each group.
    n_known_rows : int
        Rows left out of the holdout because their group occurs in training.
    train_last, first, last : str or None
        The latest time of the training rows, and the first and the latest of the holdout; None without times.
    test_source, test_sha256 : str or None
        Name and hash of the file with the holdout, if it was given.
    folds : str
        The folds by which the ranker was chosen, in words.
    """

    kind: Literal["random", "latest", "file", "scores"] = "random"
    n_groups: int | None = None
    n_holdout_groups: int | None = None
    n_group_rows: int | None = None
    n_known_rows: int = 0
    train_last: str | None = None
    first: str | None = None
    last: str | None = None
    test_source: str | None = None
    test_sha256: str | None = None
    folds: str = ""


@dataclass(frozen=True, kw_only=True)
class DataSource(ColumnRoles):
    """The origin of the rows, which only the caller of `train` knows.

    Attributes
    ----------
    source : str
        Name of the file, without the folder.
    positive_name : str
        What a positive row is called, if the user says so: see `headrank.training.naming`.
    """

    source: str
    positive_name: str = ""

    @property
    def positive_nouns(self) -> Nouns:
        """What positive rows are called."""
        by_query = self.qid_column is not None
        return positive_nouns(self.positive_name, self.target, self.positive, by_query=by_query)


@dataclass(frozen=True, kw_only=True)
class TableInfo(DataSource):
    """Size and columns of a table.

    Attributes
    ----------
    n_rows, n_pos : int
        Number of rows, and of positives.
    n_train, n_train_pos, n_holdout, n_holdout_pos : int
        The same for each side of the split.
    n_features : int
        Number of features of the linear models.
    n_queries, n_holdout_queries : int or None
        Number of queries, in total and in the holdout; None without queries.
    columns : tuple of Column
        The feature columns; empty for svmlight files.
    holdout : HoldoutInfo
        How the holdout was chosen.
    """

    n_rows: int
    n_pos: int
    n_train: int
    n_train_pos: int
    n_holdout: int
    n_holdout_pos: int
    n_features: int
    n_queries: int | None
    n_holdout_queries: int | None
    columns: tuple[Column, ...]
    holdout: HoldoutInfo = HoldoutInfo()

    @property
    def is_given(self) -> bool:
        """Whether labels and scores were given, and nothing was trained."""
        return self.holdout.kind == "scores"

    @property
    def measured(self) -> str:
        """What the numbers come from, in a sentence."""
        return "these rows" if self.is_given else "the holdout"

    @property
    def sources(self) -> str:
        """Name of the file, and of the one with the holdout if it was given."""
        test = self.holdout.test_source
        return self.source if test is None else f"{self.source} and {test}"


@dataclass(frozen=True)
class Provenance:
    """What is needed to reproduce the numbers.

    Attributes
    ----------
    command : str
        The command that repeats the run.
    sha256 : str
        Hash of the input file.
    random_state : int
        Seed of the split and of everything else.
    versions : tuple of (str, str)
        Versions of headrank and of the libraries that affect the numbers.
    place : str
        Where it ran, if the rows were not in memory.
    """

    command: str
    sha256: str
    random_state: int
    versions: tuple[tuple[str, str], ...]
    place: str = ""

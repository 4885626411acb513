"""What is known of a table besides its rows: each fact is declared once, for training, model and report."""

from __future__ import annotations

from dataclasses import dataclass

from headrank.training.columns import Column


@dataclass(frozen=True, kw_only=True)
class ColumnRoles:
    """Which columns are not features, and what they are for.

    Attributes
    ----------
    target, positive : str
        The target column, and its value that means positive, as printed.
    id_column, qid_column : str or None
        Columns that name the rows and their queries.
    dropped : tuple of str
        Columns that were left out on request.
    first_feature : int
        What an svmlight file calls its first feature: 0 or 1.
    """

    target: str
    positive: str
    id_column: str | None = None
    qid_column: str | None = None
    dropped: tuple[str, ...] = ()
    first_feature: int = 0


@dataclass(frozen=True, kw_only=True)
class DataSource(ColumnRoles):
    """Where the rows come from: what only the caller of `train` knows.

    Attributes
    ----------
    source : str
        Name of the file, without its folder.
    """

    source: str


@dataclass(frozen=True, kw_only=True)
class TableInfo(DataSource):
    """What the table is like, in plain data.

    Attributes
    ----------
    n_rows, n_pos : int
        Rows of the table, and positives among them.
    n_train, n_train_pos, n_holdout, n_holdout_pos : int
        The same on either side of the split.
    n_features : int
        Numbers that the linear models see per row.
    n_queries, n_holdout_queries : int or None
        Queries, all and in the holdout, if there are any.
    columns : tuple of Column
        The feature columns; empty for svmlight files.
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


@dataclass(frozen=True)
class Provenance:
    """What it takes to get the same numbers again.

    Attributes
    ----------
    command : str
        The command that does it all again.
    sha256 : str
        Of the file's bytes.
    random_state : int
        Of the split and everything else.
    versions : tuple of (str, str)
        Of headrank and the libraries that decide the numbers.
    """

    command: str
    sha256: str
    random_state: int
    versions: tuple[tuple[str, str], ...]

"""Input of ``headrank fit``: a table, or an svmlight or LETOR file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import typer

from headrank._types import BoolVector
from headrank.cli._failures import CommandError, about_input
from headrank.cli._inputs import Input

if TYPE_CHECKING:
    from headrank.readers import RankingData, Table
    from headrank.training.design import HoldoutFile
    from headrank.training.handover import Handover
    from headrank.training.stored_table import StoredTable
    from headrank.training.table_info import DataSource


@dataclass(frozen=True, eq=False)
class Source:
    """Features, labels, queries, ids, groups, times and folds of the rows, their origin, and a given holdout."""

    features: Handover | StoredTable
    y: BoolVector
    source: DataSource
    sha256: str
    qid: npt.NDArray[Any] | None = None
    ids: npt.NDArray[Any] | None = None
    groups: npt.NDArray[Any] | None = None
    times: npt.NDArray[Any] | None = None
    folds: npt.NDArray[Any] | None = None
    test: HoldoutFile | None = None


@dataclass(frozen=True)
class TableColumns:
    """The columns of a table that are not features, as given on the command line."""

    target: str
    qid: str | None = None
    id: str | None = None
    group: str | None = None
    time: str | None = None
    fold: str | None = None
    drop: tuple[str, ...] = ()
    positive: str | None = None

    @property
    def names_of_rows(self) -> list[str]:
        """Columns of ids, queries, groups and folds, which are read as they are printed."""
        return [name for name in (self.qid, self.id, self.group, self.fold) if name is not None]

    @property
    def special(self) -> list[str]:
        """All columns that are not features."""
        return [self.target, *self.names_of_rows, *([] if self.time is None else [self.time]), *self.drop]

    @property
    def as_read(self) -> dict[str, Any]:
        """Arguments of `read_table`."""
        given = vars(self).copy()
        return {"pos_label": given.pop("positive"), **given}

    def of_holdout(self, test: Input) -> TableColumns:
        """Return the columns of a given holdout: it has no folds, and may lack what is ignored."""
        from headrank.readers.tables import table_columns

        ignored = (*self.drop, *([] if self.fold is None else [self.fold]))
        there = table_columns(test.tables)
        return replace(self, fold=None, drop=tuple(name for name in ignored if name in there))

    def times_in(self, table: Table, data: Input) -> npt.NDArray[Any] | None:
        """Return the times of a table as numbers or dates; None without a column of times."""
        from headrank.training.holdout_time import times_of

        return None if table.times is None else times_of(table.times, f"column {self.time!r} of {data.name}")

    def source_of(self, table: Table, data: Input, features: Handover | StoredTable) -> Source:
        """Return the rows of a table, with their origin."""
        from headrank.training.table_info import DataSource

        with about_input(data):
            source = DataSource(
                source=data.name,
                target=self.target,
                positive=table.positive,
                id_column=self.id,
                qid_column=self.qid,
                group_column=self.group,
                time_column=self.time,
                fold_column=self.fold,
                dropped=self.drop,
            )
            times = self.times_in(table, data)
            return Source(
                *(features, table.y, source, data.sha256, table.qid, table.ids, table.groups, times, table.folds)
            )


def table_source(data: Input, columns: TableColumns, test: Input | None = None) -> Source:
    """Read a table, and a given holdout with the same columns."""
    from headrank.readers import read_table
    from headrank.training.design import HoldoutFile
    from headrank.training.handover import Handover

    with about_input(data):
        table = read_table(data.tables, **columns.as_read)
    read = columns.source_of(table, data, Handover(table.features))
    del table
    if test is None:
        return read
    with about_input(test):
        other = read_table(test.tables, **columns.of_holdout(test).as_read)
        return replace(
            read,
            test=HoldoutFile(
                Handover(other.features),
                other.y,
                source=test.name,
                sha256=test.sha256,
                qid=other.qid,
                ids=other.ids,
                groups=other.groups,
                times=columns.times_in(other, test),
            ),
        )


def svmlight_source(
    data: Input, *, positive: str | None = None, zero_based: bool = False, test: Input | None = None
) -> Source:
    """Read an svmlight or LETOR file, and a given holdout; rows labelled at least ``positive`` are positive.

    Feature j becomes column j, whether the file counts from 0 or from 1, so that a file to score cannot be shifted
    against the training file. If it counts from 1, column 0 is empty. Whether it counts from 0, as it does if a feature
    0 occurs, is recorded for matrices that were read by other programs.
    """
    from headrank.training.handover import Handover
    from headrank.training.table_info import DataSource

    try:
        least = 1.0 if positive is None else float(positive)
    except ValueError:
        raise typer.BadParameter(
            f"expected a number, the smallest label that counts as positive, got {positive!r}",
            param_hint="'--positive'",
        ) from None
    with about_input(data):
        rows = _read_svmlight(data, least)
        if not 0 < rows.y.sum() < rows.y.size:
            raise CommandError(
                f"{int(rows.y.sum()):,} of {rows.y.size:,} rows of {data} have a label of {least:g} or more; both "
                "classes are needed: give the smallest positive label with --positive"
            )
        source = DataSource(
            source=data.name,
            target="label",
            positive=f"{least:g} or more",
            qid_column=None if rows.qid is None else "qid",
            first_feature=0 if zero_based or (rows.X.indices == 0).any() else 1,
        )
        read = Source(Handover(rows.X), rows.y, source, data.sha256, rows.qid)
    if test is None:
        return read
    from headrank.training.design import HoldoutFile

    with about_input(test):
        other = _read_svmlight(test, least)
        return replace(read, test=HoldoutFile(Handover(other.X), other.y, test.name, test.sha256, other.qid))


def _read_svmlight(data: Input, least: float) -> RankingData:
    """Read the files one after the other; each may lack the last features of the others."""
    import scipy.sparse as sp

    from headrank.readers import RankingData, read_svmlight

    parts = [read_svmlight(path, relevant=least, zero_based=True) for path in data.paths]
    for path, part in zip(data.paths, parts, strict=True):
        _require_usable(path, part.X)
    if len(parts) == 1:
        return parts[0]
    width = max(part.X.shape[1] for part in parts)
    for part in parts:
        part.X.resize(part.X.shape[0], width)
    with_queries = [path for path, part in zip(data.paths, parts, strict=True) if part.qid is not None]
    if with_queries and len(with_queries) < len(parts):
        raise CommandError(
            f"{with_queries[0]} has a qid on every row, but not all of the files have; add or remove them"
        )
    return RankingData(
        sp.vstack([part.X for part in parts], format="csr"),
        np.concatenate([part.y for part in parts]),
        np.concatenate([part.qid for part in parts]) if with_queries else None,
        np.concatenate([part.grades for part in parts]),
    )


def _require_usable(data: Path, matrix: Any) -> None:
    """Raise if a number is so large that scaling by it would turn all others into 0."""
    from headrank.training.columns import LARGEST

    too_large = np.flatnonzero(np.abs(matrix.data) > LARGEST)
    if not too_large.size:
        return
    at = int(too_large[0])
    row = int(np.searchsorted(matrix.indptr, at, side="right"))
    raise CommandError(
        f"{data} has {matrix.data[at]:g} for feature {matrix.indices[at]} in row {row:,}; expected numbers up to "
        f"{LARGEST:g}: correct it, or leave the feature out of the row, which then counts as 0"
    )

"""Input of ``headrank fit``: a table, or an svmlight or LETOR file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import typer

from headrank._types import BoolVector
from headrank.cli._failures import CommandError, about_input

if TYPE_CHECKING:
    from headrank.readers import Table
    from headrank.training.design import HoldoutFile
    from headrank.training.handover import Handover
    from headrank.training.table_info import DataSource


_FOREIGN = (".xlsx", ".xls", ".ods", ".json", ".jsonl", ".feather", ".arrow", ".orc", ".dta", ".zip", ".html")
"""Suffixes of common table formats that are not supported."""


@dataclass(frozen=True, eq=False)
class Source:
    """Features, labels, queries, ids, groups, times and folds of the rows, their origin, and a given holdout."""

    features: Handover
    y: BoolVector
    source: DataSource
    sha256: str
    qid: npt.NDArray[Any] | None = None
    ids: npt.NDArray[Any] | None = None
    groups: npt.NDArray[Any] | None = None
    times: npt.NDArray[Any] | None = None
    folds: npt.NDArray[Any] | None = None
    test: HoldoutFile | None = None


def is_table(data: Path) -> bool:
    """Whether the file is a table, by its suffix. Unsupported suffixes raise; anything else is read as svmlight."""
    from headrank.readers.opening import SUFFIXES

    if data.suffix.lower() in _FOREIGN:
        raise CommandError(
            f"{data} cannot be read: {data.suffix} files are not supported; save the table as .csv or .parquet"
        )
    return data.name.lower().endswith(SUFFIXES)


def table_source(
    data: Path,
    *,
    target: str,
    qid: str | None = None,
    id: str | None = None,  # noqa: A002
    group: str | None = None,
    time: str | None = None,
    fold: str | None = None,
    drop: tuple[str, ...] = (),
    positive: str | None = None,
    test: Path | None = None,
) -> Source:
    """Read a table, and a given holdout with the same columns."""
    from headrank.readers import read_table
    from headrank.readers.tables import table_columns
    from headrank.training.design import HoldoutFile
    from headrank.training.handover import Handover
    from headrank.training.holdout_time import times_of
    from headrank.training.table_info import DataSource

    read_rows = partial(read_table, target=target, qid=qid, id=id, group=group, time=time, pos_label=positive)

    def times(table: Table, path: Path) -> npt.NDArray[Any] | None:
        return None if table.times is None else times_of(table.times, f"column {time!r} of {path.name}")

    with about_input(data):
        table = read_rows(data, fold=fold, drop=drop)
        source = DataSource(
            source=data.name,
            target=target,
            positive=table.positive,
            id_column=id,
            qid_column=qid,
            group_column=group,
            time_column=time,
            fold_column=fold,
            dropped=drop,
        )
        read = Source(
            Handover(table.features),
            table.y,
            source,
            sha256_of(data),
            table.qid,
            table.ids,
            table.groups,
            times(table, data),
            table.folds,
        )
    if test is None:
        return read
    with about_input(test):
        unused = [name for name in (*drop, *([] if fold is None else [fold])) if name in table_columns(test)]
        other = read_rows(test, drop=unused)
        return replace(
            read,
            test=HoldoutFile(
                Handover(other.features),
                other.y,
                source=test.name,
                sha256=sha256_of(test),
                qid=other.qid,
                ids=other.ids,
                groups=other.groups,
                times=times(other, test),
            ),
        )


def svmlight_source(
    data: Path, *, positive: str | None = None, zero_based: bool = False, test: Path | None = None
) -> Source:
    """Read an svmlight or LETOR file, and a given holdout; rows labelled at least ``positive`` are positive.

    Feature j becomes column j, whether the file counts from 0 or from 1, so that a file to score cannot be shifted
    against the training file. If it counts from 1, column 0 is empty. Whether it counts from 0, as it does if a feature
    0 occurs, is recorded for matrices that were read by other programs.
    """
    from headrank.readers import read_svmlight
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
        rows = read_svmlight(data, relevant=least, zero_based=True)
        _require_usable(data, rows.X)
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
        read = Source(Handover(rows.X), rows.y, source, sha256_of(data), rows.qid)
    if test is None:
        return read
    from headrank.training.design import HoldoutFile

    with about_input(test):
        other = read_svmlight(test, relevant=least, zero_based=True)
        _require_usable(test, other.X)
        return replace(read, test=HoldoutFile(Handover(other.X), other.y, test.name, sha256_of(test), other.qid))


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


def sha256_of(data: Path) -> str:
    """Return the hash of a file."""
    with data.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()

"""Where the rows of ``headrank fit`` come from: a table, or an svmlight or LETOR file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import typer

from headrank._types import BoolVector
from headrank.cli._failures import Refusal, about_input

if TYPE_CHECKING:
    from headrank.training.handover import Handover
    from headrank.training.table_info import DataSource


_FOREIGN = (".xlsx", ".xls", ".ods", ".json", ".jsonl", ".feather", ".arrow", ".orc", ".dta", ".zip", ".html")
"""How the names of tables end that people have and that are not read."""


@dataclass(frozen=True, eq=False)
class Source:
    """Rows that were read, their labels and names, and where they come from."""

    features: Handover
    y: BoolVector
    source: DataSource
    sha256: str
    qid: npt.NDArray[Any] | None = None
    ids: npt.NDArray[Any] | None = None


def is_table(data: Path) -> bool:
    """Whether the name is that of a table; what is neither known nor foreign is taken for svmlight."""
    from headrank.readers.opening import SUFFIXES

    if data.suffix.lower() in _FOREIGN:
        raise Refusal(f"{data} cannot be read, as it ends in {data.suffix}; save the table as .csv or .parquet")
    return data.name.lower().endswith(SUFFIXES)


def table_source(
    data: Path,
    *,
    target: str,
    qid: str | None = None,
    id: str | None = None,  # noqa: A002
    drop: tuple[str, ...] = (),
    positive: str | None = None,
) -> Source:
    """Read a table."""
    from headrank.readers import read_table
    from headrank.training.handover import Handover
    from headrank.training.table_info import DataSource

    with about_input(data):
        table = read_table(data, target=target, qid=qid, id=id, drop=drop, pos_label=positive)
        source = DataSource(
            source=data.name,
            target=target,
            positive=table.positive,
            id_column=id,
            qid_column=qid,
            dropped=drop,
        )
        return Source(Handover(table.features), table.y, source, _sha256(data), table.qid, table.ids)


def svmlight_source(data: Path, *, positive: str | None = None, zero_based: bool = False) -> Source:
    """Read an svmlight or LETOR file; rows labelled at least ``positive`` are positive.

    The number of a feature is that of its column, so that files that count from 0 and from 1 are read alike, and a file
    to score cannot be shifted against that of the training; of a file that counts from 1, column 0 is empty. Whether it
    counts from 0, as it does if a feature 0 occurs, is remembered for matrices that are read by other programs.
    """
    from headrank.readers import read_svmlight
    from headrank.training.handover import Handover
    from headrank.training.table_info import DataSource

    try:
        least = 1.0 if positive is None else float(positive)
    except ValueError:
        raise typer.BadParameter(
            f"labels of an svmlight file are numbers; needed the least one that means positive, got {positive!r}",
            param_hint="'--positive'",
        ) from None
    with about_input(data):
        rows = read_svmlight(data, relevant=least, zero_based=True)
        _require_usable(data, rows.X)
        if not 0 < rows.y.sum() < rows.y.size:
            raise Refusal(
                f"{data} labels {int(rows.y.sum()):,} of {rows.y.size:,} rows {least:g} or more; needed some, and "
                "not all: say with --positive which label is the least that means positive"
            )
        source = DataSource(
            source=data.name,
            target="label",
            positive=f"{least:g} or more",
            qid_column=None if rows.qid is None else "qid",
            first_feature=0 if zero_based or (rows.X.indices == 0).any() else 1,
        )
        return Source(Handover(rows.X), rows.y, source, _sha256(data), rows.qid)


def _require_usable(data: Path, matrix: Any) -> None:
    """Refuse numbers that make nothing of the others: models see a feature divided by its largest value."""
    from headrank.training.columns import LARGEST

    too_large = np.flatnonzero(np.abs(matrix.data) > LARGEST)
    if not too_large.size:
        return
    at = int(too_large[0])
    row = int(np.searchsorted(matrix.indptr, at, side="right"))
    raise Refusal(
        f"{data} has {matrix.data[at]:g} for feature {matrix.indices[at]} in row {row:,}; needed numbers up to "
        f"{LARGEST:g}: mend it, or leave the feature out of the row, which then counts as 0"
    )


def _sha256(data: Path) -> str:
    with data.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()

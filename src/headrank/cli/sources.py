"""Where the rows of ``headrank fit`` come from: a table, or an svmlight or LETOR file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy.typing as npt
import typer

from headrank._types import BoolVector
from headrank.cli.failures import Refusal, about_input

if TYPE_CHECKING:
    from headrank.training.contest import Origin
    from headrank.training.train import Handover


@dataclass(frozen=True, eq=False)
class Source:
    """Rows that were read, their labels and names, and where they come from."""

    features: Handover
    y: BoolVector
    origin: Origin
    qid: npt.NDArray[Any] | None = None
    ids: npt.NDArray[Any] | None = None


def is_table(data: Path) -> bool:
    """Whether the name is that of a table; everything else is taken for svmlight."""
    from headrank.datasets.opening import SUFFIXES

    return data.name.lower().endswith(SUFFIXES)


def table_source(
    data: Path,
    *,
    command: str,
    target: str,
    qid: str | None = None,
    id: str | None = None,  # noqa: A002
    drop: tuple[str, ...] = (),
    positive: str | None = None,
) -> Source:
    """Read a table."""
    from headrank.datasets import read_table
    from headrank.training.contest import Origin
    from headrank.training.train import Handover

    with about_input(data):
        table = read_table(data, target=target, qid=qid, id=id, drop=drop, pos_label=positive)
        origin = Origin(
            source=data.name,
            sha256=_sha256(data),
            target=target,
            positive=table.positive,
            id_column=id,
            qid_column=qid,
            dropped=drop,
            command=command,
        )
    return Source(Handover(table.features), table.y, origin, table.qid, table.ids)


def svmlight_source(data: Path, *, command: str, positive: str | None = None) -> Source:
    """Read an svmlight or LETOR file; rows labelled at least ``positive`` are positive."""
    from headrank.datasets import read_svmlight
    from headrank.training.contest import Origin
    from headrank.training.train import Handover

    try:
        least = 1.0 if positive is None else float(positive)
    except ValueError:
        raise typer.BadParameter(
            f"labels of an svmlight file are numbers; needed the least one that means positive, got {positive!r}",
            param_hint="'--positive'",
        ) from None
    with about_input(data):
        rows = read_svmlight(data, relevant=least)
        if not 0 < rows.y.sum() < rows.y.size:
            raise Refusal(
                f"{data} labels {int(rows.y.sum()):,} of {rows.y.size:,} rows {least:g} or more; needed some, and "
                "not all: say with --positive which label is the least that means positive"
            )
        origin = Origin(
            source=data.name,
            sha256=_sha256(data),
            target="label",
            positive=f"{least:g} or more",
            qid_column=None if rows.qid is None else "qid",
            command=command,
        )
    return Source(Handover(rows.X), rows.y, origin, rows.qid)


def _sha256(data: Path) -> str:
    with data.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()

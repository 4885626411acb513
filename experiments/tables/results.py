"""The results file: one row per cell and measure, written whole after each cell. A stopped run can be resumed."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from pathlib import Path

from experiments.tables.protocol import Cell, Outcome

_TYPES = {"str": str, "int": int, "float": float}


def read_results(file: Path) -> list[Outcome]:
    """Read the present results; none if there is no file."""
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as lines:
        kinds = {field.name: _TYPES[str(field.type)] for field in fields(Outcome)}
        return [Outcome(**{name: kinds[name](text) for name, text in row.items()}) for row in csv.DictReader(lines)]


def write_results(found: Iterable[Outcome], file: Path) -> None:
    """Write all results in order of their cells, atomically: an interrupted write leaves the old file."""
    ordered = sorted(found, key=lambda each: (each.table, each.task, each.split, each.method))
    part = file.with_suffix(".part")
    with part.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, [field.name for field in fields(Outcome)], lineterminator="\n")
        writer.writeheader()
        writer.writerows({**asdict(each), "value": f"{each.value:.6f}"} for each in ordered)
    os.replace(part, file)


def missing(cells: Sequence[Cell], found: Iterable[Outcome]) -> list[Cell]:
    """Return the cells without results."""
    known = {(each.table, each.task, each.split, each.method) for each in found}
    return [cell for cell in cells if (cell.table, cell.task, cell.split, cell.method) not in known]

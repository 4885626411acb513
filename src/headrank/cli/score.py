"""``headrank score``: score a table with a model from ``headrank fit``, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from headrank._format import percent, rounded_percent
from headrank._types import Vector
from headrank.cli import _options as options
from headrank.cli._failures import about_input, about_output, after_writing
from headrank.cli._inputs import input_of, layout_of
from headrank.cli._printing import console, print_json
from headrank.cli._progress import shown_share
from headrank.cli._scoring import FLAGGED, SCORE, WHY, checked_columns, loaded_model, require_output_name, scored_blocks

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

    from headrank.training.table_model import TableModel

_MOST_HELD = 50_000_000
"""Rows up to which all scores are held in memory, for a promise about the list."""


@dataclass(frozen=True, eq=False)
class _Tally:
    """Number of rows written and flagged, which is None without a threshold, and all scores if a promise needs them."""

    n_rows: int
    n_flagged: int | None
    scores: list[Vector]


def run(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file written by headrank fit.")],
    files: options.Data,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Output file, ending in .csv.")],
    id: options.Id = None,  # noqa: A002  # the name of the option
    drop: options.Drop = None,
    keep: options.Keep = None,
    why: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Name the N columns that raise each score most; slow for trees."),
    ] = 0,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    sheet: options.Sheet = None,
    block: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="Number of rows to read at a time.", rich_help_panel=options.INPUT),
    ] = 100_000,
    json: options.Json = False,
) -> None:
    """Score a table of any length with a model from headrank fit.

    Writes a CSV file with the id (or row number, from 1), score, flagged, why (with --why) and the --keep columns, in
    the order of the rows. Column names are checked before any row is read.

    Example: headrank score result/model new.csv --out scores.csv --id patient --keep ill --keep clinic
    """
    data = input_of(files, layout_of(separator, decimal, sheet, files))
    require_output_name(out, data)
    fitted = loaded_model(model)
    with about_input(data):
        copied = checked_columns(fitted, data, id, drop or [], keep or [])
        copied = replace(copied, own=(*copied.own, *([WHY] if why else [])))
    with shown_share(f"scoring {data.name}") as advance:
        blocks = scored_blocks(fitted, data, copied, n_rows=block, advance=advance, why=why)
        with about_output(out):
            tally = _written(out, fitted, blocks)
    with after_writing(out):
        promise = _list_promise(fitted, tally)
        if json:
            print_json(
                {
                    "command": "score",
                    "source": data.name,
                    "model": fitted.name,
                    "out": out,
                    "n_rows": tally.n_rows,
                    "n_flagged": tally.n_flagged,
                    "threshold": fitted.threshold,
                    "promise": fitted.promise,
                    "list_promise": promise,
                }
            )
        screen = console(as_json=json)
        _print(screen, fitted, tally, out)
        if promise is not None:
            screen.print(f"{promise[:1].upper()}{promise[1:]}.")


def _written(out: Path, fitted: TableModel, blocks: Iterator[pl.DataFrame]) -> _Tally:
    """Write the blocks one by one; the file appears only when the last one is written."""
    from headrank._whole_files import write_file

    def write(unfinished: Path) -> _Tally:
        n_rows = n_flagged = 0
        scores: list[Vector] = []
        # Several rows of a group are not independent draws.
        promising = fitted.holdout_scores is not None and fitted.group_column is None
        with unfinished.open("w", encoding="utf-8", newline="") as stream:
            for frame in blocks:
                # polars prints the shortest decimal that reads back as the same number. Python writes the file, so
                # that a full disk raises an error with an errno.
                stream.write(frame.write_csv(include_header=n_rows == 0))
                n_rows += frame.height
                n_flagged += int(frame[FLAGGED].sum()) if FLAGGED in frame.columns else 0
                if promising and n_rows <= _MOST_HELD:
                    scores.append(frame[SCORE].to_numpy())
                else:
                    scores.clear()
        return _Tally(n_rows, None if fitted.threshold is None else n_flagged, scores)

    return write_file(out, write)


def _list_promise(fitted: TableModel, tally: _Tally) -> str | None:
    """Say how many of the flagged rows, or of the first ones, are positive, at least; None if nothing is promised."""
    if fitted.holdout_scores is None or not tally.scores:
        return None
    found = fitted.holdout_scores.certify_list(np.concatenate(tally.scores))
    k, which = (found.largest_list(0.5), "first") if tally.n_flagged is None else (tally.n_flagged, "flagged")
    if not (least := found.at_least(k)):
        return None
    return (
        f"at least {least:,} of the {k:,} {which} rows are positive, with {percent(found.confidence)} confidence, if "
        "negatives score like those of the holdout"
    )


def _print(screen: Console, fitted: TableModel, tally: _Tally, out: Path) -> None:
    screen.print(f"Scored {tally.n_rows:,} rows with the model ({fitted.name}) and wrote them to {out}.")
    if tally.n_flagged is None:
        screen.print(f"No rows are flagged, because the model has no threshold: {fitted.promise}")
    else:
        promise = f"{fitted.promise[:1].upper()}{fitted.promise[1:]}"
        share = rounded_percent(tally.n_flagged / tally.n_rows)
        screen.print(
            f"Flagged {tally.n_flagged:,} rows ({share}). The guarantee is about the rate over many future rows; "
            f"a single batch varies by chance. From the report: {promise}"
        )

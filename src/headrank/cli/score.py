"""``headrank score``: score a table with a model from ``headrank fit``, block by block."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from headrank._format import counted, percent, rounded_percent
from headrank._types import Vector
from headrank.cli import _options as options
from headrank.cli._best import BestRows
from headrank.cli._drift import counter_of, print_drift
from headrank.cli._failures import DRIFT, CommandError, about_input, about_output, after_writing
from headrank.cli._inputs import input_of, layout_of
from headrank.cli._printing import console, print_json
from headrank.cli._progress import shown_share
from headrank.cli._scoring import (
    FLAGGED,
    SCORE,
    WHY,
    ScoredBlock,
    checked_columns,
    loaded_model,
    reasons_of,
    require_output_name,
    scored_blocks,
)
from headrank.exceptions import ShiftedScoresWarning

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

    from headrank.cli._drift import DriftCounter
    from headrank.training.table_model import TableModel

_MOST_HELD = 50_000_000
"""Rows up to which all scores are held in memory, for a promise about the list."""


@dataclass(frozen=True)
class _Request:
    """Which rows to write: the best ones, all of them sorted, or all as they come; and how many reasons."""

    best: int | None
    sorted: bool
    why: int

    @property
    def in_order(self) -> bool:
        """Whether rows are written as they come."""
        return self.best is None and not self.sorted


@dataclass(frozen=True, eq=False)
class _Tally:
    """Rows scored, written and flagged (None without a threshold), tied rows left out, and scores for a promise.

    ``scores`` has the best rows with --best; otherwise all rows, or none if no promise is made.
    """

    n_rows: int
    n_written: int
    n_flagged: int | None
    n_tied: int
    scores: Vector


def run(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model or output folder of headrank fit.")],
    files: options.Data,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Output file, ending in .csv.")],
    best: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Write only the N best rows of this file, best first.")
    ] = None,
    sorted: Annotated[  # noqa: A002  # the name of the option
        bool, typer.Option("--sorted", help="Write all rows, best first; the output is held in memory.")
    ] = False,
    id: options.Id = None,  # noqa: A002
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
    fail_on_drift: Annotated[
        bool, typer.Option("--fail-on-drift", help="Exit with code 6 if the rows differ from those of the holdout.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Also print what the threshold guarantees.")] = False,
    json: options.Json = False,
) -> None:
    """Score a table of any length with a model from headrank fit, and say whether its rows have changed.

    Writes a CSV file with the id (or row number, from 1), score, flagged, why (with --why) and the --keep columns, in
    the order of the rows, or best first with --best and --sorted. Column names are checked before any row is read.

    Example: headrank score result/model new.csv --out week.csv --id patient --best 200 --why 3
    """
    data = input_of(files, layout_of(separator, decimal, sheet, files))
    require_output_name(out, data)
    fitted = loaded_model(model)
    with about_input(data):
        copied = checked_columns(fitted, data, id, drop or [], keep or [])
        copied = replace(copied, own=(*copied.own, *([WHY] if why else [])))
    request = _Request(best, sorted, why)
    drifting = counter_of(fitted, data, copied, required=fail_on_drift)
    with shown_share(f"scoring {data.name}") as advance:
        # The best rows are explained at the end, and only they.
        blocks = scored_blocks(
            fitted, data, copied, n_rows=block, advance=advance, why=why if request.best is None else 0
        )
        with about_output(out):
            tally = _written(out, fitted, blocks, request, drifting)
    drift = None if drifting is None else drifting.drift()
    with after_writing(out):
        promise = _list_promise(fitted, tally, request, drifted=drift is not None and drift.found)
        flagged = _FlaggedShare.of(fitted, tally)
        if json:
            print_json(
                {
                    "command": "score",
                    "source": data.name,
                    "model": fitted.name,
                    "out": out,
                    "n_rows": tally.n_rows,
                    "n_written": tally.n_written,
                    "n_tied_with_last": tally.n_tied,
                    "n_flagged": tally.n_flagged,
                    "flagged_share": flagged.share,
                    "holdout_flagged_share": flagged.of_holdout,
                    "promised_flagged_share": flagged.promised,
                    "threshold": fitted.threshold,
                    "promise": fitted.promise,
                    "list_promise": promise,
                    "drift": None if drift is None else drift.as_dict(),
                }
            )
        screen = console(as_json=json)
        _print(screen, fitted, tally, request, out)
        screen.print(f"{flagged}{_explained(fitted, flagged) if verbose else ''}")
        if promise is not None:
            screen.print(f"{promise[:1].upper()}{promise[1:]}.")
        if drift is not None:
            print_drift(drift, as_json=json)
            if fail_on_drift and drift.found:
                raise CommandError(f"{data} differs from the holdout of the model; {out} was written", DRIFT)


def _written(
    out: Path, fitted: TableModel, blocks: Iterator[ScoredBlock], request: _Request, drifting: DriftCounter | None
) -> _Tally:
    """Write the rows; the file appears only when the last one is written."""
    from headrank._whole_files import write_file

    counting = _Counting(fitted, drifting, hold_scores=request.best is None)

    def write(unfinished: Path) -> _Tally:
        with unfinished.open("w", encoding="utf-8", newline="") as stream:
            # polars prints the shortest decimal that reads back as the same number. Python writes the file, so that a
            # full disk raises an error with an errno.
            if request.in_order:
                for number, frame in enumerate(counting.of(blocks)):
                    stream.write(frame.write_csv(include_header=number == 0))
                return counting.tally(counting.n_rows)
            table, n_tied = _in_rank_order(fitted, blocks, counting, request)
            stream.write(table.write_csv())
        head = table[SCORE].to_numpy() if request.best is not None and counting.promising else None
        return counting.tally(table.height, n_tied, head)

    return write_file(out, write)


def _in_rank_order(
    fitted: TableModel, blocks: Iterator[ScoredBlock], counting: _Counting, request: _Request
) -> tuple[pl.DataFrame, int]:
    """Return the best rows, or all, best first, and the number of tied rows that are left out."""
    import polars as pl

    if request.best is None:
        table = pl.concat([*counting.of(blocks)])
        return table[np.argsort(-table[SCORE].to_numpy(), kind="stable")], 0
    found = BestRows(request.best, with_features=request.why > 0)
    for block in blocks:
        counting.add(block)
        found.add(block.frame, block.features)
    assert found.frame is not None
    if not request.why:
        return found.frame, found.n_tied
    texts = reasons_of(fitted, found.features, request.why)
    at = found.frame.get_column_index(FLAGGED if FLAGGED in found.frame.columns else SCORE) + 1
    return found.frame.insert_column(at, pl.Series(WHY, texts, dtype=pl.String)), found.n_tied


class _Counting:
    """Counts rows and flagged rows on their way, and holds scores if a promise needs them."""

    def __init__(self, fitted: TableModel, drifting: DriftCounter | None, *, hold_scores: bool) -> None:
        # Several rows of a group are not independent draws.
        self.promising = fitted.holdout_scores is not None and fitted.group_column is None
        self.n_rows = self._n_flagged = 0
        self._flags = fitted.threshold is not None
        self._scores: list[Vector] = []
        self._drifting, self._hold = drifting, hold_scores and self.promising

    def add(self, block: ScoredBlock) -> None:
        """Count the rows of a block."""
        frame = block.frame
        self.n_rows += frame.height
        self._n_flagged += int(frame[FLAGGED].sum()) if self._flags else 0
        if self._drifting is not None:
            self._drifting.add(block)
        if self._hold and self.n_rows <= _MOST_HELD:
            self._scores.append(frame[SCORE].to_numpy())
        else:
            self._scores.clear()

    def of(self, blocks: Iterator[ScoredBlock]) -> Iterator[pl.DataFrame]:
        """Count the rows of all blocks, and pass them on."""
        for block in blocks:
            self.add(block)
            yield block.frame

    def tally(self, n_written: int, n_tied: int = 0, scores: Vector | None = None) -> _Tally:
        """Return the counts."""
        held = np.concatenate([np.zeros(0), *self._scores]) if scores is None else scores
        return _Tally(self.n_rows, n_written, self._n_flagged if self._flags else None, n_tied, held)


def _list_promise(fitted: TableModel, tally: _Tally, request: _Request, *, drifted: bool) -> str | None:
    """Say how many of the flagged rows, or of the first ones, are positive, at least; None if nothing is promised."""
    if fitted.holdout_scores is None or not tally.scores.size:
        return None
    confidence = 0.95
    if request.best is not None:
        k, which = tally.n_written, "best"
        least = fitted.holdout_scores.at_least_in_head(tally.scores, tally.n_rows, confidence=confidence)
    else:
        with warnings.catch_warnings():
            if drifted:  # which is said in more detail
                warnings.simplefilter("ignore", ShiftedScoresWarning)
            found = fitted.holdout_scores.certify_list(tally.scores, confidence=confidence)
        k, which = (found.largest_list(0.5), "first") if tally.n_flagged is None else (tally.n_flagged, "flagged")
        least = found.at_least(k)
    if not least:
        return None
    return (
        f"at least {least:,} of the {k:,} {which} rows are positive, with {percent(confidence)} confidence, if "
        f"negatives score like those of the holdout{', which the drift puts in doubt' if drifted else ''}"
    )


@dataclass(frozen=True)
class _FlaggedShare:
    """Flagged rows of the file and of the holdout, and how many were promised at most; None where that is not known."""

    n: int | None
    share: float | None
    of_holdout: float | None
    promised: float | None

    @classmethod
    def of(cls, fitted: TableModel, tally: _Tally) -> _FlaggedShare:
        if tally.n_flagged is None:
            return cls(None, None, None, None)
        known = None if fitted.profile is None else fitted.profile.scores
        of_holdout = None if known is None or known.n_flagged is None else known.n_flagged / known.n_rows
        return cls(tally.n_flagged, tally.n_flagged / tally.n_rows, of_holdout, fitted.goal.top)

    def __str__(self) -> str:
        if self.n is None or self.share is None:
            return "No rows are flagged, because the model has no threshold."
        than = "" if self.of_holdout is None else f"; of the holdout {rounded_percent(self.of_holdout)}"
        most = "" if self.promised is None else f"; promised: at most {percent(self.promised)}"
        return f"Flagged {counted(self.n, 'row')} ({rounded_percent(self.share)}{than}{most})."


def _explained(fitted: TableModel, flagged: _FlaggedShare) -> str:
    promise = f"{fitted.promise[:1].upper()}{fitted.promise[1:]}"
    if flagged.n is None:
        return f" {promise}"
    return (
        " The guarantee is about the rate over many future rows; a single batch varies by chance. From the report: "
        f"{promise}"
    )


def _print(screen: Console, fitted: TableModel, tally: _Tally, request: _Request, out: Path) -> None:
    start = f"Scored {counted(tally.n_rows, 'row')} with the model ({fitted.name}) and wrote"
    if request.best is None:
        screen.print(f"{start} them to {out}{', best first' if request.sorted else ''}.")
        return
    few = "" if tally.n_rows >= request.best else f", all there are instead of {request.best:,}"
    screen.print(f"{start} the best {tally.n_written:,} to {out}, best first{few}.")
    if tally.n_tied:
        has, they = ("row has", "it comes") if tally.n_tied == 1 else ("rows have", "they come")
        screen.print(
            f"Ties were cut by the order of the rows: {tally.n_tied:,} more {has} the score of the last one, but "
            f"{they} later in the file."
        )

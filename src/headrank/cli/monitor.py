"""``headrank monitor``: a report over time on a model in use."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from headrank._format import counted, rounded_percent
from headrank._format import decimal as shown_decimal
from headrank._types import BoolVector, Vector
from headrank.cli import _options as options
from headrank.cli._drift import DriftCounter, why_not_tested
from headrank.cli._failures import about_input, about_output, after_writing
from headrank.cli._inputs import Input, input_of, layout_of
from headrank.cli._printing import console, print_json
from headrank.cli._progress import shown_share
from headrank.cli._scoring import (
    FLAGGED,
    LABEL,
    SCORE,
    Copied,
    ScoredBlock,
    checked_columns,
    loaded_model,
    scored_blocks,
)

if TYPE_CHECKING:
    from rich.console import Console

    from headrank.reports import MonitorSummary
    from headrank.training.monitoring import Batch
    from headrank.training.table_model import TableModel

_N_ROWS = 100_000
"""Number of rows to read at a time."""
_WIDEST_NAME = 24


@dataclass(frozen=True, eq=False)
class _Labelled:
    """Labels, scores, and groups or queries of rows whose label has come in."""

    y: BoolVector
    scores: Vector
    units: Any


def run(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model or output folder of headrank fit.")],
    files: Annotated[
        list[Path], typer.Argument(metavar="DATA...", help="Files as for headrank score, in the order of time.")
    ],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Output folder.")],
    drop: options.Drop = None,
    confidence: Annotated[
        float, typer.Option("--confidence", metavar="P", help="Confidence of all statements together.")
    ] = 0.95,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    sheet: options.Sheet = None,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
) -> None:
    """Report on a model in use: flagged rows, drift and, where labels have come in, whether its promises hold.

    Each file is a period, such as a week. Rows with a value in the target column are labelled. Writes monitor.html and
    monitor.json. All statements about all files hold simultaneously.

    Example: headrank monitor result weeks/*.csv --out monitor
    """
    from headrank._whole_files import write_folder
    from headrank.reports import monitor_summary, render_monitor_html, render_monitor_json
    from headrank.training.monitoring import N_STATEMENTS

    sure = options.confidence_of(confidence)
    fitted = loaded_model(model)
    layout = layout_of(separator, decimal, sheet, files)
    data = [input_of([file], layout) for file in files]
    copied = [_checked(fitted, each, drop or []) for each in data]

    def fill(folder: Path) -> MonitorSummary:
        batches = []
        with shown_share(f"scoring {counted(len(data), 'file')}") as advance:
            for number, (file, columns) in enumerate(zip(data, copied, strict=True)):
                advance(number / len(data))
                batches.append(_batch(fitted, file, columns, risk=(1 - sure) / (N_STATEMENTS * len(data))))
        summary = monitor_summary(fitted, batches, confidence=sure)
        (folder / "monitor.html").write_text(render_monitor_html(summary), encoding="utf-8")
        (folder / "monitor.json").write_text(render_monitor_json(summary), encoding="utf-8")
        return summary

    with about_output(out):
        summary = write_folder(out, fill, overwrite=overwrite)
    with after_writing(out):
        if json:
            print_json(asdict(summary))
        _print(console(as_json=json), summary, out)


def _checked(fitted: TableModel, file: Input, drop: list[str]) -> Copied:
    """Check the columns of a file before any is scored; copy the target, if there is one."""
    with about_input(file):
        if not fitted.columns:
            return checked_columns(fitted, file, None, drop, [])
        from headrank.readers.tables import table_columns

        names = table_columns(file.tables)
        present = [name for name in drop if name in names]  # not every file needs to have them
        return checked_columns(fitted, file, None, present, [fitted.target] if fitted.target in names else [])


def _batch(fitted: TableModel, file: Input, copied: Copied, *, risk: float) -> Batch:
    """Score a file, count its rows and collect its labels."""
    from headrank.training.monitoring import Batch, labelled_part, rate_limits

    counter = None if why_not_tested(fitted, file, copied) else DriftCounter(fitted)
    groups = fitted.group_column is not None
    n_rows = n_counted = n_flagged = 0
    parts: list[_Labelled] = []
    for block in scored_blocks(fitted, file, copied, n_rows=_N_ROWS, advance=lambda _share: None):
        drawn = slice(None) if counter is None else counter.add(block)
        flags = block.frame[FLAGGED].to_numpy() if FLAGGED in block.frame.columns else None
        n_rows += block.frame.height
        if flags is not None:
            n_counted += flags[drawn].size
            n_flagged += int(flags[drawn].sum())
        with about_input(file):
            parts += _labels(fitted, block, copied, file)
    labelled = _joined(parts)
    if labelled is not None and not fitted.columns and labelled.y.all() == labelled.y.any():
        labelled = None  # an svmlight file always has labels; if all are equal, they say nothing
    known = None if fitted.profile is None else fitted.profile.scores
    flagged = None
    if fitted.threshold is not None and n_counted and (counter is not None or not groups):
        flagged = rate_limits(n_flagged, n_counted, risk=risk, most=fitted.goal.top)
    measured = None
    if labelled is not None and (labelled.units is not None or not (groups or fitted.qid_column)):
        measured = labelled_part(
            labelled.y,
            labelled.scores,
            labelled.units,
            goal=fitted.goal,
            by_query=fitted.qid_column is not None,
            threshold=fitted.threshold,
            reference=known,
            risk=risk,
        )
    drift = None if counter is None else counter.drift(risk=risk)
    return Batch(file.name, n_rows, n_counted, flagged, drift, measured)


def _labels(fitted: TableModel, block: ScoredBlock, copied: Copied, file: Input) -> list[_Labelled]:
    """Return the rows of a block that have a label."""
    from headrank.readers.opening import MISSING
    from headrank.training.monitoring import labels_of

    scores = block.frame[SCORE].to_numpy()
    if not fitted.columns:
        y = block.frame[copied.names[LABEL]].to_numpy().astype(bool)
        known = np.ones(y.size, dtype=bool)
    elif fitted.target not in copied.keep:
        return []
    else:
        import polars as pl

        column = block.frame[copied.names[fitted.target]].cast(pl.String)
        column = column.set(column.is_in(MISSING), None)
        y, known = labels_of(column, fitted.positive, f"column {fitted.target!r} of {file}")
    units = None
    if block.units is not None:
        known &= block.units.is_not_null().to_numpy()
        units = block.units.to_numpy()[known]
    return [_Labelled(y[known], scores[known], units)] if known.any() else []


def _joined(parts: list[_Labelled]) -> _Labelled | None:
    if not parts:
        return None
    units = None if parts[0].units is None else np.concatenate([each.units for each in parts])
    return _Labelled(np.concatenate([each.y for each in parts]), np.concatenate([each.scores for each in parts]), units)


def _print(screen: Console, summary: MonitorSummary, out: Path) -> None:
    for sentence in summary.sentences:
        screen.print(sentence)
    width = min(max(len(each.name) for each in summary.batches), _WIDEST_NAME)
    screen.print(f"\n{'file':<{width}} {'rows':>11} {'flagged':>8} {summary.measure:>12}  promise  drift")
    for each in summary.batches:
        name = each.name if len(each.name) <= width else f"{each.name[: width - 3]}..."
        flagged = "" if each.flagged is None else rounded_percent(each.flagged.estimate)
        found = None if each.labelled is None else each.labelled.measure
        measured = "" if found is None else shown_decimal(found.estimate)
        drift = "not tested" if each.drift is None else ", ".join(c.column for c in each.drift.changes[:3]) or "none"
        screen.print(
            f"{name:<{width}} {each.n_rows:>11,} {flagged:>8} {measured:>12}  {each.verdict or '':<7}  {drift}"
        )
    screen.print(f"\nWrote monitor.html and monitor.json about {counted(len(summary.batches), 'file')} to {out}.")

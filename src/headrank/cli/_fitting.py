"""The work of ``headrank fit``: read, train, evaluate and write all files, or none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Literal

from headrank._format import minutes
from headrank.cli._failures import CommandError, about_output, after_writing
from headrank.cli._printing import console
from headrank.cli._progress import shown_progress
from headrank.workflow.files import MODEL, RANKED, REPORT, RESULT, write_training

if TYPE_CHECKING:
    from headrank.cli._sources import Source
    from headrank.reports import Summary
    from headrank.training.goal import Goal
    from headrank.training.progress import Progress
    from headrank.training.result import TrainingResult

_WHAT = {
    REPORT: "the report, one self-contained file",
    RANKED: "the holdout, ranked, best first",
    MODEL: "the model, for headrank score and choose",
    RESULT: "all numbers as JSON",
}


_WIDTH_OF_TEXT = 100
"""Of the summary in a file, where lines have no end otherwise."""


@dataclass(frozen=True)
class FitOptions:
    """Training options, and the command to print in the report."""

    goal: Goal
    holdout: float | None = None
    models: Literal["all", "linear", "trees"] = "all"
    max_minutes: float | None = None
    confidence: float = 0.95
    seed: int = 0
    calibration: bool = True
    onnx_only: bool = False
    positive_name: str = ""
    command: str = ""


def fit_and_write(
    source: Callable[[Path], Source],
    options: FitOptions,
    *,
    out: Path,
    overwrite: bool = False,
    as_json: bool = False,
    verbose: bool = False,
) -> None:
    """Train and write all files. The output folder is checked first, before hours of training.

    ``source`` reads the rows; it may write files to the folder that it is given. The answer on the screen is short
    unless ``verbose``.
    """
    from headrank._whole_files import write_folder
    from headrank.reports import render_json

    def fill(folder: Path) -> Summary:
        with shown_progress() as progress:
            result = _trained(lambda: source(folder), options, progress)
            progress("writing the report", 0, 1)
            summary = _write(result, folder, options.calibration)
            progress("writing the report", 1, 1)
        return summary

    started = perf_counter()
    with about_output(out):
        summary = write_folder(out, fill, overwrite=overwrite)
    with after_writing(out):
        _print(summary, out, perf_counter() - started, as_json=as_json, verbose=verbose)
        if as_json:
            print(render_json(summary), end="")


def _print(summary: Summary, out: Path, seconds: float, *, as_json: bool, verbose: bool) -> None:
    from headrank.reports import render_brief, render_short

    screen = console(as_json=as_json)
    took = f"{seconds:.0f} s" if seconds < 60 else f"{minutes(seconds)} minutes"
    if not verbose:
        screen.print(render_short(summary, width=None), end="")
        screen.print(
            f"Finished in {took}. Look at {out / REPORT}, or give --verbose for more here. {out} also has {RANKED} "
            f"({_WHAT[RANKED]}), {MODEL} (for headrank score and choose) and {RESULT}."
        )
        return
    screen.print(render_brief(summary, width=min(screen.width, _WIDTH_OF_TEXT)))
    screen.print(f"Finished in {took}. Files in {out}:")
    for name, what in _WHAT.items():
        screen.print(f"  {name:<12} {what}")


def _trained(source: Callable[[], Source], options: FitOptions, progress: Progress) -> TrainingResult:
    from headrank.training.stored_table import StoredTable

    progress("reading", 0, 1)
    rows = source()
    progress("reading", 1, 1)
    if not isinstance(rows.features, StoredTable):
        return _train(rows, options, progress)
    try:
        return _train(rows, options, progress)
    except OSError as error:  # a file or a cluster went away while rows were read in parts
        raise CommandError(f"the rows cannot be read any more: {error}; nothing was written") from error


def _train(rows: Source, options: FitOptions, progress: Progress) -> TrainingResult:
    """Train. Rows that cannot be trained on raise InvalidSampleError; any other error is a bug."""
    from headrank.training.train import train

    return train(
        rows.features,
        rows.y,
        goal=options.goal,
        source=replace(rows.source, positive_name=options.positive_name),
        qid=rows.qid,
        ids=rows.ids,
        groups=rows.groups,
        times=rows.times,
        folds=rows.folds,
        test=rows.test,
        holdout=options.holdout,
        models=options.models,
        max_seconds=None if options.max_minutes is None else 60 * options.max_minutes,
        confidence=options.confidence,
        random_state=options.seed,
        onnx_only=options.onnx_only,
        sha256=rows.sha256,
        command=options.command,
        progress=progress,
    )


def _write(result: TrainingResult, folder: Path, calibration: bool) -> Summary:
    from headrank.reports import summarize

    summary = summarize(result)
    write_training(result, summary, folder, keep_scores=calibration)
    return summary

"""The files of a training: report, ranked holdout, model and numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headrank.reports import Summary
    from headrank.training.result import TrainingResult

MODEL, REPORT, RANKED, RESULT = "model", "report.html", "ranked.csv", "result.json"


def write_training(result: TrainingResult, summary: Summary, folder: Path, *, keep_scores: bool = True) -> None:
    """Write all files of a training to a folder; ``keep_scores``: with scores of holdout rows in the model."""
    from headrank.model_io import save
    from headrank.training.outputs import ranked, table_model

    save(table_model(result, keep_scores=keep_scores), folder / MODEL)
    write_report(summary, folder)
    # polars prints the shortest decimal that reads back as the same number.
    (folder / RANKED).write_text(ranked(result).write_csv(), encoding="utf-8")


def write_report(summary: Summary, folder: Path) -> None:
    """Write the report and its numbers to a folder."""
    from headrank.reports import render_html, render_json

    (folder / REPORT).write_text(render_html(summary), encoding="utf-8")
    (folder / RESULT).write_text(render_json(summary), encoding="utf-8")

"""The report of ``headrank evaluate --out``: report.html and result.json."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from headrank.cli._failures import about_input, about_output

if TYPE_CHECKING:
    from headrank.cli._samples import ScoredSample
    from headrank.reports import Summary
    from headrank.reports.contents import MeasureRow
    from headrank.training.goal import Goal
    from headrank.training.table_info import DataSource

DEFAULT_MAX_FPR = 0.05
"""The part of the list that matters if none is given."""


def write_evaluation(
    sample: ScoredSample,
    rows: tuple[MeasureRow, ...],
    out: Path,
    *,
    goal: Goal | None,
    source: DataSource,
    confidence: float,
    sha256: str,
    command: str,
    overwrite: bool = False,
) -> Summary:
    """Write the report on given scores to a folder, all files or none.

    Parameters
    ----------
    sample : ScoredSample
        Labels and scores.
    rows : tuple of MeasureRow
        What the command has measured.
    out : Path
        The folder.
    goal : Goal or None
        The part of the list that matters; by default false positive rates up to 0.05.
    source : DataSource
        Origin of the rows.
    confidence, sha256, command
        For the report.
    overwrite : bool, default=False
        Whether to replace the files of an earlier run.
    """
    from headrank._whole_files import write_folder
    from headrank.reports import summarize
    from headrank.reports.measured import measures_part
    from headrank.training.given_scores import result_of_scores
    from headrank.training.goal import Goal
    from headrank.workflow.files import write_report

    def fill(folder: Path) -> Summary:
        with about_input():
            result = result_of_scores(
                sample.y,
                sample.scores,
                goal=goal or Goal(max_fpr=DEFAULT_MAX_FPR),
                source=source,
                qid=sample.qid,
                confidence=confidence,
                sha256=sha256,
                command=command,
                n_without_label=sample.n_without_label,
            )
        summary = summarize(result, measures=measures_part(rows, confidence))
        write_report(summary, folder)
        return summary

    with about_output(out):
        return write_folder(out, fill, overwrite=overwrite)

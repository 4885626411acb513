"""``headrank evaluate``: measure scores, with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from headrank._format import lower_limit, shown, upper_limit
from headrank._types import BoolVector
from headrank.cli import _options as options
from headrank.cli._evaluation_report import write_evaluation
from headrank.cli._failures import about_input
from headrank.cli._printing import console, print_json
from headrank.cli._samples import ScoredSample, read_scores
from headrank.cli._sources import sha256_of
from headrank.workflow.files import REPORT

if TYPE_CHECKING:
    from rich.table import Table

    from headrank.bounds.interval import Interval
    from headrank.measures import Measure
    from headrank.training.goal import Goal
    from headrank.training.table_info import DataSource


@dataclass(frozen=True)
class _Finding:
    """The interval of a measure for one column of scores and one group (None: all rows), or why there is none."""

    score: str
    group: str | None
    interval: Interval | None
    no_interval: str = ""


def run(
    scores: options.Scores,
    target: options.Target,
    score: options.ManyScores,
    fpr: options.Fpr = None,
    top: options.Top = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Measure: auc, pauc@0.05, tpr@fpr=0.01, p@100, ...; may be repeated."),
    ] = None,
    group: Annotated[
        str | None, typer.Option(metavar="COL", help="Column of groups; also measure each group separately.")
    ] = None,
    qid: options.Qid = None,
    positive: options.Positive = None,
    positive_name: options.PositiveName = None,
    confidence: options.Confidence = 0.95,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for a report: report.html and result.json, as those of headrank fit."),
    ] = None,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
) -> None:
    """Measure scores, with intervals that hold for any distribution.

    With --out, also write a report with charts, operating points and a certified threshold for the part of the list
    that matters, by default false positive rates up to 0.05. Of several scorers it certifies the best.

    The scorers must not have been trained or selected on these rows.

    Example: headrank evaluate scores.csv --target ill --score model --fpr 0:0.02 --group hospital
    """
    goal = options.goal_of(fpr, top)
    measures = options.measures_of(measure) if measure else _usual_measures(goal)
    confidence = options.confidence_of(confidence)
    called = options.positive_name_of(positive_name)
    sample = read_scores(scores, target=target, scores=score, positive=positive, qid=qid, group=group)
    findings = list(_findings(sample, measures, confidence))
    if out is not None:
        columns: dict[str, Sequence[str | None]] = {
            "--target": [target],
            "--score": score,
            "--measure": measure or [],
            "--group": [group],
        }
        columns |= {"--qid": [qid], "--positive": [positive], "--positive-name": [positive_name]}
        write_evaluation(
            sample,
            [(one.score, one.group, one.interval) for one in findings if one.interval is not None],
            out,
            goal=goal,
            source=_source(scores, target, sample.positive, called, qid),
            confidence=confidence,
            sha256=sha256_of(scores),
            command=_command(scores.name, columns, goal, confidence),
            overwrite=overwrite,
        )
    if json:
        print_json(
            {
                "command": "evaluate",
                "source": scores.name,
                "target": target,
                "positive": sample.positive,
                **sample.counts,
                "confidence": confidence,
                "holds": "each interval by itself",
                "assumes": sample.assumption,
                "results": [
                    {"score": one.score, "group": one.group, **one.interval.as_dict()}
                    for one in findings
                    if one.interval is not None
                ],
                "not_measured": [
                    {"score": one.score, "group": one.group, "reason": one.no_interval}
                    for one in findings
                    if one.interval is None
                ],
            }
        )
    in_words = measures[0] if goal is None or measure else goal.measure
    _print(sample, findings, in_words, confidence, target, as_json=json)
    if out is not None:
        console(as_json=json).print(f"The report is {out / REPORT}.")


def _source(scores: Path, target: str, positive: str, positive_name: str, qid: str | None) -> DataSource:
    from headrank.training.table_info import DataSource

    return DataSource(source=scores.name, target=target, positive=positive, positive_name=positive_name, qid_column=qid)


def _command(name: str, options: Mapping[str, Sequence[str | None]], goal: Goal | None, confidence: float) -> str:
    """Return the command that reproduces the report, without local folders."""
    words = ["headrank evaluate", quote(name)]
    words += [f"{option} {quote(value)}" for option, values in options.items() for value in values if value is not None]
    words += [] if goal is None else [goal.option]
    words += [] if confidence == 0.95 else [f"--confidence {shown(confidence)}"]
    return " ".join([*words, "--out report"])


def _usual_measures(goal: Goal | None) -> list[Measure]:
    """Return the default measures for the part of the list that matters."""
    from headrank.measures import AUC, PartialAUC, PrecisionAt, RecallAt, TPRAtFPR

    if goal is None:
        return [AUC(), PartialAUC(max_fpr=0.05), TPRAtFPR(0.05), PrecisionAt(0.05), RecallAt(0.05)]
    if goal.top is not None:
        return [AUC(), goal.measure, goal.headline, RecallAt(goal.top)]
    return [AUC(), goal.measure, goal.headline]


def _findings(sample: ScoredSample, measures: list[Measure], confidence: float) -> Iterator[_Finding]:
    everything = np.ones(sample.y.size, dtype=bool)
    groups: list[tuple[str | None, BoolVector]] = [(None, everything)]
    if sample.groups is not None:
        groups += [(str(name), sample.groups == name) for name in np.unique(sample.groups)]
    for group, rows in groups:
        n_rows, n_pos = int(rows.sum()), int(sample.y[rows].sum())
        for score in sample.scores:
            if n_pos in (0, n_rows):
                kind = "positive" if n_pos else "negative"
                yield _Finding(score, group, None, f"all {n_rows:,} rows are {kind}")
                continue
            for measure in measures:
                yield _measured(sample, score, group, rows, measure, confidence)


def _measured(
    sample: ScoredSample, score: str, group: str | None, rows: BoolVector, measure: Measure, confidence: float
) -> _Finding:
    from headrank.bounds.intervals import interval
    from headrank.exceptions import OneClassError

    qid = None if sample.qid is None else sample.qid[rows]
    with about_input():
        try:
            found = interval(
                sample.y[rows], sample.scores[score][rows], measure=measure, confidence=confidence, qid=qid
            )
        except OneClassError as error:
            if group is None:
                raise
            return _Finding(score, group, None, str(error))
    return _Finding(score, group, found)


def _print(
    sample: ScoredSample,
    findings: list[_Finding],
    in_words: Measure,
    confidence: float,
    target: str,
    *,
    as_json: bool,
) -> None:
    from headrank._format import percent

    screen = console(as_json=as_json)
    counts = sample.counts
    screen.print(
        f"{counts['n_rows']:,} rows: {counts['n_pos']:,} positive ({target} = {sample.positive}) and "
        f"{counts['n_neg']:,} negative."
    )
    screen.print(_table(findings, with_scores=len(sample.scores) > 1, with_groups=sample.groups is not None))
    for group, reason in dict.fromkeys((one.group, one.no_interval) for one in findings if one.interval is None):
        screen.print(f"Group {group} is not measured: {reason}.")
    finite = all(one.interval.finite_sample for one in findings if one.interval is not None)
    kind = ", for any distribution and any sample size" if finite else ""
    screen.print(
        f"Each interval holds individually with {percent(confidence)} confidence{kind}; their simultaneous confidence "
        f"is lower. {sample.assumption}"
    )
    for one in findings:
        if one.group is None and one.interval is not None and one.interval.measure == in_words:
            screen.print(f"{one.score}: {one.interval}.")
    if len(sample.scores) > 1:
        screen.print("To compare the scorers, use headrank compare.")


def _table(findings: list[_Finding], *, with_scores: bool, with_groups: bool) -> Table:
    from rich.table import Table

    table = Table()
    for wanted, name in ((with_groups, "group"), (with_scores, "score"), (True, "measure"), (True, "description")):
        if wanted:
            table.add_column(name)
    for name in ("value", "at least", "at most", "positives", "negatives"):
        table.add_column(name, justify="right")
    for one in findings:
        if one.interval is None:
            continue
        found = one.interval
        names = [one.group or "all rows"] * with_groups + [one.score] * with_scores
        table.add_row(
            *names,
            str(found.measure),
            found.measure.description,
            f"{found.estimate:.4f}",
            lower_limit(found.low, 4),
            upper_limit(found.high, 4),
            *(f"{count:,}" for count in (found.n_pos, found.n_neg)),
        )
    return table

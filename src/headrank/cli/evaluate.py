"""``headrank evaluate``: measure scores, with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from headrank._format import counted, percent, rounded, rounded_down, rounded_up, shown
from headrank._types import BoolVector
from headrank.cli import _options as options
from headrank.cli._cutoffs import check_cutoffs, cutoffs_of, print_cutoffs
from headrank.cli._evaluation_report import write_evaluation
from headrank.cli._failures import about_input
from headrank.cli._inputs import input_of, layout_of
from headrank.cli._printing import console, print_json, print_table, shows_progress
from headrank.cli._samples import ScoredSample, read_scores
from headrank.workflow.files import REPORT

if TYPE_CHECKING:
    from rich.console import Console

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
    files: options.Scores,
    target: options.Target,
    score: options.ManyScores,
    lower_is_better: options.LowerIsBetter = False,
    positive: options.Positive = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="Column of groups; also measure each group separately.",
            rich_help_panel=options.COLUMNS,
        ),
    ] = None,
    qid: options.Qid = None,
    clusters: options.Clusters = None,
    drop_missing: Annotated[
        bool,
        typer.Option(
            "--drop-missing", help="Drop rows without a label, and say how many.", rich_help_panel=options.COLUMNS
        ),
    ] = False,
    fpr: options.Fpr = None,
    specificity: options.Specificity = None,
    sensitivity: options.Sensitivity = None,
    top: options.Top = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Measure: auc, pauc@0.05, tpr@fpr=0.01, p@100, ...; may be repeated."),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Interval: auto, betting, fixed_range, ... for any distribution; delong (areas), bootstrap: narrower, "
            "asymptotic.",
            show_default="auto",
        ),
    ] = None,
    cutoffs: Annotated[
        bool, typer.Option("--cutoffs", help="Also print what the best and the usual thresholds do, with intervals.")
    ] = False,
    miss_cost: Annotated[
        float | None,
        typer.Option(metavar="R", help="With --cutoffs: a missed positive costs as much as R false alarms."),
    ] = None,
    prevalence: Annotated[
        float | None,
        typer.Option(
            metavar="P", help="With --cutoffs: share of positives in the population, if not that of the rows."
        ),
    ] = None,
    confidence: options.Confidence = 0.95,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    sheet: options.Sheet = None,
    positive_name: options.PositiveName = None,
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
    from headrank.bounds.intervals import METHODS

    goal = options.goal_of(fpr, top, specificity)
    box = options.box_of(sensitivity, goal)
    measures = options.measures_of(measure) if measure else _usual_measures(goal, box)
    confidence = options.confidence_of(confidence)
    called = options.positive_name_of(positive_name)
    if out is not None:
        _require_reportable(clusters, lower_is_better)
    unfit = {"--clusters": clusters is not None, "--qid": qid is not None, "--lower-is-better": lower_is_better}
    criteria = check_cutoffs(cutoffs, miss_cost, prevalence, unfit)
    by = _By(options.method_of(method, METHODS, clusters), confidence)
    scores = input_of(files, layout_of(separator, decimal, sheet, files))
    sample = read_scores(
        scores,
        target=target,
        scores=score,
        positive=positive,
        qid=qid,
        group=group,
        clusters=clusters,
        lower_is_better=lower_is_better,
        drop_missing=drop_missing,
    )
    findings = list(_findings(sample, measures, by))
    cuts = cutoffs_of(sample, criteria, prevalence, confidence) if cutoffs else []
    if out is not None:
        given: dict[str, Sequence[str | None]] = {
            "--target": [target],
            "--score": score,
            "--measure": measure or [],
            "--sensitivity": [sensitivity],
            "--method": [method],
            "--group": [group],
            "--qid": [qid],
            "--positive": [positive],
            "--positive-name": [positive_name],
            "--separator": [separator],
            "--decimal": [decimal],
            "--sheet": [sheet],
        }
        write_evaluation(
            sample,
            [(one.score, one.group, one.interval) for one in findings if one.interval is not None],
            out,
            goal=goal,
            source=_source(scores.name, target, sample.positive, called, qid),
            confidence=confidence,
            sha256=scores.sha256,
            command=_command([*scores.words, *["--drop-missing"] * drop_missing], given, goal, confidence),
            overwrite=overwrite,
        )
    if json:
        print_json(
            {
                "command": "evaluate",
                "source": scores.name,
                "target": target,
                "positive": sample.positive,
                "lower_is_better": lower_is_better,
                **sample.counts,
                "n_without_label": sample.n_without_label,
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
                **({"cutoffs": [each.as_dict() for each in cuts]} if cutoffs else {}),
            }
        )
    in_words = measures[0] if measure or goal is None else goal.measure
    _print(sample, findings, in_words if box is None or measure else box, confidence, target, as_json=json)
    print_cutoffs(console(as_json=json), cuts, confidence)
    if out is not None:
        console(as_json=json).print(f"The report is {out / REPORT}.")


def _require_reportable(clusters: str | None, lower_is_better: bool) -> None:
    """Raise for what a report cannot say: its guarantees are about independent rows, and its cuts flag high scores."""
    if clusters is not None:
        raise typer.BadParameter(
            "the guarantees of a report assume independent rows; omit --clusters, or --out", param_hint="'--out'"
        )
    if lower_is_better:
        raise typer.BadParameter(
            "a report flags high scores; negate the column, or omit --lower-is-better or --out", param_hint="'--out'"
        )


def _source(name: str, target: str, positive: str, positive_name: str, qid: str | None) -> DataSource:
    from headrank.training.table_info import DataSource

    return DataSource(source=name, target=target, positive=positive, positive_name=positive_name, qid_column=qid)


def _command(
    files: Sequence[str], options: Mapping[str, Sequence[str | None]], goal: Goal | None, confidence: float
) -> str:
    """Return the command that reproduces the report, without local folders."""
    words = ["headrank evaluate", *map(quote, files)]
    words += [f"{option} {quote(value)}" for option, values in options.items() for value in values if value is not None]
    words += [] if goal is None else [goal.option]
    words += [] if confidence == 0.95 else [f"--confidence {shown(confidence)}"]
    return " ".join([*words, "--out report"])


@dataclass(frozen=True)
class _By:
    """How intervals are computed."""

    method: str
    confidence: float


def _usual_measures(goal: Goal | None, box: Measure | None) -> list[Measure]:
    """Return the default measures for the part of the list that matters."""
    from headrank.measures import AUC, FPRAtTPR, PartialAUC, PrecisionAt, RecallAt, TPRAtFPR, TwoWayPartialAUC

    if isinstance(box, TwoWayPartialAUC):
        at_rate = [] if goal is None else [goal.headline]
        return [AUC(), box, *at_rate, FPRAtTPR(box.min_tpr)]
    if goal is None:
        return [AUC(), PartialAUC(max_fpr=0.05), TPRAtFPR(0.05), PrecisionAt(0.05), RecallAt(0.05)]
    if goal.top is not None:
        return [AUC(), goal.measure, goal.headline, RecallAt(goal.top)]
    return [AUC(), goal.measure, goal.headline]


def _findings(sample: ScoredSample, measures: list[Measure], by: _By) -> Iterator[_Finding]:
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
                yield _measured(sample, score, group, rows, measure, by)


def _measured(
    sample: ScoredSample, score: str, group: str | None, rows: BoolVector, measure: Measure, by: _By
) -> _Finding:
    from headrank.bounds.intervals import interval
    from headrank.exceptions import InvalidSampleError, NoVarianceError, OneClassError

    with about_input():
        try:
            found = interval(
                sample.y[rows],
                sample.scores[score][rows],
                measure=measure,
                confidence=by.confidence,
                method=by.method,
                qid=None if sample.qid is None else sample.qid[rows],
                clusters=None if sample.clusters is None else sample.clusters[rows],
                random_state=0,
                progress=by.method == "bootstrap" and shows_progress(),
            )
        except (OneClassError, NoVarianceError) as error:
            if group is None:
                raise
            return _Finding(score, group, None, str(error))
        except InvalidSampleError:
            raise
        except ValueError as error:
            if by.method == "auto":
                raise
            raise typer.BadParameter(str(error), param_hint="'--method'") from error
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
    screen = console(as_json=as_json)
    counts = sample.counts
    screen.print(
        f"{counts['n_rows']:,} rows: {counts['n_pos']:,} positive ({target} = {sample.positive}) and "
        f"{counts['n_neg']:,} negative."
        + (f" {counted(sample.n_without_label, 'row')} without a label dropped." if sample.n_without_label else "")
    )
    found = [(one, one.interval) for one in findings if one.interval is not None]
    for group in dict.fromkeys(one.group for one in findings):
        _print_group(screen, [each for each in found if each[0].group == group], len(sample.scores) > 1)
        for reason in dict.fromkeys(one.no_interval for one in findings if one.group == group and not one.interval):
            screen.print(f"\nGroup {group} is not measured: {reason}.")
    screen.print()
    for measure in dict.fromkeys(interval.measure for _, interval in found):
        screen.print(f"{measure}: {measure.description}.")
    screen.print()
    finite = all(interval.finite_sample for _, interval in found)
    kind = ", for any distribution and any sample size" if finite else ", in large samples (asymptotic)"
    screen.print(
        f"Each interval holds individually with {percent(confidence)} confidence{kind}; their simultaneous confidence "
        f"is lower. {sample.assumption}"
    )
    for one, interval in found:
        if one.group is None and interval.measure == in_words:
            screen.print(f"{one.score}: {interval}.")
    if len(sample.scores) > 1:
        screen.print("To compare the scorers, use headrank compare.")


def _print_group(screen: Console, found: list[tuple[_Finding, Interval]], several: bool) -> None:
    """Print the table of one group, or of all rows, rounded as in sentences: limits outwards."""
    if not found:
        return
    group, first = found[0][0].group, found[0][1]
    counts = f"{counted(first.n_pos, 'positive')} and {counted(first.n_neg, 'negative')}"
    screen.print("" if group is None else f"\n{group} ({counts})")
    rows = [("score", "measure", "value", "at least", "at most")]
    rows += [
        (
            one.score,
            str(interval.measure),
            rounded(interval.estimate),
            rounded_down(interval.low),
            rounded_up(interval.high),
        )
        for one, interval in found
    ]
    print_table(screen, rows if several else [row[1:] for row in rows], left=2 if several else 1)

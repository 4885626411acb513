"""``headrank evaluate``: measure scores, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from headrank._format import counted, percent, rounded, rounded_down, rounded_up, shown
from headrank.cli import _options as options
from headrank.cli._cutoffs import check_cutoffs, cutoffs_of, print_cutoffs
from headrank.cli._evaluation_report import write_evaluation
from headrank.cli._findings import NO_INTERVAL, By, Found, NotMeasured, findings
from headrank.cli._inputs import input_of, layout_of
from headrank.cli._printing import console, print_json, print_table
from headrank.cli._samples import ScoredSample, read_scores
from headrank.workflow.files import REPORT

if TYPE_CHECKING:
    from rich.console import Console

    from headrank.measures import Measure
    from headrank.training.goal import Goal
    from headrank.training.table_info import DataSource


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
    by = By(options.method_of(method, METHODS, clusters), confidence)
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
        grades=any(each.graded for each in measures),
    )
    if sample.graded:
        _require_two_classes_unused(measures, target, {"--out": out is not None, "--cutoffs": cutoffs})
    found = list(findings(sample, measures, by))
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
            tuple(one.as_row() for one in found if isinstance(one, Found)),
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
                "results": [one.as_dict() for one in found if isinstance(one, Found)],
                "not_measured": [
                    {"score": one.rows.score, "group": one.rows.group, "reason": one.reason}
                    for one in found
                    if isinstance(one, NotMeasured)
                ],
                **({"cutoffs": [each.as_dict() for each in cuts]} if cutoffs else {}),
            }
        )
    in_words = measures[0] if measure or goal is None else goal.measure
    _print(sample, found, in_words if box is None or measure else box, confidence, target, as_json=json)
    print_cutoffs(console(as_json=json), cuts, confidence, prevalence)
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


def _require_two_classes_unused(measures: Sequence[Measure], target: str, used: Mapping[str, bool]) -> None:
    """Raise if something needs two classes, though the target has grades."""
    but = f"but column {target!r} has grades of relevance"
    for each in measures:
        if not each.graded:
            raise typer.BadParameter(
                f"{each} takes two classes, {but}; measure ndcg only, or add a column of two classes, such as "
                f"{target} >= 1",
                param_hint="'--measure'",
            )
    for name, given in used.items():
        if given:
            raise typer.BadParameter(
                f"needs two classes, {but}; omit {name}, or add a column of two classes, such as {target} >= 1",
                param_hint=f"'{name}'",
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


def _print(
    sample: ScoredSample,
    found: list[Found | NotMeasured],
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
    measured = [one for one in found if isinstance(one, Found)]
    if sample.qid is not None:
        n_queries = len(set(sample.qid.tolist()))
        used = [one.interval.n_queries for one in measured if one.interval is not None and one.rows.group is None]
        fewest = min([n for n in used if n is not None], default=n_queries)
        if fewest < n_queries:
            screen.print(
                f"{n_queries - fewest:,} of {counted(n_queries, 'query', 'queries')} are left out: their rows are all "
                "of one class."
            )
    for group in dict.fromkeys(one.rows.group for one in found):
        _print_group(screen, [one for one in measured if one.rows.group == group], len(sample.scores) > 1)
        missing = [one for one in found if isinstance(one, NotMeasured) and one.rows.group == group]
        for reason in dict.fromkeys(one.reason for one in missing):
            screen.print(f"\nGroup {group} is not measured: {reason}.")
    screen.print()
    for measure in dict.fromkeys(one.measure for one in measured):
        screen.print(f"{measure}: {measure.description}.")
    screen.print()
    without = dict.fromkeys(str(one.measure) for one in measured if one.interval is None)
    if without:
        screen.print(f"No interval for {', '.join(without)}: {NO_INTERVAL}.")
    intervals = [one.interval for one in measured if one.interval is not None]
    if intervals:
        finite = all(interval.finite_sample for interval in intervals)
        kind = ", for any distribution and any sample size" if finite else ", in large samples (asymptotic)"
        screen.print(
            f"Each interval holds individually with {percent(confidence)} confidence{kind}; their simultaneous "
            f"confidence is lower. {sample.assumption}"
        )
    for one in measured:
        if one.rows.group is None and one.interval is not None and one.measure == in_words:
            screen.print(f"{one.rows.score}: {one.interval}.")
    if len(sample.scores) > 1:
        screen.print("To compare the scorers, use headrank compare.")


def _print_group(screen: Console, found: list[Found], several: bool) -> None:
    """Print the table of one group, or of all rows, rounded as in sentences: limits outwards."""
    if not found:
        return
    group = found[0].rows.group
    # Of queries, those that count: an interval knows them.
    first = next((one.interval for one in found if one.interval is not None), found[0].rows)
    counts = f"{counted(first.n_pos, 'positive')} and {counted(first.n_neg, 'negative')}"
    screen.print("" if group is None else f"\n{group} ({counts})")
    rows = [("score", "measure", "value", "at least", "at most")]
    rows += [
        (
            one.rows.score,
            str(one.measure),
            rounded(one.value),
            "-" if one.interval is None else rounded_down(one.interval.low),
            "-" if one.interval is None else rounded_up(one.interval.high),
        )
        for one in found
    ]
    print_table(screen, rows if several else [row[1:] for row in rows], left=2 if several else 1)

"""``headrank compare``: is one scorer better than another on the same rows?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from headrank._suggestions import did_you_mean
from headrank.cli import _options as options
from headrank.cli._failures import CommandError, about_input
from headrank.cli._inputs import input_of, layout_of
from headrank.cli._printing import console, print_json, print_table, shows_progress
from headrank.cli._samples import ScoredSample, read_scores

if TYPE_CHECKING:
    from headrank.bounds.comparison.difference import Difference
    from headrank.bounds.comparison.evidence import Method
    from headrank.bounds.comparison.many import Differences
    from headrank.measures import Measure
    from headrank.training.goal import Goal

METHODS = ("auto", "betting", "paired", "separate", "delong", "bootstrap", "bootstrap_normal")


def run(
    files: options.Scores,
    target: options.Target,
    score: options.ManyScores,
    lower_is_better: options.LowerIsBetter = False,
    positive: options.Positive = None,
    qid: options.Qid = None,
    clusters: options.Clusters = None,
    fpr: options.Fpr = None,
    specificity: options.Specificity = None,
    sensitivity: options.Sensitivity = None,
    top: options.Top = None,
    measure: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Measure to compare, instead of a part of the list: auc, p@100, ..."),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="auto, betting, paired, separate: for any distribution; delong, bootstrap, bootstrap_normal: "
            "narrower, asymptotic. auto also gives the asymptotic answer.",
            show_default="auto",
        ),
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="COL", help="Compare all other columns with this one, instead of all pairs.")
    ] = None,
    confidence: options.Confidence = 0.95,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    sheet: options.Sheet = None,
    json: options.Json = False,
) -> None:
    """Compare two or more scorers on the same rows, with intervals for their differences.

    With more than two, the intervals hold simultaneously and the p-values are adjusted by Holm's method.

    Example: headrank compare scores.csv --target ill --score new --score old --fpr 0:0.02
    """
    if len(score) < 2:
        raise typer.BadParameter("expected at least two columns of scores, got one", param_hint="'--score'")
    by_method = options.method_of(method, METHODS, clusters)
    if against is not None and against not in score:
        raise typer.BadParameter(
            f"{against!r} is not one of the columns given by --score; {did_you_mean(against, score)}".rstrip("; "),
            param_hint="'--against'",
        )
    by = _measure(options.goal_of(fpr, top, specificity), sensitivity, measure)
    confidence = options.confidence_of(confidence)
    scores = input_of(files, layout_of(separator, decimal, sheet, files))
    sample = read_scores(
        scores,
        target=target,
        scores=score,
        positive=positive,
        qid=qid,
        clusters=clusters,
        lower_is_better=lower_is_better,
    )
    found = _compared(sample, by, by_method, against, confidence)  # type: ignore[arg-type]
    if by_method == "auto" and found.asymptotic is None:
        found = found.beside(_asymptotic(sample, by, against, confidence))
    if json:
        print_json(
            {
                "command": "compare",
                "source": scores.name,
                "target": target,
                "positive": sample.positive,
                "lower_is_better": lower_is_better,
                **sample.counts,
                "confidence": confidence,
                "holds": "all intervals at once",
                "assumes": sample.assumption,
                "differences": _as_dicts(found),
                "asymptotic": [] if found.asymptotic is None else _as_dicts(found.asymptotic),
            }
        )
    _print(found, sample, by_method, as_json=json)


def _print(found: Differences, sample: ScoredSample, asked: str, *, as_json: bool) -> None:
    screen = console(as_json=as_json)
    if len(found) == 1:
        first, *others = found.differences[0].statements
        screen.print(f"{first}.")
        for statement in others:
            screen.print(f"{statement[:1].upper()}{statement[1:]}.")
    else:
        for answer in (found,) if found.asymptotic is None else (found, found.asymptotic):
            screen.print(f"{answer.title}.")
            print_table(screen, answer.rows)
            screen.print(f"{_verdict(answer)}\n")
    if asked == "auto" and found.asymptotic is None:
        screen.print("There is no asymptotic answer: on these rows, no resampling changes a difference.")
    screen.print(sample.assumption)


def _as_dicts(found: Differences) -> list[dict[str, Any]]:
    return [
        {
            **one.as_dict(),
            "adjusted_p_value": p,
            "told_apart": p <= 1 - found.confidence if len(found) > 1 else one.told_apart,
        }
        for one, p in zip(found.differences, found.adjusted_p_values, strict=True)
    ]


def _asymptotic(sample: ScoredSample, measure: Measure, against: str | None, confidence: float) -> Differences | None:
    """Compare by the bootstrap; None if the sample shows no variation."""
    from headrank.exceptions import NoVarianceError

    try:
        return _compared(sample, measure, "bootstrap", against, confidence)
    except CommandError as error:
        if isinstance(error.__cause__, NoVarianceError):
            return None
        raise


def _measure(goal: Goal | None, sensitivity: str | None, name: str | None) -> Measure:
    from headrank.measures import AUC

    if (goal is not None or sensitivity is not None) and name is not None:
        raise typer.BadParameter("give either --measure, or a part of the list", param_hint="'--measure'")
    if name is not None:
        return options.measures_of([name])[0]
    return options.box_of(sensitivity, goal) or (AUC() if goal is None else goal.measure)


def _compared(
    sample: ScoredSample, measure: Measure, method: Method, against: str | None, confidence: float
) -> Differences:
    from headrank.bounds.comparison.difference import compare
    from headrank.bounds.comparison.many import Differences, compare_many

    by: dict[str, Any] = {
        "measure": measure,
        "confidence": confidence,
        "method": method,
        "qid": sample.qid,
        "clusters": sample.clusters,
        "random_state": 0,
        "progress": shows_progress(),
    }
    with about_input():
        if len(sample.scores) > 2:
            return compare_many(sample.scores, sample.y, against=against, **by)
        first, second = [*sample.scores][:: -1 if against == next(iter(sample.scores)) else 1]
        one = compare(sample.y, sample.scores[first], sample.scores[second], names=(first, second), **by)
    other = None if one.asymptotic is None else Differences((one.asymptotic,), (one.asymptotic.p_value,), confidence)
    return Differences((one,), (one.p_value,), confidence, other)


def _verdict(found: Differences) -> str:
    """Say which differences are significant."""
    risk = 1 - found.confidence
    apart = [_better(one) for one, p in zip(found.differences, found.adjusted_p_values, strict=True) if p <= risk]
    tied = [
        " and ".join(one.names) for one, p in zip(found.differences, found.adjusted_p_values, strict=True) if p > risk
    ]
    sentences = [f"{', '.join(apart)}."] if apart else []
    if tied:
        sentences.append(f"Not significant on these rows: {', '.join(tied)}.")
    return " ".join(sentences)


def _better(one: Difference) -> str:
    first_leads = (one.estimate > 0) == one.measure.greater_is_better
    better, worse = one.names if first_leads else one.names[::-1]
    return f"{better} is better than {worse}"

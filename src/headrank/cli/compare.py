"""``headrank compare``: is one scorer better than another on the same rows?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from headrank.cli import _options as options
from headrank.cli._failures import CommandError, about_input
from headrank.cli._printing import console, print_json
from headrank.cli._samples import ScoredSample, read_scores

if TYPE_CHECKING:
    from headrank.bounds.comparison.difference import Difference
    from headrank.bounds.comparison.evidence import Method
    from headrank.bounds.comparison.many import Differences
    from headrank.measures import Measure

METHODS = ("auto", "betting", "paired", "separate", "delong", "bootstrap")


def run(
    scores: options.Scores,
    target: options.Target,
    score: options.ManyScores,
    fpr: options.Fpr = None,
    top: options.Top = None,
    measure: Annotated[
        str | None, typer.Option(metavar="NAME", help="Measure to compare, instead of --fpr or --top: auc, ...")
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="auto, betting, paired, separate: for any distribution; delong, bootstrap: narrower, asymptotic. "
            "auto also gives the asymptotic answer.",
        ),
    ] = "auto",
    against: Annotated[
        str | None, typer.Option(metavar="COL", help="Compare all other columns with this one, instead of all pairs.")
    ] = None,
    qid: options.Qid = None,
    positive: options.Positive = None,
    confidence: options.Confidence = 0.95,
    json: options.Json = False,
) -> None:
    """Compare two or more scorers on the same rows, with intervals for their differences.

    With more than two, the intervals hold simultaneously and the p-values are adjusted by Holm's method.

    Example: headrank compare scores.csv --target ill --score new --score old --fpr 0:0.02
    """
    if len(score) < 2:
        raise typer.BadParameter("expected at least two columns of scores, got one", param_hint="'--score'")
    if method not in METHODS:
        raise typer.BadParameter(f"expected one of {', '.join(METHODS)}, got {method!r}", param_hint="'--method'")
    if against is not None and against not in score:
        raise typer.BadParameter(f"{against!r} is not one of the columns given by --score", param_hint="'--against'")
    by = _measure(fpr, top, measure)
    confidence = options.confidence_of(confidence)
    sample = read_scores(scores, target=target, scores=score, positive=positive, qid=qid)
    found = _compared(sample, by, method, against, confidence)  # type: ignore[arg-type]
    asymptotic = _asymptotic(sample, by, against, confidence) if method == "auto" else None
    if json:
        print_json(
            {
                "command": "compare",
                "source": scores.name,
                "target": target,
                "positive": sample.positive,
                **sample.counts,
                "confidence": confidence,
                "holds": "all intervals at once",
                "assumes": sample.assumption,
                "differences": _as_dicts(found),
                "asymptotic": [] if asymptotic is None else _as_dicts(asymptotic),
            }
        )
    screen = console(as_json=json)
    for answer in (found,) if asymptotic is None else (found, asymptotic):
        if len(answer) == 1:
            screen.print(f"{answer.differences[0]}.")
        else:
            screen.print(str(answer))
            screen.print(_verdict(answer))
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
    """Compare by the asymptotic method of the measure; None if the sample shows no variation."""
    from headrank.exceptions import NoVarianceError
    from headrank.measures.area import AreaMeasure

    by_delong = isinstance(measure, AreaMeasure) and sample.qid is None
    try:
        return _compared(sample, measure, "delong" if by_delong else "bootstrap", against, confidence)
    except CommandError as error:
        if isinstance(error.__cause__, NoVarianceError):
            return None
        raise


def _measure(fpr: str | None, top: float | None, name: str | None) -> Measure:
    from headrank.measures import AUC

    goal = options.goal_of(fpr, top)
    if goal is not None and name is not None:
        raise typer.BadParameter("give either --measure, or one of --fpr and --top", param_hint="'--measure'")
    if name is not None:
        return options.measures_of([name])[0]
    return AUC() if goal is None else goal.measure


def _compared(
    sample: ScoredSample, measure: Measure, method: Method, against: str | None, confidence: float
) -> Differences:
    from headrank.bounds.comparison.difference import compare
    from headrank.bounds.comparison.many import Differences, compare_many

    with about_input():
        if len(sample.scores) > 2:
            return compare_many(
                sample.scores,
                sample.y,
                measure=measure,
                against=against,
                confidence=confidence,
                method=method,
                qid=sample.qid,
                random_state=0,
            )
        names = list(sample.scores)
        first, second = names[::-1] if against == names[0] else names
        one = compare(
            sample.y,
            sample.scores[first],
            sample.scores[second],
            measure=measure,
            confidence=confidence,
            method=method,
            names=(first, second),
            qid=sample.qid,
            random_state=0,
        )
        return Differences((one,), (one.p_value,), confidence)


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

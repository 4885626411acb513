"""``headrank threshold``: the lowest score threshold that keeps a budget."""

from __future__ import annotations

from typing import Annotated

import typer

from headrank.cli import _options as options
from headrank.cli._failures import about_input, about_option
from headrank.cli._inputs import input_of, layout_of
from headrank.cli._printing import console, print_json
from headrank.cli._samples import read_scores


def run(
    files: options.Scores,
    target: options.Target,
    score: options.OneScore,
    max_fpr: Annotated[
        float | None, typer.Option(metavar="X", help="Budget: largest false positive rate, such as 0.01.")
    ] = None,
    top: Annotated[float | None, typer.Option(metavar="U", help="Budget: largest share of all rows to flag.")] = None,
    alerts: Annotated[
        int | None, typer.Option(metavar="K", help="Budget: most rows to flag among the next --out-of rows.")
    ] = None,
    out_of: Annotated[
        int | None, typer.Option(metavar="N", help="Number of future rows that --alerts refers to.")
    ] = None,
    positive: options.Positive = None,
    lower_is_better: options.LowerIsBetter = False,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    sheet: options.Sheet = None,
    confidence: options.Confidence = 0.95,
    json: options.Json = False,
) -> None:
    """Find the lowest threshold that keeps a budget on future rows, for any distribution.

    If there are too few rows to certify one, the exit code is 5 and the message says how many are needed.

    Example: headrank threshold scores.csv --target ill --score model --max-fpr 0.01
    """
    from headrank.bounds.threshold import open_rate, threshold_at

    _require_one_budget(max_fpr, top, alerts, out_of)
    for name, value in (("max_fpr", max_fpr), ("top", top)):
        if value is not None:
            with about_option(f"--{name.replace('_', '-')}"):
                open_rate(name, value)
    confidence = options.confidence_of(confidence)
    scores = input_of(files, layout_of(separator, decimal, sheet, files))
    sample = read_scores(scores, target=target, scores=[score], positive=positive, lower_is_better=lower_is_better)
    with about_input(scores):
        found = threshold_at(
            sample.y,
            sample.scores[score],
            max_fpr=max_fpr,
            top=top,
            alerts=alerts,
            out_of=out_of,
            confidence=confidence,
        )
    if json:
        print_json(
            {
                "command": "threshold",
                "source": scores.name,
                "target": target,
                "positive": sample.positive,
                "score": score,
                **found.as_dict(),
                "value": -found.value if lower_is_better else found.value,
                "lower_is_better": lower_is_better,
                "promise": found.budget.promise,
                "assumes": sample.assumption,
            }
        )
    rule = f"at most {-found.value!r}" if lower_is_better else f"at least {found.value!r}"
    screen = console(as_json=json)
    screen.print(f"Flag scores of {rule}: {found.guarantee}.")
    screen.print(sample.assumption)


def _require_one_budget(max_fpr: float | None, top: float | None, alerts: int | None, out_of: int | None) -> None:
    given = [
        name for name, value in (("--max-fpr", max_fpr), ("--top", top), ("--alerts", alerts)) if value is not None
    ]
    if len(given) != 1:
        received = " and ".join(given) if given else "none"
        raise typer.BadParameter(
            f"expected one budget, --max-fpr X, --top U or --alerts K --out-of N, got {received}",
            param_hint=f"'{given[-1] if given else '--max-fpr'}'",
        )
    if (alerts is None) != (out_of is None):
        raise typer.BadParameter("--alerts K and --out-of N must be given together", param_hint="'--out-of'")
    if alerts is not None and out_of is not None and not 0 <= alerts < out_of:
        raise typer.BadParameter(
            f"expected at least 0 and fewer alerts than rows, got {alerts} out of {out_of}", param_hint="'--alerts'"
        )

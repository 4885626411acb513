"""``headrank plan``: how many rows does it take to know how good a scorer is?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from headrank.cli import _options as options
from headrank.cli._failures import about_option
from headrank.cli._printing import console, print_json, progress_bar

if TYPE_CHECKING:
    from headrank.bounds.planning.auc import Plan
    from headrank.bounds.planning.head import HeadPlan

METHODS = ("mcdiarmid", "hoeffding", "kl", "bernstein")


def run(
    epsilon: Annotated[
        float, typer.Option(metavar="E", help="Largest distance of the estimate from either end of its interval: 0.05.")
    ],
    positive_rate: Annotated[float, typer.Option(metavar="P", help="Share of positive rows: 0.02.")],
    fpr: options.Fpr = None,
    top: options.Top = None,
    confidence: options.Confidence = 0.95,
    auc: Annotated[
        float | None,
        typer.Option(
            metavar="A", help="Expected AUC, required with --fpr and --top; near 1 far fewer rows are needed."
        ),
    ] = None,
    scorers: Annotated[
        int, typer.Option(metavar="N", help="Number of scorers for which the intervals hold simultaneously.")
    ] = 1,
    method: Annotated[
        str | None, typer.Option(metavar="NAME", help=f"Interval for the AUC: {', '.join(METHODS)}; default: kl.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Find how many rows are needed to measure the AUC, or with --fpr or --top a part of the list.

    No data are needed. For the AUC the plan holds for any scores. For a part of the list it assumes normal scores; if
    they are distributed differently, the interval is wider or narrower than planned, but still valid.

    Example: headrank plan --epsilon 0.05 --confidence 0.95 --positive-rate 0.02 --auc 0.9 --fpr 0:0.02
    """
    from headrank.bounds.planning.auc import plan
    from headrank.bounds.planning.head import plan_head

    goal = options.goal_of(fpr, top)
    if method is not None and (goal is not None or method not in METHODS):
        wanted = f"one of {', '.join(METHODS)}" if goal is None else "no --method together with --fpr or --top"
        raise typer.BadParameter(f"expected {wanted}, got {method!r}", param_hint="'--method'")
    common: Any = {"epsilon": epsilon, "confidence": confidence, "positive_rate": positive_rate, "n_scorers": scorers}
    with about_option(), progress_bar() as bars:
        bars.add_task("Planning", total=None)
        if goal is None:
            found: Plan | HeadPlan = plan(**common, auc=auc, method=method or "kl")  # type: ignore[arg-type]
        elif auc is None:
            raise typer.BadParameter(
                "give the AUC you expect: with --fpr or --top, the number of rows depends on it",
                param_hint="'--auc'",
            )
        else:
            found = plan_head(goal.measure, **common, auc=auc)
    if json:
        print_json({"command": "plan", **found.as_dict()})
    console(as_json=json).print(f"{found}.")

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
        float, typer.Option(metavar="E", help="How far the estimate may be from either end of its interval: 0.05.")
    ],
    positive_rate: Annotated[float, typer.Option(metavar="P", help="Share of positives among the rows: 0.02.")],
    fpr: options.Fpr = None,
    top: options.Top = None,
    confidence: options.Confidence = 0.95,
    auc: Annotated[
        float | None,
        typer.Option(metavar="A", help="The AUC to expect, needed with --fpr and --top; near 1 far fewer rows do."),
    ] = None,
    scorers: Annotated[int, typer.Option(metavar="N", help="Scorers for which it shall hold at once.")] = 1,
    method: Annotated[
        str | None, typer.Option(metavar="NAME", help=f"Interval for the AUC: {', '.join(METHODS)}; by default kl.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Plan a sample that is large enough to know a part of the list, or without --fpr and --top the AUC.

    No data are needed. For the AUC the plan holds for any scores; for a part, scores are taken to be normal, which says
    how wide the interval will be. Its promise does not depend on that.

    Example: headrank plan --epsilon 0.05 --confidence 0.95 --positive-rate 0.02 --auc 0.9 --fpr 0:0.02
    """
    from headrank.bounds.planning.auc import plan
    from headrank.bounds.planning.head import plan_head

    goal = options.goal_of(fpr, top)
    if method is not None and (goal is not None or method not in METHODS):
        wanted = (
            f"one of {', '.join(METHODS)}" if goal is None else "no method with --fpr or --top, which have their own"
        )
        raise typer.BadParameter(f"needed {wanted}, got {method!r}", param_hint="'--method'")
    common: Any = {"epsilon": epsilon, "confidence": confidence, "positive_rate": positive_rate, "n_scorers": scorers}
    with about_option(), progress_bar() as bars:
        bars.add_task("Planning", total=None)
        if goal is None:
            found: Plan | HeadPlan = plan(**common, auc=auc, method=method or "kl")  # type: ignore[arg-type]
        elif auc is None:
            raise typer.BadParameter(
                "say which AUC you expect: how sure one can be of a part of the list depends on it",
                param_hint="'--auc'",
            )
        else:
            found = plan_head(goal.measure, **common, auc=auc)
    if json:
        print_json({"command": "plan", **found.as_dict()})
    console(as_json=json).print(f"{found}.")

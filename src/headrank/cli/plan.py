"""``headrank plan``: how many rows does it take to know how good a scorer is, or to promise a list?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from headrank.cli import _options as options
from headrank.cli._failures import about_option
from headrank.cli._planned_test import METHODS as TEST_METHODS
from headrank.cli._planned_test import plan_test
from headrank.cli._printing import console, print_json, progress_bar

if TYPE_CHECKING:
    from headrank.bounds.planning.auc import Plan
    from headrank.bounds.planning.head import HeadPlan
    from headrank.bounds.planning.lists import ListPlan
    from headrank.bounds.planning.new_rows import NewRowsPlan
    from headrank.bounds.planning.planned_test import TestPlan
    from headrank.training.goal import Goal

METHODS = ("mcdiarmid", "hoeffding", "kl", "bernstein")


def run(
    epsilon: Annotated[
        float | None,
        typer.Option(metavar="E", help="Largest distance of the estimate from either end of its interval: 0.05."),
    ] = None,
    positive_rate: Annotated[float | None, typer.Option(metavar="P", help="Share of positive rows: 0.02.")] = None,
    fpr: options.Fpr = None,
    specificity: options.Specificity = None,
    top: options.Top = None,
    confidence: options.Confidence = 0.95,
    auc: Annotated[
        float | None,
        typer.Option(
            metavar="A", help="Expected AUC, required with --fpr and --top; near 1 far fewer rows are needed."
        ),
    ] = None,
    list_length: Annotated[
        int | None,
        typer.Option("--list", metavar="K", help="Plan for a promise about the first K new rows; see certify_list."),
    ] = None,
    precision: Annotated[
        float | None, typer.Option(metavar="S", help="With --list, the share of positives to be promised: 0.8.")
    ] = None,
    new: Annotated[int | None, typer.Option(metavar="M", help="With --list, the number of new rows.")] = None,
    negatives: Annotated[
        int | None,
        typer.Option(metavar="N", help="With --list, the number of labelled negatives, to find how many new rows."),
    ] = None,
    test: Annotated[
        bool, typer.Option("--test", help="Plan a test of --auc against chance, or against --versus.")
    ] = False,
    versus: Annotated[
        float | None, typer.Option(metavar="A", help="With --test, the AUC of a second scorer; otherwise chance.")
    ] = None,
    correlation: Annotated[
        float | None,
        typer.Option(
            metavar="R", help="With --versus, correlation of the scores on the same rows.", show_default="0.5"
        ),
    ] = None,
    two_samples: Annotated[
        bool, typer.Option("--two-samples", help="With --versus, the scorers are measured on different rows.")
    ] = False,
    power: Annotated[
        float | None, typer.Option(metavar="P", help="With --test, the wanted power.", show_default="0.9")
    ] = None,
    scorers: Annotated[
        int, typer.Option(metavar="N", help="Number of scorers for which the intervals hold simultaneously.")
    ] = 1,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"Interval for the AUC: {', '.join(METHODS)}; default: kl. Test: {', '.join(TEST_METHODS)}.",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Find how many rows are needed to measure the AUC, or with --fpr or --top a part of the list.

    No data are needed. For the AUC the plan holds for any scores. For a part of the list it assumes normal scores; if
    they are distributed differently, the interval is wider or narrower than planned, but still valid. With --list, find
    how many labelled negatives are needed to promise that a share of the first K new rows is positive, or, with
    --negatives, from how many new rows it can be promised. With --test, find how many rows a test of areas needs.

    Example: headrank plan --epsilon 0.05 --confidence 0.95 --positive-rate 0.02 --auc 0.9 --fpr 0:0.02
    """
    given = {"--epsilon": epsilon, "--fpr": fpr, "--specificity": specificity, "--top": top, "--method": method}
    of_test = {"--versus": versus, "--correlation": correlation, "--power": power, "--two-samples": two_samples or None}
    found: Plan | HeadPlan | ListPlan | NewRowsPlan | TestPlan
    if test:
        given |= {"--list": list_length, "--precision": precision, "--new": new, "--negatives": negatives}
        wrong = ("--epsilon", "--top", "--list", "--precision", "--new", "--negatives")
        if unfit := [name for name in wrong if given[name] is not None] + ["--scorers"] * (scorers != 1):
            raise typer.BadParameter(f"expected no {unfit[0]} together with --test", param_hint=f"'{unfit[0]}'")
        goal = options.goal_of(fpr, None, specificity)
        found = plan_test(goal, auc, positive_rate, of_test, confidence, method)
    elif unfit := [name for name, value in of_test.items() if value is not None]:
        raise typer.BadParameter("belongs to a test; give --test", param_hint=f"'{unfit[0]}'")
    elif list_length is not None:
        found = _plan_list(list_length, precision, (new, negatives), confidence, auc, positive_rate, scorers, given)
    elif precision is not None or new is not None or negatives is not None:
        raise typer.BadParameter(
            "--precision, --new and --negatives belong to a list; give --list", param_hint="'--list'"
        )
    else:
        goal = options.goal_of(fpr, top, specificity)
        found = _plan_measure(epsilon, positive_rate, goal, confidence, auc, scorers, method)
    if json:
        print_json({"command": "plan", **found.as_dict()})
    console(as_json=json).print(f"{found}.")


def _plan_list(
    k: int,
    precision: float | None,
    sizes: tuple[int | None, int | None],
    confidence: float,
    auc: float | None,
    positive_rate: float | None,
    scorers: int,
    others: dict[str, Any],
) -> ListPlan | NewRowsPlan:
    from headrank.bounds.planning.lists import plan_list
    from headrank.bounds.planning.new_rows import plan_new_rows

    n_new, n_neg = sizes

    if not_for_lists := [name for name, value in others.items() if value is not None] + ["--scorers"] * (scorers != 1):
        hint = f"'{not_for_lists[0]}'"
        raise typer.BadParameter(f"expected no {not_for_lists[0]} together with --list", param_hint=hint)
    if precision is None:
        raise typer.BadParameter("required with --list", param_hint="'--precision'")
    if (n_new is None) == (n_neg is None):
        raise typer.BadParameter(
            f"with --list, give --new or --negatives, got {'none' if n_new is None else 'both'}", param_hint="'--new'"
        )
    for name, value, other in (("--auc", auc, positive_rate), ("--positive-rate", positive_rate, auc)):
        if value is None and other is not None:
            raise typer.BadParameter("with --list, give both --auc and --positive-rate or none", param_hint=f"'{name}'")
    scorer: Any = {"confidence": confidence, "auc": auc, "positive_rate": positive_rate}
    with about_option(), progress_bar() as bars:
        bars.add_task("Planning", total=None)
        if n_neg is not None:
            return plan_new_rows(k, precision, n_neg=n_neg, **scorer)
        assert n_new is not None
        return plan_list(k, precision, n_new=n_new, **scorer)


def _plan_measure(
    epsilon: float | None,
    positive_rate: float | None,
    goal: Goal | None,
    confidence: float,
    auc: float | None,
    scorers: int,
    method: str | None,
) -> Plan | HeadPlan:
    from headrank.bounds.planning.auc import plan
    from headrank.bounds.planning.head import plan_head

    for name, value in (("--epsilon", epsilon), ("--positive-rate", positive_rate)):
        if value is None:
            raise typer.BadParameter("required, except with --list", param_hint=f"'{name}'")
    if method is not None and (goal is not None or method not in METHODS):
        wanted = f"one of {', '.join(METHODS)}" if goal is None else "no --method together with --fpr or --top"
        raise typer.BadParameter(f"expected {wanted}, got {method!r}", param_hint="'--method'")
    common: Any = {"epsilon": epsilon, "confidence": confidence, "positive_rate": positive_rate, "n_scorers": scorers}
    with about_option(), progress_bar() as bars:
        bars.add_task("Planning", total=None)
        if goal is None:
            return plan(**common, auc=auc, method=method or "kl")  # type: ignore[arg-type]
        if auc is None:
            raise typer.BadParameter(
                "give the AUC you expect: with --fpr or --top, the number of rows depends on it",
                param_hint="'--auc'",
            )
        return plan_head(goal.measure, **common, auc=auc)

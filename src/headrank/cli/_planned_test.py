"""``headrank plan --test``: how many rows does a test of areas need?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from headrank.cli._failures import about_option
from headrank.cli._printing import progress_bar

if TYPE_CHECKING:
    from headrank.bounds.planning.planned_test import TestPlan
    from headrank.training.goal import Goal

METHODS = ("delong", "delong_null", "obuchowski", "finite")


def plan_test(
    goal: Goal | None,
    auc: float | None,
    positive_rate: float | None,
    of_test: Mapping[str, Any],
    confidence: float,
    method: str | None,
) -> TestPlan:
    """Plan a test of the AUC, or of the area over a range, at level 1 - confidence."""
    from headrank.bounds.planning.power import sample_size_of_test
    from headrank.measures import AUC

    for name, value in (("--auc", auc), ("--positive-rate", positive_rate)):
        if value is None:
            raise typer.BadParameter("required with --test", param_hint=f"'{name}'")
    if method is not None and method not in METHODS:
        raise typer.BadParameter(f"with --test, expected one of {', '.join(METHODS)}", param_hint="'--method'")
    versus, correlation = of_test["--versus"], of_test["--correlation"]
    for name in ("--correlation", "--two-samples"):
        if of_test[name] is not None and versus is None:
            raise typer.BadParameter("is about two scorers; give --versus", param_hint=f"'{name}'")
    if correlation is not None and of_test["--two-samples"]:
        raise typer.BadParameter("scores on different rows are independent; omit it", param_hint="'--correlation'")
    with about_option(), progress_bar() as bars:
        bars.add_task("Planning", total=None)
        return sample_size_of_test(
            auc=auc if versus is None else (auc, versus),  # type: ignore[arg-type]
            positive_rate=positive_rate,  # type: ignore[arg-type]
            power=0.9 if of_test["--power"] is None else of_test["--power"],
            measure=AUC() if goal is None else goal.measure,
            paired=not of_test["--two-samples"],
            correlation=0.5 if correlation is None else correlation,
            level=round(1 - confidence, 12),
            method=method or "delong",  # type: ignore[arg-type]
        )

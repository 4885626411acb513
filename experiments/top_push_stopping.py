"""TopPush at its minimum and where its authors' program stops, on spambase: which one reaches the published value?

Li, Jin & Zhou (NIPS 2014) report .129 of the positives above the highest negative (standard deviation .077 over 30
splits), and .071 for logistic regression. Their program stops when a step changes the dual objective by less than 1e-4,
relatively. Here both are fitted with the same C, on the same splits into two thirds and one third, without a choice of
C: the test values of all of them are shown, so a value that none of them reaches cannot be a matter of that choice.

    python -m experiments.top_push_stopping --data ../shared/data
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev

from rich.console import Console
from rich.progress import track
from rich.table import Table as Printed
from sklearn.linear_model import LogisticRegression

from experiments._timing import timed
from experiments.tables.protocol import Rows, Task, stratified
from experiments.tables.stopped_top_push import StoppedTopPush
from experiments.tables.top_push import TABLE
from headrank import LinearRanker, TPRAtFPR, path

CS = (0.01, 0.1, 1.0, 10.0, 100.0)
PUBLISHED = (0.129, 0.077, 30)
"""Mean, standard deviation and number of splits."""


@dataclass(frozen=True)
class Stopping:
    """Test values at one C: over the splits, at the minimum and stopped, and the mean number of steps of the latter."""

    features: str
    C: float
    at_minimum: tuple[float, ...]
    stopped: tuple[float, ...]
    logistic: tuple[float, ...]
    steps: float


def stoppings(features: str, rows: Rows, *, n_splits: int, Cs: Sequence[float] = CS) -> list[Stopping]:
    """Fit both with every C on every split, and measure the test rows."""
    at_top = TPRAtFPR(0.0)
    found: dict[float, list[tuple[float, float, float, int]]] = {C: [] for C in Cs}
    for seed in track(range(n_splits), features, console=Console(stderr=True)):
        parts = stratified(2 / 3, 1 / 3)(rows, seed)
        train, test = rows.take(parts.train), rows.take(parts.test)
        exact = path(LinearRanker(surrogate="toppush", max_iter=300), train.X, train.y, Cs=Cs).coefs
        for C, coef in zip(Cs, exact, strict=True):
            stopped = StoppedTopPush(C).fit(train.X, train.y)
            logistic = LogisticRegression(C=C, max_iter=300).fit(train.X, train.y)
            scores = (test.X @ coef, stopped.decision_function(test.X), logistic.decision_function(test.X))
            found[C].append((*(at_top(test.y, each) for each in scores), stopped.n_steps_))
    rows_of = {C: list(zip(*values, strict=True)) for C, values in found.items()}
    return [
        Stopping(features, C, columns[0], columns[1], columns[2], mean(columns[3])) for C, columns in rows_of.items()
    ]


def to_table(found: Sequence[Stopping]) -> Printed:
    """Return one line per features and C."""
    n = len(found[0].stopped)
    title = f"Positives above the highest negative, spambase, {n} splits: mean (standard deviation)"
    table = Printed(title=title)
    for name in ("features", "C", "at the minimum", "stopped", "steps", "logistic regression"):
        table.add_column(name, justify="left" if name == "features" else "right")
    for each in found:
        values = (_shown(each.at_minimum), _shown(each.stopped), f"{each.steps:.0f}", _shown(each.logistic))
        table.add_row(each.features, f"{each.C:g}", *values)
    return table


def verdict(found: Sequence[Stopping]) -> str:
    """Say which of the two comes within two published standard errors of the published value."""
    value, deviation, n_splits = PUBLISHED
    near = 2 * deviation / n_splits**0.5
    lines = [f"published: {value:.3f}, two standard errors: {near:.3f}"]
    for name in ("at_minimum", "stopped"):
        best = max(found, key=lambda each: mean(getattr(each, name)))
        top = mean(getattr(best, name))
        reached = "within" if abs(top - value) <= near else "outside"
        lines.append(f"highest mean {name.replace('_', ' ')}: {top:.3f} ({best.features}, C = {best.C:g}), {reached}")
    return "\n".join(lines)


def _shown(values: Sequence[float]) -> str:
    return f"{mean(values):.3f} ({stdev(values):.3f})" if len(values) > 1 else f"{values[0]:.3f}"


@timed
def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table and what it shows."""
    tasks: dict[str, Task] = {task.name.partition(", ")[2]: task for task in TABLE.tasks if ", " in task.name}
    parser = argparse.ArgumentParser(
        description="TopPush on spambase, at its minimum and where its authors' program stops. Takes minutes."
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder with load.py")
    parser.add_argument("--splits", type=int, default=30)
    parser.add_argument("--features", nargs="+", choices=tasks, default=list(tasks)[:2])
    options = parser.parse_args(arguments)
    found: list[Stopping] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in options.features:
            found += stoppings(name, tasks[name].read(options.data), n_splits=options.splits)
    Console(width=120).print(to_table(found), verdict(found), sep="\n")


if __name__ == "__main__":
    main()

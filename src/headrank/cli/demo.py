"""``headrank demo``: three models on real data that comes with the installation, measured at the head."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from headrank._types import Vector
from headrank.curve import RocCurve
from headrank.datasets import ScoredRows, scored_eights
from headrank.estimators import LinearRankerCV
from headrank.measures import Measure, PartialAUC, measure
from headrank.plots import RocDisplay

MEASURES = [
    measure(name)
    for name in ("auc", "pauc@0.05", "pauc@0.02:0.05", "locauc@0.05", "w@0.05", "tpr@fpr=0.02", "r@0.05", "ef@0.05")
]


def run(
    out: Annotated[Path, typer.Option(help="Folder for the picture; made if it is not there.")] = Path("demo"),
) -> None:
    """Train a ranker for the head, and measure it beside two logistic regressions on handwritten digits.

    Example: headrank demo --out demo
    """
    console = Console()
    with console.status("Scoring 1,797 handwritten digits with two logistic regressions, out of fold ..."):
        rows = scored_eights()
    ranker = _ranked(rows, console)
    curves = {name: RocCurve.from_scores(rows.y, scores) for name, scores in {**rows.scores, "ranker": ranker}.items()}
    console.print(_table(rows, curves))
    console.print(_sentence(curves))
    picture = out / "roc-head.png"
    display = RocDisplay(curves).plot(measure=PartialAUC(max_fpr=0.05), top=0.05, max_fpr=0.2)
    try:
        out.mkdir(parents=True, exist_ok=True)
        display.figure_.savefig(picture, dpi=150, bbox_inches="tight")
    except OSError as error:
        console.print(f"The picture could not be written: {error}")
        raise typer.Exit(1) from None
    console.print(f"The head of the ROC curves is drawn in {picture}")


def _ranked(rows: ScoredRows, console: Console) -> Vector:
    """Score each row by a ranker that has not seen it, chosen and trained for false positive rates up to 0.05."""
    scores = np.empty(rows.y.size)
    ranker = LinearRankerCV(PartialAUC(max_fpr=0.05))
    for train, test in track(rows.folds, "Choosing a ranker for the head, fold by fold", console=console):
        scores[test] = ranker.fit(rows.X[train], rows.y[train]).decision_function(rows.X[test])
    console.print(f"On the last fold: {ranker.choice_}")
    return scores


def _table(rows: ScoredRows, curves: dict[str, RocCurve]) -> Table:
    table = Table(title=f"Which of {rows.y.size:,} coarse digits are eights? {int(rows.y.sum())} are.")
    table.add_column("measure")
    table.add_column("what it is")
    for name in (*curves, "chance"):
        table.add_column(name, justify="right")
    for m in MEASURES:
        values = [m.value(curve) for curve in curves.values()]
        chance = m.chance_on(next(iter(curves.values())))
        table.add_row(str(m), m.description, *_best_in_bold(m, values), f"{chance:.3f}")
    return table


def _best_in_bold(m: Measure, values: list[float]) -> list[str]:
    best = max(values) if m.greater_is_better else min(values)
    return [f"[bold]{value:.3f}[/]" if value == best else f"{value:.3f}" for value in values]


def _sentence(curves: dict[str, RocCurve]) -> str:
    """Say what the table shows, from the numbers in it."""
    auc, head = measure("auc"), measure("pauc@0.05")
    by_auc = max(curves, key=lambda name: auc.value(curves[name]))
    by_head = max(curves, key=lambda name: head.value(curves[name]))
    if by_auc == by_head:
        return f"By AUC and by its head, {by_auc!r} is the best model here."
    found = {name: measure("r@0.05").value(curves[name]) * curves[name].n_pos for name in (by_auc, by_head)}
    return (
        f"By AUC you would pick {by_auc!r}. If you can look at 5 % of the cases, it shows you {found[by_auc]:.0f} "
        f"eights; {by_head!r} shows you {found[by_head]:.0f}."
    )

"""``headrank demo``: two models on real data that comes with the installation, measured at the head."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from headrank.curve import RocCurve
from headrank.datasets import ScoredRows, scored_eights
from headrank.measures import Measure, PartialAUC, measure
from headrank.plots import RocDisplay

MEASURES = [
    measure(name)
    for name in ("auc", "pauc@0.05", "pauc@0.02:0.05", "locauc@0.05", "w@0.05", "tpr@fpr=0.01", "p@20", "ef@0.05")
]


def run(
    out: Annotated[Path, typer.Option(help="Folder for the picture; made if it is not there.")] = Path("demo"),
) -> None:
    """Measure two models on handwritten digits, where the better AUC has the worse head.

    Example: headrank demo --out demo
    """
    console = Console()
    with console.status("Scoring 1,797 handwritten digits with two logistic regressions, out of fold ..."):
        rows = scored_eights()
    curves = {name: RocCurve.from_scores(rows.y, scores) for name, scores in rows.scores.items()}
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
    console.print(f"The head of both ROC curves is drawn in {picture}")


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
    auc, head = measure("auc"), measure("p@20")
    by_auc = max(curves, key=lambda name: auc.value(curves[name]))
    by_head = max(curves, key=lambda name: head.value(curves[name]))
    first = {name: round(20 * head.value(curve)) for name, curve in curves.items()}
    if by_auc == by_head:
        return f"By AUC and by its first 20 cases, {by_auc!r} is the better model here."
    return (
        f"By AUC you would pick {by_auc!r}. Of the first 20 cases it shows you, {first[by_auc]} are eights; "
        f"of the first 20 of {by_head!r}, {first[by_head]} are."
    )

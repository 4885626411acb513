"""Widths of the intervals of all methods, for the AUC and for partial AUCs of narrow ranges, by sample size.

One sample per size from the binormal population of AUC 0.92, with the same scores in all tables. The finite-sample
methods guarantee 95 % for any distribution; DeLong's method, which is asymptotic, shows what that costs.

    python -m experiments.widths --out FOLDER
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import track
from rich.table import Table

from experiments._timing import timed
from headrank.bounds.intervals import interval_of
from headrank.curve import RocCurve
from headrank.datasets import Binormal
from headrank.measures import AUC, Measure, PartialAUC
from headrank.plots.drawing import COLOURS, LINE_STYLES

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

POPULATION = Binormal(separation=2.0)
MEASURES: tuple[Measure, ...] = (AUC(), PartialAUC(max_fpr=0.05), PartialAUC(max_fpr=0.01))
FOR_THE_AUC = ("mcdiarmid", "hoeffding", "kl", "bernstein")
FOR_ALL = ("betting", "fixed_range", "tail", "dkw", "delong")
N_NEG = (1_000, 10_000, 100_000, 1_000_000)
N_POS = (50, 100, 1_000, 10_000)


@dataclass(frozen=True)
class Width:
    """One interval: its ends and its width."""

    measure: str
    n_neg: int
    n_pos: int
    method: str
    low: float
    high: float
    width: float


def widths(n_neg: Sequence[int] = N_NEG, n_pos: Sequence[int] = N_POS) -> list[Width]:
    """Compute every interval for every size."""
    found = []
    sizes = [(negatives, positives) for negatives in n_neg for positives in n_pos]
    for negatives, positives in track(sizes, description="sizes", console=Console(stderr=True)):
        curve = RocCurve.from_scores(*POPULATION.sample_classes(positives, negatives, random_state=0))
        for measure in MEASURES:
            for method in (*(FOR_THE_AUC if isinstance(measure, AUC) else ()), *FOR_ALL):
                one = interval_of(curve, measure, method=method)
                found.append(Width(str(measure), negatives, positives, method, one.low, one.high, one.width))
    return found


def to_frame(found: Sequence[Width]) -> pl.DataFrame:
    """One row per interval."""
    import polars as pl

    return pl.DataFrame([asdict(each) for each in found])


def tables(found: Sequence[Width]) -> list[Table]:
    """One table per measure: a row per size, a column per method."""
    result = []
    for measure in dict.fromkeys(each.measure for each in found):
        rows = [each for each in found if each.measure == measure]
        methods = list(dict.fromkeys(each.method for each in rows))
        table = Table("negatives", "positives", *methods, title=f"width of the 95 % interval, {measure}")
        for size in dict.fromkeys((each.n_neg, each.n_pos) for each in rows):
            by_method = {each.method: each.width for each in rows if (each.n_neg, each.n_pos) == size}
            table.add_row(*(f"{number:,}" for number in size), *(f"{by_method[method]:.4f}" for method in methods))
        result.append(table)
    return result


def figure(found: Sequence[Width]) -> Figure:
    """Plot width against the number of positives, one panel per measure, at the second largest number of negatives."""
    import matplotlib.pyplot as plt

    measures = list(dict.fromkeys(each.measure for each in found))
    negatives = sorted({each.n_neg for each in found})[-2:][0]
    drawn, axes = plt.subplots(1, len(measures), figsize=(4.2 * len(measures), 4.2), layout="constrained", sharey=True)
    methods = list(dict.fromkeys(each.method for each in found))
    for ax, measure in zip(axes, measures, strict=True):
        for i, method in enumerate(methods):
            line = [each for each in found if (each.measure, each.n_neg, each.method) == (measure, negatives, method)]
            look = {"color": COLOURS[i % len(COLOURS)], "linestyle": LINE_STYLES[i % len(LINE_STYLES)], "marker": "o"}
            if line:
                xy = [each.n_pos for each in line], [each.width for each in line]
                ax.plot(*xy, **look, markersize=4, label=f"{method} (asymptotic)" if method == "delong" else method)
        ax.set(xscale="log", yscale="log", xlabel="positives", title=f"{measure}, {negatives:,} negatives")
        ax.grid(color="0.9", linewidth=0.6)
        ax.legend(fontsize="small")
    axes[0].set_ylabel("width of the 95 % interval")
    return drawn


@timed
def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables; write the frame and the figure."""
    parser = argparse.ArgumentParser(
        description="Widths of the intervals of all methods, by sample size. --quick takes 4 seconds of processor "
        "time; without it samples have up to 1,000,000 negatives: about 20 seconds, extrapolated from half of them."
    )
    parser.add_argument("--out", type=Path, help="where to write widths.csv and widths.png")
    parser.add_argument("--quick", action="store_true", help="small samples only")
    options = parser.parse_args(arguments)
    found = widths(N_NEG[:2], N_POS[:3]) if options.quick else widths()
    for table in tables(found):
        Console(width=140).print(table)
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        to_frame(found).write_csv(options.out / "widths.csv")
        figure(found).savefig(options.out / "widths.png", dpi=150)


if __name__ == "__main__":
    main()

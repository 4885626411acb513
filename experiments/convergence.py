"""Convergence of the paper's cutting-plane method and of headrank's hybrid solver.

Two gaps are tracked, both relative to the objective. The *proven* gap is the stopping criterion: best objective minus
best lower bound. The *true* gap is the best objective minus the highest lower bound of any run, an upper bound on the
actual gap; it is not plotted near the gap of the best run, where it is uninformative.

    python -m experiments.convergence --out FOLDER
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments._timing import timed
from headrank._types import BoolVector, Vector
from headrank.estimators import LinearRanker
from headrank.estimators._fitting import posed
from headrank.measures import PartialAUC
from headrank.plots.drawing import COLOURS
from headrank.rows import Rows
from headrank.solvers import Step, cutting_plane, hybrid

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

METHODS = {"cutting-plane": cutting_plane, "hybrid": hybrid}
NAMES = {"cutting-plane": "cutting planes (the paper's Algorithm 2)", "hybrid": "hybrid (headrank's default)"}
LEVELS = (1e-1, 1e-2, 1e-3)


@dataclass(frozen=True)
class Setting:
    """A range of false positive rates, its surrogate, and C."""

    min_fpr: float
    max_fpr: float
    surrogate: str
    C: float

    def __str__(self) -> str:
        return f"{self.surrogate} [{self.min_fpr:g}, {self.max_fpr:g}], C = {self.C:g}"


SETTINGS = (
    Setting(0.0, 0.1, "tight", 100.0),
    Setting(0.02, 0.05, "structural", 10.0),
    Setting(0.0, 0.01, "tight", 1000.0),  # the least smooth of those in benchmarks/solvers.py
)


@dataclass(frozen=True)
class Progress:
    """The state of one run after one evaluation. A pass is one product X @ w and one c @ X."""

    setting: str
    solver: str
    n_iter: int
    passes: float
    seconds: float
    objective: float
    lower: float
    proven_gap: float
    true_gap: float


@dataclass(frozen=True)
class Convergence:
    """All runs, step by step."""

    steps: tuple[Progress, ...]

    def to_frame(self) -> pl.DataFrame:
        """One row per setting, solver and evaluation."""
        import polars as pl

        return pl.DataFrame([asdict(step) for step in self.steps])

    def runs(self) -> dict[tuple[str, str], list[Progress]]:
        """Return the steps of each setting and solver, in order."""
        found: dict[tuple[str, str], list[Progress]] = {}
        for step in self.steps:
            found.setdefault((step.setting, step.solver), []).append(step)
        return found

    def __str__(self) -> str:
        head = "".join(f"{f'gap {level:g}':>20}" for level in LEVELS)
        lines = [f"{'passes and seconds to a proven':<48}{head}{'at the end':>26}"]
        for (setting, solver), steps in self.runs().items():
            line = f"{setting:<34}{solver:<14}"
            for level in LEVELS:
                reached = next((step for step in steps if step.proven_gap <= level), None)
                text = "-" if reached is None else f"{reached.passes:g}, {reached.seconds:.2f} s"
                line += f"{text:>20}"
            last = steps[-1]
            lines.append(f"{line}{last.objective:>12.5f}, gap {last.proven_gap:.1e}")
        return "\n".join(lines)


class _CountedRows:
    """Rows that count their products."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.n_products = 0

    @property
    def n_features(self) -> int:
        return self.rows.n_features

    def scores(self, weights: Vector) -> Vector:
        self.n_products += 1
        return self.rows.scores(weights)

    def combine(self, coef: Vector) -> Vector:
        self.n_products += 1
        return self.rows.combine(coef)

    def moments(self, coef: Vector) -> tuple[Vector, Vector]:
        self.n_products += 1
        return self.rows.moments(coef)


def hard_sample(n_rows: int = 100_000, n_features: int = 100, *, random_state: int = 0) -> tuple[Vector, BoolVector]:
    """Sample Gaussian rows, 5 % of them positive: shifted by 3 in one direction and 1.3 times as wide."""
    rng = np.random.default_rng(random_state)
    y = rng.permutation(n_rows) < round(0.05 * n_rows)
    X = rng.normal(size=(n_rows, n_features))
    X[y] *= 1.3
    X[y, 0] += 3
    return X, y


def convergence(
    X: Vector, y: BoolVector, *, settings: Sequence[Setting] = SETTINGS, tol: float = 1e-4, max_iter: int = 250
) -> Convergence:
    """Run both solvers on each setting until the proven gap is ``tol``, or for ``max_iter`` evaluations.

    >>> X, y = hard_sample(1000, 3)
    >>> result = convergence(X, y, settings=SETTINGS[:1], tol=1e-2)
    >>> sorted(result.runs())
    [('tight [0, 0.1], C = 100', 'cutting-plane'), ('tight [0, 0.1], C = 100', 'hybrid')]
    """
    steps: list[Progress] = []
    for setting in settings:
        traces = {}
        for solver in METHODS:
            traces[solver] = _run(X, y, setting, solver, tol, max_iter)
        best_lower = max(trace[-1][0].lower for trace in traces.values())
        for solver, trace in traces.items():
            for step, passes in trace:
                steps.append(
                    Progress(
                        setting=str(setting),
                        solver=solver,
                        n_iter=step.n_iter,
                        passes=passes,
                        seconds=step.seconds,
                        objective=step.objective,
                        lower=step.lower,
                        proven_gap=step.gap,
                        true_gap=max(step.objective - best_lower, 0.0) / step.objective,
                    )
                )
    return Convergence(tuple(steps))


def _run(
    X: Vector, y: BoolVector, setting: Setting, solver: str, tol: float, max_iter: int
) -> list[tuple[Step, float]]:
    """Return each step of a run with the number of passes over the rows so far."""
    measure = PartialAUC(min_fpr=setting.min_fpr, max_fpr=setting.max_fpr)
    problem = posed(LinearRanker(measure, surrogate=setting.surrogate), X, y)
    rows = _CountedRows(problem.rows)
    trace: list[tuple[Step, float]] = []
    METHODS[solver](
        replace(problem.risk, rows=rows),
        n_features=rows.n_features,
        C=setting.C,
        tol=tol,
        max_iter=max_iter,
        callback=lambda step: trace.append((step, rows.n_products / 2)),
    )
    return trace


def plot_convergence(result: Convergence) -> Figure:
    """Plot the gaps against passes (top) and against seconds (bottom), one column per setting."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    runs = result.runs()
    settings = list(dict.fromkeys(setting for setting, _ in runs))
    figure = Figure(figsize=(3.7 * len(settings) + 0.6, 6.6), layout="constrained")
    axes: Any = figure.subplots(2, len(settings), sharey=True, squeeze=False)
    for (setting, solver), steps in runs.items():
        colour = COLOURS[list(METHODS).index(solver)]
        last_known = min(each[-1].proven_gap for (name, _), each in runs.items() if name == setting)
        for row, unit in enumerate(("passes", "seconds")):
            ax = axes[row, settings.index(setting)]
            at = np.array([getattr(step, unit) for step in steps])
            proven = np.array([step.proven_gap for step in steps])
            true = np.array([step.true_gap for step in steps])
            ax.plot(at, proven, color=colour, linewidth=1.8)
            ax.plot(at[-1:], proven[-1:], "o", color=colour, markersize=5)
            ax.plot(at, np.where(true > 1.5 * last_known, true, np.nan), color=colour, linewidth=1.1, linestyle=":")
            ax.set_xlabel("passes over the rows" if unit == "passes" else "seconds")
    for ax in axes.flat:
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
        ax.axhline(1e-3, color="0.6", linewidth=0.8, zorder=0)
        ax.grid(alpha=0.2)
        ax.spines[["top", "right"]].set_visible(False)
    for ax, setting in zip(axes[0], settings, strict=True):
        ax.set_title(setting, fontsize=10)
    for ax in axes[:, 0]:
        ax.set_ylabel("relative gap")
        ax.text(0.02, 9e-4, "default tol", transform=ax.get_yaxis_transform(), va="top", fontsize=8, color="0.4")
    solvers = list(dict.fromkeys(solver for _, solver in runs))
    handles = [Line2D([], [], color=COLOURS[list(METHODS).index(name)], linewidth=1.8) for name in solvers]
    handles += [Line2D([], [], color="0.3", linewidth=1.8), Line2D([], [], color="0.3", linewidth=1.1, linestyle=":")]
    labels = [NAMES[name] for name in solvers] + ["proven gap", "true gap (at most)"]
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return figure


@timed
def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, write the figure and all steps."""
    parser = argparse.ArgumentParser(
        description="Cutting planes and the hybrid solver side by side. With --rows 10000 it takes about 10 seconds of "
        "processor time; the default, 100,000 rows, by extrapolation about 2 minutes."
    )
    parser.add_argument("--out", type=Path, default=Path(), help="folder for convergence.png and convergence.csv")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--max-iter", type=int, default=250)
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    result = convergence(*hard_sample(options.rows, options.features), max_iter=options.max_iter)
    print(result)
    result.to_frame().write_csv(options.out / "convergence.csv")
    plot_convergence(result).savefig(options.out / "convergence.png", dpi=150)


if __name__ == "__main__":
    main()

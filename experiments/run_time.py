"""The run-time analysis of Narasimhan & Agarwal (ICML 2013), section 5.4 and Figure 4.

For false positive rates [0, b] the paper shows (a) the average CPU time of the routine that finds the most violated
constraint, which is about the same for all b, and (b) the average number of its calls, which grows as b decreases. Here
the routine is the surrogate alone, from scores to coefficients; its time excludes the products with the rows.

Three things differ. TREC10 is not available, so the rows are synthetic, of the same size and share of positives. The
paper's stopping rule, a violation of at most epsilon (0.1 here would be a tenth of the risk of w = 0), is replaced by a
certified relative gap: if the range is narrow and the objective nearly flat, a violation of 0.1 occurs far from the
optimum. And `hybrid` is compared with the paper's method; it also calls the routine in its line searches, without a
pass over the rows, so passes are counted as well.

    python -m experiments.run_time --out FOLDER
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from experiments._timing import timed
from headrank._types import BoolVector, Vector
from headrank.estimators import LinearRanker
from headrank.estimators._fitting import posed, search
from headrank.measures import PartialAUC
from headrank.plots.drawing import COLOURS
from headrank.surrogates import Cut, Surrogate

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

MAX_FPRS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
SOLVER_NAMES = {"cutting-plane": "cutting planes (the paper's Algorithm 2)", "hybrid": "hybrid (headrank's default)"}


@dataclass(frozen=True)
class Timing:
    """One fit: calls of the routine, its mean CPU milliseconds, passes over the rows, and the result of the fit.

    ``risk`` is the surrogate's risk at the end: 1 where the fit has collapsed to w = 0.
    """

    solver: str
    max_fpr: float
    calls: int
    ms_per_call: float
    passes: int
    seconds: float
    risk: float
    gap: float
    certified: bool


@dataclass(frozen=True)
class RunTime:
    """All fits of one sample."""

    n_rows: int
    n_features: int
    n_pos: int
    C: float
    tol: float
    timings: tuple[Timing, ...]

    def to_frame(self) -> pl.DataFrame:
        """One row per solver and range."""
        import polars as pl

        return pl.DataFrame([asdict(timing) for timing in self.timings])

    def __str__(self) -> str:
        lines = [
            f"{self.n_rows:,} rows x {self.n_features}, {self.n_pos:,} positive; structural hinge of [0, b], "
            f"C = {self.C:g}, relative gap {self.tol:g} in place of the paper's epsilon = 0.1",
            f"{'solver':<15}{'b':>6}{'ms per call':>13}{'calls':>7}{'passes':>8}{'seconds':>9}{'risk':>8}{'gap':>10}",
        ]
        lines += [
            f"{each.solver:<15}{each.max_fpr:>6g}{each.ms_per_call:>13.2f}{each.calls:>7}{each.passes:>8}"
            f"{each.seconds:>9.2f}{each.risk:>8.4f}{each.gap:>10.1e}{'' if each.certified else '  ran out'}"
            for each in self.timings
        ]
        return "\n".join(lines)


@dataclass(eq=False)
class _Stopwatch:
    """A surrogate that times its calls, in CPU seconds of its own thread."""

    surrogate: Surrogate
    calls: int = 0
    seconds: float = 0.0

    def __call__(self, pos_scores: Vector, neg_scores: Vector) -> Cut:
        start = time.thread_time()
        cut = self.surrogate(pos_scores, neg_scores)
        self.seconds += time.thread_time() - start
        self.calls += 1
        return cut


def large_sample(
    n_rows: int = 200_000, n_features: int = 50, *, positive_rate: float = 0.014, random_state: int = 0
) -> tuple[Vector, BoolVector]:
    """Sample as many rows as TREC10 has: Gaussian, positives shifted by 3 in one direction and 1.3 times as wide."""
    rng = np.random.default_rng(random_state)
    y = rng.permutation(n_rows) < round(n_rows * positive_rate)
    X = rng.normal(size=(n_rows, n_features))
    X[y] *= 1.3
    X[y, 0] += 3
    return X, y


def run_time(
    X: Vector,
    y: BoolVector,
    *,
    max_fprs: Sequence[float] = MAX_FPRS,
    solvers: Sequence[str] = tuple(SOLVER_NAMES),
    C: float = 10.0,
    tol: float = 1e-3,
    max_iter: int = 1000,
) -> RunTime:
    """Fit every range with every solver, the structural hinge, and time the search for the most violated constraint.

    >>> X, y = large_sample(2000, 3, positive_rate=0.1)
    >>> run_time(X, y, max_fprs=[0.5, 1.0]).to_frame().shape
    (4, 9)
    """
    timings = []
    for max_fpr in max_fprs:
        for solver in solvers:
            ranker = LinearRanker(
                PartialAUC(max_fpr=max_fpr), surrogate="structural", C=C, tol=tol, max_iter=max_iter, solver=solver
            )
            problem = posed(ranker, X, y)
            routine = _Stopwatch(problem.risk.surrogate)
            problem = replace(problem, risk=replace(problem.risk, surrogate=routine))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # shown in a column
                start = time.perf_counter()
                solution = search(ranker, problem, C)
                seconds = time.perf_counter() - start
            timings.append(
                Timing(
                    solver=solver,
                    max_fpr=max_fpr,
                    calls=routine.calls,
                    ms_per_call=1e3 * routine.seconds / routine.calls,
                    passes=solution.n_iter,
                    seconds=seconds,
                    risk=(solution.objective - float(solution.weights @ solution.weights) / 2) / C,
                    gap=solution.gap,
                    certified=solution.gap <= tol,
                )
            )
    return RunTime(X.shape[0], X.shape[1], int(np.count_nonzero(y)), C, tol, tuple(timings))


def plot_run_time(result: RunTime) -> Figure:
    """Plot Figure 4: time per call and number of calls against b, and the resulting seconds."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.5, 4.2), layout="constrained")
    panels: list[Any] = list(figure.subplots(1, 3))
    titles = ("(a) One search for the most violated constraint", "(b) How often it is called", "(c) The whole fit")
    labels = ("CPU milliseconds, mean", "calls", "seconds")
    names = [name for name in SOLVER_NAMES if any(each.solver == name for each in result.timings)]
    for name, colour, marker in zip(names, COLOURS, "os", strict=False):
        mine = [each for each in result.timings if each.solver == name]
        b = [each.max_fpr for each in mine]
        look: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 5, "linewidth": 1.6}
        for ax, values in zip(panels, ("ms_per_call", "calls", "seconds"), strict=True):
            ax.plot(b, [getattr(each, values) for each in mine], label=SOLVER_NAMES[name], **look)
        if name == "hybrid":  # with the other solver each call is a pass
            thin = {"linestyle": ":", "markersize": 3, "label": "passes over the rows of hybrid"}
            panels[1].plot(b, [each.passes for each in mine], **(look | thin))
        for each in mine:
            if not each.certified:
                panels[1].annotate(
                    "ran out", (each.max_fpr, each.calls), (4, 5), textcoords="offset points", fontsize=8
                )
    for ax, title, label in zip(panels, titles, labels, strict=True):
        ax.set_title(title, fontsize=10)
        ax.set_ylabel(label)
        ax.set_xlabel("b, for false positive rates [0, b]")
        ax.set_xscale("log")
        ticks = sorted({each.max_fpr for each in result.timings})
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.minorticks_off()
        ax.grid(alpha=0.25)
        ax.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylim(0, 1.3 * max(each.ms_per_call for each in result.timings))
    for ax in panels[1:]:
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter("{x:g}")
    figure.legend(*panels[1].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle(
        f"Structural hinge, {result.n_rows:,} rows x {result.n_features}, {result.n_pos / result.n_rows:.1%} "
        f"positive, C = {result.C:g}, relative gap {result.tol:g}",
        fontsize=11,
    )
    return figure


@timed
def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table and write the figure."""
    parser = argparse.ArgumentParser(
        description="Run-time analysis of the structural SVM for partial AUC. With --rows 20000 it takes 8 seconds of "
        "processor time; the default, 200,000 rows, by extrapolation 1 to 2 minutes."
    )
    parser.add_argument("--out", type=Path, default=Path(), help="folder for run_time.png")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--max-iter", type=int, default=1000)
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    result = run_time(*large_sample(options.rows, options.features), max_iter=options.max_iter)
    print(result)
    plot_run_time(result).savefig(options.out / "run_time.png", dpi=150)


if __name__ == "__main__":
    main()

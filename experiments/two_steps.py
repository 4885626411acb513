"""Finding the best instances first and ranking them afterwards: Remark 25 of Clémençon & Vayatis (2007).

The remark says two things. *Not all combinations of beta(s, u) and R(s, u) have s* as their optimum*: shown in
`experiments.combinations`. And that this *should prevent from considering naive two-step strategies*, which
first estimate the set of the best instances and then solve the ranking problem on it: shown in `strategies`. It is a
warning, not a theorem, and it needs a class of scorers: were every scorer allowed, both steps together would give s*.
Over a class the first step may select a set that holds slightly more positives, but that no scorer of the class can
rank. The loss then remains for any number of rows. Here one step uses only single scorers and still beats pairs of
them; the opposite happens too, if a class has one scorer that finds and another that ranks.

Legend: u = ``top``; alpha and beta the false and true positive rates of the top, L its error as a classifier, R the
probability that two instances are in it and wrongly ordered; LocalAUC = beta - R / (2 p (1 - p)).

    python -m experiments.two_steps --out FOLDER
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from experiments._timing import timed
from experiments.combinations import Combination, combinations, combinations_table
from experiments.optimal_scorers import Ranking, Run
from headrank._types import BoolVector, Vector
from headrank.curve import RocCurve
from headrank.measures import AUC, LocalAUC, MassConstrainedError
from headrank.plots.drawing import COLOURS

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

N_ROWS = {300: 100, 1_000: 100, 3_000: 60, 10_000: 40, 30_000: 20, 100_000: 8}
"""Rows per sample, and number of samples."""
QUICK_ROWS = {300: 8, 1_000: 4}


@dataclass(frozen=True)
class Clusters:
    """Small clusters of rows in the plane, each with a constant eta."""

    masses: tuple[float, ...]
    etas: tuple[float, ...]
    centres: tuple[tuple[float, float], ...]
    radius: float = 0.001

    def sample(self, n_rows: int, rng: np.random.Generator) -> tuple[Vector, BoolVector]:
        """Draw independent rows."""
        which = rng.choice(len(self.masses), size=n_rows, p=self.masses)
        X = np.array(self.centres)[which] + self.radius * rng.uniform(-1, 1, size=(n_rows, 2))
        positive: BoolVector = rng.random(n_rows) < np.array(self.etas)[which]
        return X, positive

    def order(self, direction: Vector) -> list[int]:
        """Return the clusters from the top down."""
        return [int(i) for i in np.argsort(-(np.array(self.centres) @ direction))]

    def ranking(self, finder: Vector, ranker: Vector, top: float) -> Ranking:
        """Rank the best ``top`` by the finder among themselves by the ranker, and the rest below by the finder."""
        head, rest, left = [], [], top
        for i in self.order(finder):
            inside = min(self.masses[i], left)
            if inside > 1e-12:
                head.append((i, inside))
            if self.masses[i] - inside > 1e-12:
                rest.append((i, self.masses[i] - inside))
            left -= inside
        place = self.order(ranker).index
        head.sort(key=lambda part: place(part[0]))
        return Ranking(tuple(Run(mass, self.etas[i], self.etas[i]) for i, mass in head + rest))


TOP = 0.3
# On the right three clusters of mass 0.1 in a line, with the best in the middle: no linear scorer can put it first.
# Above, three more that hold 4 % fewer positives and lie in their right order. The others are nearly negative.
CLUSTERS = Clusters(
    masses=(0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.2, 0.2),
    etas=(0.25, 0.9, 0.25, 0.9, 0.35, 0.1, 0.1, 0.02),
    centres=((1.0, -0.5), (1.0, 0.0), (1.0, 0.5), (-0.1, 1.7), (0.1, 1.5), (-0.05, 1.3), (0.8, 1.2), (-0.7, 0.6)),
)
ANGLES = np.arange(4.0, 360, 10)
DIRECTIONS = np.column_stack([np.cos(np.deg2rad(ANGLES)), np.sin(np.deg2rad(ANGLES))])
"""The class: 36 linear scorers in all directions."""

Pair: TypeAlias = tuple[int, int]
"""The direction that finds, and the direction that ranks."""


@dataclass(frozen=True)
class Criteria:
    """Criteria of the directions, for the population or for a sample: higher is better.

    ``auc_within`` is that of the top which the first direction finds, ranked by the second.
    """

    local_auc: Callable[[int], float]
    found: Callable[[int], float]
    auc: Callable[[int], float]
    auc_within: Callable[[int, int], float]


def _highest(value: Callable[[int], float]) -> int:
    return int(np.argmax([value(i) for i in range(len(DIRECTIONS))]))


def one_step(criteria: Criteria) -> Pair:
    """Take the single scorer with the highest LocalAUC."""
    best = _highest(criteria.local_auc)
    return best, best


def find_then_rank(criteria: Criteria) -> Pair:
    """Take the top with the smallest error L, then the scorer with the highest AUC within it."""
    finder = _highest(criteria.found)
    return finder, _highest(lambda i: criteria.auc_within(finder, i))


def rank_cut_rerank(criteria: Criteria) -> Pair:
    """Take the top of the scorer with the highest AUC, then the scorer with the highest AUC within it."""
    finder = _highest(criteria.auc)
    return finder, _highest(lambda i: criteria.auc_within(finder, i))


STRATEGIES = {
    "one step": one_step,
    "find, then rank": find_then_rank,
    "rank, cut, rank again": rank_cut_rerank,
}


def population_criteria(clusters: Clusters = CLUSTERS, top: float = TOP) -> Criteria:
    """Compute the criteria for the population."""

    def ranking(finder: int, ranker: int) -> Ranking:
        return clusters.ranking(DIRECTIONS[finder], DIRECTIONS[ranker], top)

    def within(finder: int, ranker: int) -> float:
        both = ranking(finder, ranker)
        alpha, beta = both.rates_at_top(top)
        return both.truncated_auc(top) / (alpha * beta)

    return Criteria(
        local_auc=lambda i: ranking(i, i).local_auc(top),
        found=lambda i: ranking(i, i).rates_at_top(top)[1],
        auc=lambda i: ranking(i, i).truncated_auc(1.0),
        auc_within=within,
    )


def sample_criteria(X: Vector, y: BoolVector, top: float = TOP) -> Criteria:
    """Estimate the criteria from a sample."""
    scores = X @ DIRECTIONS.T
    curves = [RocCurve.from_scores(y, column) for column in scores.T]

    def within(finder: int, ranker: int) -> float:
        curve, column = curves[finder], scores[:, finder]
        head = column >= curve.quantile(top)
        return AUC()(y[head], scores[head, ranker])

    return Criteria(
        local_auc=lambda i: LocalAUC(top).value(curves[i]),
        found=lambda i: -MassConstrainedError(top).value(curves[i]),
        auc=lambda i: AUC().value(curves[i]),
        auc_within=within,
    )


@dataclass(frozen=True)
class Outcome:
    """Result of a strategy: mean true values of its choices over samples; ``n_rows`` is None for the population."""

    n_rows: int | None
    n_samples: int
    strategy: str
    finder: str
    ranker: str
    beta: float
    ranking_error: float
    local_auc: float
    loss: float
    loss_se: float


def to_frame(rows: Sequence[Combination] | Sequence[Outcome]) -> pl.DataFrame:
    """One row per combination, or per number of rows and strategy."""
    import polars as pl

    return pl.DataFrame([asdict(row) for row in rows])


def strategies(n_rows: Mapping[int, int] = N_ROWS, *, console: Console | None = None) -> list[Outcome]:
    """Run every strategy on the population, then on samples, and evaluate its choices by their true values.

    The loss is against the best single scorer of the class.
    """
    truth = population_criteria()
    best = max(truth.local_auc(i) for i in range(len(DIRECTIONS)))
    outcomes = [_outcome(None, name, [strategy(truth)], best) for name, strategy in STRATEGIES.items()]
    with Progress(console=console, disable=console is None) as progress:
        task = progress.add_task("Drawing samples", total=sum(n * m for n, m in n_rows.items()))
        for n, n_samples in n_rows.items():
            chosen: dict[str, list[Pair]] = {name: [] for name in STRATEGIES}
            for seed in range(n_samples):
                criteria = sample_criteria(*CLUSTERS.sample(n, np.random.default_rng([n, seed])))
                for name, strategy in STRATEGIES.items():
                    chosen[name].append(strategy(criteria))
                progress.advance(task, n)
            outcomes += [_outcome(n, name, pairs, best) for name, pairs in chosen.items()]
    return outcomes


def _outcome(n_rows: int | None, strategy: str, pairs: list[Pair], best: float) -> Outcome:
    rankings = [CLUSTERS.ranking(DIRECTIONS[finder], DIRECTIONS[ranker], TOP) for finder, ranker in pairs]
    values = [ranking.local_auc(TOP) for ranking in rankings]
    p = rankings[0].positive_rate
    finder, ranker = (max(set(at), key=at.count) for at in ([pair[0] for pair in pairs], [pair[1] for pair in pairs]))
    return Outcome(
        n_rows=n_rows,
        n_samples=len(pairs),
        strategy=strategy,
        finder=f"{ANGLES[finder]:g}°",
        ranker=f"{ANGLES[ranker]:g}°",
        beta=mean(ranking.rates_at_top(TOP)[1] for ranking in rankings),
        ranking_error=mean(2 * p * (1 - p) * ranking.discordance(TOP) for ranking in rankings),
        local_auc=mean(values),
        loss=best - mean(values),
        loss_se=stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0,
    )


def outcomes_table(outcomes: Sequence[Outcome]) -> Table:
    """Return the strategies as a table."""
    table = Table(title=f"{len(DIRECTIONS)} linear scorers, top {TOP:g}: true values of each strategy's choice")
    for name in ("rows", "strategy", "finds by", "ranks by", "beta", "R", "LocalAUC", "loss ± standard error"):
        table.add_column(name, justify="left" if name == "strategy" else "right")
    for row in outcomes:
        rows = "population" if row.n_rows is None else f"{row.n_rows:,}"
        numbers = (f"{number:.4f}" for number in (row.beta, row.ranking_error, row.local_auc))
        loss = f"{row.loss:.4f}" + ("" if row.n_rows is None else f" ± {row.loss_se:.4f}")
        last = row.strategy == list(STRATEGIES)[-1]
        table.add_row(rows, row.strategy, row.finder, row.ranker, *numbers, loss, end_section=last)
    return table


def plot_two_steps(outcomes: Sequence[Outcome]) -> Figure:
    """Plot the clusters, the heads that the strategies choose in the population, and their losses in samples."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13.5, 4.4), layout="constrained")
    plane, heads, losses = figure.subplots(1, 3)
    _draw_clusters(plane)
    truth = population_criteria()
    for (name, strategy), colour, style in zip(STRATEGIES.items(), COLOURS, ("-", "--", "-."), strict=False):
        finder, ranker = strategy(truth)
        ranking = CLUSTERS.ranking(DIRECTIONS[finder], DIRECTIONS[ranker], TOP)
        fpr, tpr = ranking.roc(TOP)
        label = f"{name}: LocalAUC {ranking.local_auc(TOP):.3f}"
        heads.plot(fpr, tpr, color=colour, linestyle=style, linewidth=1.8, label=label)
        heads.plot(fpr[-1], tpr[-1], "o", color=colour, markersize=6, markeredgecolor="white", zorder=4)
        mine = [each for each in outcomes if each.strategy == name and each.n_rows is not None]
        n, loss = [each.n_rows for each in mine], [each.loss for each in mine]
        losses.errorbar(n, loss, [each.loss_se for each in mine], color=colour, linestyle=style, marker="o", capsize=3)
        limit = next(each.loss for each in outcomes if each.strategy == name and each.n_rows is None)
        losses.axhline(limit, color=colour, linewidth=0.8, alpha=0.6, zorder=0)
    p, line = ranking.positive_rate, np.array([0.0, 0.4])
    heads.plot(line, (TOP - (1 - p) * line) / p, color="0.25", linewidth=0.9, label=f"control line D({TOP:g}, {p:.2g})")
    heads.set(xlim=(-0.005, 0.36), ylim=(0, 0.85), xlabel="False positive rate", ylabel="True positive rate")
    heads.set_title("Choices in the population", fontsize=10)
    heads.legend(loc="upper right", fontsize=8)
    losses.set(xscale="log", xlabel="rows", ylabel="loss of true LocalAUC against the best scorer")
    losses.set_title("The loss remains (thin: in the population)", fontsize=10)
    for ax in (plane, heads, losses):
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def _draw_clusters(ax: Any) -> None:
    x, y = np.array(CLUSTERS.centres).T
    ax.scatter(
        x,
        y,
        s=6000 * np.array(CLUSTERS.masses),
        c=CLUSTERS.etas,
        cmap="Blues",
        vmin=-0.1,
        vmax=1,
        edgecolors="0.3",
        linewidths=0.8,
    )
    for eta, mass, centre in zip(CLUSTERS.etas, CLUSTERS.masses, CLUSTERS.centres, strict=True):
        text = f"{eta:g}" if mass < 0.15 else f"{eta:g}\n(twice)"
        ax.annotate(text, centre, ha="center", va="center", fontsize=9, color="white" if eta > 0.5 else "black")
    ax.annotate("more positives;\nno linear scorer\nputs 0.9 first", (0.78, -0.25), ha="right", fontsize=8.5)
    ax.annotate("fewer,\nbut in order", (-0.38, 1.6), ha="right", va="center", fontsize=8.5)
    ax.set(xlim=(-1.3, 1.4), ylim=(-0.9, 2.05), xlabel="x[0]", ylabel="x[1]", aspect="equal")
    ax.set_title("Clusters of mass 0.1 and their eta", fontsize=10)


@timed
def main(arguments: Sequence[str] | None = None) -> None:
    """Print both tables; write them and the figure."""
    parser = argparse.ArgumentParser(
        description="Two-step strategies against one step, and combinations. --quick takes 3 seconds of processor "
        "time; without it the samples are more and larger, up to 100,000 rows: half a minute, from the time of one "
        "sample of each size."
    )
    parser.add_argument("--out", type=Path, default=Path(), help="folder for two_steps.csv, .png and combinations.csv")
    parser.add_argument("--quick", action="store_true", help="few and small samples")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    console = Console()
    outcomes = strategies(QUICK_ROWS if options.quick else N_ROWS, console=console)
    wide = console if console.width >= 120 else Console(width=120)
    wide.print(combinations_table(combinations()), outcomes_table(outcomes), sep="\n")
    to_frame(combinations()).write_csv(options.out / "combinations.csv")
    to_frame(outcomes).write_csv(options.out / "two_steps.csv")
    plot_two_steps(outcomes).savefig(options.out / "two_steps.png", dpi=150)


if __name__ == "__main__":
    main()

"""Which scorers do the local measures prefer? Theorems 20 and 24 and Remark 21 of Clémençon & Vayatis (2007).

eta(x) = P(Y = 1 | x) is known, so all values are exact. LocalAUC and W-ranking at rate u are highest for s*, which is
eta on the best u of all instances. The truncated AUC is not: put the *worst* instances at the end of the top, and the
curve runs far to the right at full height before it crosses the control line. The area grows, although all positives
that were there are lost. The paper says that its maximiser is "usually" not s*; in fact it never is, unless
u = 1 or eta is constant below the top: exchanging a little mass v at the end of the top for instances whose eta is
lower by g gains v g beta / (1 - p) to first order. `best_spoilt_share` gives the true maximiser; it spoils
about the share of positives in the top, so the harm is small if positives are rare.

Legend: u = ``top``, p = ``positive_rate``; alpha and beta the false and true positive rates of the top.

    python -m experiments.optimal_scorers --out FOLDER
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from math import floor
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from experiments._timing import timed
from headrank._numbers import whole
from headrank._types import Vector
from headrank.curve import RocCurve, share
from headrank.datasets import LinearEta
from headrank.measures import LocalAUC, TruncatedAUC, WRanking
from headrank.plots.drawing import COLOURS

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

POPULATION = LinearEta(low=0.0, high=0.8, n_features=2)
TOPS = (0.05, 0.1, 0.2, 0.5)
MEASURES: dict[str, Any] = {"truncated_auc": TruncatedAUC, "local_auc": LocalAUC, "w_ranking": WRanking}
DRAWN = ("eta", "best spoiler", "head reversed")


class Run(NamedTuple):
    """Consecutive instances in the ranking: their mass, and eta at both ends, linear in between."""

    mass: float
    first: float
    last: float


@dataclass(frozen=True)
class Ranking:
    """A ranking of a whole population as runs from the top down; its curve and its measures are exact.

    >>> round(Ranking((Run(1.0, 0.8, 0.0),)).local_auc(0.1), 10) == round(POPULATION.local_auc(0.1), 10)
    True
    """

    runs: tuple[Run, ...]

    @property
    def positive_rate(self) -> float:
        """Share of positives among all instances."""
        return sum(run.mass * (run.first + run.last) / 2 for run in self.runs)

    def within(self, top: float) -> list[Run]:
        """Return the runs of the best ``top``, the last one truncated there."""
        kept, left = [], top
        for run in self.runs:
            mass = min(run.mass, left)
            if mass <= 0:
                continue
            kept.append(Run(mass, run.first, run.first + (run.last - run.first) * mass / run.mass))
            left -= mass
        return kept

    def rates_at_top(self, top: float) -> tuple[float, float]:
        """Return (alpha, beta), where the curve crosses the control line."""
        p, positives = self.positive_rate, sum(run.mass * (run.first + run.last) / 2 for run in self.within(top))
        return (top - positives) / (1 - p), positives / p

    def truncated_auc(self, top: float) -> float:
        """Return the area under the curve from 0 to alpha."""
        p, positives, area = self.positive_rate, 0.0, 0.0
        # beta is quadratic and d alpha linear along a run: two Gauss points are exact.
        for mass, first, last in self.within(top):
            for x in (0.5 - 0.75**0.5 / 3, 0.5 + 0.75**0.5 / 3):
                here = first + (last - first) * x
                area += mass / 2 * (positives + mass * x * (first + here) / 2) * (1 - here)
            positives += mass * (first + last) / 2
        return area / (p * (1 - p))

    def local_auc(self, top: float) -> float:
        """Return P(a positive is in the top and outscores a negative): truncated area + beta (1 - alpha)."""
        alpha, beta = self.rates_at_top(top)
        return self.truncated_auc(top) + beta * (1 - alpha)

    def w_ranking(self, top: float) -> float:
        """Return p/2 beta (2 - beta) + (1 - p) LocalAUC."""
        p, beta = self.positive_rate, self.rates_at_top(top)[1]
        return p / 2 * beta * (2 - beta) + (1 - p) * self.local_auc(top)

    def discordance(self, top: float) -> float:
        """Return R / (2 p (1 - p)) = alpha beta - truncated area: LocalAUC is beta minus this."""
        alpha, beta = self.rates_at_top(top)
        return alpha * beta - self.truncated_auc(top)

    def roc(self, max_top: float = 1.0, n_points: int = 400) -> tuple[Vector, Vector]:
        """Return (fpr, tpr) along the curve, in equal steps of mass."""
        points = [(0.0, 0.0), *(self.rates_at_top(top) for top in np.linspace(0, max_top, n_points)[1:])]
        fpr, tpr = np.array(points).T
        return fpr, tpr


class Piece(NamedTuple):
    """Instances with x[0] between two values, ranked from the first value to the last, or in random order."""

    first: float
    last: float
    mixed: bool = False

    @property
    def mass(self) -> float:
        """Share of all instances."""
        return abs(self.first - self.last)


@dataclass(frozen=True)
class Scorer:
    """A scorer of `LinearEta` rows: it ranks pieces of the range of x[0] one after the other."""

    name: str
    pieces: tuple[Piece, ...]

    def ranking(self, population: LinearEta) -> Ranking:
        """Return its ranking of the whole population."""
        width = population.high - population.low
        runs = []
        for piece in self.pieces:
            ends = [population.low + width * x for x in (piece.first, piece.last)]
            runs.append(Run(piece.mass, *([sum(ends) / 2] * 2 if piece.mixed else ends)))
        return Ranking(tuple(runs))

    def scores(self, X: Vector) -> Vector:
        """Score rows; x[1], which is noise, gives the order within mixed pieces."""
        x, scores = X[:, 0], np.empty(len(X))
        starts = accumulate((piece.mass for piece in self.pieces), initial=0.0)
        for piece, start in zip(self.pieces, starts, strict=False):
            low, high = sorted(piece[:2])
            inside = (x >= low) & (x <= high)
            depth = piece.mass * X[inside, 1] if piece.mixed else np.abs(x[inside] - piece.first)
            scores[inside] = 1 - start - depth
        return scores


def spoilt(top: float, mass: float, name: str = "spoilt") -> Scorer:
    """Rank by eta, but fill the last ``mass`` of the best ``top`` with the worst instances."""
    border = 1 - top + mass
    return Scorer(name, (Piece(1.0, border), Piece(mass, 0.0), Piece(border, mass)))


def best_spoilt_share(population: LinearEta, top: float) -> float:
    """Return the mass v of worst instances with which `spoilt` has the highest truncated AUC of *all* scorers.

    For a top whose eta, sorted, is e(t), p (1 - p) area = integral of e(t) (u - t) - m^2 / 2, with m the integral of
    e. For given m the first term is the larger the more e is spread: best instances first, worst last. Along that
    family its derivative in v is g (m - v), where g = (high - low) (1 - u) and m = m* - g v. So v = m* / (1 + g).
    """
    gap = (population.high - population.low) * (1 - top)
    return population.rates_at_top(top)[1] * population.positive_rate / (1 + gap)


def scorers(population: LinearEta, top: float) -> list[Scorer]:
    """Return eta, s*, spoilers and other perturbations of eta at a rate ``top``, at most 5/6."""
    border, fifth, best = 1 - top, top / 5, best_spoilt_share(population, top)
    return [
        Scorer("eta", (Piece(1.0, 0.0),)),
        Scorer("s*, rest reversed", (Piece(1.0, border), Piece(0.0, border))),
        spoilt(top, best / 10, "slight spoiler"),
        spoilt(top, best, "best spoiler"),
        Scorer(
            "border blurred",
            (Piece(1.0, border + fifth), Piece(border + fifth, border - fifth, True), Piece(border - fifth, 0.0)),
        ),
        Scorer("head mixed", (Piece(1.0, border, True), Piece(border, 0.0))),
        Scorer("head reversed", (Piece(border, 1.0), Piece(border, 0.0))),
    ]


@dataclass(frozen=True)
class Row:
    """A scorer at a rate: exact values, and the mean gain over eta in samples with its standard error."""

    top: float
    scorer: str
    alpha: float
    beta: float
    truncated_auc: float
    truncated_auc_gain: float
    truncated_auc_gain_se: float
    local_auc: float
    local_auc_gain: float
    local_auc_gain_se: float
    w_ranking: float
    w_ranking_gain: float
    w_ranking_gain_se: float


@dataclass(frozen=True)
class OptimalScorers:
    """All scorers at all rates."""

    population: LinearEta
    n_rows: int
    n_samples: int
    rows: tuple[Row, ...]

    def to_frame(self) -> pl.DataFrame:
        """One row per rate and scorer."""
        import polars as pl

        return pl.DataFrame([asdict(row) for row in self.rows])

    def to_table(self) -> Table:
        """Return a printable table; the highest exact value at each rate is bold."""
        table = Table(
            title=f"eta uniform on [{self.population.low:g}, {self.population.high:g}]: exact values, and gain over "
            f"eta ± standard error in {self.n_samples} samples of {self.n_rows:,} rows",
            caption="s* gains nothing and loses nothing but in samples where the best set holds too few rows: the top "
            "is then filled up with the next in order, here the worst.",
        )
        for name in ("top", "scorer", "alpha", "beta"):
            table.add_column(name, justify="left" if name == "scorer" else "right")
        for measure in MEASURES.values():
            table.add_column(measure.__name__, justify="right")
            table.add_column("gain", justify="right")
        for top in dict.fromkeys(row.top for row in self.rows):
            group = [row for row in self.rows if row.top == top]
            for row in group:
                cells = [f"{top:g}", row.scorer, f"{row.alpha:.4f}", f"{row.beta:.4f}"]
                for name in MEASURES:
                    value, best = getattr(row, name), max(getattr(each, name) for each in group)
                    text = f"{value:.5f}"
                    cells.append(f"[bold]{text}[/]" if value > best - 1e-12 else text)
                    cells.append(f"{getattr(row, name + '_gain'):+.5f} ± {getattr(row, name + '_gain_se'):.5f}")
                table.add_row(*cells, end_section=row is group[-1])
        return table


def optimal_scorers(
    population: LinearEta = POPULATION,
    *,
    tops: Sequence[float] = TOPS,
    n_rows: int = 100_000,
    n_samples: int = 10,
    console: Console | None = None,
) -> OptimalScorers:
    """Evaluate every scorer at every rate, in the population and in samples of two-feature rows (the same for all).

    At least two samples are needed for standard errors.

    >>> result = optimal_scorers(tops=[0.2], n_rows=1000, n_samples=2)
    >>> max(result.rows, key=lambda row: row.truncated_auc).scorer
    'best spoiler'
    >>> max(result.rows, key=lambda row: round(row.local_auc, 12)).scorer
    'eta'
    """
    found: dict[tuple[float, str, str], list[float]] = {}
    seeds = range(whole("n_samples", n_samples, at_least=2))  # one sample has no standard error
    for seed in seeds if console is None else track(seeds, "Drawing samples", console=console):
        X, y = population.sample(n_rows, seed)
        for top in tops:
            n_head = min(floor(share(top, n_rows)) + 1, n_rows)
            for scorer in scorers(population, top):
                head = RocCurve.head_from_scores(y, scorer.scores(X), n_rows=n_head)
                for name, measure in MEASURES.items():
                    found.setdefault((top, scorer.name, name), []).append(measure(top).value(head))
    rows = []
    for top in tops:
        for scorer in scorers(population, top):
            ranking = scorer.ranking(population)
            alpha, beta = ranking.rates_at_top(top)
            values: dict[str, Any] = {}
            for name in MEASURES:
                pairs = zip(found[top, scorer.name, name], found[top, "eta", name], strict=True)
                gains = [mine - base for mine, base in pairs]
                values[name] = getattr(ranking, name)(top)
                values[name + "_gain"] = mean(gains)
                values[name + "_gain_se"] = stdev(gains) / n_samples**0.5
            rows.append(Row(top=top, scorer=scorer.name, alpha=alpha, beta=beta, **values))
    return OptimalScorers(population, n_rows, n_samples, tuple(rows))


def plot_optimal_scorers(population: LinearEta = POPULATION, *, tops: Sequence[float] = (0.1, 0.2, 0.5)) -> Figure:
    """Plot the heads of three scorers with the control line, and the measures as the top is spoilt gradually."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 8.2), layout="constrained")
    *heads, last = figure.subplots(2, 2).flat
    for ax, top in zip(heads, tops, strict=False):
        _draw_heads(ax, population, top)
    _draw_spoiling(last, population, tops[1])
    figure.suptitle(
        f"Truncated AUC (tinted) rewards a top full of negatives; eta uniform on [{population.low:g}, "
        f"{population.high:g}], exact",
        fontsize=11,
    )
    return figure


def _draw_heads(ax: Any, population: LinearEta, top: float) -> None:
    p, right, height = population.positive_rate, 0.0, 0.0
    chosen = [scorer for scorer in scorers(population, top) if scorer.name in DRAWN]
    for scorer, colour, style in zip(chosen, COLOURS, ("-", "--", "-."), strict=False):
        ranking = scorer.ranking(population)
        fpr, tpr = ranking.roc(top)
        label = f"{scorer.name}: truncated {ranking.truncated_auc(top):.4f}, local {ranking.local_auc(top):.4f}"
        ax.plot(fpr, tpr, color=colour, linestyle=style, linewidth=1.8, label=label)
        ax.plot(fpr[-1], tpr[-1], "o", color=colour, markersize=6, markeredgecolor="white", zorder=4)
        if scorer.name != "head reversed":
            ax.fill_between(fpr, tpr, color=colour, alpha=0.13, linewidth=0)
        right, height = max(right, fpr[-1]), max(height, tpr[-1])
    line = np.array([max((top - p) / (1 - p), 0.0), min(top / (1 - p), 1.0)])
    ax.plot(line, (top - (1 - p) * line) / p, color="0.25", linewidth=0.9, label=f"control line D({top:g}, {p:g})")
    ax.set_xlim(-0.01 * right, 1.08 * right)
    ax.set_ylim(0, 1.55 * height)
    ax.set_xlabel("False positive rate")
    ax.set_ylabel("True positive rate")
    ax.set_title(f"best {top:g} of all instances", fontsize=10)
    ax.legend(loc="upper right", fontsize=8, framealpha=0.9)
    ax.spines[["top", "right"]].set_visible(False)


def _draw_spoiling(ax: Any, population: LinearEta, top: float) -> None:
    shares = np.linspace(0, 1, 101)
    rankings = [spoilt(top, top * share).ranking(population) for share in shares]
    for (name, measure), colour in zip(MEASURES.items(), (COLOURS[1], COLOURS[0], COLOURS[2]), strict=True):
        values = np.array([getattr(ranking, name)(top) for ranking in rankings])
        ax.plot(shares, values / values[0], color=colour, linewidth=1.8, label=measure.__name__)
    best = best_spoilt_share(population, top) / top
    ax.axvline(best, color="0.6", linewidth=0.8, zorder=0)
    ax.text(best, 0.02, f" best spoiler: {best:.2f}", fontsize=8, color="0.3", transform=ax.get_xaxis_transform())
    ax.axhline(1, color="0.6", linewidth=0.8, zorder=0)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, None)
    ax.set_xlabel(f"share of the best {top:g} filled with the worst instances")
    ax.set_ylabel("value over that of eta")
    ax.set_title("Spoiling the end of the top", fontsize=10)
    ax.legend(fontsize=8)
    ax.spines[["top", "right"]].set_visible(False)


@timed
def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, and write it and the figure."""
    parser = argparse.ArgumentParser(
        description="Which scorers maximise LocalAUC, W-ranking and the truncated AUC. Takes seconds."
    )
    parser.add_argument("--out", type=Path, default=Path(), help="folder for optimal_scorers.csv and .png")
    parser.add_argument("--quick", action="store_true", help="small samples")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    console = Console()
    n_rows, n_samples = (5_000, 3) if options.quick else (100_000, 10)
    result = optimal_scorers(n_rows=n_rows, n_samples=n_samples, console=console)
    (console if console.width >= 150 else Console(width=150)).print(result.to_table())
    result.to_frame().write_csv(options.out / "optimal_scorers.csv")
    plot_optimal_scorers(result.population).savefig(options.out / "optimal_scorers.png", dpi=150)


if __name__ == "__main__":
    main()

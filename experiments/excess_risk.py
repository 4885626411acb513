"""How fast does the empirical minimiser over a finite class improve? Clémençon & Vayatis (2007), Theorems 5 and 10.

Theorem 5 bounds the excess of the mass-constrained error L by n^(-1/2), for any distribution with densities bounded
from both sides. Theorem 10 bounds it by n^(-2/3) for a finite class that contains s*, when P(|eta - Q| <= t) is at most
linear in t (alpha = 1/2 in the paper). For the local ranking risk M the paper proves n^(-1/2) (Proposition 27); Remark
28 expects that a faster rate would be spoilt by the unknown share of positives.

A *fixed* finite class has no power of n as its rate: once n separates the best scorer from the next, the excess falls
exponentially (the case "coarse class"). To see the rate of the bound, the class needs competitors at every scale that
n can resolve: here angles, or gaps, are spaced geometrically. A linear scorer at angle a from s* then loses a^2 if eta
rises linearly through Q, with a standard deviation of (a / n)^(1/2), so a = n^(-1/3) and the excess is n^(-2/3). A
jump of eta at Q gives n^(-1) if Q is known. With the empirical quantile it tends to n^(-1/2): K'(s, v) differs between
s* and its neighbours, so the variance of the difference does not vanish; conditions (ii) and (iv) fail, and Remark 11
holds. An eta flatter than any power has n^(-1/2) up to logarithms, which these n are too small to show. A class
without s*, whose members differ from its best on sets that do not shrink, has n^(-1/2) whatever the margin.

    python -m experiments.excess_risk --out FOLDER
"""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from scipy.special import ndtr, ndtri

from experiments._timing import timed
from headrank._types import BoolVector, Vector
from headrank.curve import share
from headrank.plots.drawing import COLOURS

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

TOP = 0.25
BORDER = float(ndtri(1 - TOP))
"""The standard normal score at which the top begins."""
CRITERIA = ("mass_error", "ranking_risk", "known_quantile")
N_ROWS = {100: 400, 316: 400, 1_000: 400, 3_162: 300, 10_000: 160, 31_623: 80, 100_000: 60}
"""Rows per sample, and number of samples."""
QUICK_ROWS = {100: 20, 316: 20, 1_000: 20}
LATE = 3_000
"""Number of rows from which the second slope is fitted."""


@dataclass(frozen=True)
class Risks:
    """L and M of each scorer of a class, of the population or of a sample, and L with the population's quantile."""

    mass_error: Vector
    ranking_risk: Vector
    known_quantile: Vector


@dataclass(frozen=True)
class Case(ABC):
    """A population and a finite class of scorers, the best one first; scores are standard normal."""

    name: str
    rate: str
    """Exponent that theory gives for L."""

    @abstractmethod
    def sample(self, n_rows: int, rng: np.random.Generator) -> tuple[BoolVector, Vector]:
        """Draw labels, and the scores of shape (n_scorers, n_rows)."""

    @abstractmethod
    def eta_at(self, scorer: int, scores: Vector) -> Vector:
        """Return P(Y = 1 | the scorer's score)."""

    @property
    @abstractmethod
    def n_scorers(self) -> int:
        """Number of scorers in the class."""

    @property
    @abstractmethod
    def positive_rate(self) -> float:
        """Share of positives among all instances."""

    def _scale(self, scorer: int) -> float:  # noqa: ARG002
        """Return the width of the transition at the border, from which quadrature starts."""
        return 1.0

    @cached_property
    def excess(self) -> Risks:
        """L and M of each scorer, minus those of the first. By Gauss quadrature, with errors near 1e-10.

        With e(t) the eta of the instances at depth t, which is the integral's variable, and m the integral of e over
        the top, L = p + u - 2 m and M = 2 * integral of e(t) t - m^2 + (1 - p) L.
        """
        nodes, weights = np.polynomial.legendre.leggauss(20)
        errors, risks = np.zeros(self.n_scorers), np.zeros(self.n_scorers)
        for i in range(1, self.n_scorers):
            ends = np.append(0.0, np.geomspace(self._scale(i) / 4, 8.0, 30))
            half, middle = np.diff(ends) / 2, (ends[1:] + ends[:-1]) / 2
            w = BORDER + (middle[:, None] + half[:, None] * nodes).ravel()
            dt = (half[:, None] * weights).ravel() * np.exp(-(w**2) / 2) / np.sqrt(2 * np.pi)
            best = self.eta_at(0, w)
            lost = best - self.eta_at(i, w)
            lost_m, m = float(lost @ dt), float(best @ dt)
            errors[i] = 2 * lost_m
            risks[i] = (
                -2 * float(lost @ (dt * ndtr(-w))) + lost_m * (2 * m - lost_m) + (1 - self.positive_rate) * errors[i]
            )
        return Risks(errors, risks, errors)


@dataclass(frozen=True)
class Plane(Case):
    """Normal rows in the plane; eta depends on the rank of x[0] alone, and the class are linear scorers."""

    quantile: float
    above_quantile: Callable[[Vector], Vector]
    """eta - Q as a function of the rank of x[0] in [0, 1]; changes its sign at 1 - u."""
    angles: tuple[float, ...]
    """Between the scorers and x[0]; the first is 0."""

    @property
    def n_scorers(self) -> int:  # noqa: D102
        return len(self.angles)

    @cached_property
    def positive_rate(self) -> float:  # noqa: D102
        return self.quantile + self._mean_between(0.0, 1 - TOP) + self._mean_between(1 - TOP, 1.0)

    def _mean_between(self, low: float, high: float) -> float:
        nodes, weights = np.polynomial.legendre.leggauss(200)
        ranks = (low + high) / 2 + (high - low) / 2 * nodes
        return float(self.above_quantile(ranks) @ weights) * (high - low) / 2

    def sample(self, n_rows: int, rng: np.random.Generator) -> tuple[BoolVector, Vector]:
        """Draw labels, and the scores of shape (n_scorers, n_rows)."""
        X = rng.standard_normal((2, n_rows))
        positive: BoolVector = rng.random(n_rows) < self.quantile + self.above_quantile(ndtr(X[0]))
        return positive, np.column_stack([np.cos(self.angles), np.sin(self.angles)]) @ X

    def eta_at(self, scorer: int, scores: Vector) -> Vector:
        """Return P(Y = 1 | the scorer's score): the mean of eta along the line of equal scores."""
        cos, sin = np.cos(self.angles[scorer]), abs(np.sin(self.angles[scorer]))
        if sin == 0:
            return self.quantile + self.above_quantile(ndtr(cos * scores))
        # eta has a kink or a jump where the line crosses the border of the best set: the integral is split there.
        crossing = np.clip((BORDER - cos * scores) / sin, -8.5, 8.5)[:, None]
        nodes, weights = np.polynomial.legendre.leggauss(80)
        mean: Vector = np.full(scores.shape, self.quantile)
        for low, high in ((-8.5, crossing), (crossing, 8.5)):
            z = (low + high) / 2 + (high - low) / 2 * nodes
            density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
            inside = self.above_quantile(ndtr(cos * scores[:, None] + sin * z))
            mean = mean + ((high - low) / 2 * weights * density * inside).sum(axis=1)
        return mean

    def _scale(self, scorer: int) -> float:
        return max(abs(float(np.sin(self.angles[scorer]))), 1e-3)


@dataclass(frozen=True)
class WithoutOptimum(Case):
    """P(Y = 1 | x) = Phi(a x[0]); scorer j is r_j x[0] + (1 - r_j^2)^(1/2) x[j], so that none is s* and all differ."""

    correlations: tuple[float, ...]
    """Correlations of the scorers with x[0]; the first is the highest."""
    strength: float = 0.9
    """Correlation of x[0] with the normal variable whose sign is Y."""

    @property
    def n_scorers(self) -> int:  # noqa: D102
        return len(self.correlations)

    @property
    def positive_rate(self) -> float:  # noqa: D102
        return 0.5

    def sample(self, n_rows: int, rng: np.random.Generator) -> tuple[BoolVector, Vector]:
        """Draw labels, and the scores of shape (n_scorers, n_rows)."""
        first, r = rng.standard_normal(n_rows), np.array(self.correlations)[:, None]
        hidden = self.strength * first + np.sqrt(1 - self.strength**2) * rng.standard_normal(n_rows)
        return hidden > 0, r * first + np.sqrt(1 - r**2) * rng.standard_normal((self.n_scorers, n_rows))

    def eta_at(self, scorer: int, scores: Vector) -> Vector:  # noqa: D102
        r = self.strength * self.correlations[scorer]
        return np.asarray(ndtr(r * scores / np.sqrt(1 - r**2)))


def _jump(ranks: Vector) -> Vector:
    return np.where(ranks >= 1 - TOP, 0.2, -0.2)


def _linear(ranks: Vector) -> Vector:
    return np.asarray(0.9 * (ranks - (1 - TOP)))


def _flat(ranks: Vector) -> Vector:
    """Rise away from the border like exp(-1 / distance): slower than any power."""
    distance = np.where(ranks >= 1 - TOP, (ranks - (1 - TOP)) / TOP, (1 - TOP - ranks) / (1 - TOP))
    size = 0.45 * np.exp(1 - 1 / np.maximum(distance, 1e-3))
    return np.where(ranks >= 1 - TOP, size, -size)


_FINE_ANGLES = np.geomspace(0.001, 1.5, 25)
_BOTH_SIDES = (0.0, *_FINE_ANGLES, *-_FINE_ANGLES)
_LINEAR_QUANTILE = 0.05 + 0.9 * (1 - TOP)
_WIDE_ANGLES = np.linspace(0.06, 1.5, 25)
_ALL_ROUND = tuple(2 * np.pi / 50 * np.arange(50))
CASES: tuple[Case, ...] = (
    Plane("jump of eta at Q", "-1/2; known Q: -1", 0.5, _jump, _BOTH_SIDES),
    Plane("linear eta (margin)", "-2/3", _LINEAR_QUANTILE, _linear, _BOTH_SIDES),
    Plane("flat eta (no margin)", "-1/2, log", 0.5, _flat, (0.0, *_WIDE_ANGLES, *-_WIDE_ANGLES)),
    WithoutOptimum("class without s*", "-1/2", tuple(0.6 * (1 - np.append(0.0, np.geomspace(1e-4, 1, 49))))),
    Plane("linear eta, coarse class", "exponential", _LINEAR_QUANTILE, _linear, _ALL_ROUND),
)


def empirical_risks(positive: BoolVector, scores: Vector, top: float = TOP) -> Risks:
    """Compute `MassConstrainedError` and `LocalRankingRisk` of many scorers. O(n) each, plus sorting the top.

    Scores, of shape (n_scorers, n_rows), must have no ties.
    """
    n, size = positive.size, share(top, positive.size)
    k = ceil(size)
    head = np.argpartition(scores, n - k, axis=1)[:, n - k :]
    order = np.argsort(-np.take_along_axis(scores, head, axis=1), axis=1)
    labels = positive[np.take_along_axis(head, order, axis=1)]
    part = np.where(np.arange(k) < k - 1, 1.0, size - (k - 1))  # the last row counts in part
    n_pos, tp = np.count_nonzero(positive), labels @ part
    errors = (n_pos - tp + (size - tp)) / n
    discordant = (np.cumsum(~labels, axis=1) * labels) @ part
    risks = 2 * discordant / (n * (n - 1)) + (n - n_pos) / n * errors
    return Risks(errors, risks, np.mean((scores >= BORDER) != positive, axis=1))


@dataclass(frozen=True)
class Point:
    """Mean true excess of the scorer that is best in a sample; ``share_best`` is how often it is truly the best."""

    case: str
    criterion: str
    n_rows: int
    n_samples: int
    excess: float
    standard_error: float
    share_best: float


@dataclass(frozen=True)
class Slope:
    """Slope of log excess against log n, by least squares weighted with the standard errors."""

    case: str
    criterion: str
    rate: str
    slope: float
    slope_se: float
    late_slope: float
    late_slope_se: float


def excess_risk(
    cases: Sequence[Case] = CASES, *, n_rows: dict[int, int] | None = None, console: Console | None = None
) -> list[Point]:
    """Select by each criterion in samples of growing size, and evaluate the selection by its true value.

    >>> [point, *_] = excess_risk(CASES[1:2], n_rows={100: 3})
    >>> point.criterion, bool(0 <= point.excess <= CASES[1].excess.mass_error.max())
    ('mass_error', True)
    """
    plan = N_ROWS if n_rows is None else n_rows
    points = []
    with Progress(console=console, disable=console is None) as progress:
        task = progress.add_task("Drawing samples", total=len(cases) * sum((n + 300) * m for n, m in plan.items()))
        for number, case in enumerate(cases):
            for n, n_samples in plan.items():
                found: dict[str, list[float]] = {criterion: [] for criterion in CRITERIA}
                for seed in range(n_samples):
                    rng = np.random.default_rng([number, n, seed])
                    risks = empirical_risks(*case.sample(n, rng))
                    # Ties are common in small samples; always taking the first of them would favour the best scorer.
                    shuffled = rng.permutation(case.n_scorers)
                    for criterion, values in found.items():
                        chosen = shuffled[np.argmin(getattr(risks, criterion)[shuffled])]
                        values.append(float(getattr(case.excess, criterion)[chosen]))
                    progress.advance(task, n + 300)
                points += [_point(case.name, criterion, n, np.array(values)) for criterion, values in found.items()]
    return points


def _point(case: str, criterion: str, n_rows: int, values: Vector) -> Point:
    error = float(values.std(ddof=1)) / values.size**0.5
    return Point(case, criterion, n_rows, values.size, float(values.mean()), error, float(np.mean(values == 0)))


def fit_slope(points: Sequence[Point]) -> tuple[float, float]:
    """Fit the slope of log excess against log n, and its standard error; points without excess are excluded."""
    kept = [point for point in points if point.standard_error > 0]
    if len(kept) < 2:
        return float("nan"), float("nan")
    x, y = np.log([(point.n_rows, point.excess) for point in kept]).T
    weight = np.array([(point.excess / point.standard_error) ** 2 for point in kept])
    centred = x - np.average(x, weights=weight)
    spread = float(weight @ centred**2)
    return float(weight * centred @ y) / spread, spread**-0.5


def slopes(points: Sequence[Point], cases: Sequence[Case] = CASES) -> list[Slope]:
    """Fit a slope for each case and criterion, over all n and over the late ones."""
    fitted = []
    for criterion in CRITERIA:
        for case in cases:
            mine = [point for point in points if (point.case, point.criterion) == (case.name, criterion)]
            late = [point for point in mine if point.n_rows >= LATE]
            fitted.append(Slope(case.name, criterion, case.rate, *fit_slope(mine), *fit_slope(late)))
    return fitted


def to_frame(rows: Sequence[Point] | Sequence[Slope]) -> pl.DataFrame:
    """One row per point or slope."""
    import polars as pl

    return pl.DataFrame([asdict(row) for row in rows])


def to_table(points: Sequence[Point], fitted: Sequence[Slope]) -> Table:
    """Return a table of the slopes with the excess at the smallest and the largest n."""
    numbers = sorted({point.n_rows for point in points})
    table = Table(
        title=f"Excess risk of the empirical minimiser, top {TOP:g}: slope of log excess against log n",
        caption=f"± standard error; theory is for L: 2/3 by Theorem 10, 1/2 by Theorem 5; late: n >= {LATE:,}",
    )
    for name in ("criterion", "case"):
        table.add_column(name)
    for name in ("theory", "slope", "late slope", *(f"excess, n = {n:,}" for n in (numbers[0], numbers[-1]))):
        table.add_column(name, justify="right")
    for each in fitted:
        mine = [point for point in points if (point.case, point.criterion) == (each.case, each.criterion)]
        ends = [f"{point.excess:.2g} ± {point.standard_error:.1g}" for point in (mine[0], mine[-1])]
        fits = ((each.slope, each.slope_se), (each.late_slope, each.late_slope_se))
        texts = [f"{slope:.3f} ± {error:.3f}".replace("nan ± nan", "-") for slope, error in fits]
        table.add_row(each.criterion, each.case, each.rate, *texts, *ends, end_section=each.case == fitted[-1].case)
    return table


def plot_excess_risk(points: Sequence[Point], fitted: Sequence[Slope]) -> Figure:
    """Plot excess against n on logarithmic axes, one panel per criterion, next to the slopes of the theorems."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 5.2), layout="constrained")
    axes: Any = figure.subplots(1, 3, sharey=True)
    titles = ("Mass-constrained error L", "Local ranking risk M", "L, were the quantile known")
    for ax, criterion, title in zip(axes, CRITERIA, titles, strict=True):
        mine_fitted = [slope for slope in fitted if slope.criterion == criterion]
        for each, colour, marker in zip(mine_fitted, COLOURS, "osD^v", strict=False):
            mine = [p for p in points if (p.case, p.criterion) == (each.case, criterion) and p.excess > 0]
            n, excess = [p.n_rows for p in mine], np.array([p.excess for p in mine])
            error = np.array([p.standard_error for p in mine])
            low = np.minimum(error, 0.9 * excess)  # a bar that reaches 0 has no end on this axis
            label = f"{each.case}: {each.slope:.2f} ± {each.slope_se:.2f}"
            ax.errorbar(n, excess, [low, error], label=label, color=colour, marker=marker, markersize=5, capsize=3)
        ends = np.array([min(p.n_rows for p in points), max(p.n_rows for p in points)], dtype=float)
        for power, name, style in ((-1 / 2, "-1/2", "--"), (-2 / 3, "-2/3", "-.")):
            start = max(p.excess for p in points) * 1.6
            ax.plot(ends, start * (ends / ends[0]) ** power, color="0.35", linestyle=style, linewidth=1)
            ax.annotate(name, (ends[1], start * (ends[1] / ends[0]) ** power), (4, -3), textcoords="offset points")
        ax.set(xscale="log", yscale="log", xlabel="n, rows of the sample", title=title)
        ax.legend(fontsize=8, loc="lower left", title="fitted slopes", title_fontsize=8)
        ax.grid(alpha=0.2)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("true excess of the empirical minimiser")
    return figure


@timed
def main(arguments: Sequence[str] | None = None) -> None:
    """Print the slopes, and write all points, the slopes and the figure."""
    parser = argparse.ArgumentParser(description="Excess risk of the empirical minimiser: 2 minutes; --quick: 5 s.")
    parser.add_argument("--out", type=Path, default=Path(), help="folder for excess_risk.csv, .png, excess_slopes.csv")
    parser.add_argument("--quick", action="store_true", help="few and small samples")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    points = excess_risk(n_rows=QUICK_ROWS if options.quick else N_ROWS, console=(console := Console()))
    fitted = slopes(points)
    (console if console.width >= 140 else Console(width=140)).print(to_table(points, fitted))
    to_frame(points).write_csv(options.out / "excess_risk.csv")
    to_frame(fitted).write_csv(options.out / "excess_slopes.csv")
    plot_excess_risk(points, fitted).savefig(options.out / "excess_risk.png", dpi=150)


if __name__ == "__main__":
    main()

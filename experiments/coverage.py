"""Coverage of every interval method on populations with known true values, with deliberately small samples.

The finite-sample methods guarantee their confidence for any distribution; coverage above it means that they are wider
than necessary. The asymptotic methods hold for large samples only; the tables show where samples are too small.

    python -m experiments.coverage --out FOLDER
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from experiments._timing import timed
from headrank._types import BoolVector, Vector
from headrank.bounds.asymptotic.bootstrap import bootstrap
from headrank.bounds.intervals import interval_of
from headrank.curve import RocCurve
from headrank.datasets import Binormal
from headrank.measures import AUC, PartialAUC

if TYPE_CHECKING:
    import polars as pl

CONFIDENCE = 0.95
N_RUNS, N_REPLICATES = 400, 200
MEASURES = (AUC(), PartialAUC(max_fpr=0.1))
FINITE_SAMPLE = ("mcdiarmid", "hoeffding", "kl", "bernstein", "fixed_range", "tail", "dkw")
ASYMPTOTIC = ("delong", "bootstrap")
_OF_THE_AUC = FINITE_SAMPLE[:4]


@dataclass(frozen=True)
class Population:
    """A sampler of scores of both classes, and the points of the piecewise linear true curve."""

    name: str
    n_pos: int
    n_neg: int
    draw: Callable[[np.random.Generator, int, int], tuple[Vector, Vector]]
    fpr: Vector
    tpr: Vector

    def sample(self, seed: int) -> RocCurve:
        """Draw one sample."""
        pos, neg = self.draw(np.random.default_rng(seed), self.n_pos, self.n_neg)
        labels: BoolVector = np.arange(pos.size + neg.size) < pos.size
        return RocCurve.from_scores(labels, np.concatenate([pos, neg]))

    def truth(self, measure: AUC | PartialAUC) -> float:
        """Return the true value: the mean height of the curve over the range, by the trapezoidal rule."""
        end = measure.max_fpr if isinstance(measure, PartialAUC) else 1.0
        inside = self.fpr < end
        fpr = np.append(self.fpr[inside], end)
        tpr = np.append(self.tpr[inside], np.interp(end, self.fpr, self.tpr))
        return float(np.trapezoid(tpr, fpr) / end)


def _binormal(name: str, separation: float, n_pos: int, n_neg: int) -> Population:
    fpr = np.concatenate([[0.0], np.geomspace(1e-9, 1, 200_001)])
    return Population(
        name,
        n_pos,
        n_neg,
        lambda rng, pos, neg: (rng.normal(separation, 1, pos), rng.normal(0, 1, neg)),
        fpr,
        Binormal(separation=separation).roc(fpr),
    )


def _levels(name: str, pos: Sequence[float], neg: Sequence[float], n_pos: int, n_neg: int) -> Population:
    """Scores on a few levels, highest first, with these shares: a piecewise linear curve."""
    levels = -np.arange(len(pos), dtype=np.float64)
    return Population(
        name,
        n_pos,
        n_neg,
        lambda rng, m, n: (rng.choice(levels, m, p=pos), rng.choice(levels, n, p=neg)),
        np.concatenate([[0.0], np.cumsum(neg)]),
        np.concatenate([[0.0], np.cumsum(pos)]),
    )


def _exponential(name: str, scale: float, n_pos: int, n_neg: int) -> Population:
    fpr = np.concatenate([[0.0], np.geomspace(1e-12, 1, 200_001)])
    return Population(
        name,
        n_pos,
        n_neg,
        lambda rng, pos, neg: (rng.exponential(scale, pos), rng.exponential(1, neg)),
        fpr,
        fpr ** (1 / scale),
    )


POPULATIONS = (
    _binormal("binormal, 200 + 2,000", 1.5, 200, 2000),
    _binormal("binormal, 20 + 2,000 (1 % positives)", 1.5, 20, 1980),
    _binormal("AUC 0.993, 30 + 300", 3.5, 30, 300),
    _binormal("binormal, 10 + 30", 1.5, 10, 30),
    _levels("four levels (heavy ties), 100 + 400", (0.4, 0.3, 0.2, 0.1), (0.05, 0.15, 0.3, 0.5), 100, 400),
    _exponential("exponential (skewed), 50 + 200", 3.0, 50, 200),
)


@dataclass(frozen=True)
class Coverage:
    """Coverage and mean width of a method, and how often it raised an error."""

    population: str
    measure: str
    method: str
    finite_sample: bool
    truth: float
    covered: float
    mean_width: float
    refused: float


def coverages(n_runs: int = N_RUNS, n_replicates: int = N_REPLICATES) -> list[Coverage]:
    """Run every method on every population; samples on which a method raises are excluded from its coverage."""
    found = []
    for population in track(POPULATIONS, description="populations", console=Console(stderr=True)):
        curves = [population.sample(seed) for seed in range(n_runs)]
        for measure in MEASURES:
            truth = population.truth(measure)
            for method in (*FINITE_SAMPLE, *ASYMPTOTIC):
                if method in _OF_THE_AUC and not isinstance(measure, AUC):
                    continue
                made = [_ends(curve, measure, method, n_replicates, seed) for seed, curve in enumerate(curves)]
                ends = np.array([each for each in made if each is not None]).reshape(-1, 2)
                covered = float(np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1]))) if ends.size else np.nan
                width = float(np.mean(ends[:, 1] - ends[:, 0])) if ends.size else np.nan
                names = (population.name, str(measure), method, method in FINITE_SAMPLE)
                found.append(Coverage(*names, truth, covered, width, 1 - len(ends) / n_runs))
    return found


def _ends(
    curve: RocCurve, measure: AUC | PartialAUC, method: str, n_replicates: int, seed: int
) -> tuple[float, float] | None:
    try:
        if method == "bootstrap":
            one = bootstrap(curve, measure, confidence=CONFIDENCE, n_replicates=n_replicates, random_state=seed)
        else:
            one = interval_of(curve, measure, confidence=CONFIDENCE, method=method)
    except ValueError:  # asymptotic methods raise if there is no variation
        return None
    return one.low, one.high


def to_frame(found: Sequence[Coverage]) -> pl.DataFrame:
    """One row per population, measure and method."""
    import polars as pl

    return pl.DataFrame([asdict(each) for each in found])


def tables(found: Sequence[Coverage]) -> list[Table]:
    """One table per measure: coverage in per cent and mean width; coverage below the confidence is bold."""
    result = []
    for measure in dict.fromkeys(each.measure for each in found):
        rows = [each for each in found if each.measure == measure]
        methods = list(dict.fromkeys(each.method for each in rows))
        title = f"{measure}: coverage of the 95 % interval in %, mean width (share of samples with an error)"
        table = Table("population", *methods, title=title)
        for name in dict.fromkeys(each.population for each in rows):
            cells: list[Any] = [
                next(each for each in rows if (each.population, each.method) == (name, m)) for m in methods
            ]
            table.add_row(name, *map(_cell, cells))
        result.append(table)
    return result


def _cell(each: Coverage) -> str:
    refused = f" ({each.refused:.0%})" if each.refused else ""
    text = f"{100 * each.covered:.1f}, {each.mean_width:.3f}{refused}"
    return f"[bold]{text}[/]" if each.covered < CONFIDENCE else text


@timed
def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables; write the frame."""
    parser = argparse.ArgumentParser(
        description="Coverage of every interval method where the truth is known. --quick takes 12 seconds of processor "
        "time; without it there are 10 times the samples and twice the replicates: by extrapolation, 2 to 4 minutes."
    )
    parser.add_argument("--out", type=Path, help="where to write coverage.csv")
    parser.add_argument("--quick", action="store_true", help="few samples")
    options = parser.parse_args(arguments)
    found = coverages(40, 100) if options.quick else coverages()
    for table in tables(found):
        Console(width=200).print(table)
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        to_frame(found).write_csv(options.out / "coverage.csv")


if __name__ == "__main__":
    main()

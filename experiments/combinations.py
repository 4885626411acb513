"""Which scorer maximises a combination of finding and ranking? Remark 25 of Clémençon & Vayatis (2007), first half.

*Not all combinations of beta(s, u) and R(s, u) have s* as their optimum.* Here over all scorers, and exact. The second
half of the remark, against strategies of two steps, is in `experiments.two_steps`, whose command prints both.

    python -m experiments.combinations --out FOLDER

Legend: u = ``top``; alpha and beta the false and true positive rates of the top, R the probability that two instances
are in it and wrongly ordered; LocalAUC = beta - R / (2 p (1 - p)).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import inf
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from experiments._timing import timed
from experiments.optimal_scorers import POPULATION, Ranking, Run, spoilt
from headrank.datasets import LinearEta


@dataclass(frozen=True)
class Combination:
    """A criterion of beta and R, and its maximiser; ``spoilt`` is the share of worst instances in its top."""

    criterion: str
    spoilt: float
    beta: float
    ranking_error: float
    local_auc: float
    loss: float


def spoilt_share(population: LinearEta, top: float, weight: float) -> float:
    """Return the mass v of worst instances in the top that maximises beta - c R / (2 p (1 - p)), c = ``weight``.

    With m the positives of the top and e(t) its sorted eta, the criterion is m (1 - p) + c (m^2 / 2 - integral of
    e(t) t), over p (1 - p). As in `best_spoilt_share`, only best instances followed by worst ones can be optimal, and
    along that family its derivative in v has the sign of c (u - m* - (1 - g) v) - (1 - p), g = (high - low) (1 - u).
    So v = 0, which is s*, exactly if c <= 1 / alpha(s*). LocalAUC has c = 1.

    >>> alpha, _ = POPULATION.rates_at_top(0.2)
    >>> spoilt_share(POPULATION, 0.2, 1.0), spoilt_share(POPULATION, 0.2, 1.01 / alpha) > 0
    (0.0, True)
    """
    p, gap = population.positive_rate, (population.high - population.low) * (1 - top)
    missed = top - population.rates_at_top(top)[1] * p  # negatives of the best set
    return float(np.clip((missed - (1 - p) / weight) / (1 - gap), 0.0, top)) if weight > 0 else 0.0


def combinations(population: LinearEta = POPULATION, *, top: float = 0.2) -> list[Combination]:
    """Maximise combinations of finding (beta) and ranking (R) over all scorers, exactly."""
    alpha = population.rates_at_top(top)[0]
    weights = {
        "beta - R' = LocalAUC": 1.0,
        f"beta - R' / alpha* (c = {1 / alpha:.3g})": 1 / alpha,
        f"beta - 1.5 R' / alpha* (c = {1.5 / alpha:.3g})": 1.5 / alpha,
        "-R': ranking alone": inf,
    }
    # Finding alone does not determine the order of the top: s* is a maximiser, and so is s* reversed.
    low, border, high = population.low, population.quantile(top), population.high
    turned = Ranking((Run(top, border, high), Run(1 - top, border, low)))
    best = spoilt(top, 0.0).ranking(population).local_auc(top)
    found = [_combination("beta: finding alone (worst case)", 0.0, turned, top, best)]
    for name, weight in weights.items():
        mass = spoilt_share(population, top, weight)
        found.append(_combination(name, mass / top, spoilt(top, mass).ranking(population), top, best))
    # Its value depends on (m, R) alone and grows as R falls, so its maximiser is in the same family; found by search.
    masses = np.linspace(0, 0.999 * top, 2000)
    rankings = [spoilt(top, mass).ranking(population) for mass in masses]
    betas = np.array([ranking.rates_at_top(top)[1] for ranking in rankings])
    aucs = 1 - np.array([ranking.discordance(top) / np.prod(ranking.rates_at_top(top)) for ranking in rankings])
    for name, values in (("beta + AUC within the top", betas + aucs), ("beta * AUC within the top", betas * aucs)):
        at = int(np.argmax(values))
        found.append(_combination(name, masses[at] / top, rankings[at], top, best))
    return found


def _combination(name: str, share: float, ranking: Ranking, top: float, best: float) -> Combination:
    p, value = ranking.positive_rate, ranking.local_auc(top)
    error = 2 * p * (1 - p) * ranking.discordance(top)
    return Combination(name, float(share), ranking.rates_at_top(top)[1], error, value, best - value)


def combinations_table(rows: Sequence[Combination]) -> Table:
    """Return the combinations as a table."""
    table = Table(
        title="Which scorer maximises a combination of beta and R' = R / (2 p (1 - p))? Top 0.2, all scorers, exact"
    )
    for name in ("criterion", "worst instances in the top", "beta", "R", "LocalAUC", "loss against s*"):
        table.add_column(name, justify="left" if name == "criterion" else "right")
    for row in rows:
        numbers = (row.beta, row.ranking_error, row.local_auc, row.loss)
        table.add_row(row.criterion, f"{row.spoilt:.1%}", *(f"{number:.4f}" for number in numbers))
    return table


@timed
def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, say what it shows, and write it if asked to."""
    parser = argparse.ArgumentParser(
        description="Which scorer maximises a combination of finding and ranking? Remark 25 of Clémençon & Vayatis "
        "(2007), exact. Takes a second."
    )
    parser.add_argument("--out", type=Path, help="folder for combinations.csv")
    options = parser.parse_args(arguments)
    found = combinations()
    Console(width=120).print(combinations_table(found), verdict(found), sep="\n")
    if options.out is not None:
        import polars as pl

        options.out.mkdir(parents=True, exist_ok=True)
        pl.DataFrame([asdict(row) for row in found]).write_csv(options.out / "combinations.csv")


def verdict(rows: Sequence[Combination]) -> str:
    """Say which criteria have s* as their optimum, and which put worst instances into the top."""
    kept = [row.criterion for row in rows if row.loss < 1e-9]
    spoiling = [row.criterion for row in rows if row.spoilt > 1e-9]
    return (
        f"s* is optimal for: {'; '.join(kept)}.\nThe optimum has worst instances in its top for: {'; '.join(spoiling)}."
    )


if __name__ == "__main__":
    main()

"""Best cut-offs on normal scores: coverage of the bootstrap interval and of the certified limits, and optimism.

python -m experiments.cutoffs
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import ndtr

from experiments._timing import timed
from headrank._text_tables import aligned
from headrank.bounds.cutoffs.best import By, Criterion, best_of_curve
from headrank.curve import RocCurve
from headrank.datasets import Binormal

SEPARATION, PREVALENCE = 2.0, 0.1
SIZES = ((100, 100), (100, 1000))
CRITERIA: tuple[By, ...] = ("youden", "closest", "cost")
N_RUNS, N_REPLICATES = 400, 300


@dataclass(frozen=True)
class Found:
    """Shares of the samples in which the intervals hold, and the mean optimism: as estimated, and true."""

    n_pos: int
    n_neg: int
    by: str
    threshold: float
    certified: float
    estimated: float
    optimism: float


def simulate(n_pos: int, n_neg: int, by: By, n_runs: int = N_RUNS, n_replicates: int = N_REPLICATES) -> Found:
    """Draw samples, pick the best cut-off on each and compare it with the truth; a miss costs 10 false alarms."""
    criterion = Criterion(by, false_negative=10.0)

    def true_loss(cut: Any) -> float:
        return float(criterion.loss(ndtr(SEPARATION - cut), ndtr(-cut), PREVALENCE))

    truth = minimize_scalar(true_loss, bounds=(-3, 6), method="bounded").x
    rows = []
    for seed in range(n_runs):
        y, scores = Binormal(separation=SEPARATION).sample_classes(n_pos, n_neg, random_state=seed)
        best = best_of_curve(
            RocCurve.from_scores(y, scores),
            criterion,
            prevalence=PREVALENCE,
            n_replicates=n_replicates,
            random_state=seed,
        )
        assert best.value_low is not None
        assert best.value_high is not None
        index = criterion.index(true_loss(best.value))
        better = best.index - index if by == "youden" else index - best.index
        inside = best.value_low <= truth <= best.value_high
        rows.append((inside, best.index_low <= index <= best.index_high, best.optimism, better))
    return Found(n_pos, n_neg, by, *(float(mean) for mean in np.mean(np.array(rows, dtype=float), axis=0)))


@timed
def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    argparse.ArgumentParser(
        description="Best cut-offs on normal scores: coverage of the bootstrap interval and of the certified limits, "
        "and optimism. Takes about two minutes."
    ).parse_args(arguments)
    table = [("rows, criterion", "threshold (bootstrap)", "certified", "optimism, estimated", "true")]
    for n_pos, n_neg in SIZES:
        for by in CRITERIA:
            found = simulate(n_pos, n_neg, by)
            shares = (f"{100 * found.threshold:.1f}", f"{100 * found.certified:.1f}")
            table.append((f"{n_pos} + {n_neg}, {by}", *shares, f"{found.estimated:.4f}", f"{found.optimism:.4f}"))
    print(*aligned(table), sep="\n")


if __name__ == "__main__":
    main()

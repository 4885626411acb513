"""How much is left of a certified list after one of three scorers was picked on the labelled rows?

Labelled and new rows are normal, with correlated scores of three scorers. The scorer with the highest partial AUC on
all labelled rows is picked. Three valid ways to account for it, and none:

- not at all: breaks the promise, for comparison;
- union bound: each scorer is certified with a third of the risk;
- separate rows: the scorer is picked on a quarter of the labelled rows and certified on the others;
- divided risk: a quarter divides the risk, the others certify, and the scorer is picked on all, as in ``headrank fit``.

    python -m experiments.picked_lists

Three settings and 10 runs take 7 seconds of processor time; 100 runs, by extrapolation, about a minute.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from experiments._timing import timed
from headrank._types import BoolVector, Vector
from headrank.curve import RocCurve
from headrank.measures import PartialAUC
from headrank.training.holdout_scores import HoldoutScores, labelled_scores

WAYS = ("not at all", "union bound", "separate rows", "divided risk")
SEPARATIONS = {"equal": (2.5, 2.5, 2.5), "close": (2.5, 2.4, 2.3), "clear": (2.5, 2.2, 1.8)}
N_NEG, N_NEW, POSITIVE_SHARE = 3000, 1000, 0.1
MEASURE = PartialAUC(max_fpr=0.05)
MAX_FALSE_SHARE, LENGTH = 0.1, 50


@dataclass(frozen=True)
class Result:
    """Chosen positives, and positives promised among the first 50."""

    way: str
    chosen: int
    promised: int


def _scores(y: BoolVector, separations: Sequence[float], rng: np.random.Generator) -> list[Vector]:
    common = rng.normal(size=y.size)
    return [0.95 * common + np.sqrt(1 - 0.95**2) * rng.normal(size=y.size) + each * y for each in separations]


def _best(y: BoolVector, scores: Sequence[Vector]) -> int:
    return int(np.argmax([MEASURE.value(RocCurve.from_scores(y, each)) for each in scores]))


def _rows(y: BoolVector, scores: Vector, share: float) -> HoldoutScores:
    return HoldoutScores(scores=scores, positive=y, n_models=3, share=share, holds="")


def simulated(separations: Sequence[float], seed: int, n_neg: int = N_NEG, n_new: int = N_NEW) -> list[Result]:
    """Draw labelled and new rows once, and certify in each way."""
    rng = np.random.default_rng(seed)
    y = np.repeat([True, False], [round(n_neg * POSITIVE_SHARE / (1 - POSITIVE_SHARE)), n_neg])
    new = rng.random(n_new) < POSITIVE_SHARE
    scores, new_scores = _scores(y, separations, rng), _scores(new, separations, rng)
    picked = _best(y, scores)
    quarter = rng.permutation(y.size) < y.size // 4
    apart = _best(y[quarter], [each[quarter] for each in scores])
    ways = (
        (picked, _rows(y, scores[picked], 1.0)),
        (picked, _rows(y, scores[picked], 1 / len(scores))),
        (apart, _rows(y[~quarter], scores[apart][~quarter], 1.0)),
        (picked, labelled_scores(y, scores, picked, MEASURE, rng, holds="", by_class=True)),
    )
    results = []
    for way, (scorer, rows) in zip(WAYS, ways, strict=True):
        chosen = rows.choose(new_scores[scorer], max_false_share=MAX_FALSE_SHARE).chosen
        promised = rows.certify_list(new_scores[scorer]).at_least(min(LENGTH, n_new))
        results.append(Result(way, int(np.count_nonzero(chosen & new)), promised))
    return results


@timed
def main(arguments: Sequence[str] | None = None) -> None:
    """Print the means."""
    parser = argparse.ArgumentParser(
        description="How much is left of a certified list after one of three scorers was picked on the labelled rows? "
        "--runs 10 takes 7 seconds of processor time; the default of 100, by extrapolation, about a minute."
    )
    parser.add_argument("--runs", type=int, default=100, help="number of simulated samples of each setting")
    n_runs = parser.parse_args(arguments).runs
    table = Table("scorers", "accounted for", "chosen positives", f"promised of {LENGTH}")
    for name, separations in SEPARATIONS.items():
        found = [each for seed in track(range(n_runs), name) for each in simulated(separations, seed)]
        for way in WAYS:
            mine = [each for each in found if each.way == way]
            means = (np.mean([each.chosen for each in mine]), np.mean([each.promised for each in mine]))
            table.add_row(name, way, *(f"{each:.1f}" for each in means))
    Console().print(table)


if __name__ == "__main__":
    main()

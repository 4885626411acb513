"""Coverage of DeLong's interval on the plain and on the logit scale, with normal scores.

python -m experiments.delong_scales
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from math import sqrt

from scipy.special import ndtri

from experiments._timing import timed
from headrank._text_tables import aligned
from headrank.bounds.asymptotic.delong import Scale, delong
from headrank.curve import RocCurve
from headrank.datasets import Binormal
from headrank.exceptions import NoVarianceError

AUCS = (0.98, 0.9, 0.75)
SIZES = ((50, 50), (20, 200))
SCALES: tuple[Scale, ...] = ("plain", "logit")
N_RUNS = 10_000


def coverages(auc: float, n_pos: int, n_neg: int, n_runs: int = N_RUNS) -> dict[Scale, float]:
    """Return the share of 95 % intervals that contain the AUC; a sample without an estimated variance is a miss."""
    population = Binormal(separation=sqrt(2) * float(ndtri(auc)))
    hits = dict.fromkeys(SCALES, 0)
    for seed in range(n_runs):
        curve = RocCurve.from_scores(*population.sample_classes(n_pos, n_neg, random_state=seed))
        try:
            for scale in SCALES:
                hits[scale] += auc in delong(curve, scale=scale)
        except NoVarianceError:
            continue
    return {scale: hit / n_runs for scale, hit in hits.items()}


@timed
def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    argparse.ArgumentParser(
        description="Coverage of DeLong's interval on the plain and on the logit scale, with normal scores. "
        "Takes about a minute."
    ).parse_args(arguments)
    table = [("AUC, positives + negatives", *SCALES)]
    for auc in AUCS:
        for n_pos, n_neg in SIZES:
            found = coverages(auc, n_pos, n_neg)
            table.append((f"{auc}, {n_pos} + {n_neg}", *(f"{100 * found[scale]:.1f}" for scale in SCALES)))
    print(*aligned(table), sep="\n")


if __name__ == "__main__":
    main()

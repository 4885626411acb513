"""Cost of a metric per boosting round, as ratios to one partition and one sort of the same scores in the same run.

``make bench`` runs it. Every figure it prints was measured just then; nothing is asserted about time.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import headrank as hr
from headrank.datasets import Binormal

MEASURES = ("p@100", "pauc@0.01", "pauc@0.05", "fpr@tpr=0.5", "auc")


class Data:
    """What LightGBM hands to a metric besides the scores: unweighted rows in one list."""

    def __init__(self, y: Any) -> None:
        self.y = y.astype(np.float32)

    def get_label(self) -> Any:
        """Return the labels."""
        return self.y

    def get_weight(self) -> None:
        """Return the weights: there are none."""

    def get_group(self) -> None:
        """Return the groups: there are none."""


def best_seconds(job: Callable[[], Any], repeats: int = 15) -> float:
    """Processor time: other work on the machine counts less than in the time on the clock."""
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        job()
        times.append(time.thread_time() - start)
    return min(times)


def per_round(n_rows: int, kind: type) -> None:
    y, scores = Binormal(separation=1.5, positive_rate=0.01).sample_scores(n_rows, random_state=0)
    scores, data = scores.astype(kind), Data(y)
    partition = best_seconds(lambda: np.partition(scores, n_rows - n_rows // 20))
    full_sort = best_seconds(lambda: np.sort(scores))
    for name in MEASURES:
        metric = hr.integrations.lightgbm.metric(name)
        seconds = best_seconds(lambda metric=metric: metric(scores, data))
        print(
            f"{n_rows:>10,}  {kind.__name__}  {name:<12} {1e3 * seconds:8.2f} ms  {seconds / partition:6.1f} partitions"
            f"  {seconds / full_sort:5.2f} sorts"
        )


if __name__ == "__main__":
    for size in (100_000, 1_000_000):
        for scalar in (np.float64, np.float32):
            per_round(size, scalar)

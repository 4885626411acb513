"""Time and memory of the measures, as ratios to scikit-learn in the same run.

``make bench`` runs it. Every figure it prints was measured just then; nothing is asserted about time.
"""

import resource
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
import sklearn
from sklearn.metrics import average_precision_score, roc_auc_score

import headrank as hr
from headrank.datasets import Binormal

POPULATION = Binormal(separation=1.5, positive_rate=0.01)
MAX_FPR = 0.05


def timed(job: Callable[[], float]) -> tuple[float, float]:
    start = time.perf_counter()
    value = job()
    return time.perf_counter() - start, value


def best_seconds(job: Callable[[], float], repeats: int = 3) -> float:
    return min(timed(job)[0] for _ in range(repeats))


def peak_megabytes(job: Callable[[], float]) -> float:
    tracemalloc.start()
    job()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def against_scikit_learn(n_rows: int) -> None:
    y, scores = POPULATION.sample_scores(n_rows, random_state=0)
    y = y.astype(np.int64)
    pairs = {
        f"partial AUC [0, {MAX_FPR}]": (
            lambda: hr.StandardizedPartialAUC(max_fpr=MAX_FPR)(y, scores),
            lambda: roc_auc_score(y, scores, max_fpr=MAX_FPR),
        ),
        "AUC": (lambda: hr.AUC()(y, scores), lambda: roc_auc_score(y, scores)),
        "average precision": (
            lambda: hr.AveragePrecision()(y, scores),
            lambda: average_precision_score(y, scores),
        ),
    }
    one_pass = best_seconds(scores.sum)
    for name, (ours, theirs) in pairs.items():
        (first, our_value), (their_first, their_value) = timed(ours), timed(theirs)
        difference = abs(our_value - their_value)
        seconds, their_seconds = best_seconds(ours), best_seconds(theirs)
        memory, their_memory = peak_megabytes(ours), peak_megabytes(theirs)
        print(
            f"{n_rows:>11,}  {name:<22} {seconds:8.3f} s {their_seconds:8.3f} s {their_seconds / seconds:6.1f}x faster"
            f" ({their_first / first:4.1f}x in the first call)"
            f"  {memory:6.0f} MB {their_memory:6.0f} MB  {seconds / one_pass:6.0f} passes  differ by {difference:.0e}"
        )


def streaming(n_rows: int, block_rows: int, max_fpr: float) -> None:
    """Evaluate a measure on a stream: the heads of the blocks are merged, and the other rows are dropped."""
    depth = int(max_fpr * n_rows)  # an upper bound on the negatives that the measure reads
    n_blocks = n_rows // block_rows
    measure = hr.PartialAUC(max_fpr=max_fpr)
    seconds = 0.0
    head: hr.RocCurve | None = None
    for block in range(n_blocks):
        y, scores = POPULATION.sample_scores(block_rows, random_state=block)
        start = time.perf_counter()
        part = hr.RocCurve.head_from_scores(y, scores, n_neg=depth)
        head = part if head is None else head.merge(part).head(n_neg=depth)
        seconds += time.perf_counter() - start
        if block + 1 in {n_blocks // 10, n_blocks // 2, n_blocks}:
            held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
            print(f"{(block + 1) * block_rows:>13,} rows read  {seconds:6.1f} s  process peak {held:6.0f} MB  {head}")
    assert head is not None
    truth = POPULATION.partial_auc(min_fpr=0.0, max_fpr=max_fpr)
    print(f"{measure} = {measure.value(head):.5f}, true value {truth:.5f}")


if __name__ == "__main__":
    # The stream runs first, since the peak memory of a process never decreases.
    print("A stream of 1e8 scores in blocks of 1e6")
    streaming(100_000_000, 1_000_000, max_fpr=0.001)
    print(f"\nheadrank {hr.__version__} against scikit-learn {sklearn.__version__}, 1 % positives")
    print(
        f"{'rows':>11}  {'measure':<22} {'headrank':>10} {'sklearn':>10} {'ratio':>14} {'':>25}"
        f"  {'peak':>9} {'peak':>9}  {'headrank':>13}"
    )
    for size in (1_000_000, 10_000_000):
        against_scikit_learn(size)

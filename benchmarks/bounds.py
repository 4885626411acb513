"""Speed of bounds: DeLong and certified lists in units of a sort, the bootstrap against a loop over scikit-learn.

``make bench`` runs it. Every figure it prints was measured just then; nothing is asserted about time.
"""

import time
from collections.abc import Callable

import numpy as np
import sklearn
from sklearn.metrics import roc_auc_score

import headrank as hr
from headrank.bounds.asymptotic.bootstrap import bootstrap
from headrank.bounds.asymptotic.delong import delong
from headrank.bounds.comparison.difference import compare
from headrank.bounds.inequalities.interleavings import precedence
from headrank.datasets import Binormal

MAX_FPR = 0.05
POSITIVE_RATES = (0.01, 0.1, 0.5)


def best_seconds(job: Callable[[], object], repeats: int = 5) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)


def sample(n_rows: int, positive_rate: float) -> tuple[np.ndarray, np.ndarray]:
    return Binormal(separation=1.5, positive_rate=positive_rate).sample_scores(n_rows, random_state=0)


def delong_in_sorts(n_rows: int, positive_rate: float) -> None:
    y, scores = sample(n_rows, positive_rate)
    curve = hr.RocCurve.from_scores(y, scores)
    sort = best_seconds(lambda: np.argsort(scores))
    for measure in (hr.AUC(), hr.PartialAUC(max_fpr=MAX_FPR)):
        raw = best_seconds(lambda measure=measure: delong(hr.RocCurve.from_scores(y, scores), measure))
        ready = best_seconds(lambda measure=measure: delong(curve, measure))
        print(
            f"{n_rows:>11,}  {positive_rate:>5.0%}  delong {measure!s:<10} {raw:8.3f} s  {raw / sort:5.2f} sorts from "
            f"scores  {ready:8.3f} s  {ready / sort:5.2f} sorts from the curve"
        )


def scikit_learn_replicate(y: np.ndarray, scores: np.ndarray, rng: np.random.Generator) -> float:
    """One naive stratified resample: copy the rows, call the metric."""
    pos, neg = np.flatnonzero(y), np.flatnonzero(~y)
    rows = np.concatenate([rng.choice(pos, pos.size), rng.choice(neg, neg.size)])
    return float(roc_auc_score(y[rows], scores[rows], max_fpr=MAX_FPR))


def bootstrap_against_scikit_learn(n_rows: int, positive_rate: float, n_ours: int = 1000, n_theirs: int = 5) -> None:
    y, scores = sample(n_rows, positive_rate)
    measure = hr.StandardizedPartialAUC(max_fpr=MAX_FPR)
    ours = best_seconds(
        lambda: bootstrap(hr.RocCurve.from_scores(y, scores), measure, n_replicates=n_ours, random_state=0), repeats=1
    )
    rng = np.random.default_rng(0)
    theirs = best_seconds(lambda: scikit_learn_replicate(y, scores, rng), repeats=n_theirs)
    print(
        f"{n_rows:>11,}  {positive_rate:>5.0%}  {n_ours:,} replicates {ours:7.2f} s, sorting included; scikit-learn "
        f"{theirs * n_ours:7.0f} s ({n_theirs} timed, best taken)  {theirs * n_ours / ours:6.0f}x faster"
    )


def paired(n_rows: int) -> None:
    y, a = sample(n_rows, 0.1)
    b = a + np.random.default_rng(1).normal(scale=0.3, size=a.size)
    sort = best_seconds(lambda: np.argsort(a))
    for method in ("paired", "delong"):
        seconds = best_seconds(lambda method=method: compare(y, a, b, method=method), repeats=3)
        print(f"{n_rows:>11,}  compare, {method:<7} {seconds:8.3f} s  {seconds / sort:6.1f} sorts")


def certified_list(n_rows: int) -> None:
    y, scores = sample(n_rows, 0.05)
    _, new_scores = Binormal(separation=1.5, positive_rate=0.05).sample_scores(n_rows, random_state=1)
    sort = best_seconds(lambda: np.argsort(scores))

    def limits_anew() -> None:
        precedence.cache_clear()
        hr.certify_list(y, scores, new_scores)

    jobs = {
        "certify_list, new sizes": limits_anew,
        "certify_list": lambda: hr.certify_list(y, scores, new_scores),
        "choose": lambda: hr.choose(y, scores, new_scores),
        "choose, weights": lambda: hr.choose(
            y, scores, new_scores, weights=np.ones(n_rows), new_weights=np.ones(n_rows)
        ),
    }
    for name, job in jobs.items():
        seconds = best_seconds(job, repeats=3)
        beyond = f", or 5 sorts + {max(seconds - 5 * sort, 0):.2f} s" if job is limits_anew else ""
        print(f"{n_rows:>11,}  {name:<24} {seconds:8.3f} s  {seconds / sort:6.1f} sorts{beyond}")


if __name__ == "__main__":
    print(f"headrank {hr.__version__}, scikit-learn {sklearn.__version__}; a sort is np.argsort of the same scores")
    for rate in POSITIVE_RATES:
        delong_in_sorts(1_000_000, rate)
    print(f"\nBootstrap of the partial AUC [0, {MAX_FPR}]")
    for rate in POSITIVE_RATES:
        bootstrap_against_scikit_learn(1_000_000, rate)
    print("\nTwo scorers on the same rows, 10 % positives")
    paired(1_000_000)
    print("\nAs many new rows as labelled ones, 5 % positives")
    certified_list(1_000_000)

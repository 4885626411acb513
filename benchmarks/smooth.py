"""Cost of the smooth surrogates in passes over the data, its growth, and the cost of cross-validation.

``python benchmarks/smooth.py [passes] [growth] [choice]`` runs some sections, without names all. Processor time is
measured, of one BLAS thread, so that other work on the machine matters little; a *pass* is one X @ w and one c @ X,
timed in the same run. Nothing is asserted.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from headrank import LinearRanker, LinearRankerCV, measure
from headrank.rows import open_rows

DATA = Path(__file__).parents[2] / "shared" / "data"
MEASURES = ("auc", "pauc@0.1", "pauc@0.02", "pauc@0.02:0.05", "locauc@0.05", "w@0.05", "push@5", "p@100")
CS = (0.1, 1.0, 10.0, 100.0)
C_GRID = (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)


def overlapping(n_rows: int, n_features: int, seed: int = 0) -> tuple[Any, Any]:
    """Two overlapping Gaussians, 5 % positives, on which hinges collapse."""
    rng = np.random.default_rng(seed)
    y = rng.random(n_rows) < 0.05
    X = rng.standard_normal((n_rows, n_features))
    X[:, : n_features // 10] += 0.5 * y[:, None]
    return X, y.astype(int)


def seconds_of(work: Callable[[], Any]) -> float:
    """Processor seconds of one run."""
    start = time.process_time()
    work()
    return time.process_time() - start


def pass_seconds(X: Any) -> float:
    """The time of one pass, the median of five."""
    rows = open_rows(X)
    weights, coef = np.ones(X.shape[1]), np.ones(X.shape[0])
    return float(np.median([seconds_of(lambda: (rows.scores(weights), rows.combine(coef))) for _ in range(5)]))


def passes() -> None:
    """Evaluations, and the time of the whole fit in passes; the logistic regression it starts from is included."""
    X, y = overlapping(100_000, 100)
    one = pass_seconds(X)
    print(f"\nsmooth, {X.shape[0]:,} x {X.shape[1]}, a pass takes {1000 * one:.1f} ms of processor time")
    print(f"{'':16}" + "".join(f"{f'C = {C:g}':>26}" for C in CS))
    for name in MEASURES:
        line = f"{name:<16}"
        for C in CS:
            ranker = LinearRanker(name, surrogate="smooth", C=C)
            seconds = seconds_of(lambda ranker=ranker: ranker.fit(X, y))
            gained = f"{ranker.start_measure_:.3f} -> {ranker.training_measure_:.3f}"
            line += f"{ranker.n_iter_:>5} {seconds / one:>5.0f} {gained:>14}"
        print(line)
    print("evaluations, time in passes, the measure on the training sample before and after")


def growth() -> None:
    """Time per row as the number of rows grows."""
    print("\ngrowth, 50 features, pauc@0.05, C = 10: microseconds per row of the whole fit")
    for n_rows in (25_000, 50_000, 100_000, 200_000, 400_000, 800_000):
        X, y = overlapping(n_rows, 50)
        ranker = LinearRanker("pauc@0.05", surrogate="smooth", C=10)
        seconds = seconds_of(lambda ranker=ranker, X=X, y=y: ranker.fit(X, y))
        print(f"{n_rows:>10,} rows  {ranker.n_iter_:>4} evaluations  {seconds:>7.2f} s  {1e6 * seconds / n_rows:>7.2f}")


def wide(n_rows: int, n_features: int) -> tuple[Any, Any]:
    """Fewer rows than features, a third of them positive; 20 features tell something."""
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % 3 == 0
    X = rng.standard_normal((n_rows, n_features))
    X[:, :20] += 0.7 * y[:, None]
    return X, y.astype(int)


def w8a() -> tuple[Any, Any] | None:
    """Sparse, 49,749 x 300; None if the shared data are not here."""
    spec = importlib.util.spec_from_file_location("load", DATA / "load.py")
    if spec is None or spec.loader is None or not (DATA / "load.py").exists():
        return None
    load = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(load)
    X, y, _ = load.load("w8a")
    return X.astype(np.float64), y.astype(int)


def choice() -> None:
    """`LinearRankerCV` against GridSearchCV of logistic regression, with the same measure and folds."""
    for name, rows, most, of in (
        ("60 x 3,000", wide(60, 3000), 10, "pauc@0.1"),
        ("20,000 x 60", overlapping(20_000, 60), 4, "pauc@0.02"),
        ("w8a", w8a(), 10, "pauc@0.02"),
    ):
        if rows is None:
            print(f"\nchoice on {name}: the shared data are not here; skipped")
            continue
        X, y = rows
        head = measure(of)
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        grid = GridSearchCV(LogisticRegression(max_iter=1000), {"C": C_GRID}, scoring=head.scorer(), cv=folds)
        tuning = seconds_of(lambda grid=grid, X=X, y=y: grid.fit(X, y))
        ranker = LinearRankerCV(head)
        ours = seconds_of(lambda ranker=ranker, X=X, y=y: ranker.fit(X, y))
        print(
            f"\nchoice on {name}: {ours:.1f} s of processor time, {ours / tuning:.1f} times GridSearchCV (goal {most})"
        )
        print(f"  {ranker.choice_}\n  GridSearchCV: {grid.best_score_:.4f}")


def main() -> None:
    """Run the sections named on the command line, or all."""
    warnings.simplefilter("ignore")
    sections = {"passes": passes, "growth": growth, "choice": choice}
    for name in sys.argv[1:] or sections:
        sections[name]()


if __name__ == "__main__":
    main()

"""The same fits over all kinds of blocks: how far their weights and values are from those in memory.

``python benchmarks/same_answer.py`` fits w8a, unsw_backdoor and made-up rows in the shape of a census, in float64, to
arrays, mapped files, Parquet, CSV and a Dask cluster of two processes, in seven blocks of uneven sizes.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
from distributed import Client, LocalCluster
from quality_cells import read

import headrank as hr

DATA = Path(__file__).parents[2] / "shared" / "data"
MOST_ROWS = 5_000
SHARES = (0.0, 0.01, 0.01, 0.2, 0.25, 0.6, 0.61, 1.0)
"""Where the rows are cut; one block is empty."""
FITS = (("pauc@0.05", "tight", 10.0), ("auc", "tight", 1.0), ("pauc@0.05", "smooth", 1.0), ("auc", "logistic", 0.1))


def census(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Ages, hours and sums of money, which are mostly 0, and codes of 60 groups, one column each; 6 % positives."""
    rng = np.random.default_rng(seed)
    numbers = np.column_stack(
        [
            rng.integers(17, 91, n_rows),
            rng.integers(1, 99, n_rows),
            rng.lognormal(7, 2, n_rows).round() * (rng.random(n_rows) < 0.08),
            rng.integers(0, 53, n_rows),
        ]
    ).astype(np.float64)
    codes = [np.eye(k)[rng.choice(k, n_rows, p=rng.dirichlet(np.ones(k)))] for k in (8, 16, 7, 14, 6, 5, 4)]
    X = np.hstack([numbers, *codes])
    score = X @ np.r_[0.04, 0.03, 0.0002, 0.05, rng.normal(size=60)] + rng.logistic(size=n_rows)
    return X, (score > np.quantile(score, 0.94)).astype(int)


def rows_of(name: str, folder: Path) -> tuple[Any, Any]:
    """Return some rows of a set, dense, as float64."""
    if name == "census-like":
        return census(MOST_ROWS, 0)
    rows = read(folder, name)
    some = np.sort(np.random.default_rng(0).permutation(rows.y.size)[:MOST_ROWS])
    X = rows.X[some]
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64), rows.y[some]


def blocks_of(X: Any, y: Any, folder: Path, client: Client) -> Iterator[tuple[str, hr.Blocks]]:
    """Yield the rows as each kind of blocks."""
    cuts = [round(share * y.size) for share in SHARES]
    parts = [(X[i:j], y[i:j]) for i, j in pairwise(cuts)]
    for number, (some, labels) in enumerate(parts):
        np.save(folder / f"X{number}.npy", some)
        np.save(folder / f"y{number}.npy", labels)
        frame = pl.DataFrame(some, schema=[f"f{j}" for j in range(X.shape[1])]).with_columns(y=pl.Series(labels))
        frame.write_parquet(folder / f"{number}.parquet")
        if some.size:  # a CSV file without rows has no types
            frame.write_csv(folder / f"{number}.csv")
    given = [each[0] for each in parts], [each[1] for each in parts]
    yield "arrays", hr.Blocks.from_arrays(*given)
    yield "threads", hr.Blocks.from_arrays(*given, n_jobs=2)
    yield ".npy", hr.Blocks.from_npy(str(folder / "X*.npy"), str(folder / "y*.npy"))
    yield "Parquet", hr.Blocks.from_parquet(str(folder / "*.parquet"), target="y", memory=0)
    yield "copied", hr.Blocks.from_parquet(str(folder / "*.parquet"), target="y", memory=0, folder=folder)
    yield "CSV", hr.Blocks.from_csv(str(folder / "*.csv"), target="y", memory=0)
    yield "Dask", hr.Blocks.from_dask(*(client.map(np.asarray, each, pure=False) for each in given))


def main() -> None:
    """Print the largest difference of a weight, as a share of the largest weight, and of the measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder with load.py")
    parser.add_argument("--sets", nargs="+", default=["w8a", "unsw_backdoor", "census-like"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("weights / measure of", ", ".join(f"{surrogate} for {measure}" for measure, surrogate, _ in FITS))
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        for name in options.sets:
            X, y = rows_of(name, options.data)
            scaled = {"standardize": name == "census-like"}  # its columns reach from 1 to 1e6
            one = {fit: hr.LinearRanker(fit[0], surrogate=fit[1], C=fit[2], **scaled).fit(X, y) for fit in FITS}
            with TemporaryDirectory() as folder:
                for kind, blocks in blocks_of(X, y, Path(folder), client):
                    apart, values = [], []
                    for fit, known in one.items():
                        ranker = hr.LinearRanker(**known.get_params()).fit(blocks)
                        apart.append(float(np.abs(ranker.coef_ - known.coef_).max() / np.abs(known.coef_).max()))
                        measure, scores = hr.measure(fit[0]), known.decision_function(X)
                        values.append(abs(ranker.score(blocks) - known.score(X, y)))
                        same = measure.value(hr.block_curve(blocks, known, measure=fit[0])) == measure(y, scores)
                        assert same or abs(known.decision_function(blocks) - scores).max() > 0, "measures differ"
                    shown = (f"{w:.0e} / {v:.0e}" for w, v in zip(apart, values, strict=True))
                    print(f"{name:14} {kind:8} {', '.join(shown)}", flush=True)


if __name__ == "__main__":
    main()

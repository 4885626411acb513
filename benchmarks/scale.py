"""Fits over blocks: time as a multiple of reading the files, memory, growth with the rows, overhead, and traffic.

``python benchmarks/scale.py --rows 5e6 --folder /data`` writes Parquet files of that many rows x 100 float32 features,
400 bytes per row, unless they are there, and fits the tight hinge of pauc@0.05 to them. ``--dask`` adds a cluster.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import headrank as hr
from headrank.estimators import _risks

N_FEATURES = 100
ROWS_PER_FILE = 250_000
RANKER = {"measure": "pauc@0.05", "C": 10.0}


def made_up(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """One percent of positives, told apart by ten features."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, N_FEATURES), dtype=np.float32)
    y = X[:, :10].sum(axis=1) + rng.standard_normal(n_rows) > 7.7
    return X, y.astype(np.int8)


def files(folder: Path, n_rows: int) -> list[Path]:
    """Write what is missing of the files, and return those of the first rows."""
    import polars as pl

    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{number:04}.parquet" for number in range(-(-n_rows // ROWS_PER_FILE))]
    for number, path in enumerate(paths):
        if not path.exists():
            X, y = made_up(ROWS_PER_FILE, number)
            frame = pl.DataFrame(X, schema=[f"f{j}" for j in range(N_FEATURES)]).with_columns(fraud=y)
            frame.write_parquet(path, compression="uncompressed")
    return paths


def read_once(paths: list[Path]) -> float:
    """Processor seconds to read the features of all files with polars, one file after the other."""
    import polars as pl

    begin = time.process_time()
    for path in paths:
        pl.read_parquet(path, columns=[f"f{j}" for j in range(N_FEATURES)])
    return time.process_time() - begin


def fit_files(folder: Path, n_rows: int, *, head: bool, memory: float, copied: bool) -> None:
    """Fit in this process, and print processor time as a multiple of reading, which is measured twice afterwards.

    Read before, files of 20 GB would be in the system's cache in place of the copies.
    """
    if head:
        _risks.MOST_GATHERED = 0
    paths = files(folder, n_rows)
    begin = time.process_time()
    blocks = hr.Blocks.from_parquet(paths, target="fraud", memory=memory, folder=folder if copied else None)
    n = blocks.n_rows
    first = time.process_time() - begin
    begin, clock = time.process_time(), time.perf_counter()
    ranker = hr.LinearRanker(**RANKER).fit(blocks)
    seconds, elapsed = time.process_time() - begin, time.perf_counter() - clock
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    how = ("head" if head else "in memory" if memory else "gathered") + (", copied" if copied else "")
    per_row, size = seconds / n / ranker.n_iter_ * 1e9, n * N_FEATURES * 4 / 1e9
    print(
        f"{how:16} {n:>10,} rows, {size:.2f} GB: {ranker.n_iter_} evaluations, gap {ranker.gap_:.0e}; "
        f"processor time {seconds:.1f} s ({elapsed:.1f} s elapsed), first pass {first:.1f} s; per row and evaluation "
        f"{per_row:.0f} ns; peak {peak:.2f} GB",
        flush=True,
    )
    reading = (read_once(paths) + read_once(paths)) / 2
    print(f"{'':16} one reading takes {reading:.1f} s, an evaluation {seconds / ranker.n_iter_ / reading:.2f} readings")


def overhead(n_rows: int, *, dask: bool) -> None:
    """The time of fits in memory, over 16 blocks, and with two workers, as multiples of the first."""
    X, y = made_up(n_rows, 0)
    cuts = np.linspace(0, n_rows, 17).astype(int)
    parts = [slice(i, j) for i, j in pairwise(cuts)]
    ways = {
        "array": lambda: (X, y),
        "16 blocks": lambda: (hr.Blocks.from_arrays([X[p] for p in parts], [y[p] for p in parts]),),
        "16 blocks, 2 threads": lambda: (
            hr.Blocks.from_arrays([X[p] for p in parts], [y[p] for p in parts], n_jobs=2),
        ),
    }
    if dask:
        import dask.array as da
        from distributed import Client, LocalCluster

        cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
        client = Client(cluster)
        size = -(-n_rows // 16)
        ways["Dask, 2 workers"] = lambda: (
            hr.Blocks.from_dask(da.from_array(X, chunks=(size, -1)), da.from_array(y, chunks=size)),
        )
    times: dict[str, float] = {}
    for name, given in ways.items():
        rows = given()
        if len(rows) == 1:
            _ = rows[0].y  # on the workers before the clock starts, as the array is in memory
        taken = []
        for _ in range(3):
            for summary in ("facts", "_borders"):  # each fit looks at its rows first, as that of the array
                vars(rows[0]).pop(summary, None) if len(rows) == 1 else None
            begin = time.perf_counter()
            ranker = hr.LinearRanker(**RANKER).fit(*rows)
            taken.append(time.perf_counter() - begin)
        times[name] = min(taken)
        ratio = times[name] / times["array"]
        print(f"{name:22} {times[name]:6.2f} s, {ranker.n_iter_} evaluations, {ratio:.2f} times the array", flush=True)
    if dask:
        client.close()
        cluster.close()


def traffic(n_rows: int) -> None:
    """Bytes that travel in an evaluation if only the head does, counted and by the formula."""
    _risks.MOST_GATHERED = 0
    X, y = made_up(n_rows, 0)
    blocks = hr.Blocks.from_arrays(np.array_split(X, 16), np.array_split(y, 16))
    counted: list[int] = []
    gather = blocks.map_values

    def counting(function, *each, same=()):
        results = gather(function, *each, same=same)
        counted.append(sum(sum(np.asarray(value).nbytes for value in _values_of(result)) for result in results))
        return results

    blocks.map_values = counting  # type: ignore[method-assign]
    ranker = hr.LinearRanker(**RANKER).fit(blocks)
    n_pos = int(y.sum())
    head = int(np.ceil(0.05 * (n_rows - n_pos)))
    print(
        f"{n_rows:,} rows: {sum(counted) / 1e6:.1f} MB to the client in {len(counted)} rounds of {ranker.n_iter_} "
        f"evaluations, {sum(counted) / ranker.n_iter_ / 1e6:.2f} MB for each; a head is 8 (n_pos + k) = "
        f"{8 * (n_pos + head) / 1e6:.2f} MB, all scores {8 * n_rows / 1e6:.1f} MB"
    )


def _values_of(result: object) -> tuple:
    return tuple(result) if isinstance(result, tuple) else (result,)


def main() -> None:
    """Run what is asked for; fits to files run in processes of their own, so that their memory is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", default="all", choices=["all", "files", "one", "overhead", "traffic"])
    parser.add_argument("--rows", type=lambda text: int(float(text.replace("_", ""))), default=2_000_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--memory", type=float, default=0.0)
    parser.add_argument("--head", action="store_true")
    parser.add_argument("--copied", action="store_true")
    parser.add_argument("--dask", action="store_true")
    options = parser.parse_args()
    with TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        if options.what == "one":
            fit_files(folder, options.rows, head=options.head, memory=options.memory, copied=options.copied)
        if options.what in ("all", "files"):
            files(folder, options.rows)
            for n_rows in (options.rows // 4, options.rows):
                for way in ([], ["--copied"], ["--head"], ["--head", "--copied"], ["--memory", "1e10"]):
                    command = [sys.executable, __file__, "one", "--rows", str(n_rows), "--folder", str(folder), *way]
                    subprocess.run(command, check=True)
        if options.what in ("all", "overhead"):
            overhead(1_000_000, dask=options.dask)
        if options.what in ("all", "traffic"):
            traffic(400_000)


if __name__ == "__main__":
    main()

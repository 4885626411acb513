"""Measures and guarantees of scores in Parquet files: peak memory and processor time over blocks and gathered.

``python benchmarks/certified_blocks.py --rows 1e7 --folder /data`` writes files of 500,000 made-up scores, 9 bytes per
row, unless they are there. Each call runs in a process of its own.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

import headrank as hr

ROWS_PER_FILE = 500_000
CALLS = {
    "interval of pauc@0.001": lambda *rows: hr.interval(*rows, measure="pauc@0.001"),
    "interval of tpr@fpr=0.01": lambda *rows: hr.interval(*rows, measure="tpr@fpr=0.01"),
    "threshold_at max_fpr=0.01": lambda *rows: hr.threshold_at(*rows, max_fpr=0.01),
    "interval of pauc@0.05": lambda *rows: hr.interval(*rows, measure="pauc@0.05"),
    "auc": lambda *rows: hr.measure("auc")(*rows),
}


def files(folder: Path, n_rows: int) -> list[Path]:
    """Write what is missing of the files, and return those of the first rows."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{number:04}.parquet" for number in range(-(-n_rows // ROWS_PER_FILE))]
    for number, path in enumerate(paths):
        if not path.exists():
            rng = np.random.default_rng(number)
            y = rng.random(ROWS_PER_FILE) < 0.01
            pl.DataFrame({"score": rng.normal(size=y.size) + 2 * y, "fraud": y}).write_parquet(path)
    return paths


def peak() -> float:
    """Highest memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def measured(name: str, paths: list[Path], *, gathered: bool) -> None:
    """Call one function in this process, and print what it took."""
    y, scores = np.arange(1000) % 5 == 0, np.sin(np.arange(1000.0))
    CALLS[name](y, scores)  # imports what it needs
    before, begin = peak(), time.process_time()
    rows: tuple[Any, ...]
    if gathered:
        frame = pl.read_parquet(paths)
        rows = frame["fraud"].to_numpy(), frame["score"].to_numpy()
    else:
        rows = (hr.Blocks.from_parquet(paths, target="fraud", memory=0),)
    CALLS[name](*rows)
    how = "gathered" if gathered else "blocks"
    print(f"{name:27}{how:10}{peak() - before:6.0f} MB {time.process_time() - begin:6.2f} s", flush=True)


def main() -> None:
    """Run all calls, or the one that is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("call", nargs="?", choices=CALLS, help="one call in this process; default: all")
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--folder", type=Path, help="where the files are; default: a temporary folder")
    parser.add_argument("--gathered", action="store_true", help="of the one call: read all rows first")
    given = parser.parse_args()
    if given.call is not None:
        measured(given.call, files(given.folder, int(given.rows)), gathered=given.gathered)
        return
    with TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        files(folder, int(given.rows))
        for name in CALLS:
            for options in ([], ["--gathered"]):
                command = [sys.executable, __file__, name, "--rows", str(given.rows), "--folder", str(folder), *options]
                subprocess.run(command, check=True)


if __name__ == "__main__":
    main()

"""Wide tables: processor time and peak memory of `headrank fit` on 60 rows of digits, compared with reading them.

Run: python benchmarks/wide_tables.py [columns ...]
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

N_ROWS = 60
READ = "import polars; polars.read_csv('wide.csv', infer_schema_length=None)"
FIT = ["-m", "headrank", "fit", "wide.csv", "--target", "y", "--out", "result", "--overwrite"]


def write(path: Path, n_columns: int) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(N_ROWS) % 3 == 0
    digits = rng.integers(0, 7, (N_ROWS, n_columns))
    digits[y, :5] += 3
    header = ",".join(["y", *(f"g{j}" for j in range(n_columns))])
    np.savetxt(path, np.column_stack([y, digits]), fmt="%d", delimiter=",", header=header, comments="")


def cost(arguments: list[str], folder: str) -> tuple[float, float]:
    """Return processor seconds and peak gigabytes of a Python process, measured by its parent."""
    code = (
        "import resource, subprocess, sys; subprocess.run([sys.executable, *sys.argv[1:]], check=True, "
        "stdout=subprocess.DEVNULL); used = resource.getrusage(resource.RUSAGE_CHILDREN); "
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    seconds, peak = map(float, done.stdout.split())
    return seconds, peak / (1e9 if sys.platform == "darwin" else 1e6)


def main() -> None:
    print(f"{'columns':>8}{'read, s':>10}{'fit, s':>10}{'ratio':>8}{'read, GB':>10}{'fit, GB':>10}")
    for n_columns in map(int, sys.argv[1:] or (500, 2_000, 20_000)):
        with TemporaryDirectory() as folder:
            write(Path(folder) / "wide.csv", n_columns)
            (read, read_peak), (fit, fit_peak) = cost(["-c", READ], folder), cost(FIT, folder)
        print(f"{n_columns:>8,}{read:>10.2f}{fit:>10.2f}{fit / read:>8.1f}{read_peak:>10.2f}{fit_peak:>10.2f}")


if __name__ == "__main__":
    main()

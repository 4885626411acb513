"""The chemist: 8,000 compounds can be bought, 50 can be paid for. How many of them will be active?

First ``plan`` says how many inactive compounds have to be known for such a promise, then ``fit`` ranks and ``choose``
picks the list and promises. Run: ``python examples/stories/chemist.py [FOLDER]``.
"""

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl
from telling import story_folder, tell, with_gaps

COMMANDS = (
    "headrank plan --list 50 --precision 0.6 --new 8000 --auc 0.97 --positive-rate 0.03",
    "headrank fit assayed.csv --target active --id compound --drop smiles --top 0.02 --out result",
    "headrank choose result library.csv --list 50 --id compound --keep smiles --keep price --out order.csv",
    "headrank choose result library.csv --max-false 0.2 --id compound --drop price --out chosen.csv",
)
SCAFFOLDS = ("indole", "quinoline", "pyrazole", "biphenyl", "piperidine", "steroid", "other")


def compounds(n_rows: int, rng: np.random.Generator, *, number: int = 0) -> pl.DataFrame:
    """Draw compounds with descriptors, of which about 3 % are active."""
    active = rng.random(n_rows) < 0.03
    binding = active & (rng.random(n_rows) < 0.9)  # the others are active for a reason that no descriptor shows
    weight = np.round(rng.normal(370, 70, n_rows) + 45 * binding, 1)
    logp = np.round(rng.normal(2.6, 1.2, n_rows) + 1.3 * binding, 2)
    surface = np.round(np.clip(rng.normal(80, 25, n_rows) - 30 * binding, 5, None), 1)
    shape = np.round(np.clip(rng.beta(4, 4, n_rows) + 0.3 * binding, 0, 1), 3)
    usual = rng.choice(len(SCAFFOLDS), n_rows, p=[0.1, 0.1, 0.15, 0.15, 0.2, 0.05, 0.25])
    scaffold = np.where(binding & (rng.random(n_rows) < 0.7), rng.integers(0, 2, n_rows), usual)
    days = rng.integers(0, 1500, n_rows)
    rings = rng.integers(1, 6, n_rows)
    return pl.DataFrame(
        {
            "compound": [f"Z{number + i:07d}" for i in range(n_rows)],
            "smiles": [f"C{'c1ccccc1' * int(r)}N{i % 97}" for i, r in enumerate(rings)],
            "mol_weight": weight,
            "logp": with_gaps(logp.tolist(), 0.05, rng),
            "polar_surface": surface,
            "donors": rng.poisson(np.where(binding, 1.0, 1.8)),
            "acceptors": rng.poisson(4, n_rows),
            "rings": rings,
            "shape_match": with_gaps(shape.tolist(), 0.1, rng),
            "scaffold": [SCAFFOLDS[i] for i in scaffold],
            "charged": rng.random(n_rows) < np.where(binding, 0.1, 0.3),
            "registered": [date(2020, 1, 1) + timedelta(days=int(day)) for day in days],
            "active": active.astype(int),
        }
    )


def library(rng: np.random.Generator, *, n_rows: int = 8000) -> pl.DataFrame:
    """Draw compounds that can be bought, with the activity that nobody knows yet."""
    return compounds(n_rows, rng, number=5_000_000).with_columns(price=pl.Series(rng.integers(20, 90, n_rows)))


def write(folder: Path, seed: int = 0) -> None:
    """Write the compounds that were assayed, and the library."""
    rng = np.random.default_rng(seed)
    compounds(12_000, rng).write_csv(folder / "assayed.csv")
    library(rng).drop("active").write_csv(folder / "library.csv")


if __name__ == "__main__":
    here = story_folder("chemist")
    write(here)
    tell(COMMANDS, here)
    order = pl.read_csv(here / "order.csv")
    print(f"\nThe chemist orders the {order.height} compounds of order.csv, for {order['price'].sum():,} euros.")

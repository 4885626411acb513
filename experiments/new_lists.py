"""Promised, likely and true positives in lists of new rows, on real data.

Each set is split at random into a half for training, a quarter of labelled rows and a quarter of new rows, 50 times. A
LightGBM classifier with default settings gives the scores. The new labels are used to check the promises only. One
split of the three sets takes 5 seconds of processor time, reading included, so 50 splits take at most 4 minutes.

    python -m experiments.new_lists --data FOLDER --out FOLDER
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from runpy import run_path
from typing import TYPE_CHECKING, Any

import numpy as np
from lightgbm import LGBMClassifier
from rich.console import Console
from rich.progress import track
from rich.table import Table

import headrank as hr
from experiments._timing import timed
from headrank._types import BoolVector, Vector

if TYPE_CHECKING:
    import polars as pl

SETS = ("musk2", "mammography", "credit_default")
LENGTHS = (20, 50, 100, 200)
N_SPLITS = 50
CONFIDENCE = 0.95
MAX_FALSE_SHARE = 0.1
ASSUMPTIONS: tuple[Any, ...] = ("same negatives", "same rows")


@dataclass(frozen=True)
class Split:
    """Scores of labelled and new rows, and the labels of both."""

    y: BoolVector
    scores: Vector
    new: BoolVector
    new_scores: Vector


@dataclass(frozen=True)
class Result:
    """One list of one split: what was promised and estimated of its first k rows, and what is true."""

    data: str
    split: int
    assume: str
    n_neg: int
    n_new: int
    k: int
    promised: int
    likely: float
    true: int
    held_for_all_k: bool
    n_chosen: int
    false_share: float


def splits(X: Any, y: BoolVector, n_splits: int = N_SPLITS) -> Iterator[Split]:
    """Split the rows, train on one half and score the rest."""
    for seed in range(n_splits):
        rows = np.random.default_rng(seed).permutation(y.size)
        training, labelled, new = np.split(rows, [y.size // 2, 3 * y.size // 4])
        model: Any = LGBMClassifier(n_jobs=1, verbose=-1, random_state=seed).fit(X[training], y[training])
        scores = [model.booster_.predict(X[part]) for part in (labelled, new)]
        yield Split(y[labelled], scores[0], y[new], scores[1])


def judged(data: str, number: int, split: Split, lengths: Sequence[int] = LENGTHS) -> list[Result]:
    """Certify the new list under both assumptions and count the positives in it."""
    results = []
    for assume in ASSUMPTIONS:
        found = hr.certify_list(split.y, split.scores, split.new_scores, confidence=CONFIDENCE, assume=assume)
        chosen = hr.choose(
            split.y, split.scores, split.new_scores, max_false_share=MAX_FALSE_SHARE, assume=assume
        ).chosen
        true = np.cumsum(split.new[found.order])
        held, n_chosen = bool(np.all(true >= found.promised)), int(np.count_nonzero(chosen))
        false_share = float(np.count_nonzero(chosen & ~split.new) / max(n_chosen, 1))
        results += [
            Result(
                data=data,
                split=number,
                assume=assume,
                n_neg=found.n_neg,
                n_new=found.n_new,
                k=k,
                promised=found.at_least(k),
                likely=float(found.likely[k - 1]),
                true=int(true[k - 1]),
                held_for_all_k=held,
                n_chosen=n_chosen,
                false_share=false_share,
            )
            for k in lengths
        ]
    return results


def to_frame(found: Sequence[Result]) -> pl.DataFrame:
    """One row per list and length."""
    import polars as pl

    return pl.DataFrame([asdict(each) for each in found])


def tables(found: Sequence[Result]) -> list[Table]:
    """Return a table of promises, with means over the splits, and one of the candidates."""
    promises = Table("data", "assumption", "k", "promised", "likely", "true", "held for all k", title="first k rows")
    candidates = Table("data", "assumption", "chosen", "negatives among them", title=f"limit {MAX_FALSE_SHARE:g}")
    for data, assume in dict.fromkeys((each.data, each.assume) for each in found):
        rows = [each for each in found if (each.data, each.assume) == (data, assume)]
        lengths = list(dict.fromkeys(each.k for each in rows))
        of_splits = [each for each in rows if each.k == lengths[0]]
        held = f"{sum(each.held_for_all_k for each in of_splits)} of {len(of_splits)}"
        for k in lengths:
            of_k = [each for each in rows if each.k == k]
            means = [float(np.mean([getattr(each, name) for each in of_k])) for name in ("promised", "likely", "true")]
            promises.add_row(data, assume, str(k), *(f"{mean:.1f}" for mean in means), held)
        chosen, share = (np.mean([getattr(each, name) for each in of_splits]) for name in ("n_chosen", "false_share"))
        candidates.add_row(data, assume, f"{chosen:.1f}", f"{share:.1%}")
    return [promises, candidates]


def read(folder: Path, name: str) -> tuple[Any, BoolVector]:
    """Read a set with the loader in this folder."""
    X, y, _ = run_path(str(folder / "load.py"))["load"](name)
    return X, np.asarray(y) == 1


@timed
def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables; write the frame."""
    parser = argparse.ArgumentParser(
        description="Promised, likely and true positives in lists of new rows of real data. One split takes 5 seconds "
        "of processor time, reading included, so the default of 50 takes at most 4 minutes."
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with load.py")
    parser.add_argument("--out", type=Path, help="where to write new_lists.csv")
    parser.add_argument("--splits", type=int, default=N_SPLITS, help="number of splits")
    options = parser.parse_args(arguments)
    found = []
    for name in SETS:
        every = enumerate(splits(*read(options.data, name), options.splits))
        for number, split in track(every, description=name, total=options.splits, console=Console(stderr=True)):
            found += judged(name, number, split)
    for table in tables(found):
        Console(width=120).print(table)
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        to_frame(found).write_csv(options.out / "new_lists.csv")


if __name__ == "__main__":
    main()

"""Boosted trees over many rows: chosen on a tenth of them, and then? Ways to go on, compared on rows held out.

``folds of the sample`` keeps the trees that the choice has grown; ``grown once`` grows the selected settings and
numbers of trees on all training rows; the other ways change the number of trees, or average. ``chosen on all`` is
`BoostedRankerCV` on all training rows in memory, for comparison. With ``--dask``, 100 trees of default settings are
grown on a cluster of two processes: rows brought to the client as bins, and LightGBM's own Dask interface, twice.

    python benchmarks/tree_rows.py                  # half an hour of processor time
    python benchmarks/tree_rows.py --dask           # a minute
"""

from __future__ import annotations

import argparse
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from quality_cells import read
from sklearn.model_selection import train_test_split

import headrank as hr
from headrank._types import IntVector, Vector
from headrank.estimators._labelled import Labelled
from headrank.estimators.cv.fold_rows import FoldRows
from headrank.estimators.cv.folds import splits_of
from headrank.estimators.trees.block_reader import BlockReader
from headrank.estimators.trees.boosted_cv import BoostedRankerCV
from headrank.estimators.trees.boosted_members import BoostedCandidate, Member
from headrank.estimators.trees.engine import TreeRows, Trees, rows_for
from headrank.estimators.trees.growing import grown_on
from headrank.estimators.trees.lightgbm_trees import LightGBMRows
from headrank.estimators.trees.settings import Settings

DATA = Path(__file__).parents[2] / "shared" / "data"
SETS = ("unsw_backdoor", "w8a", "credit_default")
MEASURE = "pauc@0.05"
TEST_SIZE, SAMPLE_SIZE = 0.3, 0.1
MOST_TREES = 1000
SEED, N_THREADS = 0, 1
Split = tuple[IntVector, IntVector]


@dataclass(frozen=True, eq=False)
class Halves:
    """Training and test rows of one split of a set."""

    data: str
    split: int
    X: Any
    y: Any
    X_test: Any
    y_test: Any

    @classmethod
    def of(cls, folder: Path, data: str, split: int) -> Halves:
        """Split a set."""
        every = read(folder, data)
        train, test = train_test_split(
            np.arange(every.y.size), test_size=TEST_SIZE, stratify=every.y, random_state=split
        )
        return cls(data, split, every.X[train], every.y[train], every.X[test], every.y[test])

    def row(self, way: str, scores_of: Callable[[], Vector]) -> dict[str, Any]:
        """Value on the test rows, and time."""
        begun, cpu = time.perf_counter(), time.process_time()
        value = hr.measure(MEASURE)(self.y_test, scores_of())
        times = {"seconds": time.perf_counter() - begun, "cpu_seconds": time.process_time() - cpu}
        return {"data": self.data, "split": self.split, "way": way, "value": value, **times}


@dataclass(frozen=True, eq=False)
class Problem:
    """Training rows with their bins, rows held out, and a ranker chosen on a sample of the training rows."""

    X: Any
    labelled: Labelled
    rows: TreeRows
    X_test: Any
    chosen: BoostedRankerCV

    @property
    def candidates(self) -> tuple[BoostedCandidate, ...]:
        """What was selected."""
        members: tuple[BoostedCandidate, ...] = getattr(self.chosen.best_, "members", (self.chosen.best_,))
        return members

    def mean(self, grow: Callable[[BoostedCandidate], tuple[Trees, ...]]) -> Vector:
        """Scores of the rows held out by the trees of all candidates, scaled as the choice has scaled them."""
        pairs = zip(self.candidates, self.chosen.members_, strict=True)
        members = [Member(grow(each), member.spread) for each, member in pairs]
        return np.asarray(np.sum([member.scores(self.X_test) for member in members], axis=0))

    def grown(self, candidate: BoostedCandidate, rows: TreeRows | None = None) -> Trees:
        """Trees of a candidate, on all training rows or on some."""
        growing = (self.rows if rows is None else rows).growing(candidate.settings, random_state=SEED)
        growing.grow(candidate.n_trees)
        return growing.trees(candidate.n_trees)

    def regrown(self, candidate: BoostedCandidate, split: Split) -> tuple[Trees, int]:
        """Trees of a candidate, grown on one side of a split, as many as are best on the other."""
        found = grown_on(
            FoldRows(self.labelled, [split], hr.measure(MEASURE)),
            [self.rows.part(split[0])],
            [self.X[split[1]]],
            candidate.settings,
            derivatives=[None],
            most_trees=MOST_TREES,
            n_jobs=1,
            random_state=SEED,
        )
        return found.trees[0], found.n_trees


def ways(problem: Problem) -> Iterator[tuple[str, Callable[[], Vector]]]:
    """How to go on after the choice: names, and the scores of the rows held out."""
    fifths, tenths = (
        splits_of(problem.labelled, n, problem.X, problem.labelled.positive, None, None, random_state=SEED)
        for n in (5, 10)
    )
    tenth = tenths[0]

    @lru_cache(maxsize=1)
    def once() -> Vector:
        return problem.mean(lambda each: (problem.grown(each),))

    def counted_anew(each: BoostedCandidate) -> tuple[Trees, ...]:
        return (problem.grown(replace(each, n_trees=problem.regrown(each, tenth)[1])),)

    yield "folds of the sample", lambda: problem.chosen._scores(problem.X_test)
    yield "grown once", once
    yield "grown once, mean with folds of the sample", lambda: once() + problem.chosen._scores(problem.X_test)
    yield (
        "grown once, twice the trees",
        lambda: problem.mean(lambda each: (problem.grown(replace(each, n_trees=2 * each.n_trees)),)),
    )
    yield "trees counted on a tenth, of the rest", lambda: problem.mean(lambda each: problem.regrown(each, tenth)[:1])
    yield "trees counted on a tenth, then grown on all", lambda: problem.mean(counted_anew)
    yield (
        "grown five times, each without a fifth",
        lambda: problem.mean(lambda c: tuple(problem.grown(c, problem.rows.part(train)) for train, _ in fifths)),
    )


def measured(halves: Halves, wanted: str, *, all_rows: bool) -> Iterator[dict[str, Any]]:
    """Values and times of the ways whose names contain a text."""
    X, y = halves.X, halves.y
    few = train_test_split(np.arange(y.size), train_size=SAMPLE_SIZE, stratify=y, random_state=halves.split)[0]
    chosen = BoostedRankerCV(MEASURE, random_state=halves.split)
    yield halves.row("the choice", lambda: chosen.fit(X[few], y[few]).decision_function(halves.X_test))
    labelled = Labelled.of(y > 0, None, None)
    problem = Problem(X, labelled, rows_for(X, labelled, [], N_THREADS)[1], halves.X_test, chosen)
    yield from (halves.row(way, scores_of) for way, scores_of in ways(problem) if wanted in way)
    if all_rows and wanted in "chosen on all":
        whole = BoostedRankerCV(MEASURE, random_state=halves.split)
        yield halves.row("chosen on all", lambda: whole.fit(X, y).decision_function(halves.X_test))


def on_cluster(halves: Halves) -> Iterator[dict[str, Any]]:
    """Trees of default settings, of rows that are on the workers of a cluster. Times are those of the client."""
    import dask.array as da
    import lightgbm
    from distributed import Client, LocalCluster, wait

    X, X_test = (each.toarray() if hasattr(each, "toarray") else each for each in (halves.X, halves.X_test))
    settings, target = Settings(), halves.y.astype(np.float64)

    def at_the_client(rows: LightGBMRows) -> Vector:
        growing = rows.growing(settings, random_state=SEED)
        growing.grow(100)
        return growing.trees(100).scores(X_test)

    def with_its_interface() -> Vector:
        # Features of few values are filtered by the rows of one worker, unless this is turned off.
        options = {**settings.for_lightgbm, "feature_pre_filter": False, "deterministic": True, "verbosity": -1}
        model = lightgbm.DaskLGBMClassifier(client=client, n_estimators=100, random_state=SEED, **options)
        return np.asarray(model.fit(rows, labels).booster_.predict(X_test, raw_score=True))

    yield halves.row("in memory", lambda: at_the_client(LightGBMRows.of(X, target, None, [], N_THREADS)))
    quiet = {"dashboard_address": None, "silence_logs": logging.ERROR}
    with LocalCluster(n_workers=2, threads_per_worker=1, **quiet) as cluster, Client(cluster) as client:
        per_block = -(-halves.y.size // 8)
        rows = da.from_array(X, chunks=(per_block, X.shape[1])).persist()
        labels = da.from_array(target, chunks=per_block).persist()
        wait([rows, labels])
        blocks = hr.Blocks.from_dask(rows, labels)
        yield halves.row(
            "bins at the client",
            lambda: at_the_client(LightGBMRows.of_blocks(BlockReader(blocks), target, None, [], N_THREADS)),
        )
        for number in (1, 2):
            yield halves.row(f"LightGBM's Dask interface, run {number}", with_its_interface)


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--splits", type=int, nargs="+", default=(0, 1))
    parser.add_argument("--ways", default="", help="only those whose names contain this")
    parser.add_argument("--dask", action="store_true")
    options = parser.parse_args()
    rows = []
    for data in options.sets:
        for split in options.splits:
            halves = Halves.of(options.data, data, split)
            found = on_cluster(halves) if options.dask else measured(halves, options.ways, all_rows=split == 0)
            for row in found:
                rows.append(row)
                print(
                    *(f"{each:.4f}" if isinstance(each, float) else each for each in row.values()), sep=", ", flush=True
                )
    means = pl.DataFrame(rows).group_by("data", "way", maintain_order=True).mean().drop("split")
    with pl.Config(tbl_rows=-1, fmt_str_lengths=60):
        print(means)


if __name__ == "__main__":
    main()

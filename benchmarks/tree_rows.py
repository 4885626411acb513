"""Boosted trees over many rows: chosen on a tenth of them, and then? Ways to go on, compared on rows held out.

``folds of the sample`` keeps the trees that the choice has grown, ``grown once`` grows the selected settings and numbers
of trees on all training rows; other ways change the number of trees, or average. ``chosen on all`` is `BoostedRankerCV`
on all training rows in memory, for comparison.

    python benchmarks/tree_rows.py                          # some twenty minutes of processor time
    python benchmarks/tree_rows.py --dask --sets credit_default     # LightGBM's own Dask interface, two workers
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
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
from headrank.estimators.trees.boosted_cv import BoostedCandidate, BoostedRankerCV, Member
from headrank.estimators.trees.engine import TreeRows, Trees, rows_for
from headrank.estimators.trees.growing import grown_on

DATA = Path(__file__).parents[2] / "shared" / "data"
SETS = ("unsw_backdoor", "w8a", "credit_default")
MEASURE = "pauc@0.05"
TEST_SIZE, SAMPLE_SIZE = 0.3, 0.1
MOST_TREES = 1000
SEED, N_THREADS = 0, 1
Split = tuple[IntVector, IntVector]


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
        return getattr(self.chosen.best_, "members", (self.chosen.best_,))

    def mean(self, grow: Callable[[BoostedCandidate], tuple[Trees, ...]]) -> Vector:
        """Scores of the rows held out by the trees of all candidates, scaled as the choice has scaled them."""
        pairs = zip(self.candidates, self.chosen.members_, strict=True)
        members = [Member(grow(each), member.spread) for each, member in pairs]
        return np.sum([member.scores(self.X_test) for member in members], axis=0)

    def grown(self, candidate: BoostedCandidate, rows: TreeRows | None = None) -> Trees:
        """Trees of a candidate, on all training rows or on some."""
        growing = (self.rows if rows is None else rows).growing(candidate.settings, random_state=SEED)
        growing.grow(candidate.n_trees)
        return growing.trees(candidate.n_trees)

    def regrown(self, candidate: BoostedCandidate, split: Split) -> tuple[Trees, int]:
        """Trees of a candidate, grown on one side of a split, as many as are best on the other."""
        folds = FoldRows(self.labelled, [split], hr.measure(MEASURE))
        found = grown_on(
            folds,
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
    every = splits_of(problem.labelled, 5, problem.X, problem.labelled.positive, None, None, random_state=SEED)
    tenth = splits_of(problem.labelled, 10, problem.X, problem.labelled.positive, None, None, random_state=SEED)[0]
    once: list[Vector] = []

    def grown_once() -> Vector:
        once.append(problem.mean(lambda each: (problem.grown(each),)))
        return once[0]

    def more_trees(factor: float) -> Vector:
        return problem.mean(lambda each: (problem.grown(replace(each, n_trees=round(factor * each.n_trees))),))

    def counted_anew(each: BoostedCandidate) -> tuple[Trees, ...]:
        n_trees = problem.regrown(each, tenth)[1]
        return (problem.grown(replace(each, n_trees=n_trees)),)

    yield "folds of the sample", lambda: problem.chosen._scores(problem.X_test)
    yield "grown once", grown_once
    yield "grown once, mean with folds of the sample", lambda: once[0] + problem.chosen._scores(problem.X_test)
    yield "twice the trees", lambda: more_trees(2)
    yield "trees counted on a tenth, of the rest", lambda: problem.mean(lambda each: problem.regrown(each, tenth)[:1])
    yield "trees counted on a tenth, then grown on all", lambda: problem.mean(counted_anew)
    yield (
        "five times, each without a fifth",
        lambda: problem.mean(lambda c: tuple(problem.grown(c, problem.rows.part(train)) for train, _ in every)),
    )


def measured(folder: Path, data: str, split: int, *, dask: bool, all_rows: bool) -> Iterator[dict[str, Any]]:
    """Values and seconds of all ways on one split of one set."""
    every = read(folder, data)
    train, test = train_test_split(np.arange(every.y.size), test_size=TEST_SIZE, stratify=every.y, random_state=split)
    X, y, X_test, y_test = every.X[train], every.y[train], every.X[test], every.y[test]
    few = train_test_split(np.arange(y.size), train_size=SAMPLE_SIZE, stratify=y, random_state=split)[0]
    chosen = BoostedRankerCV(MEASURE, random_state=split)

    def row(way: str, scores_of: Callable[[], Vector]) -> dict[str, Any]:
        begun, cpu = time.perf_counter(), time.process_time()
        value = hr.measure(MEASURE)(y_test, scores_of())
        times = {"seconds": time.perf_counter() - begun, "cpu_seconds": time.process_time() - cpu}
        return {"data": data, "split": split, "way": way, "value": value, **times}

    yield row("the choice, folds of the sample", lambda: chosen.fit(X[few], y[few]).decision_function(X_test))
    labelled = Labelled.of(y > 0, None, None)
    problem = Problem(X, labelled, rows_for(X, labelled, [], N_THREADS)[1], X_test, chosen)
    print(chosen.choice_)
    if dask:
        from tree_rows_on_dask import dask_ways

        for way, scores_of in (
            ("grown once", lambda: problem.mean(lambda c: (problem.grown(c),))),
            *dask_ways(problem),
        ):
            yield row(way, scores_of)
        return
    for way, scores_of in ways(problem):
        yield row(way, scores_of)
    if all_rows:
        whole = BoostedRankerCV(MEASURE, random_state=split)
        yield row("chosen on all", lambda: whole.fit(X, y).decision_function(X_test))


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--dask", action="store_true")
    options = parser.parse_args()
    rows = []
    for data in options.sets:
        for split in range(options.splits):
            for row in measured(options.data, data, split, dask=options.dask, all_rows=split == 0):
                rows.append(row)
                print(
                    *(f"{each:.4f}" if isinstance(each, float) else each for each in row.values()), sep=", ", flush=True
                )
    means = pl.DataFrame(rows).group_by("data", "way", maintain_order=True).mean().drop("split")
    with pl.Config(tbl_rows=-1, fmt_str_lengths=60):
        print(means)


if __name__ == "__main__":
    main()

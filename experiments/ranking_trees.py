"""Ranking trees and forests on real data, and on made-up data whose best AUC is known.

A pruned `TreeRanker`, a `ForestRanker` with either aggregate, and a `BoostedRanker`, all with their defaults: test
partial AUC over [0, 0.1], mean over splits into halves, and the out-of-bag estimate of the forest. The made-up sets
have the shape of those of the R package TreeRank (2 or 20 Gaussian features, 2,000 rows to learn from, half of them
positive); there the AUC is compared with the best possible one, also with the settings of the R package.

    python -m experiments.ranking_trees --data ../shared/data
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.model_selection import StratifiedShuffleSplit

from experiments._timing import timed
from experiments.rivals import load_sets
from headrank.estimators import BoostedRanker, ForestRanker, TreeRanker
from headrank.measures import AUC, measure

SETS = ("mammography", "annthyroid", "oil_spill", "spambase", "letter", "credit_default")
SHAPES = {"2 features, close": (2, 1.0), "2 features, far": (2, 2.0), "20 features, close": (20, 1.0)}
"""Number of features, and distance between the means of the classes in standard deviations."""
R_SETTINGS: dict[str, Any] = {"min_samples_leaf": 25, "max_cells": 1024, "local": False, "cv": None}
"""Regions and cells of at least 50 rows are split, down to depth 10 and without pruning, as by default in R."""
_NAME = "pauc@0.1"


@dataclass(frozen=True)
class Row:
    """One set: the measure of each method on test rows, and of the forest on the rows that each tree left out."""

    data: str
    n_rows: int
    n_pos: int
    tree: float
    forest: float
    product: float
    boosted: float
    out_of_bag: float
    """Over the rows that at least one tree left out."""
    in_all_trees: float
    """Rows that no tree left out; about n_rows (1 - 1/e)^n_estimators of them are expected, so few trees have some."""
    wins: float
    """Share of the splits in which the forest is better than the tree."""

    def __str__(self) -> str:
        values = (self.tree, self.forest, self.product, self.boosted, self.out_of_bag)
        counts = f"{self.data:20} {self.n_rows:6,} {self.n_pos:5,}"
        shown = [f"{value:8.3f}" for value in values]
        return " ".join([counts, *shown, f"{self.in_all_trees:7.0f}", f"{100 * self.wins:5.0f} %"])


HEAD = (
    f"{_NAME:20} {'rows':>6} {'pos.':>5} {'tree':>8} {'forest':>8} {'product':>8} {'boosted':>8} {'oob':>8} "
    f"{'no oob':>7} {'wins':>7}"
)


def compared(
    sets: Iterable[tuple[str, Any, Any]], *, n_splits: int = 3, most_rows: int = 6000, n_estimators: int = 100
) -> Iterable[Row]:
    """Compare on halves of each set, of at most so many rows."""
    for name, X, y in sets:
        n_half = min(most_rows, y.size) // 2
        splitter = StratifiedShuffleSplit(n_splits, train_size=n_half, test_size=n_half, random_state=0)
        rows = [_on_split(name, X, y, train, test, n_estimators) for train, test in splitter.split(X, y)]
        averaged = {
            field: mean(getattr(row, field) for row in rows)
            for field in ("tree", "forest", "product", "boosted", "out_of_bag", "in_all_trees", "wins")
        }
        yield replace(rows[0], **averaged)


def _on_split(name: str, X: Any, y: Any, train: Any, test: Any, n_estimators: int) -> Row:
    value = measure(_NAME)
    forest = ForestRanker(_NAME, n_estimators=n_estimators).fit(X[train], y[train])
    tree = TreeRanker(_NAME).fit(X[train], y[train]).score(X[test], y[test])
    of_forest = forest.score(X[test], y[test])
    left_out = np.isfinite(forest.oob_scores_)
    above = 1 - forest.leaf_votes_[forest.graph_.leaves(X[test])]
    return Row(
        name,
        train.size,
        int(y[train].sum()),
        tree=tree,
        forest=of_forest,
        product=value(y[test], -np.log(above).mean(axis=1)),  # the same forest with the other aggregate
        boosted=BoostedRanker(_NAME, n_estimators=n_estimators).fit(X[train], y[train]).score(X[test], y[test]),
        out_of_bag=value(y[train][left_out], forest.oob_scores_[left_out]),
        in_all_trees=float(np.count_nonzero(~left_out)),
        wins=float(of_forest > tree),
    )


@dataclass(frozen=True)
class MadeUp:
    """One made-up set: the AUC on test rows beside the best possible one."""

    data: str
    best: float
    as_in_r: float
    tree: float
    forest: float

    def __str__(self) -> str:
        return f"{self.data:20} " + " ".join(
            f"{value:8.3f}" for value in (self.best, self.as_in_r, self.tree, self.forest)
        )


MADE_UP_HEAD = f"{'auc, made up':20} {'best':>8} {'as in R':>8} {'tree':>8} {'forest':>8}"


def made_up(*, n_splits: int = 3, n_rows: int = 2000, n_estimators: int = 100) -> Iterable[MadeUp]:
    """Compare on Gaussian classes whose means are some distance apart."""
    for name, (n_features, distance) in SHAPES.items():
        values = []
        for seed in range(n_splits):
            rng = np.random.default_rng(seed)
            y = np.arange(n_rows + 10_000) % 2
            X = rng.normal(size=(y.size, n_features)) + np.outer(y, np.full(n_features, distance / sqrt(n_features)))
            rankers = (
                TreeRanker("auc", **R_SETTINGS),
                TreeRanker("auc"),
                ForestRanker("auc", n_estimators=n_estimators),
            )
            fitted = [ranker.fit(X[:n_rows], y[:n_rows]) for ranker in rankers]
            values.append([AUC()(y[n_rows:], each.decision_function(X[n_rows:])) for each in fitted])
        yield MadeUp(name, float(norm.cdf(distance / sqrt(2))), *np.mean(values, axis=0).tolist())


@timed
def main(arguments: Sequence[str] | None = None) -> None:
    """Print both tables, row by row."""
    parser = argparse.ArgumentParser(
        description="Compare ranking trees, ranking forests and boosted trees. One split of two sets and of the "
        "made-up ones takes 40 seconds of processor time; the default, by extrapolation, about 6 minutes."
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder with load.py")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--rows", type=int, default=6000, help="of a set, at most")
    parser.add_argument("--trees", type=int, default=100, help="of a forest")
    options = parser.parse_args(arguments)
    few = {"n_splits": options.splits, "n_estimators": options.trees}
    print(HEAD, flush=True)
    for row in compared(load_sets(options.data, options.sets), most_rows=options.rows, **few):
        print(row, flush=True)
    print(MADE_UP_HEAD, flush=True)
    for each in made_up(**few):
        print(each, flush=True)


if __name__ == "__main__":
    main()

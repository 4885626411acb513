"""Trees of selected settings, grown on other rows than those of the choice, in memory or in blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headrank._numbers import real
from headrank._types import BoolVector
from headrank.estimators._labelled import Labelled
from headrank.estimators.cv.fold_rows import FoldRows
from headrank.estimators.trees.block_reader import BlockReader
from headrank.estimators.trees.boosted import BoostedRanker, push_of
from headrank.estimators.trees.boosted_members import BoostedCandidate
from headrank.estimators.trees.engine import Trees, rows_for
from headrank.estimators.trees.growing import grown_on
from headrank.estimators.trees.lightgbm_trees import Derivatives, LightGBMRows, bytes_for, threads_for, why_not
from headrank.measures import Measure
from headrank.rows import Blocks

MOST_BYTES = 2e9
"""Memory for trees over blocks: 9 million rows of 100 features."""
_SHARE, _MOST_VALUES = 0.1, 100_000_000
"""Share of the rows on which trees are counted, and the most values of them."""
_LEAST = 1_000
"""Positives and negatives, or queries with both, without which the number of trees is not selected again: a tenth has
fewer only if there are hardly more than the 10,000 that the choice had, on which five folds say more than a tenth."""


@dataclass(frozen=True, eq=False)
class Regrown:
    """Trees of each candidate, and on which rows they were grown, in words."""

    engine: str
    trees: tuple[Trees, ...]
    how: str


def why_kept(blocks: Blocks, memory: float) -> str:
    """Return why trees cannot be grown on all rows of blocks; empty if they can."""
    if reason := why_not():
        return f"Its trees are those of the sample: LightGBM, which reads blocks, could not be loaded ({reason})."
    needed = bytes_for(*blocks.shape)
    if needed <= real("memory", memory):
        return ""
    return (
        f"Its trees are those of the sample: on all {blocks.n_rows:,} rows, they would take {needed / 1e9:.2g} GB of "
        f"memory, and {memory / 1e9:.2g} GB are allowed."
    )


def regrown(
    X: Any,
    labelled: Labelled,
    candidates: Sequence[BoostedCandidate],
    measure: Measure,
    *,
    categorical: list[int],
    most_trees: int,
    random_state: int,
    **options: Any,
) -> Regrown:
    """Grow the trees of candidates, as many as are best on a tenth of the rows that is kept aside.

    Blocks are read one after the other. If the tenth is too small to count trees on, they are grown on all rows, as
    many as the candidates have.
    """
    options["random_state"] = random_state
    is_aside = None if why_not() else _kept_aside(labelled, X.shape[1], random_state)
    if is_aside is None:
        return _grown_on_all(X, labelled, candidates, categorical, options)
    learned, aside = np.flatnonzero(~is_aside), np.flatnonzero(is_aside)
    rows: Any = _rows_of(X, labelled.take(learned), _numbers(labelled, learned), categorical)
    left_out = _numbers(labelled, aside)
    X_aside = X.take(left_out) if isinstance(X, Blocks) else X[left_out]
    folds = FoldRows(labelled, [(learned, aside)], measure)
    grown = [
        grown_on(
            folds,
            [rows],
            [X_aside],
            candidate.settings,
            derivatives=[_derivatives(candidate, labelled.take(learned))],
            most_trees=most_trees,
            n_jobs=1,
            **options,
        )
        for candidate in candidates
    ]
    numbers = ", ".join(f"{each.trees[0].n_trees:,}" for each in grown)
    how = f"Its trees were grown on {learned.size:,} rows, their number ({numbers}) selected on {aside.size:,} others."
    return Regrown("lightgbm", tuple(each.trees[0] for each in grown), how)


def _grown_on_all(
    X: Any, labelled: Labelled, candidates: Sequence[BoostedCandidate], categorical: list[int], options: dict[str, Any]
) -> Regrown:
    if isinstance(X, Blocks):
        engine, rows = "lightgbm", _rows_of(X, labelled, labelled.present, categorical)
    else:
        X = X if labelled.present is None else X[labelled.present]
        engine, rows = rows_for(X, labelled, categorical, n_threads=threads_for(X))
    trees = tuple(grown(rows, labelled, each, each.n_trees, **options) for each in candidates)
    return Regrown(engine, trees, f"Its trees were grown on {labelled.size:,} rows.")


def grown(rows: Any, labelled: Labelled, candidate: BoostedCandidate, n_trees: int, **options: Any) -> Trees:
    """Grow a number of trees of a candidate on these rows, fewer if no split is left."""
    growing = rows.growing(candidate.settings, derivatives=_derivatives(candidate, labelled), **options)
    growing.grow(n_trees)
    trees: Trees = growing.trees(min(n_trees, growing.n_trees))
    return trees


def _rows_of(X: Any, labelled: Labelled, kept: Any, categorical: list[int]) -> LightGBMRows:
    """Cut the features of some rows into bins, without a copy of these rows unless they are sparse and in memory."""
    target = labelled.positive.astype(np.float64)
    if hasattr(X, "nnz"):
        return LightGBMRows.of(X if kept is None else X[kept], target, labelled.counts, categorical, threads_for(X))
    reader = BlockReader(X if isinstance(X, Blocks) else Blocks.from_arrays([X]), kept)
    return LightGBMRows.of_blocks(reader, target, labelled.counts, categorical, threads_for(X))


def _derivatives(candidate: BoostedCandidate, labelled: Labelled) -> Derivatives | None:
    ranker = BoostedRanker(objective=candidate.objective, power=candidate.power or 1.0)
    return push_of(ranker, labelled)


def _kept_aside(labelled: Labelled, n_features: int, random_state: int) -> BoolVector | None:
    """Draw rows at random, or whole queries; return which these are, None if they are too few to count trees on."""
    share = min(_SHARE, _MOST_VALUES / (labelled.size * n_features))
    queries = labelled.queries
    n_units = labelled.size if queries is None else int(queries.max()) + 1
    is_drawn = np.random.default_rng(random_state).random(n_units) < share
    is_aside: BoolVector = is_drawn if queries is None else is_drawn[queries]
    positive = labelled.positive[is_aside]
    if queries is None:
        n_least = int(min(np.count_nonzero(positive), np.count_nonzero(~positive)))
    else:
        of_rows = queries[is_aside]
        n_least = np.intersect1d(of_rows[positive], of_rows[~positive]).size
    return is_aside if n_least >= _LEAST else None


def _numbers(labelled: Labelled, rows: Any) -> Any:
    """Return the numbers of labelled rows among all rows."""
    return rows if labelled.present is None else labelled.present[rows]

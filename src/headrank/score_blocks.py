"""Scores in blocks: checked as arrays are, and their curve merged from those of the blocks, where these are."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from headrank._numbers import short_repr
from headrank._types import Vector
from headrank.curve import RocCurve
from headrank.exceptions import InvalidSampleError, OneClassError, ShallowHeadError
from headrank.labels import check_binary, check_labels
from headrank.levels import Depth

if TYPE_CHECKING:
    from headrank.rows import Blocks
    from headrank.rows.block import Block, LabelCounts

Score = Callable[[Any], Any]
"""From the features of a block to its scores."""


@dataclass(frozen=True, eq=False)
class Head:
    """The curve of some rows, or its head, and the largest absolute score of each class, head or not."""

    curve: RocCurve
    largest_pos: float
    largest_neg: float

    def merge(self, other: Head) -> Head:
        """Return that of the rows of both."""
        largest = max(self.largest_pos, other.largest_pos), max(self.largest_neg, other.largest_neg)
        return Head(self.curve.merge(other.curve), *largest)


@dataclass(frozen=True, eq=False)
class ScoreBlocks:
    """Blocks of rows with a score, and which label is positive.

    Attributes
    ----------
    blocks : Blocks
        The rows.
    positive : object
        The label of the positive class.
    n_pos, n_neg : int
        Rows of each class, also of weight 0.
    score : callable, optional
        Computes the scores of a block from its features; by default the only feature is the score.
    """

    blocks: Blocks
    positive: Any
    n_pos: int
    n_neg: int
    score: Score | None = None

    @classmethod
    def of(cls, blocks: Blocks, pos_label: Any = None) -> ScoreBlocks:
        """Check labels as those of an array are. One pass, unless the labels have been read before."""
        labels = labels_of(blocks)
        positive = check_labels(labels.y, pos_label=pos_label)
        n_pos, n_neg = (int(labels.counts[of_class].sum()) for of_class in (positive, ~positive))
        if n_pos == 0 or n_neg == 0:
            raise OneClassError(
                f"expected rows of both classes, positive and negative, but all {n_pos + n_neg} rows of the blocks are "
                f"{'positive' if n_pos else 'negative'}; check pos_label"
            )
        return cls(blocks, labels.y[positive][0], n_pos, n_neg)

    @property
    def weighted(self) -> bool:
        """Whether the rows have weights."""
        return self.blocks.label_counts.weighted

    def head(self, depth: Depth | None) -> Head:
        """Merge the heads of the blocks, of this depth, or their whole curves. One pass.

        A depth counts rows, so with weights the curve is whole.
        """
        depth = None if self.weighted else depth
        floor = _Floor()
        head_of = partial(_head_of, score=self.score, positive=self.positive, depth=depth, floor=floor)
        found: Head | None = self.blocks.reduce(head_of, partial(_merged, depth=depth, floor=floor))
        if found is None:
            raise InvalidSampleError("sample_weight is zero for every row: no rows are left")
        found.curve.require_both_classes()
        return found

    def curve(self, depth: Depth | None = None) -> RocCurve:
        """Return the head of this depth, or the whole curve: up to 24 bytes for each distinct score in it."""
        return self.head(depth).curve


def labels_of(blocks: Blocks) -> LabelCounts:
    """Return how many rows have each label, or raise if there are no rows or labels."""
    labels = blocks.label_counts
    if labels.y is None:
        raise ValueError("these Blocks have no labels; pass target= to from_parquet, or y= to from_arrays")
    if not labels.n_rows:
        raise InvalidSampleError("these Blocks have no rows: expected rows of both classes")
    return labels


def given_blocks(
    y: Any, scores: Any, *, what: str, n_columns: int = 1, missing: str = "refuse", **others: Any
) -> Blocks | None:
    """Return the Blocks that were given in place of labels and scores, or None for arrays; raise if both were.

    Two Dask collections become Blocks on the workers if a client is connected, they are cut alike, and there are no
    ``others``: arguments with one value per row.
    """
    beside = [name for name, values in others.items() if values is not None]
    beside += ["missing"] * (missing != "refuse")
    if is_blocks(y):
        if twice := [*["scores"] * (scores is not None), *beside]:
            raise ValueError(
                f"{' and '.join(twice)} cannot be given with Blocks, which have labels, scores, weights and queries of "
                "all rows: name their columns in from_parquet, or pass them to from_arrays"
            )
        return _with_columns(what, y, n_columns)
    if scores is None:
        hint = "a measure has value(curve)" if isinstance(y, RocCurve) else "pass the scores, too"
        raise TypeError(f"{what} expects labels and scores, or Blocks of scores, got only {short_repr(y)}; {hint}")
    return _of_dask(y, scores) if "dask" in sys.modules and not beside else None


def is_blocks(values: Any) -> TypeGuard[Blocks]:
    """Whether these are Blocks; none exist before their module is imported, which arrays alone do not need."""
    module = sys.modules.get("headrank.rows.blocks")
    return module is not None and isinstance(values, module.Blocks)


def require_plain_rows(what: str, blocks: Blocks) -> Blocks:
    """Return Blocks of scores without weights and queries, or raise."""
    labels = labels_of(_with_columns(what, blocks, 1))
    if labels.weighted or labels.queried:
        kind, name = ("weights", "sample_weight") if labels.weighted else ("queries", "qid")
        raise ValueError(
            f"{what} is about one list of independent rows, so it takes no {kind}; make the Blocks without {name}"
        )
    return blocks


def _with_columns(what: str, blocks: Blocks, n_columns: int) -> Blocks:
    """Return the Blocks, or raise if they do not have one feature for each scorer."""
    if blocks.n_features != n_columns:
        expected = "one feature, the score" if n_columns == 1 else f"{n_columns} features, one for each scorer"
        raise ValueError(
            f"{what} expects Blocks of scores: {expected}, got {blocks.n_features} features; name the columns in "
            "features=, or pass block_curve(blocks, ranker) for the scores of a ranker"
        )
    return blocks


def gathered(blocks: Blocks) -> tuple[Any, Vector, Any, Any]:
    """Return labels, columns of scores, weights and queries of all rows; 8 bytes for each score."""
    labels_of(blocks)
    scores = blocks.columns(np.arange(blocks.n_features))
    return blocks.y, scores, blocks.sample_weight, blocks.qid


def _of_dask(y: Any, scores: Any) -> Blocks | None:
    """Return Blocks of two Dask columns that are cut alike; None for arrays, and if columns have to be gathered."""
    from headrank.rows import Blocks, is_distributed
    from headrank.rows.dask import has_client

    if not (is_distributed(y) and is_distributed(scores)):
        return None
    frames = hasattr(y, "to_frame") and hasattr(scores, "to_frame")
    cuts = [each.npartitions if frames else getattr(each, "chunks", None) for each in (y, scores)]
    columns = all(len(each.shape) == 1 for each in (y, scores))
    if not columns or cuts[0] != cuts[1] or str(scores.dtype) not in ("float32", "float64") or not has_client():
        return None
    return Blocks.from_dask(scores.to_frame() if frames else scores[:, None], y)


class _Floor:
    """A score below which no row is in the head any more, raised by blocks that were merged in this process."""

    def __init__(self) -> None:
        self.score = -inf


def _head_of(block: Block, score: Score | None, positive: Any, depth: Depth | None, floor: _Floor) -> Head | None:
    """Return the head of a block, which may have one class only; None if it has no rows of positive weight."""
    X, y, weights = block.X, block.y, block.sample_weight
    if weights is not None and not np.all(weights):
        X, y, weights = X[weights != 0], y[weights != 0], weights[weights != 0]
    if not X.shape[0]:
        return None
    try:
        sample = check_binary(
            np.ravel(y) == positive, np.ravel((_only_feature if score is None else score)(X)), weights
        )
    except InvalidSampleError as error:
        raise InvalidSampleError(f"{block.name}: {error}") from None
    of_classes = (sample.scores[of_class] for of_class in (sample.positive, ~sample.positive))
    largest = (float(np.abs(scores).max(initial=0)) for scores in of_classes)
    if depth is None:
        return Head(RocCurve.of_sample(sample), *largest)
    lowest = floor.score
    curve = RocCurve.of_sample(sample.take(np.flatnonzero(sample.scores >= lowest)), depth)
    whole = replace(curve, n_pos=sample.n_pos, n_neg=sample.n_neg, floor=max(curve.floor, lowest))
    return Head(whole, *largest)


def _only_feature(X: Any) -> Any:
    return X.toarray() if hasattr(X, "nnz") else X


def _merged(one: Head | None, other: Head | None, depth: Depth | None, floor: _Floor) -> Head | None:
    if one is None or other is None:
        return other if one is None else one
    both = one.merge(other)
    if depth is None:
        return both
    try:
        kept = both.curve.head(depth.n_neg, n_pos=depth.n_pos, n_rows=depth.n_rows)
    except ShallowHeadError:  # above the floor of others, these rows are fewer
        return both
    floor.score = max(floor.score, kept.floor)
    return replace(both, curve=kept)

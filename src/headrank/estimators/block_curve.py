"""The ROC curve of rows in blocks, merged from the curves of the blocks."""

from __future__ import annotations

from functools import reduce
from math import inf
from typing import Any

import numpy as np

from headrank._numbers import short_repr
from headrank.curve import RocCurve
from headrank.estimators._scorer import Scorer
from headrank.labels import check_classes
from headrank.levels import Depth
from headrank.measures import Measure
from headrank.measures import measure as measure_of
from headrank.rows import Blocks
from headrank.rows.block import Block


def block_curve(blocks: Blocks, scorer: Any = None, *, measure: Measure | str | None = None) -> RocCurve:
    """Compute the curve of the scores of all rows of blocks, where these are. One pass; exact, also for ties.

    Only the scores of one block per thread are in memory at a time, and the merged curve. With a measure of the head,
    that is the head that the measure needs: flat memory for any number of rows.

    Parameters
    ----------
    blocks : Blocks
        Rows with labels; of two classes, the greater one, in sorted order, is the positive one.
    scorer : estimator, optional
        Fitted; its ``decision_function`` gives the scores. Without it, the only feature of the blocks is the score.
    measure : Measure or str, optional
        The measure to be read from the curve. By default the whole curve is returned, as `headrank.band` needs it.

    Examples
    --------
    >>> import headrank as hr
    >>> from headrank.datasets import coarse_eights
    >>> X, y = coarse_eights()
    >>> blocks = hr.Blocks.from_arrays([X[:700], X[700:]], [y[:700], y[700:]])
    >>> ranker = hr.LinearRanker("pauc@0.3", C=10, standardize=True).fit(blocks)
    >>> head = hr.block_curve(blocks, ranker, measure="pauc@0.3")
    >>> head.complete, bool(abs(hr.measure("pauc@0.3").value(head) - ranker.score(blocks)) < 1e-12)
    (False, True)
    """
    if not isinstance(blocks, Blocks):
        raise TypeError(f"expected Blocks, got {short_repr(blocks)}; for arrays use RocCurve.from_scores")
    if blocks.qid is not None:
        raise ValueError("with queries, a measure is a mean over queries, not read from one curve; use score(blocks)")
    if scorer is None and blocks.n_features != 1:
        raise ValueError(f"without a scorer, the only feature must be the score, got {blocks.n_features} features")
    y = blocks.y
    if y is None:
        raise ValueError("these Blocks have no labels; pass target= to from_parquet, or y= to from_arrays")
    check_classes(y)
    classes = np.unique(y)
    if classes.size > 2:
        raise ValueError(f"expected labels of two classes, got {classes.size}: {short_repr(classes)}")
    n_pos = int(np.count_nonzero(y == classes[-1]))
    depth = None
    if measure is not None and blocks.sample_weight is None:
        depth = measure_of(measure).depth(n_pos, y.size - n_pos)
    needed = Depth(n_neg=inf) if depth is None else depth
    curves = [curve for curve in blocks.map(_curve, same=(scorer, classes[-1], needed)) if curve is not None]
    merged: RocCurve = reduce(RocCurve.merge, curves)
    return merged if depth is None else merged.head(depth.n_neg, n_pos=depth.n_pos, n_rows=depth.n_rows)


def _curve(block: Block, scorer: Any, positive: Any, depth: Depth) -> RocCurve | None:
    """Return the curve of a block, which may have one class only; None if it has no rows."""
    if not block.n_rows:
        return None
    scores: Any
    if scorer is None:
        scores = block.X[:, [0]].toarray() if hasattr(block.X, "nnz") else block.X[:, 0].astype(np.float64)
    else:
        scores = scorer._scores(block.X) if isinstance(scorer, Scorer) else scorer.decision_function(block.X)
    return RocCurve.head_from_scores(
        np.ravel(block.y) == positive,
        np.ravel(scores),
        block.sample_weight,
        n_neg=depth.n_neg,
        n_pos=depth.n_pos,
        n_rows=depth.n_rows,
    )

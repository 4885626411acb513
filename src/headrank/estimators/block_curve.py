"""The ROC curve of rows in blocks, merged from the curves of the blocks."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from headrank._numbers import short_repr
from headrank.curve import RocCurve
from headrank.estimators._scorer import Scorer
from headrank.labels import check_classes
from headrank.measures import Measure
from headrank.measures import measure as measure_of
from headrank.rows import Blocks
from headrank.score_blocks import ScoreBlocks, labels_of


def block_curve(blocks: Blocks, scorer: Any = None, *, measure: Measure | str | None = None) -> RocCurve:
    """Compute the curve of the scores of all rows of blocks, where these are; exact, also for ties.

    One pass counts the labels, unless the blocks have been read before, and one makes the curves of the blocks, which
    are merged in pairs. Only the scores of one block per thread are in memory at a time, and about log2(n_blocks)
    curves of up to 24 bytes for each distinct score. With a measure of the head, these are heads.

    Parameters
    ----------
    blocks : Blocks
        Rows with labels; of two classes, the greater one, in sorted order, is the positive one.
    scorer : estimator, optional
        Fitted; its ``decision_function`` gives the scores. Without it, the only feature of the blocks is the score.
    measure : Measure or str, optional
        The measure to be read from the curve, which then has the head that the measure and its `headrank.interval`
        need. By default the whole curve is returned, as `headrank.band` and intervals read from a band need it.

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
    if scorer is None and blocks.n_features != 1:
        raise ValueError(f"without a scorer, the only feature must be the score, got {blocks.n_features} features")
    labels = labels_of(blocks)
    if labels.queried:
        raise ValueError("with queries, a measure is a mean over queries, not read from one curve; use score(blocks)")
    check_classes(labels.y)
    classes = np.unique(labels.y)
    if classes.size > 2:
        raise ValueError(f"expected labels of two classes, got {classes.size}: {short_repr(classes)}")
    n_pos = int(labels.counts[labels.y == classes[-1]].sum())
    score = None if scorer is None else partial(_scores, scorer)
    rows = ScoreBlocks(blocks, classes[-1], n_pos, labels.n_rows - n_pos, score)
    depth = None if measure is None else measure_of(measure).depth(rows.n_pos, rows.n_neg)
    return rows.curve(None if depth is None else depth.deeper())


def _scores(scorer: Any, X: Any) -> Any:
    return scorer._scores(X) if isinstance(scorer, Scorer) else scorer.decision_function(X)

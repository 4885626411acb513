"""The rows of blocks on which candidates are compared: a stratified sample, sized by the noise of the measure."""

from __future__ import annotations

from math import ceil
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from headrank._types import BoolVector, IntVector, Vector
from headrank.estimators._blocks import Given
from headrank.estimators._labelled import Labelled
from headrank.estimators._scorer import admitted
from headrank.estimators.cv.folds import of_any_size, total_weight
from headrank.labels import check_queries, check_weights
from headrank.measures import Measure
from headrank.measures import measure as measure_of
from headrank.rows import Blocks

_NOISE = 0.005
"""The standard error of a share of n rows is at most 1 / (2 sqrt(n)); the sample is large enough for this."""
_ENOUGH = ceil((0.5 / _NOISE) ** 2)
"""Number of positives, and of negatives in the head of the measure."""
_MOST_VALUES = 100_000_000
"""Most features of the sample: 0.4 GB in float32."""
_OF_THE_INPUT = ("classes_", "n_features_in_", "feature_names_in_")


class _Sample(NamedTuple):
    """Numbers of rows, ascending, and what each counts; None if the classes are drawn alike."""

    rows: IntVector
    weights: Vector | None


def fitted_to_sample(ranker: Any, given: Given) -> bool:
    """Fit a ranker to a sample of the rows of blocks; return whether these are all rows.

    A number of first rows, such as ``p@100``, is the same fraction of the sample.
    """
    if not (ranker.cv is None or isinstance(ranker.cv, Integral) or hasattr(ranker.cv, "split")):
        raise TypeError(
            "over Blocks, which are sampled, cv must be a number of folds or a splitter, got folds of given rows; draw "
            "the rows yourself: X.take(rows)"
        )
    blocks = given.X
    _, positive = admitted(ranker, blocks, given.y)
    measure = measure_of(ranker.measure)
    if given.qid is None:
        measure = of_any_size(measure, total_weight(positive, given.sample_weight))
    sample = sampled(blocks, given, measure, positive > 0, ranker.random_state)
    chosen = clone(ranker).set_params(measure=measure)
    chosen.fit(*sample)
    of_input = {name: value for name, value in vars(ranker).items() if name.endswith("_")}
    learned = {name: value for name, value in vars(chosen).items() if name.endswith("_")}
    vars(ranker).update(learned | {name: of_input[name] for name in _OF_THE_INPUT if name in of_input})
    return bool(sample.X.shape[0] == blocks.n_rows)


def sampled(blocks: Blocks, given: Given, measure: Measure, positive: BoolVector, random_state: Any) -> Given:
    """Return rows drawn from all blocks at random, in memory, with their labels, weights and queries.

    Positives and negatives are drawn separately, 10,000 positives and as many negatives as put 10,000 into the head
    of the measure, so that the standard error of the measure is about 0.005; fewer if the sample would be larger than
    1e8 values; no row of weight 0. If a class is drawn more densely than the other, weights restore their ratio. With
    queries, 10,000 queries are drawn whole.
    """
    from sklearn.utils import check_random_state

    random = check_random_state(random_state)
    most = max(_MOST_VALUES // blocks.n_features, 2)
    of_all = None if given.sample_weight is None else check_weights(given.sample_weight)
    if given.qid is None:
        present = np.ones(positive.size, dtype=bool) if of_all is None else of_all > 0
        Labelled(positive[present]).require_both_classes()
        rows, weights = _by_class(positive, present, measure, most, random)
    else:
        rows, weights = drawn_by_query(check_queries(given.qid), most, random), None
    if of_all is not None:
        weights = of_all[rows] if weights is None else of_all[rows] * weights
    qid = None if given.qid is None else np.asarray(given.qid)[rows]
    return Given(blocks.take(rows), np.asarray(given.y)[rows], weights, qid)


def _by_class(positive: BoolVector, present: BoolVector, measure: Measure, most: int, random: Any) -> _Sample:
    of_classes = np.flatnonzero(positive & present), np.flatnonzero(~positive & present)
    n_pos, n_neg = (of_class.size for of_class in of_classes)
    wanted = min(_ENOUGH, n_pos), min(ceil(_ENOUGH / _head_share(measure, n_pos, n_neg)), n_neg)
    # A common share of both classes needs no weights; if that is too much, the rarer class is drawn more densely.
    share = max(wanted[0] / n_pos, wanted[1] / n_neg)
    if share * (n_pos + n_neg) <= 2 * sum(wanted):
        wanted = ceil(share * n_pos), ceil(share * n_neg)
    if sum(wanted) > most:
        n_pos_drawn = min(wanted[0], most // 2)
        wanted = n_pos_drawn, min(wanted[1], most - n_pos_drawn)
    parts = [random.choice(of_class, n, replace=False) for of_class, n in zip(of_classes, wanted, strict=True)]
    rows = np.sort(np.concatenate(parts))
    ratio = (n_neg / wanted[1]) / (n_pos / wanted[0])
    return _Sample(rows, None if abs(ratio - 1) < 0.01 else np.where(positive[rows], 1.0, ratio))


def drawn_by_query(queries: IntVector, most: int, random: Any) -> IntVector:
    """Draw 10,000 whole queries, fewer if they have more rows than ``most``; return the numbers of their rows."""
    sizes = np.bincount(queries)
    order = random.permutation(sizes.size)[:_ENOUGH]
    n_kept = max(int(np.searchsorted(np.cumsum(sizes[order]), most, side="right")), 1)
    return np.flatnonzero(np.isin(queries, order[:n_kept]))


def _head_share(measure: Measure, n_pos: int, n_neg: int) -> float:
    """Return the share of the negatives, or of all rows, that the measure looks at."""
    depth = measure.depth(n_pos, n_neg)
    if depth is None:
        return 1.0
    return min(max(depth.n_neg / n_neg, depth.n_rows / (n_pos + n_neg), 1 / n_neg), 1.0)

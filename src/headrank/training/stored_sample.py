"""The training rows of a stored table that are taken to memory, for encoders, choices and trees."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from headrank._types import BoolVector, IntVector, Vector
from headrank.estimators.cv.block_sample import drawn_by_query

MOST_VALUES = 30_000_000
"""Most values of the sample: 0.12 GB in single precision, a few times that while they are encoded."""
_ENOUGH_POSITIVES = 10_000
"""A standard error of at most 0.005 of a share of them."""


class TrainingSample(NamedTuple):
    """Positions of training rows, ascending, and what each counts; None if the classes are drawn alike."""

    places: IntVector
    weights: Vector | None


def training_sample(y: BoolVector, queries: IntVector | None, width: int, random_state: int) -> TrainingSample:
    """Draw as many rows as fit into 30 million values of the given width, at random; all if they do.

    The same share of both classes is drawn. If that leaves fewer than 10,000 of the rarer class, as many of it are
    drawn, all if there are fewer, and weights restore the ratio. Queries are drawn whole.

    >>> y = np.arange(100_000) < 500
    >>> places, weights = training_sample(y, None, 1000, 0)
    >>> places.size, int(y[places].sum()), weights[[0, -1]].round(3).tolist()
    (30000, 500, [1.0, 3.373])
    """
    most = max(MOST_VALUES // max(width, 1), 2)
    if y.size <= most:
        return TrainingSample(np.arange(y.size), None)
    if queries is not None:
        return TrainingSample(drawn_by_query(queries, most, np.random.RandomState(random_state)), None)
    rng = np.random.default_rng(random_state)
    of_classes = [np.flatnonzero(y), np.flatnonzero(~y)]
    of_classes.sort(key=len)
    rare, common = of_classes
    n_rare = round(rare.size * most / y.size)
    if n_rare < min(_ENOUGH_POSITIVES, rare.size):
        n_rare = min(_ENOUGH_POSITIVES, rare.size, most // 2)
    n_common = min(most - n_rare, common.size)
    drawn = [rng.choice(rare, n_rare, replace=False), rng.choice(common, n_common, replace=False)]
    places = np.sort(np.concatenate(drawn))
    ratio = (common.size / n_common) / (rare.size / n_rare)
    if abs(ratio - 1) < 0.01:
        return TrainingSample(places, None)
    is_rare = np.zeros(y.size, dtype=bool)
    is_rare[drawn[0]] = True
    return TrainingSample(places, np.where(is_rare[places], 1.0, ratio))

"""The parameters that ranking trees and forests share, checked."""

from __future__ import annotations

from math import ceil, sqrt
from typing import Any

import numpy as np

from headrank._numbers import rate, short_repr, whole
from headrank.estimators._labelled import Labelled
from headrank.estimators.cv.folds import of_any_size
from headrank.estimators.ranking_trees.growing import Growth
from headrank.estimators.ranking_trees.head import Head, head_of
from headrank.measures import Measure


def growth_of(ranker: Any, n_features: int) -> Growth:
    """Return how far the trees of a ranker grow, or raise."""
    return Growth(
        max_depth=whole("max_depth", ranker.max_depth, at_least=1),
        min_samples_split=whole("min_samples_split", ranker.min_samples_split, at_least=2),
        min_samples_leaf=whole("min_samples_leaf", ranker.min_samples_leaf, at_least=1),
        max_cells=whole("max_cells", ranker.max_cells, at_least=2),
        max_features=n_tried(ranker.max_features, n_features),
    )


def n_tried(max_features: Any, n_features: int) -> int:
    """Return how many features each split tries, or raise.

    >>> n_tried("sqrt", 50), n_tried(0.5, 5), n_tried(3, 2), n_tried(None, 7)
    (7, 3, 2, 7)
    """
    if max_features is None:
        return n_features
    if isinstance(max_features, str):
        if max_features != "sqrt":
            raise ValueError(f"max_features must be 'sqrt', a number or None, got {short_repr(max_features)}")
        return max(1, int(sqrt(n_features)))
    if isinstance(max_features, float | np.floating):
        return min(n_features, ceil(rate("max_features", max_features, above_zero=True) * n_features))
    return min(n_features, whole("max_features", max_features, at_least=1))


def head_for(local: Any, measure: Measure, labelled: Labelled) -> Head:
    """Return the part of the list in which regions are split, or raise."""
    if not isinstance(local, bool | np.bool_):
        raise TypeError(f"local must be True or False, got {short_repr(local)}")
    return head_of(of_any_size(measure, labelled.total_weight)) if local else Head()


def why_collapsed(growth: Growth, labelled: Labelled) -> str:
    """Say why no tree has a split."""
    needed = max(growth.min_samples_split, 2 * growth.min_samples_leaf)
    if labelled.size < needed:
        return (
            f"no region was split: {labelled.size} rows are fewer than the {needed} that a split needs; lower "
            "min_samples_split and min_samples_leaf"
        )
    return "no region was split: no feature separates the classes; check whether X says anything about y"

"""Small ranking trees and rows for tests."""

import numpy as np

from headrank.estimators import ForestRanker, TreeRanker

LOOSE = {"min_samples_split": 2, "min_samples_leaf": 1, "max_cells": 4}


def tree(measure="pauc@0.3", **options):
    return TreeRanker(measure, **{"min_samples_split": 10, "min_samples_leaf": 2, "max_cells": 4, "cv": 3, **options})


def loose(measure="auc", **options):
    """A tree that grows as far as it can."""
    return TreeRanker(measure, **{**LOOSE, "cv": None, **options})


def forest(measure="pauc@0.3", **options):
    return ForestRanker(
        measure, **{"n_estimators": 25, "min_samples_split": 10, "max_cells": 4, "random_state": 1, **options}
    )


def every_kind():
    return {
        "pruned": tree(),
        "whole": tree(cv=None),
        "of all regions": tree(local=False, cv=None),
        "forest": forest(),
        "local forest": forest(local=True, max_features=None),
    }


def whole_numbers(n_rows=200, n_features=3, *, seed=0):
    """Features of a few whole values that say something about the class."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n_rows) % 4 == 0).astype(int)
    X = rng.integers(0, 6, size=(n_rows, n_features)) + np.outer(y, [2, 1] + [0] * (n_features - 2))
    return X.astype(float), y

"""Small settings and rows for tests of trees."""

import numpy as np

from headrank.estimators import BoostedRanker, BoostedRankerCV, RankerCV

SMALL = {"n_estimators": 8, "max_leaf_nodes": 6, "min_samples_leaf": 5, "n_jobs": 1}
GRID = ({"max_leaf_nodes": 4, "min_samples_leaf": 5}, {"max_leaf_nodes": 8, "min_samples_leaf": 2})


def boosted(measure="pauc@0.3", **options):
    return BoostedRanker(measure, **{**SMALL, **options})


def boosted_cv(measure="pauc@0.3", **options):
    return BoostedRankerCV(measure, **{"grid": GRID, "max_estimators": 20, "cv": 3, **options})


def combined(measure="pauc@0.3", **options):
    return RankerCV(measure, **{"families": ("boosted trees", "extra trees"), "cv": 3, **options})


def every_kind():
    """Trees of each objective, chosen trees and a combination, by name."""
    return {
        "logistic": boosted(),
        "push": boosted(objective="push"),
        "smooth": boosted(objective="smooth", n_refining=4),
        "random": boosted(subsample=0.5, max_features=0.5, random_splits=True, random_state=3),
        "chosen": boosted_cv(),
        "combined": combined(),
    }


def whole_numbers(n_rows=200, n_features=3, *, seed=0):
    """Features of a few whole values that say something about the class."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n_rows) % 4 == 0).astype(int)
    X = rng.integers(0, 6, size=(n_rows, n_features)) + np.outer(y, [2, 1] + [0] * (n_features - 2))
    return X.astype(float), y

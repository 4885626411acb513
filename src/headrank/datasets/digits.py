"""A small real data set included in every installation: coarse handwritten digits, with the eights as positives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from headrank._extras import needs_extra
from headrank._types import BoolVector, IntVector, Vector

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows with their labels, cross-validation folds, and the out-of-fold scores of several models."""

    X: Vector
    y: BoolVector
    folds: list[tuple[IntVector, IntVector]]
    scores: dict[str, Vector]


def coarse_eights() -> tuple[Vector, BoolVector]:
    """Return scikit-learn's 1,797 handwritten digits at 4 x 4 pixels, and which of them are eights (10 %).

    Hard for a linear scorer: eights and nines look similar at this resolution.

    >>> X, y = coarse_eights()
    >>> X.shape, int(y.sum())
    ((1797, 16), 174)
    """
    from sklearn.datasets import load_digits

    digits = load_digits()
    blocks = digits.images.reshape(-1, 4, 2, 4, 2)
    return blocks.mean(axis=(2, 4)).reshape(-1, 16), np.asarray(digits.target == 8)


def coarse_eights_table() -> pl.DataFrame:
    """Return `coarse_eights` as a table, with a column per pixel and the column ``eight``, yes or no.

    >>> coarse_eights_table().columns[-2:]
    ['row4_column4', 'eight']
    """
    with needs_extra("cli"):
        import polars as pl

    X, y = coarse_eights()
    names = [f"row{row}_column{column}" for row in range(1, 5) for column in range(1, 5)]
    return pl.DataFrame(X, schema=names).with_columns(eight=pl.Series(np.where(y, "yes", "no")))


def scored_eights() -> ScoredRows:
    """Score the coarse eights with two logistic regressions, out of fold.

    ``plain`` is unweighted; ``balanced`` gives both classes the same total weight, as is often recommended for rare
    positives. The balanced one has the better AUC and a much worse head.

    >>> rows = scored_eights()
    >>> sorted(rows.scores)
    ['balanced', 'plain']
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = coarse_eights()
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    models = {"plain": LogisticRegression(), "balanced": LogisticRegression(class_weight="balanced")}
    scores = {
        name: cross_val_predict(make_pipeline(StandardScaler(), model), X, y, cv=folds, method="decision_function")
        for name, model in models.items()
    }
    return ScoredRows(X, y, folds, scores)

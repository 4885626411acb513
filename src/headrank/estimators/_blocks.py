"""Blocks at the door of an estimator: their labels, and the names of their features."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from headrank._numbers import short_repr
from headrank._types import ArrayLike
from headrank.rows import Blocks, is_distributed


class Given(NamedTuple):
    """The arguments of ``fit``."""

    X: Any
    y: ArrayLike
    sample_weight: ArrayLike | None
    qid: ArrayLike | None


def unpacked(
    estimator: Any, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, qid: ArrayLike | None
) -> Given:
    """Return the arguments of ``fit`` with the labels, weights and queries of blocks in their places."""
    name = type(estimator).__name__
    if is_distributed(X) and estimator._takes_blocks:
        X, y, sample_weight, qid = Blocks.from_dask(X, y, sample_weight=sample_weight, qid=qid), None, None, None
    if not isinstance(X, Blocks):
        if y is None:
            raise ValueError(f"{name} requires y to be passed, but the target y is None; only Blocks contain it")
        return Given(X, y, sample_weight, qid)
    _require_taken(estimator, X)
    given = {"y": y, "sample_weight": sample_weight, "qid": qid}
    if twice := [key for key, values in given.items() if values is not None]:
        raise ValueError(f"{' and '.join(twice)} must be given to Blocks, not to fit: the rows of X are in blocks")
    if X.y is None:
        raise ValueError("these Blocks have no labels; pass target= to from_parquet, or y= to from_arrays")
    return Given(X, X.y, X.sample_weight, X.qid)


def checked_blocks(estimator: Any, X: Blocks, *, reset: bool) -> Blocks:
    """Return the blocks; learn the number and names of their features if ``reset``, or else compare them, and raise."""
    _require_taken(estimator, X)
    name = type(estimator).__name__
    names = None if X.feature_names is None else np.array(X.feature_names, dtype=object)
    if reset:
        vars(estimator).pop("feature_names_in_", None)
        estimator.n_features_in_ = X.n_features
        if names is not None:
            estimator.feature_names_in_ = names
        return X
    known = getattr(estimator, "feature_names_in_", None)
    if X.n_features != estimator.n_features_in_:
        raise ValueError(f"X has {X.n_features} features, but {name} is expecting {estimator.n_features_in_}")
    if known is not None and names is not None and not np.array_equal(known, names):
        j = int(np.argmax(known != names))
        raise ValueError(
            f"the features of X must be those of fit, in the same order: feature {j} is {names[j]!r}, in fit it was "
            f"{known[j]!r}; pass features= to from_parquet"
        )
    return X


def require_in_memory(name: str, X: Any) -> None:
    """Raise if X is in blocks."""
    if isinstance(X, Blocks) or is_distributed(X):
        raise TypeError(
            f"{name} needs X in memory, got {short_repr(X)}; LinearRanker, LinearRankerCV, RankerCV and "
            "BoostedRankerCV take Blocks; for others, draw a sample of them: X.take(rows), with y=X.y[rows]"
        )


def _require_taken(estimator: Any, X: Blocks) -> None:
    """Raise if an estimator needs its rows in memory."""
    if not estimator._takes_blocks:
        require_in_memory(type(estimator).__name__, X)

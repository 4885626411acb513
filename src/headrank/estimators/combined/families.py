"""Which families of models are combined, their estimators, and which rows they can learn from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from headrank.estimators.combined.kernel_part import ScaledKernel
from headrank.estimators.combined.linear_part import ScaledLinear
from headrank.estimators.trees.boosted_cv import BoostedRankerCV
from headrank.estimators.trees.forests import FoldForests
from headrank.estimators.trees.lightgbm_trees import why_not
from headrank.measures import Measure

FAMILIES = ("boosted trees", "linear", "kernel", "extra trees", "random forest")
"""In the order in which they are tried: what is gained for the time comes first."""


class NotHereError(Exception):
    """A family cannot be used here."""


def estimator_of(
    family: str, measure: Measure | str, *, codes: tuple[int, ...] | None, max_seconds: float | None, **options: Any
) -> Any:
    """Return the estimator of a family, or raise `NotHereError`.

    ``codes``: columns of categories. ``max_seconds``: of boosted trees, which can stop early.
    """
    if family == "boosted trees":
        return BoostedRankerCV(measure, categorical_features=codes, max_seconds=max_seconds, **options)
    if family == "linear":
        return ScaledLinear(measure, one_hot=codes, **options)
    if family == "kernel":
        return ScaledKernel(measure, one_hot=codes, **options)
    if reason := why_not():
        raise NotHereError(f"forests are scored by LightGBM, which could not be loaded: {reason}")
    return FoldForests(measure, kind=family, **options)


def not_for(X: Any, families: Sequence[str]) -> dict[str, str]:
    """Return the families that cannot learn from these rows, and why; raise if none can."""
    if not hasattr(X, "nnz"):
        return {}
    reasons: dict[str, str] = {}
    for kind, found in (("NaN", np.isnan(X.data)), ("infinities", np.isinf(X.data))):
        if found.any():
            refused = {"linear", "kernel"} if kind == "infinities" else {*FAMILIES} - {"boosted trees"}
            place = X.indices[np.argmax(found)]
            reasons |= dict.fromkeys(refused, f"not for sparse rows with {kind}, as in feature {place}")
    reasons = {each: reasons[each] for each in families if each in reasons}
    if len(reasons) == len(families):
        raise ValueError("; ".join(f"{family}: {reason}" for family, reason in reasons.items()) + ". Fill them in")
    return reasons

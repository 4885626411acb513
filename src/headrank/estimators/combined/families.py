"""Which families of models are combined, and which rows they can learn from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

FAMILIES = ("boosted trees", "linear", "kernel", "extra trees", "random forest")
"""In the order in which they are tried: what is gained for the time comes first."""


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

"""Data sets: populations whose true curve is known, and a small real example."""

import warnings
from typing import Any

from headrank.datasets.binormal import Binormal
from headrank.datasets.digits import ScoredRows, coarse_eights, coarse_eights_table, scored_eights
from headrank.datasets.linear_eta import LinearEta
from headrank.datasets.population import Population

__all__ = [
    "Binormal",
    "LinearEta",
    "Population",
    "ScoredRows",
    "coarse_eights",
    "coarse_eights_table",
    "scored_eights",
]


def __getattr__(name: str) -> Any:
    """Redirect the readers from their location in 0.1."""
    import headrank.readers

    if name not in headrank.readers.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(
        f"headrank.datasets.{name} moved to headrank.readers.{name} in 0.2; the old name will be removed in 0.4",
        FutureWarning,
        stacklevel=2,
    )
    return getattr(headrank.readers, name)

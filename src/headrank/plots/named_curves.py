"""Curves by name, checked once, as every display of curves takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headrank._numbers import short_repr
from headrank._types import ArrayLike
from headrank.curve import RocCurve


def named_curves(curves: RocCurve | Mapping[str, RocCurve], unnamed: str) -> dict[str, RocCurve]:
    """Return curves by name, or raise; ``unnamed`` is the name of a single curve."""
    if not isinstance(curves, RocCurve | Mapping):
        raise TypeError(f"curves must be a RocCurve or a mapping of names to RocCurve, got {short_repr(curves)}")
    named = {unnamed: curves} if isinstance(curves, RocCurve) else dict(curves)
    if not named:
        raise ValueError("expected at least one curve, got none")
    for name, curve in named.items():
        if not isinstance(curve, RocCurve):
            raise TypeError(
                f"expected a RocCurve for {name!r}, got {type(curve).__name__}; make one with "
                "RocCurve.from_scores, or use from_predictions"
            )
    return named


def scored_curves(
    y: ArrayLike,
    scores: ArrayLike | Mapping[str, ArrayLike],
    sample_weight: ArrayLike | None,
    *,
    pos_label: Any,
    name: str | None,
    unnamed: str,
) -> dict[str, RocCurve]:
    """Return the curve of one scorer, or of several scorers on the same rows, by name."""
    if name is not None and not isinstance(name, str):
        raise TypeError(f"name must be a string, got {short_repr(name)}")
    if not isinstance(scores, Mapping):
        scores = {unnamed if name is None else name: scores}
    elif name is not None:
        raise ValueError(
            f"name={name!r} is for a single scorer; the {len(scores)} scorers of a mapping are named by its keys"
        )
    return {key: RocCurve.from_scores(y, s, sample_weight, pos_label=pos_label) for key, s in scores.items()}

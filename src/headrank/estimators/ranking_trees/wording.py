"""How a region is split, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headrank._format import rounded
from headrank._types import BoolVector
from headrank.estimators.ranking_trees.cells import LEFT
from headrank.estimators.ranking_trees.region_tree import RankingTree

_Bounds = dict[int, tuple[float, float, bool]]
"""Of each feature: above this, at most that, and whether missing values are included."""


def better_part(tree: RankingTree, region: int, names: Sequence[str], may_miss: BoolVector) -> str:
    """Return the condition under which a row of a region belongs to its better part; "" for a leaf.

    Missing values are mentioned for the features that may have them.
    """
    if not tree.is_inner[region]:
        return ""
    cells: list[_Bounds] = []
    waiting: list[tuple[int, _Bounds]] = [(int(tree.first[region]), {})]
    while waiting:
        test, bounds = waiting.pop()
        if test == LEFT:
            cells.append(bounds)
        elif test >= 0:
            waiting.append((int(tree.high[test]), _narrowed(tree, test, bounds, low=False)))
            waiting.append((int(tree.low[test]), _narrowed(tree, test, bounds, low=True)))
    conditions = [
        " and ".join(_condition(names[j], *bounds[j], may_miss=bool(may_miss[j])) for j in sorted(bounds))
        for bounds in cells
    ]
    return conditions[0] if len(conditions) == 1 else " or ".join(f"({each})" for each in conditions)


def _narrowed(tree: RankingTree, test: int, bounds: _Bounds, *, low: bool) -> _Bounds:
    """Add a test to what is known of a row."""
    feature, threshold, missing_low = int(tree.feature[test]), float(tree.threshold[test]), bool(tree.missing_low[test])
    start, end, missing = bounds.get(feature, (-np.inf, np.inf, True))
    ends = (start, min(end, threshold)) if low else (max(start, threshold), end)
    return {**bounds, feature: (*ends, missing and missing_low == low)}


def _condition(name: str, start: float, end: float, missing: bool, *, may_miss: bool) -> str:
    """Describe a range of values.

    >>> _condition("age", 30, 40, True, may_miss=True), _condition("age", np.inf, np.inf, True, may_miss=True)
    ('(30 < age <= 40 or missing)', 'age is missing')
    """
    if start == np.inf:  # nothing is above it
        return f"{name} is missing"
    if start == -np.inf and end == np.inf:
        return f"{name} is any" if missing or not may_miss else f"{name} is known"
    if start == -np.inf:
        known = f"{name} <= {rounded(end)}"
    else:
        known = f"{name} > {rounded(start)}" if end == np.inf else f"{rounded(start)} < {name} <= {rounded(end)}"
    return f"({known} or missing)" if missing and may_miss else known

"""The splits and leaves of trees that are kept as LightGBM's text, and the way that a row takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from headrank._types import BoolVector, IntVector, Vector
from headrank.estimators.trees.tree_text import fields_of_trees

_CATEGORICAL, _DEFAULT_LEFT, _MISSING = 1, 2, 12
"""Bits of LightGBM's ``decision_type``; those of the missing type are 0 (none), 4 (zero) and 8 (NaN)."""
_ZERO_IS_MISSING, _NAN_IS_MISSING = 4, 8
ALMOST_ZERO = float(np.float32(1e-35))
"""LightGBM takes values within this distance from 0 for 0."""


@dataclass(frozen=True, eq=False)
class TreeNodes:
    """One tree.

    Attributes
    ----------
    features : int array of shape (n_splits,)
        Which feature each split looks at. Parents come before their children.
    thresholds : array of shape (n_splits,)
        Values up to it go to the left; of a split by categories, the number of its set.
    is_set : bool array of shape (n_splits,)
        Whether a split is one by categories.
    zero_is_missing : bool array of shape (n_splits,)
        Whether a split takes zeros for missing values; headrank grows none.
    missing_left : bool array of shape (n_splits,)
        Whether a missing value goes to the left.
    left, right : int arrays of shape (n_splits,)
        The next split, or -i - 1 for leaf i.
    values : array of shape (n_leaves,)
        What each leaf adds to the score.
    split_counts, leaf_counts : arrays
        Training rows in each split and leaf.
    sets : tuple of int arrays
        Of each split by categories, in order, the codes that go to the left.
    """

    features: IntVector
    thresholds: Vector
    is_set: BoolVector
    zero_is_missing: BoolVector
    missing_left: BoolVector
    left: IntVector
    right: IntVector
    values: Vector
    split_counts: Vector
    leaf_counts: Vector
    sets: tuple[IntVector, ...]

    @classmethod
    def of(cls, fields: Mapping[str, str]) -> Self:
        """Read the lines of a tree."""
        values = _floats(fields["leaf_value"])
        if values.size == 1:
            none, never = np.empty(0, dtype=np.int64), np.empty(0, dtype=bool)
            nothing = np.empty(0)
            return cls(none, nothing, never, never, never, none, none, values, nothing, np.ones(1), ())
        kinds, thresholds = _integers(fields["decision_type"]), _floats(fields["threshold"])
        is_set, missing = (kinds & _CATEGORICAL) == _CATEGORICAL, kinds & _MISSING
        by_default = (kinds & _DEFAULT_LEFT) == _DEFAULT_LEFT
        return cls(
            features=_integers(fields["split_feature"]),
            thresholds=thresholds,
            is_set=is_set,
            zero_is_missing=(missing == _ZERO_IS_MISSING) & ~is_set,
            # Where training has seen no missing value, LightGBM takes NaN for 0.
            missing_left=np.where(missing == _NAN_IS_MISSING, by_default, thresholds >= 0) & ~is_set,
            left=_integers(fields["left_child"]),
            right=_integers(fields["right_child"]),
            values=values,
            split_counts=_floats(fields["internal_count"]),
            leaf_counts=_floats(fields["leaf_count"]),
            sets=tuple(_sets(fields, thresholds[is_set].astype(np.int64))),
        )

    def goes_left(self, row: Vector) -> BoolVector:
        """Return for each split whether a row, given by all its features, goes to the left there."""
        x = row[self.features]
        x = np.where(np.abs(x) <= ALMOST_ZERO, 0.0, x)
        result: BoolVector = np.where(np.isnan(x), self.missing_left, x <= self.thresholds)
        for split, codes in zip(np.flatnonzero(self.is_set), self.sets, strict=True):
            result[split] = bool(np.isin(np.trunc(x[split]), codes))
        return result


def nodes_of_trees(text: str) -> Iterator[TreeNodes]:
    """Yield the trees of a text, as `canonical` returns it."""
    return map(TreeNodes.of, fields_of_trees(text))


def _sets(fields: Mapping[str, str], numbers: IntVector) -> Iterator[IntVector]:
    """Yield the categories that go to the left at each split by a set."""
    if not numbers.size:
        return
    words, ends = _integers(fields["cat_threshold"]), _integers(fields["cat_boundaries"])
    for number in numbers:
        bits = words[ends[number] : ends[number + 1], None] >> np.arange(32) & 1
        yield np.flatnonzero(bits.ravel())


def _floats(values: str) -> Vector:
    return np.array(values.split(" "), dtype=np.float64)


def _integers(values: str) -> IntVector:
    return np.array(values.split(" "), dtype=np.int64)

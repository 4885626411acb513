"""In which direction a column moves the score, in a few words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headrank._types import IntVector, Vector

_CLEAR = 0.5
"""Rank correlation of values and contributions from which on a direction is named."""


def directions(
    added: Vector, values: Vector, names: Sequence[str], of_feature: IntVector, lifts: Vector
) -> tuple[str, ...]:
    """Say for each column which of its values raise the score.

    Parameters
    ----------
    added : array of shape (n_rows, n_features)
        What each feature adds to the score of each row.
    values : array of shape (n_rows, n_features)
        The features; missing values are NaN.
    names : sequence of str
        Names of the features; a column whose strongest feature has none has no direction.
    of_feature : int array of shape (n_features,)
        The column that each feature was made of.
    lifts : array of shape (n_features,)
        What each feature adds to the first rows, compared with others: the strongest of a column speaks for it.

    Examples
    --------
    >>> values = np.array([[9.0, 1.0], [7.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    >>> added = values * [2.0, -1.0]
    >>> directions(added, values, ["age", "sex: f"], np.array([0, 1]), np.array([15.0, 0.0]))
    ('higher values raise it', 'sex: f lowers it')
    """
    result = []
    for column in range(int(of_feature.max(initial=-1)) + 1):
        features = np.flatnonzero(of_feature == column)
        strongest = int(features[np.argmax(np.abs(lifts[features]))])
        own = "" if features.size == 1 else names[strongest]
        result.append(_direction(values[:, strongest], added[:, strongest], names[strongest], own))
    return tuple(result)


def _direction(x: Vector, added: Vector, name: str, own: str) -> str:
    if not name:
        return ""
    there = np.isfinite(x)
    x, added = x[there], added[there]
    if np.unique(x).size < 2 or np.unique(added).size < 2:
        return ""
    correlation = float(np.corrcoef(_ranks(x), _ranks(added))[0, 1])
    if abs(correlation) < _CLEAR:
        return "no single direction"
    raises = correlation > 0
    if set(np.unique(x)) <= {0.0, 1.0}:
        return f"{name} {'raises' if raises else 'lowers'} it"
    return f"{'higher' if raises else 'lower'} values{f' of {own}' if own else ''} raise it"


def _ranks(values: Vector) -> Vector:
    """Return mid-ranks: tied values share the mean of their ranks."""
    _, first, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2)[first])

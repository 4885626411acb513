"""Measures of several classes: each class against the rest, and the mean over the classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from headrank._numbers import listed, option, short_repr
from headrank._types import ArrayLike
from headrank.exceptions import InvalidSampleError, OneClassError
from headrank.labels import check_classes, check_weights
from headrank.measures.measure import Measure
from headrank.measures.names import measure as measure_of


class ClassMean(float):
    """The mean of a measure over classes: a float with the value of each class.

    Attributes
    ----------
    values : dict
        The measure of each class against the rest, in the order of the columns.
    shares : dict
        The share of each class among the rows, by weight.
    average : str
        "macro" or "weighted".
    """

    values: dict[Any, float]
    shares: dict[Any, float]
    average: str

    def __new__(cls, values: Mapping[Any, float], shares: Mapping[Any, float], average: str) -> Self:
        """Create the float from the values and the shares of the classes."""
        weights = list(shares.values()) if average == "weighted" else None
        self = super().__new__(cls, float(np.average(list(values.values()), weights=weights)))
        self.values, self.shares, self.average = dict(values), dict(shares), average
        return self

    def __getnewargs__(self) -> tuple[dict[Any, float], dict[Any, float], str]:  # type: ignore[override]  # for pickle
        return self.values, self.shares, self.average

    def __repr__(self) -> str:
        return f"{float(self)!r} ({self.average} mean of {len(self.values)} classes)"


def one_vs_rest(
    measure: Measure | str,
    y: ArrayLike,
    scores: ArrayLike,
    *,
    average: str = "macro",
    classes: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
) -> ClassMean:
    """Compute a measure for each class against the rest, and the mean over the classes.

    Column c of the scores ranks the rows of class c before all others; columns are measured one by one, so they need
    not be probabilities. For the AUC this is scikit-learn's ``roc_auc_score(multi_class="ovr")``. Cost: one measure per
    class.

    Parameters
    ----------
    measure : Measure or str
        A measure or its short name.
    y : array-like of shape (n,)
        Classes: numbers or strings.
    scores : array-like of shape (n, n_classes)
        One column per class, higher = more likely this class.
    average : {"macro", "weighted"}
        "macro": every class counts the same. "weighted": by its share of the rows.
    classes : sequence, optional
        The class of each column, such as ``classifier.classes_``; by default the classes of ``y`` in sorted order. A
        class without rows in ``y``, or a row of a class without a column, is an error: neither can be measured.
    sample_weight : array-like of shape (n,), optional
        Weight 2 is equivalent to repeating the row.

    Examples
    --------
    >>> scores = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6], [0.1, 0.6, 0.3]]
    >>> found = one_vs_rest("auc", ["a", "b", "c", "c"], scores)
    >>> found
    0.8472222222222222 (macro mean of 3 classes)
    >>> found.values
    {'a': 1.0, 'b': 0.6666666666666666, 'c': 0.875}
    >>> round(one_vs_rest("auc", ["a", "b", "c", "c"], scores, average="weighted"), 4)
    0.8542
    """
    what = measure_of(measure)
    option("average", average, ("macro", "weighted"))
    check_classes(y)
    labels, columns = np.asarray(y).ravel(), _array("scores", scores)
    if labels.dtype.kind in "Vc":
        raise InvalidSampleError(
            f"y must be numbers or strings, but has dtype {labels.dtype}; pass one column of classes"
        )
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise InvalidSampleError(f"y contains {np.isnan(labels).sum()} NaN; drop these rows, or name their class")
    present = np.unique(labels)
    given = present if classes is None else _array("classes", listed("classes", classes)).ravel()
    if columns.ndim != 2 or columns.shape[1] != given.size:
        raise InvalidSampleError(
            f"scores must have one column per class: there are {given.size} classes, but scores have shape "
            f"{columns.shape}; name the class of each column with classes"
        )
    _check_each_has_rows(given, present)
    weights = np.ones(labels.size) if sample_weight is None else check_weights(sample_weight)
    values, shares = {}, {}
    for column, name in zip(columns.T, given.tolist(), strict=True):
        values[name] = float(what(labels == name, column, sample_weight=sample_weight))
        shares[name] = float(weights[labels == name].sum() / weights.sum())
    return ClassMean(values, shares, average)


def _array(name: str, values: Any) -> Any:
    try:
        return np.asarray(values)
    except Exception as error:  # the library of the values may raise anything
        raise InvalidSampleError(f"{name} must be an array: {error}") from None


def _check_each_has_rows(given: Any, present: Any) -> None:
    if np.unique(given).size < given.size:
        raise ValueError(f"each of classes may occur only once, got {short_repr(given.tolist())}")
    if (unknown := np.setdiff1d(present, given)).size:
        raise InvalidSampleError(
            f"y contains {short_repr(unknown.tolist())}, for which scores have no column; expected classes "
            f"{short_repr(given.tolist())}"
        )
    if (absent := np.setdiff1d(given, present)).size:
        raise OneClassError(
            f"y has no rows of the classes {short_repr(absent.tolist())}, so they cannot be measured; use a larger or "
            "stratified sample, or leave out their columns"
        )
    if present.size < 2:
        raise OneClassError(f"expected rows of several classes, but all are {short_repr(present[0])}")

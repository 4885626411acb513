"""Validation of labels, scores, weights and query ids.

Every public function validates its input here once; internal code relies on it. Nothing is guessed: a higher score
means more positive, and errors say what was expected, what was received and how to fix it.
"""

import warnings
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from headrank._numbers import option, short_repr
from headrank._types import ArrayLike, BoolVector, IntVector, Vector
from headrank.exceptions import InvalidSampleError, MissingLabelsWarning, OneClassError

_LARGEST_EXACT_INTEGER = 2**53
_SMALLEST_TOTAL = 1e-150


@dataclass(frozen=True, eq=False)
class Sample:
    """Validated rows: which are positive, their scores, and their weights, queries and grades of relevance if given."""

    positive: BoolVector
    scores: Vector
    weights: Vector | None = None
    queries: IntVector | None = None
    grades: IntVector | None = None

    def take(self, rows: Any) -> "Sample":
        """Return a subset of the rows, given by a mask, an index array or a slice."""
        weights = None if self.weights is None else self.weights[rows]
        queries = None if self.queries is None else self.queries[rows]
        grades = None if self.grades is None else self.grades[rows]
        return Sample(self.positive[rows], self.scores[rows], weights, queries, grades)

    def by_query(self) -> "list[Sample]":
        """Split the rows by query, with one sort; a sample without queries is a single query."""
        if self.queries is None:
            return [self]
        order = np.argsort(self.queries, kind="stable")
        ordered = Sample(self.positive, self.scores, self.weights, grades=self.grades).take(order)
        ends = np.flatnonzero(np.diff(self.queries[order])) + 1
        bounds = [0, *ends.tolist(), order.size]
        return [ordered.take(slice(start, stop)) for start, stop in pairwise(bounds)]

    @property
    def n_pos(self) -> float:
        """Number (total weight) of the positives."""
        if self.weights is None:
            return int(np.count_nonzero(self.positive))
        return float(self.weights[self.positive].sum())

    @property
    def n_neg(self) -> float:
        """Number (total weight) of the negatives."""
        if self.weights is None:
            return self.positive.size - int(np.count_nonzero(self.positive))
        return float(self.weights[~self.positive].sum())

    def require_both_classes(self) -> "Sample":
        """Return self, or raise if a class is missing: one class has no ROC curve."""
        n_pos = np.count_nonzero(self.positive)
        if n_pos in (0, self.positive.size):
            present, missing = ("positive", "negative") if n_pos else ("negative", "positive")
            raise OneClassError(
                f"expected rows of both classes, positive and negative, but all {self.positive.size} rows are "
                f"{present} and none is {missing}: use a larger or stratified sample, or check pos_label"
            )
        return self


def check_binary(
    y: ArrayLike,
    scores: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> Sample:
    """Validate a sample. O(n), and a sort of the query ids; rows of weight 0 are dropped.

    Parameters
    ----------
    y : array-like of shape (n,)
        0/1, -1/+1, bool, or any two values with ``pos_label``. A single class is accepted, as in a block of a larger
        sample; ``Sample.require_both_classes`` raises for it.
    scores : array-like of shape (n,)
        Finite numbers, higher = more positive.
    sample_weight : array-like of shape (n,), optional
        Finite and nonnegative. Weight 2 is equivalent to repeating the row.
    qid : array-like of shape (n,), optional
        Query of each row: numbers or strings.
    pos_label : optional
        The label of the positive class in ``y``.
    """
    positive = check_labels(y, pos_label=pos_label)
    checked = check_scores(scores)
    weights = None if sample_weight is None else check_weights(sample_weight)
    queries = None if qid is None else check_queries(qid)
    for name, values in (("scores", checked), ("sample_weight", weights), ("qid", queries)):
        if values is not None and values.size != positive.size:
            raise InvalidSampleError(
                f"{name} must have one value per row: y has {positive.size} rows, {name} has {values.size}"
            )
    sample = Sample(positive, checked, weights, queries)
    return sample if weights is None or weights.all() else sample.take(weights > 0)


def with_labels(missing: str, y: ArrayLike, *columns: ArrayLike | None) -> "tuple[Any, ...]":
    """Return y and other columns of the same rows, without the rows that have no label if ``missing`` is "drop". O(n).

    Missing are None, NaN, NaT, pandas.NA, nulls of polars and masked values. How many rows are dropped is said in a
    `MissingLabelsWarning`. With "refuse", everything is returned as it is, and `check_binary` raises.
    """
    if option("missing", missing, ("refuse", "drop")) == "refuse":
        return (y, *columns)
    labels = _one_column("y", np.ma.getdata(y) if np.ma.is_masked(y) else y)
    gone: BoolVector = np.ma.getmaskarray(y).reshape(labels.size) if np.ma.is_masked(y) else np.zeros(labels.size, bool)
    if labels.dtype.kind == "O":
        gone |= np.fromiter(map(_is_missing, labels), bool, labels.size)
    elif labels.dtype.kind in "fMm":
        gone |= np.isnan(labels) if labels.dtype.kind == "f" else np.isnat(labels)
    n_gone = int(np.count_nonzero(gone))
    if n_gone == 0:
        return (y, *columns)
    if n_gone == labels.size:
        raise InvalidSampleError(f"y has no labels: all {n_gone} are missing; check that it is the right column")
    arrays = [None if column is None else _one_column("a column", column) for column in columns]
    for array in arrays:
        if array is not None and array.size != labels.size:
            raise InvalidSampleError(f"every column must have one value per row: y has {labels.size}, one {array.size}")
    warnings.warn(
        f"{n_gone:,} of {labels.size:,} rows have no label and were dropped", MissingLabelsWarning, stacklevel=3
    )
    return labels[~gone], *(None if array is None else array[~gone] for array in arrays)


def check_labels(y: ArrayLike, *, pos_label: Any = None) -> BoolVector:
    """Return which rows are positive, or raise."""
    labels = _one_column("y", y)
    if labels.dtype.kind == "O":
        _reject_collections("y", labels)
        _reject_missing("y", labels)
    elif labels.dtype.kind in "Vc":
        raise InvalidSampleError(f"y must contain two classes, but has dtype {labels.dtype}; pass one column of labels")
    elif labels.dtype.kind == "f" and np.isnan(labels).any():
        raise InvalidSampleError(f"y contains {np.isnan(labels).sum()} NaN; drop or label these rows")
    if pos_label is not None:
        return _equal_to(labels, pos_label)
    if labels.dtype.kind == "b":
        return labels
    if labels.dtype.kind in "iufO":
        positive = _same(labels, 1)
        rest = labels.size - np.count_nonzero(positive)
        if rest in (np.count_nonzero(_same(labels, 0)), np.count_nonzero(_same(labels, -1))):
            return positive
    raise InvalidSampleError(
        f"y must be 0/1, -1/+1 or bool, but contains {_some_values(labels)}; for other labels set pos_label to the "
        "positive value, for more than two classes choose one against the rest, and if these are scores, y and scores "
        "are swapped"
    )


def check_scores(scores: ArrayLike, name: str = "scores") -> Vector:
    """Return the scores as float32 or float64, or raise; distinct scores stay distinct."""
    values = _numbers(name, _one_column(name, scores))
    if values.dtype.kind in "iu":
        _reject_large_integers(name, (values.min(), values.max()))
    result: Vector = values if values.dtype in (np.float32, np.float64) else _widen(values)
    _reject_non_finite(name, result, "drop these rows, or set finite scores")
    return result


def check_weights(sample_weight: ArrayLike, name: str = "sample_weight") -> Vector:
    """Return the weights as float64, or raise."""
    numbers = _numbers(name, _one_column(name, sample_weight))
    weights: Vector = numbers.astype(np.float64, copy=False)
    _reject_non_finite(name, weights, "use 0 to exclude a row")
    if (weights < 0).any():
        raise InvalidSampleError(
            f"{name} must not be negative, but {(weights < 0).sum()} weights are (lowest {weights.min():g}): "
            "a weight is the number of times a row counts; use 0 to exclude a row"
        )
    if not weights.any():
        raise InvalidSampleError(f"{name} is zero for every row: no rows are left")
    total = weights.sum()
    if not _SMALLEST_TOTAL <= total <= 1 / _SMALLEST_TOTAL:
        raise InvalidSampleError(
            f"the sum of {name} must lie between {_SMALLEST_TOTAL:g} and {1 / _SMALLEST_TOTAL:g}, got "
            f"{total:g}; rescale the weights: products of two weights must not underflow or overflow"
        )
    return weights


def check_queries(qid: ArrayLike, name: str = "qid") -> IntVector:
    """Return the number of each row's query, 0, 1, ... in sorted order of the ids, or raise."""
    ids = _one_column(name, qid)
    if ids.dtype.kind == "O":
        _reject_collections(name, ids)
        _reject_missing(name, ids)
        if len({isinstance(value, str) for value in ids}) > 1:
            raise InvalidSampleError(f"{name} must be all numbers or all strings, got both; convert one of them")
    elif ids.dtype.kind == "V":
        raise InvalidSampleError(
            f"{name} must be numbers or strings, but has dtype {ids.dtype}; pass one column of ids"
        )
    elif ids.dtype.kind == "f" and np.isnan(ids).any():
        raise InvalidSampleError(f"{name} contains {np.isnan(ids).sum()} NaN; every row needs an id")
    if ids.dtype.kind in "iu" and np.all(ids[1:] >= ids[:-1]):  # in order, as lists of results usually are
        return np.cumsum(np.concatenate([[False], ids[1:] != ids[:-1]]), dtype=np.intp)
    try:
        codes: IntVector = np.unique(ids, return_inverse=True)[1]
    except TypeError:  # values that have no order
        raise InvalidSampleError(f"{name} must be numbers or strings, but contains {_some_values(ids)}") from None
    return codes


def check_classes(y: ArrayLike) -> None:
    """Raise if the labels cannot be two classes: several columns, lists, missing values, bytes, mixed types."""
    labels = _array("y", y)
    if labels.ndim != 1 and not (labels.ndim == 2 and labels.shape[1] == 1):
        raise InvalidSampleError(
            f"y should be a 1d array with one label per row, but {_shape_of(y, labels)}; pass one column of labels"
        )
    if labels.size == 0:
        raise InvalidSampleError("y is empty: expected rows of two classes")
    if labels.dtype.kind in "OS":
        labels = labels.ravel()
        _reject_collections("y", labels)
        _reject_missing("y", labels)
        kinds = " and ".join(sorted({type(value).__name__ for value in labels}))
        if len({isinstance(value, str) for value in labels}) > 1:
            raise InvalidSampleError(f"y must be all strings or all numbers, but contains {kinds}; convert one of them")
        if not all(_is_label(value) for value in labels):
            raise InvalidSampleError(
                f"Unknown label type: y must be strings or numbers, but contains {kinds}; convert them first, bytes "
                "with decode()"
            )


def _array(name: str, values: ArrayLike) -> npt.NDArray[Any]:
    if np.ma.is_masked(values):
        raise InvalidSampleError(
            f"{name} has {int(np.ma.getmaskarray(values).sum())} masked values; drop or fill these rows"
        )
    try:
        return np.asarray(values)
    except Exception as error:  # the column's library may raise anything
        raise InvalidSampleError(f"{name} must be one column of values: {error}") from None


def _one_column(name: str, values: ArrayLike) -> npt.NDArray[Any]:
    array = _array(name, values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        hint = ""
        if array.ndim == 2 and name.endswith("scores"):
            hint = (
                "; from predict_proba take the column of the positive class, usually [:, 1]; pass one scorer at a time"
            )
        raise InvalidSampleError(f"{name} must be one column of values, but {_shape_of(values, array)}{hint}")
    if array.size == 0:
        expected = "new row" if name.startswith("new_") else "row of each class"
        raise InvalidSampleError(f"{name} is empty: expected at least one {expected}")
    return array


def _shape_of(values: ArrayLike, array: npt.NDArray[Any]) -> str:
    return f"has shape {array.shape}" if array.ndim else f"is a {type(values).__name__}"


def _is_label(value: Any) -> bool:
    return isinstance(value, str | Real | Decimal | np.generic) and not isinstance(value, bytes)


def _equal_to(labels: npt.NDArray[Any], pos_label: Any) -> BoolVector:
    if not isinstance(pos_label, Hashable) or isinstance(pos_label, Collection) > isinstance(pos_label, str | bytes):
        raise TypeError(f"pos_label must be the label of the positive class in y, got {short_repr(pos_label)}")
    if _is_missing(pos_label):
        raise ValueError(f"pos_label must be a value of y, got {short_repr(pos_label)}")
    positive = _same(labels, pos_label)
    others = labels[~positive]
    if others.size and not np.all(_same(others, others[0])):
        if others.size == labels.size:
            raise InvalidSampleError(
                f"pos_label={short_repr(pos_label)} does not occur in y, which contains {_some_values(labels)}; pass "
                "the positive value as it occurs in y"
            )
        raise InvalidSampleError(
            f"y must contain two classes, but besides pos_label={short_repr(pos_label)} it contains "
            f"{_some_values(others)}; choose one class against the rest first"
        )
    if others.size == labels.size and isinstance(pos_label, str) != isinstance(labels[0], str):
        raise InvalidSampleError(
            f"pos_label={short_repr(pos_label)} has another type than y, which contains {_some_values(labels)}; pass "
            "the value as it occurs in y"
        )
    return positive


def _same(labels: npt.NDArray[Any], value: Any) -> BoolVector:
    """Return which labels equal the value; none if they cannot be compared."""
    try:
        with np.errstate(all="ignore"):
            equal: BoolVector = np.asarray(labels == value, dtype=bool)
    except Exception:  # comparing arbitrary classes may raise anything
        return np.zeros(labels.shape, dtype=bool)
    return equal if equal.shape == labels.shape else np.zeros(labels.shape, dtype=bool)


def _numbers(name: str, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return numbers unchanged, and Python numbers of dtype object as float64; raise for anything else."""
    if values.dtype.kind == "O":
        _reject_collections(name, values)
        _reject_missing(name, values)
        if all(isinstance(value, Real | Decimal) for value in values):
            _reject_large_integers(name, [int(value) for value in values if isinstance(value, Integral)])
            try:
                floats = values.astype(np.float64)
            except OverflowError:
                raise InvalidSampleError(f"{name} must fit in float64; pass their ranks instead") from None
            if len(set(floats.tolist())) < len(set(values.tolist())):
                raise InvalidSampleError(
                    f"{name} contains distinct numbers that are equal in float64; pass their ranks"
                )
            return floats
    if values.dtype.kind not in "biuf":
        raise InvalidSampleError(
            f"{name} must be real numbers, got {_some_values(values)} (dtype {values.dtype}); convert them first"
        )
    return values


def _reject_large_integers(name: str, values: Sequence[Any]) -> None:
    low, high = int(min(values, default=0)), int(max(values, default=0))
    if low < -_LARGEST_EXACT_INTEGER or high > _LARGEST_EXACT_INTEGER:
        raise InvalidSampleError(
            f"integer {name} must lie within ±2**53, where float64 is exact, got {short_repr(low)} to "
            f"{short_repr(high)}; pass their ranks instead"
        )


def _widen(values: npt.NDArray[Any]) -> Vector:
    wide: Vector = values.astype(np.float32 if values.dtype == np.float16 else np.float64)
    if values.dtype.itemsize > 8 and not np.array_equal(wide.astype(values.dtype), values):
        raise InvalidSampleError(
            f"scores of dtype {values.dtype} cannot be stored exactly in float64; pass their ranks instead"
        )
    return wide


def _reject_non_finite(name: str, values: Vector, advice: str) -> None:
    with np.errstate(all="ignore"):
        if np.isfinite(values.sum()):  # one pass; a sum that overflows is checked in detail
            return
    n_nan, n_inf = int(np.isnan(values).sum()), int(np.isinf(values).sum())
    if n_nan or n_inf:
        raise InvalidSampleError(f"{name} must be finite, got {n_nan} NaN and {n_inf} infinite values; {advice}")


def _reject_missing(name: str, values: npt.NDArray[Any]) -> None:
    n_missing = sum(_is_missing(value) for value in values)
    if n_missing:
        raise InvalidSampleError(f"{name} has {n_missing} missing values; drop or fill these rows")


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA has no truth value
        return True
    except Exception:  # values of this class cannot be compared, but are not missing
        return False


def _reject_collections(name: str, values: npt.NDArray[Any]) -> None:
    for row, value in enumerate(values):
        if isinstance(value, Collection) and not isinstance(value, str | bytes):
            raise InvalidSampleError(
                f"{name} must have one value per row, but row {row} contains {short_repr(value)}; pass one column of "
                "values"
            )


def _some_values(values: npt.NDArray[Any]) -> str:
    distinct = list(dict.fromkeys(map(short_repr, values[:10_000].tolist())))
    return ", ".join(distinct[:5] + ["..."] * (len(distinct) > 5))

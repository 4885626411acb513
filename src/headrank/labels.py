"""The door: labels, scores, weights and query ids come in, checked arrays go out.

Every public function sends its input through here once; what lies behind trusts it. Nothing is guessed: higher
score means more positive, and whatever does not fit is refused with what was needed, what came and what to do.
"""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from headrank._numbers import short_repr
from headrank._types import ArrayLike, BoolVector, IntVector, Vector
from headrank.exceptions import InvalidSampleError, OneClassError

_LARGEST_EXACT_INTEGER = 2**53
_SMALLEST_TOTAL = 1e-150


@dataclass(frozen=True, eq=False)
class Sample:
    """Checked rows: which are positive, how they score, what they weigh and which query they belong to."""

    positive: BoolVector
    scores: Vector
    weights: Vector | None = None
    queries: IntVector | None = None

    def take(self, rows: Any) -> "Sample":
        """Return these rows (a mask, an index array or a slice) as a sample of their own."""
        weights = None if self.weights is None else self.weights[rows]
        queries = None if self.queries is None else self.queries[rows]
        return Sample(self.positive[rows], self.scores[rows], weights, queries)

    def by_query(self) -> "list[Sample]":
        """Split the rows by query, one sort of the query numbers; a sample without queries is one query."""
        if self.queries is None:
            return [self]
        order = np.argsort(self.queries, kind="stable")
        ordered = Sample(self.positive, self.scores, self.weights).take(order)
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
        """Return self, or refuse: with one class there is no curve to speak of."""
        n_pos = np.count_nonzero(self.positive)
        if n_pos in (0, self.positive.size):
            present, missing = ("positive", "negative") if n_pos else ("negative", "positive")
            raise OneClassError(
                f"needed rows of both classes, positive and negative, but all {self.positive.size} rows are {present} "
                f"and none is {missing}: use a larger or stratified sample, or check pos_label"
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
    """Check one sample. O(n), and a sort of the query ids; rows of weight 0 are absent rows and are left out.

    Parameters
    ----------
    y : array-like of shape (n,)
        0/1, -1/+1, bool, or any two values with ``pos_label``. One class alone passes here (a block of a larger
        sample may have one); ``Sample.require_both_classes`` refuses it.
    scores : array-like of shape (n,)
        Finite numbers, higher = more positive.
    sample_weight : array-like of shape (n,), optional
        Finite, not negative. Weight 2 is the same as the row twice.
    qid : array-like of shape (n,), optional
        Query of each row: numbers or strings.
    pos_label : optional
        The value of ``y`` that means positive.
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


def check_labels(y: ArrayLike, *, pos_label: Any = None) -> BoolVector:
    """Say which rows are positive, or refuse."""
    labels = _one_column("y", y)
    if labels.dtype.kind == "O":
        _refuse_collections("y", labels)
        _refuse_missing("y", labels)
    elif labels.dtype.kind in "Vc":
        raise InvalidSampleError(f"y must hold two classes, but is of dtype {labels.dtype}; take one column of labels")
    elif labels.dtype.kind == "f" and np.isnan(labels).any():
        raise InvalidSampleError(f"y holds {np.isnan(labels).sum()} NaN; drop or label these rows")
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
        f"y must be 0/1, -1/+1 or bool, but holds {_some_values(labels)}; for other labels say which value is "
        "positive with pos_label=..., for more than two classes choose one against the rest, and if these are scores, "
        "y and scores are swapped"
    )


def check_scores(scores: ArrayLike) -> Vector:
    """Return the scores as float32 or float64 without merging any two of them, or refuse."""
    values = _numbers("scores", _one_column("scores", scores))
    if values.dtype.kind in "iu":
        _refuse_large_integers("scores", (values.min(), values.max()))
    result: Vector = values if values.dtype in (np.float32, np.float64) else _widen(values)
    _refuse_non_finite("scores", result, "drop these rows, or give them a finite score")
    return result


def check_weights(sample_weight: ArrayLike) -> Vector:
    """Return the weights as float64, or refuse."""
    numbers = _numbers("sample_weight", _one_column("sample_weight", sample_weight))
    weights: Vector = numbers.astype(np.float64, copy=False)
    _refuse_non_finite("sample_weight", weights, "use 0 to leave a row out")
    if (weights < 0).any():
        raise InvalidSampleError(
            f"sample_weight must not be negative, but {(weights < 0).sum()} weights are (lowest {weights.min():g}): "
            "a weight is a multiplicity, and rates of negative counts are not rates; use 0 to leave a row out"
        )
    if not weights.any():
        raise InvalidSampleError("sample_weight is zero for every row: nothing is left")
    total = weights.sum()
    if not _SMALLEST_TOTAL <= total <= 1 / _SMALLEST_TOTAL:
        raise InvalidSampleError(
            f"sample_weight must add up to something between {_SMALLEST_TOTAL:g} and {1 / _SMALLEST_TOTAL:g}, where "
            f"products of two weights are still numbers, but adds up to {total:g}; rescale the weights"
        )
    return weights


def check_queries(qid: ArrayLike, name: str = "qid") -> IntVector:
    """Give each row the number of its query, 0, 1, ... in sorted order of the ids, or refuse."""
    ids = _one_column(name, qid)
    if ids.dtype.kind == "O":
        _refuse_collections(name, ids)
        _refuse_missing(name, ids)
        if len({isinstance(value, str) for value in ids}) > 1:
            raise InvalidSampleError(f"{name} must be all numbers or all strings, but holds both; convert one kind")
    elif ids.dtype.kind == "f" and np.isnan(ids).any():
        raise InvalidSampleError(f"{name} holds {np.isnan(ids).sum()} NaN; every row needs one")
    try:
        codes: IntVector = np.unique(ids, return_inverse=True)[1]
    except TypeError:  # values that have no order
        raise InvalidSampleError(f"{name} must be numbers or strings, but holds {_some_values(ids)}") from None
    return codes


def check_classes(y: ArrayLike) -> None:
    """Refuse labels that cannot be two classes: lists, missing values, strings beside numbers."""
    labels = _array("y", y)
    if labels.dtype.kind == "O" and labels.ndim == 1:
        _refuse_collections("y", labels)
        _refuse_missing("y", labels)
        kinds = sorted({type(value).__name__ for value in labels})
        if len({isinstance(value, str) for value in labels}) > 1:
            raise InvalidSampleError(f"y must be all strings or all numbers, but holds {' and '.join(kinds)}")
        if not all(isinstance(value, str | bytes | Real | Decimal | np.generic) for value in labels):
            raise InvalidSampleError(
                f"Unknown label type: y must be strings or numbers, but holds {' and '.join(kinds)}"
            )


def _array(name: str, values: ArrayLike) -> npt.NDArray[Any]:
    try:
        return np.asarray(values)
    except Exception as error:  # whatever the library says that the column is from
        raise InvalidSampleError(f"{name} must be one column of values: {error}") from None


def _one_column(name: str, values: ArrayLike) -> npt.NDArray[Any]:
    if np.ma.is_masked(values):
        raise InvalidSampleError(
            f"{name} has {int(np.ma.getmaskarray(values).sum())} masked values; drop or fill these rows"
        )
    array = _array(name, values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        hint = ""
        if array.ndim == 2 and name == "scores":
            hint = (
                "; of predict_proba take the column of the positive class, usually [:, 1]; measure scorers one by one"
            )
        came = f"has shape {array.shape}" if array.ndim else f"is a {type(values).__name__}"
        raise InvalidSampleError(f"{name} must be one column of values, but {came}{hint}")
    if array.size == 0:
        raise InvalidSampleError(f"{name} is empty: needed at least one row of each class")
    return array


def _equal_to(labels: npt.NDArray[Any], pos_label: Any) -> BoolVector:
    if not isinstance(pos_label, Hashable) or isinstance(pos_label, Collection) > isinstance(pos_label, str | bytes):
        raise TypeError(f"pos_label must be the one value of y that means positive, got {short_repr(pos_label)}")
    if _is_missing(pos_label):
        raise ValueError(f"pos_label must be a value of y, got {short_repr(pos_label)}")
    positive = _same(labels, pos_label)
    others = labels[~positive]
    if others.size and not np.all(_same(others, others[0])):
        if others.size == labels.size:
            raise InvalidSampleError(
                f"pos_label={short_repr(pos_label)} does not occur in y, which holds {_some_values(labels)}; give the "
                "value "
                "that means positive as it stands in y"
            )
        raise InvalidSampleError(
            f"y must hold two classes, but besides pos_label={short_repr(pos_label)} it holds {_some_values(others)}; "
            "choose one class against the rest first"
        )
    if others.size == labels.size and isinstance(pos_label, str) != isinstance(labels[0], str):
        raise InvalidSampleError(
            f"pos_label={short_repr(pos_label)} is of another type than y, which holds {_some_values(labels)}; give "
            "the "
            "value as it stands in y"
        )
    return positive


def _same(labels: npt.NDArray[Any], value: Any) -> BoolVector:
    """Say which labels equal the value; none where they cannot be compared."""
    try:
        with np.errstate(all="ignore"):
            equal: BoolVector = np.asarray(labels == value, dtype=bool)
    except Exception:  # whatever the class of a label or of the value makes of it
        return np.zeros(labels.shape, dtype=bool)
    return equal if equal.shape == labels.shape else np.zeros(labels.shape, dtype=bool)


def _numbers(name: str, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return numbers as they are, and numbers among Python objects as float64; refuse strings and all else."""
    if values.dtype.kind == "O":
        _refuse_collections(name, values)
        _refuse_missing(name, values)
        if all(isinstance(value, Real | Decimal) for value in values):
            _refuse_large_integers(name, [int(value) for value in values if isinstance(value, Integral)])
            try:
                floats = values.astype(np.float64)
            except OverflowError:
                raise InvalidSampleError(f"{name} hold numbers beyond float64; pass their ranks instead") from None
            if len(set(floats.tolist())) < len(set(values.tolist())):
                raise InvalidSampleError(
                    f"{name} hold numbers that float64 cannot keep apart; pass their ranks instead"
                )
            return floats
    if values.dtype.kind not in "biuf":
        raise InvalidSampleError(
            f"{name} must be real numbers, but hold {_some_values(values)} (dtype {values.dtype}); convert them first"
        )
    return values


def _refuse_large_integers(name: str, values: Sequence[Any]) -> None:
    low, high = int(min(values, default=0)), int(max(values, default=0))
    if low < -_LARGEST_EXACT_INTEGER or high > _LARGEST_EXACT_INTEGER:
        raise InvalidSampleError(
            f"integer {name} must lie within ±2**53, where float64 keeps them apart, but reach "
            f"{short_repr(low)}..{short_repr(high)}; pass their ranks instead"
        )


def _widen(values: npt.NDArray[Any]) -> Vector:
    wide: Vector = values.astype(np.float32 if values.dtype == np.float16 else np.float64)
    if values.dtype.itemsize > 8 and not np.array_equal(wide.astype(values.dtype), values):
        raise InvalidSampleError(f"scores of dtype {values.dtype} do not fit float64; pass their ranks")
    return wide


def _refuse_non_finite(name: str, values: Vector, advice: str) -> None:
    with np.errstate(all="ignore"):
        if np.isfinite(values.sum()):  # one pass; a sum that overflows is looked at closely
            return
    n_nan, n_inf = int(np.isnan(values).sum()), int(np.isinf(values).sum())
    if n_nan or n_inf:
        raise InvalidSampleError(f"{name} must be finite, but hold {n_nan} NaN and {n_inf} infinities; {advice}")


def _refuse_missing(name: str, values: npt.NDArray[Any]) -> None:
    n_missing = sum(_is_missing(value) for value in values)
    if n_missing:
        raise InvalidSampleError(f"{name} has {n_missing} missing values; drop or fill these rows")


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA has no truth value
        return True
    except Exception:  # a class of which no two can be compared; not missing, at least
        return False


def _refuse_collections(name: str, values: npt.NDArray[Any]) -> None:
    for row, value in enumerate(values):
        if isinstance(value, Collection) and not isinstance(value, str | bytes):
            raise InvalidSampleError(
                f"{name} must hold one value per row, but row {row} holds {short_repr(value)}; take one column of "
                "values"
            )


def _some_values(values: npt.NDArray[Any]) -> str:
    distinct = list(dict.fromkeys(map(short_repr, values[:10_000].tolist())))
    return ", ".join(distinct[:5] + ["..."] * (len(distinct) > 5))

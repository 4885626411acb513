"""Find the positive rows of a target column, and the value that marks them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from headrank._suggestions import did_you_mean
from headrank._types import BoolVector
from headrank.exceptions import InvalidSampleError, OneClassError

if TYPE_CHECKING:
    import polars as pl

_SPEAKING = {"yes": "no", "y": "n", "true": "false", "t": "f"}
"""Unambiguous pairs of words, in upper or lower case: the positive and the negative one."""
_HOW = "pos_label=..., on the command line --positive VALUE"


@dataclass(frozen=True, eq=False)
class Target:
    """The labels of a target column.

    Attributes
    ----------
    y : bool array of shape (n_rows,)
        Which rows are positive.
    positive : str
        The positive value, as printed.
    """

    y: BoolVector
    positive: str


def target_of(column: pl.Series, *, pos_label: Any = None, where: str) -> Target:
    """Find the positives of a column, or raise; ``where`` names the column and its file in errors.

    Without ``pos_label`` the values must be unambiguous: 0/1, -1/+1, booleans, yes/no, y/n, true/false, t/f. A
    ``pos_label`` that is text also matches the printed form of numbers, booleans and dates; all other values are
    negative, however many there are.

    >>> import polars as pl
    >>> target = target_of(pl.Series([2, 1, 2]), pos_label="2", where="column 'class'")
    >>> target.y, target.positive
    (array([ True, False,  True]), '2')
    """
    import polars as pl

    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    missing = missing_labels(column).arg_true()
    if missing.len():
        everything = missing.len() == column.len()
        advice = "all are: check that it is the right column" if everything else "drop or fill them"
        raise InvalidSampleError(
            f"{where} has {missing.len():,} missing values in {column.len():,} rows, the first in row "
            f"{missing[0] + 1:,}; {advice}"
        )
    values = column.unique(maintain_order=True)
    wanted = _speaking_for_itself(values, where) if pos_label is None else _named(values, pos_label, where)
    if not 0 < len(wanted) < values.len():
        raise OneClassError(
            f"{where} cannot be the target: all {column.len():,} rows have {_some(values)}, so there is one class; "
            f"both classes are needed: use more rows, or name another value with {_HOW}"
        )
    y: BoolVector = np.asarray(column.is_in(wanted).to_numpy(), dtype=bool)
    return Target(y, _printed(wanted[0]))


def missing_labels(column: pl.Series) -> pl.Series:
    """Return which values of a target column are missing: null, or NaN."""
    return column.is_null() | column.is_nan() if column.dtype.is_float() else column.is_null()


def _speaking_for_itself(values: pl.Series, where: str) -> list[Any]:
    """Return the positive values if they are unambiguous, or raise."""
    import polars as pl

    present = set(values.to_list())
    if values.dtype == pl.Boolean:
        return [True] if True in present else []
    if values.dtype.is_numeric() and (present <= {0, 1} or present <= {-1, 1}):
        return [value for value in present if value == 1]
    if values.dtype == pl.String:
        small = {value.strip().lower() for value in present}
        for positive, negative in _SPEAKING.items():
            if small <= {positive, negative}:
                return [value for value in values.to_list() if value.strip().lower() == positive]
    if len(present) == 1:
        raise OneClassError(f"{where} cannot be the target: all rows have {_some(values)}, but both classes are needed")
    if len(present) == 2:
        raise InvalidSampleError(
            f"{where} cannot be the target: its values are {_some(values)}, not 0/1, -1/+1, true/false or "
            f"yes/no; name the positive one with {_HOW}"
        )
    raise InvalidSampleError(
        f"{where} cannot be the target: it has {len(present):,} distinct values, {_some(values)}; expected two: "
        f"name the positive one with {_HOW}, and all others count as negative"
    )


def _named(values: pl.Series, pos_label: Any, where: str) -> list[Any]:
    """Return the values of the column that match ``pos_label``."""
    found = [value for value in values.to_list() if _is_meant(value, pos_label)]
    if not found:
        printed = [_printed(value) for value in values.to_list()[:1000]]
        question = did_you_mean(str(pos_label), printed)
        raise InvalidSampleError(
            f"{where} cannot be the target: pos_label={pos_label!r} does not occur in it; "
            f"{question + ' ' if question else ''}its values are {_some(values)}; pass the positive one ({_HOW})"
        )
    return found


def _is_meant(value: Any, pos_label: Any) -> bool:
    if not isinstance(pos_label, str) or isinstance(value, str):
        # True == 1 in Python, but a column of numbers is not one of booleans.
        return bool(value == pos_label) and isinstance(value, str) == isinstance(pos_label, str)
    if isinstance(value, bool):
        return pos_label.strip().lower() == _printed(value)
    if isinstance(value, int | float):
        try:
            return float(pos_label) == value
        except ValueError:
            return False
    return pos_label == _printed(value)


def _printed(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _some(values: pl.Series) -> str:
    shown = ", ".join(repr(value) for value in values.to_list()[:5])
    return f"{shown}, ..." if values.len() > 5 else shown

"""Category columns of data frames, as codes that are learned in fit and do not depend on later frames."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from headrank._types import Vector


@dataclass(frozen=True, eq=False)
class FrameCategories:
    """The categories of some columns of a data frame; the code of a category is its place among them.

    Attributes
    ----------
    letters : uint8 array
        The categories of each column, by its number, as JSON: a model file keeps an array better than a long text.

    Examples
    --------
    >>> import pandas as pd
    >>> colours = pd.DataFrame({"colour": pd.Categorical(["red", None, "blue"])})
    >>> found = FrameCategories.of(colours)
    >>> found.values
    {0: ['blue', 'red']}
    >>> found.encoded(pd.DataFrame({"colour": ["red", "green", "blue"]}))["colour"].tolist()
    [1.0, nan, 0.0]
    """

    letters: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, X: Any) -> FrameCategories | None:
        """Learn the categories of a pandas or polars data frame; None if it has none, or is no data frame."""
        found = {j: _listed(column) for j, column in enumerate(_columns(X)) if _is_category(column)}
        for j, values in found.items():
            if not all(isinstance(value, str | int | float) for value in values):
                raise ValueError(
                    f"categories must be text or numbers, but the column {X.columns[j]!r} has others; convert them, "
                    "for example with astype(str)"
                )
        return cls(np.frombuffer(json.dumps(found).encode(), dtype=np.uint8)) if found else None

    @property
    def values(self) -> dict[int, list[Any]]:
        """The categories of each column, by its number, in the order of their codes."""
        if (found := _READ.get(self)) is None:
            found = _READ[self] = {int(j): values for j, values in json.loads(self.letters.tobytes()).items()}
        return found

    def encoded(self, X: Any) -> Any:
        """Return a data frame with codes in place of these categories; NaN for missing and unknown ones.

        O(rows + categories) per column.
        """
        columns = _columns(X)
        if not columns:
            raise ValueError(
                f"the model was fitted to a data frame with category columns (numbers "
                f"{', '.join(map(str, self.values))}): expected a data frame, got {type(X).__name__}"
            )
        if len(columns) <= max(self.values):
            return X  # refused for the number of its columns
        if hasattr(X, "iloc"):
            X = X.copy(deep=False)
            for j, values in self.values.items():
                X.isetitem(j, _codes_of_pandas(columns[j], values))
            return X
        return X.with_columns([_codes_of_polars(columns[j], values) for j, values in self.values.items()])


_READ: WeakKeyDictionary[FrameCategories, dict[int, list[Any]]] = WeakKeyDictionary()
"""Categories that have been read from their letters; not an attribute, as model files hold the letters alone."""


def _columns(X: Any) -> Sequence[Any]:
    """Columns of a pandas or polars data frame; none of anything else."""
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return [X.iloc[:, j] for j in range(X.shape[1])]
    columns: Sequence[Any] = X.get_columns() if hasattr(X, "get_columns") else ()
    return columns


def _is_category(column: Any) -> bool:
    if hasattr(column, "iloc"):
        return str(column.dtype) == "category"
    return type(column.dtype).__name__ in ("Categorical", "Enum")


def _listed(column: Any) -> list[Any]:
    """Categories in the order of the column; if it has none, as polars' Categorical, sorted."""
    if hasattr(column, "iloc"):
        found: list[Any] = column.cat.categories.tolist()
    elif type(column.dtype).__name__ == "Enum":
        found = column.dtype.categories.to_list()
    else:
        found = sorted(_text(column).drop_nulls().unique().to_list())
    return found


def _codes_of_pandas(column: Any, values: list[Any]) -> Vector:
    if not _is_category(column):
        column = column.astype("category")
    known = {value: code for code, value in enumerate(values)}
    # The last entry is for the code -1, which is missing.
    codes = np.array([*(known.get(value, np.nan) for value in column.cat.categories), np.nan])
    result: Vector = codes[column.cat.codes.to_numpy()]
    return result


def _codes_of_polars(column: Any, values: list[Any]) -> Any:
    import polars as pl

    if not _is_category(column) and column.dtype not in (pl.String, pl.Null):
        raise ValueError(
            f"column {column.name!r} must have categories or text, as in training, but is of type {column.dtype}"
        )
    codes = np.arange(len(values), dtype=np.float64)
    return _text(column).replace_strict(list(map(str, values)), codes, default=np.nan, return_dtype=pl.Float64)


def _text(column: Any) -> Any:
    import polars as pl

    return column.cast(pl.String)

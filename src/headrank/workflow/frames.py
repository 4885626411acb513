"""Rows of a data frame, as `headrank.training.train.train` takes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from headrank._suggestions import did_you_mean
from headrank._types import BoolVector
from headrank.exceptions import InvalidSampleError

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class FrameRows:
    """Features, labels and the other roles of the columns of a frame."""

    features: pl.DataFrame
    y: BoolVector
    positive: str
    qid: npt.NDArray[Any] | None
    ids: npt.NDArray[Any] | None
    groups: npt.NDArray[Any] | None
    times: npt.NDArray[Any] | None
    folds: npt.NDArray[Any] | None


def frame_rows(
    frame: Any,
    *,
    target: str,
    qid: str | None = None,
    id: str | None = None,  # noqa: A002  # what the column is called in every table
    group: str | None = None,
    time: str | None = None,
    fold: str | None = None,
    drop: Sequence[str] = (),
    pos_label: Any = None,
    called: str = "the table",
) -> FrameRows:
    """Split a frame into features, labels and the other roles of columns, or raise; ``called`` names it in errors.

    >>> import polars as pl
    >>> rows = frame_rows(pl.DataFrame({"id": [7, 8], "age": [71, 46], "ill": ["yes", "no"]}), target="ill", id="id")
    >>> rows.features.columns, rows.y, rows.ids, rows.positive
    (['age'], array([ True, False]), array([7, 8]), 'yes')
    """
    from headrank.readers.table_faults import listed
    from headrank.readers.targets import target_of
    from headrank.training.holdout_time import times_of

    if isinstance(drop, str):
        raise TypeError(f"drop must be a list of names, got the string {drop!r}; write drop=[{drop!r}]")
    table = as_polars(frame, called)
    special = [target, *(name for name in (qid, id, group, time, fold) if name is not None), *drop]
    for name in special:
        if name not in table.columns:
            meant = did_you_mean(str(name), table.columns)
            raise ValueError(
                f"{called} has no column {name!r}; {f'{meant} ' if meant else ''}it has {listed(table.columns)}"
            )
    repeated = [name for name, count in Counter(special).items() if count > 1]
    if repeated:
        raise ValueError(
            f"target, qid, id, group, time, fold and drop must name different columns of {called}, got "
            f"{repeated[0]!r} more than once"
        )
    if not table.height:
        raise InvalidSampleError(f"{called} has no rows")
    if len(special) == len(table.columns):
        raise ValueError(f"{called} has no feature left besides {', '.join(map(repr, special))}; drop fewer columns")
    labels = target_of(table[target], pos_label=pos_label, where=f"column {target!r} of {called}")
    return FrameRows(
        features=table.drop(special),
        y=labels.y,
        positive=labels.positive,
        ids=None if id is None else _names(table[id].fill_null("") if _is_text(table[id]) else table[id], called),
        times=None if time is None else times_of(table[time], f"column {time!r} of {called}"),
        **{
            role: None if column is None else _names(table[column], called)
            for role, column in (("qid", qid), ("groups", group), ("folds", fold))
        },
    )


def as_polars(frame: Any, called: str) -> pl.DataFrame:
    """Return a polars or pandas frame as polars, or raise. Names of columns become text."""
    import polars as pl

    from headrank.training.columns import from_pandas

    if isinstance(frame, pl.LazyFrame):
        raise TypeError(f"{called} is a LazyFrame; pass frame.collect()")
    if not hasattr(frame, "columns") or not hasattr(frame, "dtypes"):
        raise TypeError(f"expected a polars or pandas DataFrame, got {type(frame).__name__}; build a frame with names")
    names = [str(name) for name in frame.columns]
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(f"{called} has two columns named {repeated[0]!r}; rename or remove one")
    return frame if isinstance(frame, pl.DataFrame) else from_pandas(frame.set_axis(names, axis=1), names)


def _is_text(column: pl.Series) -> bool:
    import polars as pl

    return column.dtype == pl.String


def _names(column: pl.Series, called: str) -> npt.NDArray[Any]:
    """Return names of rows, queries, groups or folds; none may be missing."""
    import polars as pl

    if n_missing := column.null_count():
        raise InvalidSampleError(
            f"column {column.name!r} of {called} has {n_missing:,} missing values in {column.len():,} rows; drop or "
            "fill them"
        )
    return (column.cast(pl.String) if column.dtype in (pl.Categorical, pl.Enum) else column).to_numpy()

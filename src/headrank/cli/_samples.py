"""Files of labels and scores. Only the requested columns are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import typer

from headrank._types import BoolVector, Vector
from headrank.cli._failures import about_input
from headrank.exceptions import InvalidSampleError

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class ScoredSample:
    """Labels, and the scores of one or more scorers.

    Attributes
    ----------
    y : bool array of shape (n_rows,)
        Which rows are positive.
    positive : str
        The value of the target that counts as positive, as printed.
    scores : dict of str to array of shape (n_rows,)
        By the name of the column.
    qid : array of shape (n_rows,) or None
        Query of each row.
    groups : array of str of shape (n_rows,) or None
        Group of each row, as printed; "(missing)" for missing values.
    """

    y: BoolVector
    positive: str
    scores: dict[str, Vector]
    qid: npt.NDArray[Any] | None = None
    groups: npt.NDArray[Any] | None = None

    @property
    def counts(self) -> dict[str, int]:
        """Rows, positives and negatives."""
        n_pos = int(np.count_nonzero(self.y))
        return {"n_rows": self.y.size, "n_pos": n_pos, "n_neg": self.y.size - n_pos}

    @property
    def assumption(self) -> str:
        """The assumptions of every guarantee about the sample, in a sentence."""
        draws = "rows" if self.qid is None else "queries"
        return (
            f"Assumes that the {draws} are independent draws and that no scorer was trained or selected on these rows."
        )


def read_scores(
    path: Path,
    *,
    target: str,
    scores: Sequence[str],
    positive: str | None,
    qid: str | None = None,
    group: str | None = None,
) -> ScoredSample:
    """Read and check labels and scores."""
    from headrank.readers.tables import read_columns
    from headrank.readers.targets import target_of

    if len(set(scores)) < len(scores):
        raise typer.BadParameter("each column of scores may be named only once", param_hint="'--score'")
    if target in scores:
        raise typer.BadParameter(f"{target!r} is the target; name a column of scores", param_hint="'--score'")
    with about_input(path):
        frame = read_columns(path, [target, *scores, *(name for name in (qid, group) if name is not None)])
        labels = target_of(frame[target], pos_label=positive, where=f"column {target!r} of {path}")
        return ScoredSample(
            labels.y,
            labels.positive,
            {name: numbers_of(frame[name], path) for name in scores},
            None if qid is None else _queries(frame[qid], path),
            None if group is None else _groups(frame[group]),
        )


def numbers_of(column: pl.Series, path: Path) -> Vector:
    """Return a column of scores as finite numbers, or raise."""
    import polars as pl

    where = f"column {column.name!r} of {path}"
    if n_missing := column.null_count():
        raise InvalidSampleError(
            f"{where} has {n_missing:,} missing values in {column.len():,} rows; every row needs a score: drop these "
            "rows or score them"
        )
    if column.dtype in (pl.String, pl.Categorical, pl.Enum):
        text = column.cast(pl.String)
        numbers = text.str.strip_chars().cast(pl.Float64, strict=False)
        if (bad := numbers.is_null().arg_true()).len():
            raise InvalidSampleError(
                f"{where} contains text, {text[bad[0]]!r} in row {bad[0] + 1:,}; scores must be numbers: name a "
                "numeric column"
            )
        column = numbers
    if not column.dtype.is_numeric() or column.dtype.is_decimal():
        raise InvalidSampleError(
            f"{where} contains {column.dtype} values; scores must be numbers: name a numeric column"
        )
    if column.dtype.is_float() and (bad := (~column.is_finite()).arg_true()).len():
        raise InvalidSampleError(
            f"{where} contains {bad.len():,} values that are not finite, the first in row {bad[0] + 1:,}; drop these "
            "rows or give them a finite score"
        )
    return (column.cast(pl.Float64) if column.dtype == pl.Int128 else column).to_numpy()  # not in NumPy


def _queries(column: pl.Series, path: Path) -> npt.NDArray[Any]:
    if n_missing := column.null_count():
        raise InvalidSampleError(
            f"column {column.name!r} of {path} has {n_missing:,} missing values; every row needs a query id"
        )
    return column.to_numpy()


def _groups(column: pl.Series) -> npt.NDArray[Any]:
    import polars as pl

    return column.cast(pl.String).fill_null("(missing)").to_numpy()

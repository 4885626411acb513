"""Files of labels and scores. Only the requested columns are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import typer

from headrank._types import Vector
from headrank.cli._failures import about_input
from headrank.cli._inputs import Input
from headrank.exceptions import InvalidSampleError
from headrank.grades import are_grades

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class ScoredSample:
    """Labels, and the scores of one or more scorers.

    Attributes
    ----------
    y : array of shape (n_rows,)
        Which rows are positive, or their grades of relevance as whole numbers.
    positive : str
        The value of the target that counts as positive, as printed.
    scores : dict of str to array of shape (n_rows,)
        By the name of the column.
    qid : array of shape (n_rows,) or None
        Query of each row.
    groups : array of str of shape (n_rows,) or None
        Group of each row, as printed; "(missing)" for missing values.
    clusters : array of shape (n_rows,) or None
        Cluster of each row: rows of different clusters are independent draws.
    n_without_label : int
        Rows that were dropped because their target is missing.
    """

    y: npt.NDArray[Any]
    positive: str
    scores: dict[str, Vector]
    qid: npt.NDArray[Any] | None = None
    groups: npt.NDArray[Any] | None = None
    clusters: npt.NDArray[Any] | None = None
    n_without_label: int = 0

    @property
    def graded(self) -> bool:
        """Whether the labels are grades of relevance."""
        return self.y.dtype.kind != "b"

    @property
    def counts(self) -> dict[str, int]:
        """Rows, positives and negatives."""
        n_pos = int(np.count_nonzero(self.y))
        return {"n_rows": self.y.size, "n_pos": n_pos, "n_neg": self.y.size - n_pos}

    @property
    def assumption(self) -> str:
        """The assumptions of every guarantee about the sample, in a sentence."""
        draws = "clusters" if self.clusters is not None else "rows" if self.qid is None else "queries"
        return (
            f"Assumes that the {draws} are independent draws and that no scorer was trained or selected on these rows."
        )


def read_scores(
    path: Input,
    *,
    target: str,
    scores: Sequence[str],
    positive: str | None,
    qid: str | None = None,
    group: str | None = None,
    clusters: str | None = None,
    lower_is_better: bool = False,
    drop_missing: bool = False,
    grades: bool = False,
) -> ScoredSample:
    """Read and check labels and scores; if lower is better, the scores are negated.

    With ``drop_missing``, rows without a label are dropped and counted. With ``grades``, the target may have grades of
    relevance, unless a positive value is named.
    """
    from headrank.readers.tables import read_columns
    from headrank.readers.targets import missing_labels, target_of

    if len(set(scores)) < len(scores):
        raise typer.BadParameter("each column of scores may be named only once", param_hint="'--score'")
    if target in scores:
        raise typer.BadParameter(f"{target!r} is the target; name a column of scores", param_hint="'--score'")
    with about_input(path):
        others = [name for name in (qid, group, clusters) if name is not None]
        frame = read_columns(path.tables, [target, *scores, *others])
        n_rows = frame.height
        if drop_missing:
            labelled = ~missing_labels(frame[target])
            frame = frame.filter(labelled) if labelled.any() else frame  # a target without labels is refused below
        if grades and positive is None and _has_grades(frame[target]):
            y: npt.NDArray[Any] = frame[target].to_numpy().astype(np.intp)
            named = "1 or more"
        else:
            labels = target_of(frame[target], pos_label=positive, where=f"column {target!r} of {path}")
            y, named = labels.y, labels.positive
        return ScoredSample(
            y,
            named,
            {name: scores_of(frame[name], path, lower_is_better=lower_is_better) for name in scores},
            None if qid is None else _of_every_row(frame[qid], path, "query id"),
            None if group is None else _groups(frame[group]),
            None if clusters is None else _of_every_row(frame[clusters], path, "cluster"),
            n_rows - frame.height,
        )


def _has_grades(column: pl.Series) -> bool:
    return column.dtype.is_numeric() and not column.null_count() and are_grades(column.to_numpy())


def scores_of(column: pl.Series, path: Input, *, lower_is_better: bool) -> Vector:
    """Return a column of scores as finite numbers of which the highest are the best, or raise."""
    numbers = numbers_of(column, path)
    return negated(numbers, f"column {column.name!r} of {path}") if lower_is_better else numbers


def negated(numbers: Vector, where: str) -> Vector:
    """Return the numbers with the opposite sign, exactly; raise for whole numbers that have none in 64 bits.

    >>> negated(np.array([0, 200], dtype=np.uint8), "the scores")
    array([   0, -200])
    """
    if numbers.size and numbers.dtype.kind in "iu":
        if int(numbers.max()) > np.iinfo(np.int64).max or int(numbers.min()) == np.iinfo(np.int64).min:
            raise InvalidSampleError(f"{where} has whole numbers too large to be negated; divide them by 2")
        numbers = numbers.astype(np.int64)
    return -numbers


def numbers_of(column: pl.Series, path: Input) -> Vector:
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


def _of_every_row(column: pl.Series, path: Input, what: str) -> npt.NDArray[Any]:
    if n_missing := column.null_count():
        raise InvalidSampleError(
            f"column {column.name!r} of {path} has {n_missing:,} missing values; every row needs a {what}"
        )
    return column.to_numpy()


def _groups(column: pl.Series) -> npt.NDArray[Any]:
    import polars as pl

    return column.cast(pl.String).fill_null("(missing)").to_numpy()

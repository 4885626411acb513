"""What can be exported to ONNX: the columns and models that are trained for ``headrank fit --onnx-only``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headrank.estimators.trees.lightgbm_trees import why_not
from headrank.exceptions import InvalidSampleError
from headrank.training.columns import Column, listed
from headrank.training.encoding import CATEGORIES
from headrank.training.models import Models


@dataclass(frozen=True)
class ExportableColumns:
    """The columns that have operators in ONNX, the names of the others, and what to say about them.

    Examples
    --------
    >>> columns = [Column("age", "number", 0, 80), Column("note", "text", 5, 700)]
    >>> found = ExportableColumns.of(columns)
    >>> [column.name for column in found.kept], found.left_out
    (['age'], ('note',))
    """

    kept: tuple[Column, ...]
    left_out: tuple[str, ...]

    @classmethod
    def of(cls, columns: Sequence[Column]) -> ExportableColumns:
        """Leave out text with many values, which would be embedded by its letters. Raise if nothing remains.

        Values are counted in all rows, so that text that is left in has few values in the training rows too.
        """
        kept = tuple(column for column in columns if not _has_many_values(column))
        left_out = tuple(column.name for column in columns if _has_many_values(column))
        if not kept:
            raise InvalidSampleError(
                f"no column is left: --onnx-only leaves out text with {CATEGORIES} or more distinct values, and all "
                "columns are such text; omit --onnx-only, or give the table other columns"
            )
        return cls(kept, left_out)

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence that names the columns left out; none if there are none."""
        if not self.left_out:
            return ()
        named = f"the column{'s' if len(self.left_out) > 1 else ''} {listed(map(repr, self.left_out))}"
        return (
            f"Because of --onnx-only, {named} {'are' if len(self.left_out) > 1 else 'is'} not used: text with "
            f"{CATEGORIES} or more distinct values cannot be exported to ONNX.",
        )


def _has_many_values(column: Column) -> bool:
    return column.kind == "text" and column.n_distinct + (column.n_missing > 0) >= CATEGORIES


def exportable_models(models: Models) -> tuple[Models, tuple[str, ...]]:
    """Return what to choose the ranker from, and what to say if that is less than requested.

    Where LightGBM cannot be loaded, trees are grown by scikit-learn and cannot be exported.
    """
    reason = why_not()
    if not reason or models == "linear":
        return models, ()
    if models == "trees":
        raise ValueError(f"trees can only be exported if LightGBM grows them, which could not be loaded: {reason}")
    return "linear", (
        f"Because of --onnx-only, no trees were trained: LightGBM could not be loaded ({reason}), and trees of "
        "scikit-learn cannot be exported to ONNX.",
    )

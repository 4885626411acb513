"""TableModel: a fitted model that knows which columns it needs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from headrank._types import ArrayLike, BoolVector, Vector
from headrank.exceptions import InvalidSampleError
from headrank.training.columns import Column, conformed
from headrank.training.features import OccurringFeatures, blocks
from headrank.training.goal import Goal
from headrank.training.table_info import ColumnRoles


@dataclass(frozen=True, eq=False, kw_only=True)
class TableModel(ColumnRoles):
    """What `headrank fit` writes and `headrank score` reads.

    Attributes
    ----------
    name : str
        Which model it is: "ranker", "logistic regression", "gradient boosting".
    estimator : estimator
        The fitted pipeline, from feature columns to ``decision_function``.
    columns : tuple of Column
        The feature columns that it needs, by name and kind; empty for a model of an svmlight file.
    n_features : int
        Columns; or those of a matrix of the svmlight file, as `sklearn.datasets.load_svmlight_file` makes it.
    target, positive, id_column, qid_column, dropped, first_feature
        Columns that are not features: see `ColumnRoles`.
    goal : Goal
        Which part of the list it was trained for.
    threshold : float or None
        From which score on to act.
    promise : str
        What holds for this threshold, in a sentence, or why there is none.
    """

    name: str
    estimator: Any
    columns: tuple[Column, ...]
    n_features: int
    goal: Goal
    threshold: float | None
    promise: str

    @property
    def ignored(self) -> tuple[str, ...]:
        """Columns that a table may have besides the features."""
        special = (self.target, self.id_column, self.qid_column)
        return (*(name for name in special if name is not None), *self.dropped)

    def decision_function(self, rows: Any, *, first_row: int = 1) -> Vector:
        """Score rows, higher = more positive. The score of a row does not depend on the rows beside it.

        Parameters
        ----------
        rows : polars or pandas DataFrame; or, for a model of an svmlight file, a matrix of shape (n, n_features)
            A table must have the feature columns, in any order, and may have the target and the other columns that
            were no features in training. The first column of a matrix is the feature that the training file calls
            ``first_feature``.
        first_row : int, default=1
            What to call the first row in messages, for a block of a longer table.
        """
        if self.columns:
            return self._scored_table(rows, first_row)
        from scipy.sparse import csr_array, issparse

        if len(getattr(rows, "shape", ())) != 2 or rows.shape[1] != self.n_features or hasattr(rows, "columns"):
            came = f"one of shape {rows.shape}" if hasattr(rows, "shape") else type(rows).__name__
            raise InvalidSampleError(
                f"needed a matrix with {self.n_features:,} features per row, as in the training file, got {came}; read "
                f"svmlight files with load_svmlight_file(path, n_features={self.n_features}, "
                f"zero_based={self.first_feature == 0})"
            )
        matrix = rows.tocsr() if issparse(rows) else csr_array(np.asarray(rows, dtype=np.float64))
        return self._scored(_shifted(matrix, self.first_feature))

    def feature_numbers(self) -> Any:
        """Numbers of the features of an svmlight file that the model knows, in rising order."""
        first_step = self.estimator[0] if hasattr(self.estimator, "steps") else None
        if isinstance(first_step, OccurringFeatures):
            return first_step.numbers_
        return np.arange(self.n_features)  # of a model of 0.1, which has a weight for each number

    def flags(self, scores: ArrayLike) -> BoolVector | None:
        """Say which rows to act on, those scoring at least the threshold; None if there is no threshold.

        Parameters
        ----------
        scores : array-like of shape (n,)
            What `decision_function` returned.
        """
        if hasattr(scores, "columns") or np.ndim(scores) != 1 or np.asarray(scores).dtype.kind not in "iuf":
            raise InvalidSampleError(
                f"flags needs one score per row, got {type(scores).__name__}; score the rows first: "
                "flags(decision_function(rows))"
            )
        if self.threshold is None:
            return None
        # As a NumPy number, since a Python float would be rounded to the precision of the scores.
        result: BoolVector = np.asarray(scores) >= np.float64(self.threshold)
        return result

    def __getstate__(self) -> dict[str, Any]:
        """All attributes; the columns as one text, as a model file takes a hundred times as long for an object each."""
        columns = [[each.name, each.kind, each.n_missing, each.n_distinct] for each in self.columns]
        return vars(self) | {"columns": json.dumps(columns)}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Read the columns of a file: a text, or the objects that 0.1 wrote."""
        columns = state["columns"]
        if isinstance(columns, str):
            columns = tuple(Column(*each) for each in json.loads(columns))
        vars(self).update(state, columns=columns)

    def _scored_table(self, rows: Any, first_row: int) -> Vector:
        if not hasattr(rows, "columns"):
            raise InvalidSampleError(
                f"needed a table with named columns, a polars or pandas data frame, got {type(rows).__name__}: the "
                "model knows its features by name"
            )
        return self._scored(conformed(rows, self.columns, ignored=self.ignored, first_row=first_row))

    def _scored(self, rows: Any) -> Vector:
        scores = np.empty(rows.shape[0])
        for block in blocks(rows.shape[0]):
            scores[block] = self.estimator.decision_function(rows[block])
        return scores


def _shifted(matrix: Any, by: int) -> Any:
    """The matrix with empty columns before its first."""
    if not by:
        return matrix
    shape = (matrix.shape[0], matrix.shape[1] + by)
    return type(matrix)((matrix.data, matrix.indices.astype(np.int64) + by, matrix.indptr), shape=shape)

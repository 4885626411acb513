"""TableModel: a fitted model with the columns that it needs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from headrank._types import ArrayLike, BoolVector, Vector
from headrank.exceptions import InvalidSampleError
from headrank.training.calibration import Calibration
from headrank.training.columns import Column, conformed
from headrank.training.features import OccurringFeatures, blocks
from headrank.training.fitted_classifier import FittedClassifier
from headrank.training.goal import Goal
from headrank.training.holdout_scores import HoldoutScores
from headrank.training.profile import Profile
from headrank.training.reasons import Reasons, reasons
from headrank.training.table_info import ColumnRoles


@dataclass(frozen=True, eq=False, kw_only=True)
class TableModel(FittedClassifier, ColumnRoles):
    """The model that `headrank fit` writes and `headrank score` reads. For scikit-learn, a fitted classifier.

    Attributes
    ----------
    name : str
        Kind of model: "ranker", "logistic regression" or "gradient boosting".
    estimator : estimator
        The fitted pipeline, from feature columns to ``decision_function``.
    columns : tuple of Column
        The required feature columns, by name and kind; empty for a model of an svmlight file.
    n_features : int
        Number of feature columns. For an svmlight file: columns of the matrix that scikit-learn's
        ``load_svmlight_file`` returns.
    target, positive, id_column, qid_column, group_column, time_column, fold_column, dropped, first_feature
        Columns that are not features: see `ColumnRoles`.
    goal : Goal
        The part of the list for which it was trained.
    threshold : float or None
        Rows with at least this score are flagged.
    promise : str
        The guarantee for this threshold, in a sentence, or why there is none.
    calibration : Calibration or None
        From scores to estimated probabilities; None for models of queries and of earlier versions.
    holdout_scores : HoldoutScores or None
        Labelled scores of holdout rows, for certified lists of new rows; None in files of earlier versions, for
        models of queries, and if it was left out.
    profile : Profile or None
        What the rows of the holdout look like, to recognise drift; None in files of earlier versions.
    """

    name: str
    estimator: Any
    columns: tuple[Column, ...]
    n_features: int
    goal: Goal
    threshold: float | None
    promise: str
    calibration: Calibration | None = None
    holdout_scores: HoldoutScores | None = None
    profile: Profile | None = None

    @property
    def ignored(self) -> tuple[str, ...]:
        """Columns that a table may have in addition to the features."""
        special = (self.target, self.id_column, self.qid_column, self.group_column, self.time_column, self.fold_column)
        return (*(name for name in special if name is not None), *self.dropped)

    def decision_function(self, rows: Any, *, first_row: int = 1) -> Vector:
        """Return the scores of rows: the higher, the more likely positive. A score depends only on its own row.

        Parameters
        ----------
        rows : polars or pandas DataFrame; or, for a model of an svmlight file, a matrix of shape (n, n_features)
            A table must have the feature columns, in any order, and may have the target and the other columns that
            were not features in training. The first column of a matrix is the feature with the number
            ``first_feature`` in the training file.
        first_row : int, default=1
            Number of the first row in messages, for a block of a longer table.
        """
        rows = self.conformed(rows, first_row)
        scores = np.empty(rows.shape[0])
        for block in blocks(rows.shape[0]):
            scores[block] = self.estimator.decision_function(rows[block])
        return scores

    def conformed(self, rows: Any, first_row: int = 1) -> Any:
        """Return rows as the pipeline takes them, or raise; arguments as in `decision_function`."""
        if self.columns:
            if not hasattr(rows, "columns"):
                raise InvalidSampleError(
                    f"expected a table with named columns, a polars or pandas data frame, got {type(rows).__name__}: "
                    "the model identifies its features by name"
                )
            return conformed(rows, self.columns, ignored=self.ignored, first_row=first_row)
        from scipy.sparse import csr_array, issparse

        if len(getattr(rows, "shape", ())) != 2 or rows.shape[1] != self.n_features or hasattr(rows, "columns"):
            came = f"one of shape {rows.shape}" if hasattr(rows, "shape") else type(rows).__name__
            raise InvalidSampleError(
                f"expected a matrix with {self.n_features:,} features per row, as in the training file, got {came}; "
                f"read svmlight files with load_svmlight_file(path, n_features={self.n_features}, "
                f"zero_based={self.first_feature == 0})"
            )
        matrix = rows.tocsr() if issparse(rows) else csr_array(np.asarray(rows, dtype=np.float64))
        return _shifted(matrix, self.first_feature)

    def reasons(self, rows: Any, *, n_columns: int = 3, first_row: int = 1) -> Reasons | None:
        """Return what each column adds to the scores of rows; None if the model cannot tell.

        Linear models: weights times centred features. Trees: Shapley values, at some milliseconds per row for boosted
        trees, and up to a second for forests.

        Parameters
        ----------
        rows, first_row
            As in `decision_function`.
        n_columns : int, default=3
            Columns that the text of each row names at most.
        """
        return reasons(self.estimator, self.conformed(rows, first_row), n_columns=n_columns)

    def feature_numbers(self) -> Any:
        """Numbers of the features of an svmlight file that the model uses, in increasing order."""
        first_step = self.estimator[0] if hasattr(self.estimator, "steps") else None
        if isinstance(first_step, OccurringFeatures):
            return first_step.numbers_
        return np.arange(self.n_features)  # a model of 0.1 has a weight for each number

    def flags(self, scores: ArrayLike) -> BoolVector | None:
        """Return which rows score at least the threshold; None if there is no threshold.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores from `decision_function`.
        """
        if hasattr(scores, "columns") or np.ndim(scores) != 1 or np.asarray(scores).dtype.kind not in "iuf":
            raise InvalidSampleError(
                f"flags needs one score per row, got {type(scores).__name__}; score the rows first: "
                "flags(decision_function(rows))"
            )
        if self.threshold is None:
            return None
        # As a NumPy number: a Python float would be rounded to the precision of the scores.
        result: BoolVector = np.asarray(scores) >= np.float64(self.threshold)
        return result

    def predict(self, rows: Any) -> BoolVector:
        """Return which rows are flagged: those that score at least the threshold. Raise if there is no threshold.

        Parameters
        ----------
        rows
            As in `decision_function`.
        """
        found = self.flags(self.decision_function(rows))
        if found is None:
            raise ValueError(
                f"the model has no threshold: {self.promise} Use decision_function and a threshold of your own"
            )
        return found

    def predict_proba(self, rows: Any) -> Vector:
        """Return estimated probabilities of both classes, by isotonic regression on the holdout.

        Estimates without guarantee, for tables with the share of positives of the training table; ``calibration`` says
        how good they were. Rows with different scores may have equal probabilities, so rank by `decision_function`.

        Parameters
        ----------
        rows
            As in `decision_function`.

        Returns
        -------
        array of shape (n, 2)
            The second column is the probability of being positive.
        """
        if self.calibration is None:
            raise ValueError(
                "the model has no probabilities: it was trained on queries, whose scores are not comparable, or by an "
                "earlier version of headrank; fit it again without queries, or use decision_function"
            )
        positive = self.calibration.probabilities(self.decision_function(rows))
        return np.column_stack([1 - positive, positive])

    def __repr__(self) -> str:
        features = f"{len(self.columns)} columns" if self.columns else f"{self.n_features:,} numbered features"
        flags = "no threshold" if self.threshold is None else f"threshold {self.threshold!r}"
        return f"<TableModel: {self.name} for {self.goal}, {features}, {flags}>"

    def __getstate__(self) -> dict[str, Any]:
        """Return all attributes, the columns as one string: as objects, they would take 100 times as long to save."""
        columns = [[each.name, each.kind, each.n_missing, each.n_distinct] for each in self.columns]
        return vars(self) | {"columns": json.dumps(columns)}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Restore the columns from the string, or from the objects that 0.1 wrote, which knew no calibration."""
        columns = state["columns"]
        if isinstance(columns, str):
            columns = tuple(Column(*each) for each in json.loads(columns))
        vars(self).update(state, columns=columns)
        vars(self).setdefault("calibration", None)


def _shifted(matrix: Any, by: int) -> Any:
    """Return the matrix with empty columns before its first."""
    if not by:
        return matrix
    shape = (matrix.shape[0], matrix.shape[1] + by)
    return type(matrix)((matrix.data, matrix.indices.astype(np.int64) + by, matrix.indptr), shape=shape)

"""The result of a training: the models, and how they did on rows none of them has seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from headrank._types import BoolVector, Vector
from headrank.bounds.comparison.selection import Selection
from headrank.bounds.sample_curves import SampleCurves
from headrank.bounds.threshold import Threshold
from headrank.training.goal import Goal
from headrank.training.table_info import Provenance, TableInfo


@dataclass(frozen=True)
class Coefficient:
    """How much a feature moves the score, per unit of the scaled feature; positive means towards the positives."""

    feature: str
    value: float


@dataclass(frozen=True, eq=False)
class ModelResult:
    """A trained model and its scores of the holdout.

    Attributes
    ----------
    name : str
        In plain words: "ranker", "logistic regression", "gradient boosting".
    estimator : estimator
        Fitted to the training rows; scores the feature columns (or the sparse matrix) with ``decision_function``.
    holdout : SampleCurves
        Labels, queries and scores of the holdout rows, higher = more positive, and their curves.
    remark : str
        How it was chosen, or what went wrong; may be empty.
    collapsed : bool
        Whether it has learned nothing.
    coefficients : tuple of Coefficient or None
        The largest in absolute value first; None for models that have none.
    """

    name: str
    estimator: Any
    holdout: SampleCurves
    remark: str = ""
    collapsed: bool = False
    coefficients: tuple[Coefficient, ...] | None = None

    @property
    def scores(self) -> Vector:
        """The scores of the holdout rows."""
        return self.holdout.sample.scores


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """All that the files and the report are made of.

    Attributes
    ----------
    goal : Goal
        Which part of the list matters.
    confidence : float
        Of every promise.
    models : tuple of ModelResult
        In the order in which they were trained.
    selection : Selection
        Which one is the best by ``goal.measure`` on the holdout, with a certificate that pays for all of them.
    ids : array of shape (n_holdout,)
        Values of the id column, or the number of the row in the file, from 1.
    qid : array of shape (n_holdout,) or None
        Query of each holdout row.
    threshold : Threshold or None
        From which score on to act, certified on the holdout; None where it could not be had.
    no_threshold : str
        Why there is none: too few rows, with the number needed, or queries.
    table : TableInfo
        What the table is like.
    warnings : tuple of str
        What looks wrong with the data, each a sentence with what to do.
    provenance : Provenance
        What it takes to get the same numbers again.
    """

    goal: Goal
    confidence: float
    models: tuple[ModelResult, ...]
    selection: Selection
    ids: npt.NDArray[Any]
    qid: npt.NDArray[Any] | None
    threshold: Threshold | None
    no_threshold: str
    table: TableInfo
    warnings: tuple[str, ...]
    provenance: Provenance

    @property
    def y(self) -> BoolVector:
        """Which holdout rows are positive."""
        return self.models[0].holdout.sample.positive

    @property
    def winner(self) -> ModelResult:
        """The one to use."""
        return self.model(self.selection.picked)

    def model(self, name: str) -> ModelResult:
        """The model of this name."""
        return next(each for each in self.models if each.name == name)

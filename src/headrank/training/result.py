"""The result of a training: the models and their results on the holdout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from headrank._format import rounded_percent
from headrank._types import BoolVector, IntVector, Vector
from headrank.bounds.comparison.selection import Selection
from headrank.bounds.sample_curves import SampleCurves
from headrank.bounds.threshold import Threshold
from headrank.training.column_summaries import ColumnSummary
from headrank.training.goal import Goal
from headrank.training.profile import Profile
from headrank.training.reasons import HeadReasons
from headrank.training.table_info import Provenance, TableInfo


@dataclass(frozen=True)
class Coefficient:
    """Effect of a feature on the score, per unit of the scaled feature; positive values raise the score."""

    feature: str
    value: float


@dataclass(frozen=True)
class FamilyResult:
    """What a family of models is worth on the folds, or the combination of several.

    Attributes
    ----------
    name : str
        Name of the family, or "combination".
    estimate, standard_error : float
        Mean of the measure over the folds, on the rows left out, and its standard error.
    weight : float or None
        Its share in the ranker; None for the combination.
    """

    name: str
    estimate: float
    standard_error: float
    weight: float | None

    @property
    def low(self) -> float:
        """One standard error below the mean."""
        return self.estimate - self.standard_error

    @property
    def high(self) -> float:
        """One standard error above the mean."""
        return self.estimate + self.standard_error

    @property
    def share(self) -> str:
        """Its weight in words; empty for the combination."""
        if self.weight is None:
            return ""
        return rounded_percent(self.weight) if self.weight > 0 else "not used"


@dataclass(frozen=True, eq=False)
class ModelResult:
    """A trained model and its scores of the holdout.

    Attributes
    ----------
    name : str
        Name in plain words: "ranker", "logistic regression", "gradient boosting".
    estimator : estimator
        Fitted to the training rows. Its ``decision_function`` takes the feature columns, or the sparse matrix.
    holdout : SampleCurves
        Labels, queries and scores of the holdout rows, and their curves.
    remark : str
        How it was selected, or what went wrong; may be empty.
    collapsed : bool
        Whether the model has learned nothing.
    coefficients : tuple of Coefficient or None
        Coefficients, the largest in absolute value first; None for models without any.
    families : tuple of FamilyResult
        What it was chosen from, and last the combination; empty for models without a choice.
    all_rows : SampleCurves or None
        The same for all rows of the holdout; with groups, ``holdout`` has one row of each.
    left_out : dict of str to str
        Families that could not be used, and why.
    """

    name: str
    estimator: Any
    holdout: SampleCurves
    remark: str = ""
    collapsed: bool = False
    coefficients: tuple[Coefficient, ...] | None = None
    families: tuple[FamilyResult, ...] = ()
    all_rows: SampleCurves | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def scores(self) -> Vector:
        """The scores of the holdout rows."""
        return self.holdout.sample.scores


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """Everything needed for the output files and the report.

    Attributes
    ----------
    goal : Goal
        The part of the list that matters.
    confidence : float
        Confidence of each guarantee.
    models : tuple of ModelResult
        All models, in the order of training.
    selection : Selection
        The best model by ``goal.measure`` on the holdout, with a certificate that accounts for the selection.
    ids : array of shape (n_holdout,)
        Values of the id column, or the number of the row in the file, from 1.
    qid : array of shape (n_holdout,) or None
        Query of each holdout row.
    threshold : Threshold or None
        The certified threshold, from the holdout; None if it could not be certified.
    no_threshold : str
        Why there is no threshold: too few rows, with the number needed, or queries.
    table : TableInfo
        Size and columns of the table.
    warnings : tuple of str
        Possible problems of the data, each with a remedy.
    provenance : Provenance
        What is needed to reproduce the numbers.
    reasons : HeadReasons or None
        Why the first rows of the winner are there; None if it cannot say.
    groups : array or None
        Group of each row of ``ModelResult.all_rows``; None without groups.
    measured : int array or None
        Positions in ``groups`` of the rows of ``ModelResult.holdout``, one of each group; None without groups.
    times : array of shape (n_holdout,) or None
        Time of each holdout row.
    profile : Profile or None
        What the rows of the holdout and their scores look like.
    summaries : tuple of ColumnSummary
        What the columns of the table look like; empty for svmlight files.
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
    reasons: HeadReasons | None = None
    groups: npt.NDArray[Any] | None = None
    measured: IntVector | None = None
    times: npt.NDArray[Any] | None = None
    profile: Profile | None = None
    summaries: tuple[ColumnSummary, ...] = ()

    @property
    def y(self) -> BoolVector:
        """Which holdout rows are positive."""
        return self.models[0].holdout.sample.positive

    @property
    def winner(self) -> ModelResult:
        """The selected model."""
        return self.model(self.selection.picked)

    def model(self, name: str) -> ModelResult:
        """Return the model of this name."""
        return next(each for each in self.models if each.name == name)

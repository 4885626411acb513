"""train: fit models, evaluate them on a holdout, select the best and certify it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from math import sqrt
from typing import Any, get_args

import numpy as np

from headrank._format import percent
from headrank._types import ArrayLike
from headrank.bounds.comparison.selection import Selection, select_curves
from headrank.bounds.confidence import check_confidence
from headrank.bounds.threshold import Threshold, threshold_for
from headrank.exceptions import TooFewRowsError
from headrank.training import data_warnings, split_warnings
from headrank.training.column_values import ColumnValues
from headrank.training.columns import Column
from headrank.training.design import HoldoutFile, RowRoles
from headrank.training.exportable import exportable_models
from headrank.training.features import Features
from headrank.training.goal import Goal
from headrank.training.handover import Handover
from headrank.training.holdout import Split
from headrank.training.models import Models, TrainingRows, trained_models
from headrank.training.preparation import Prepared, prepared_rows
from headrank.training.profile import Profile, score_profile
from headrank.training.progress import Progress, quiet
from headrank.training.reasons import HeadReasons, head_reasons
from headrank.training.result import ModelResult, TrainingResult
from headrank.training.stored_preparation import prepared_parts
from headrank.training.stored_sample import TrainingSample
from headrank.training.stored_table import StoredTable
from headrank.training.table_info import DataSource, HoldoutInfo, Provenance, TableInfo

_LIBRARIES = ("headrank", "numpy", "scipy", "scikit-learn", "lightgbm", "skrub", "polars")
_EVALUATING = "evaluating on the holdout"
_EXPLAINING = "explaining the first rows"


def train(
    features: Any,
    y: ArrayLike,
    *,
    goal: Goal,
    source: DataSource,
    qid: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    times: ArrayLike | None = None,
    folds: ArrayLike | None = None,
    test: HoldoutFile | None = None,
    holdout: float | None = None,
    models: Models = "all",
    max_seconds: float | None = None,
    confidence: float = 0.95,
    random_state: int = 0,
    onnx_only: bool = False,
    sha256: str = "",
    command: str = "",
    progress: Progress = quiet,
) -> TrainingResult:
    """Split off a holdout, train every model on the other rows, select the best on the holdout, and certify it.

    All guarantees account for the selection: the intervals by `select`; the threshold is that of `threshold_at` at a
    higher confidence, such that thresholds of all models would be valid simultaneously.

    The type of a column (numbers, text or dates) is determined from all rows, including the holdout but not the labels:
    it belongs to the table, as in a Parquet file. Everything that is learned (scales, categories and weights) is
    learned from the training rows.

    Parameters
    ----------
    features : polars.DataFrame, CSR matrix, Handover of either, or StoredTable
        One row per case. Of a StoredTable, a sample is in memory: it is what encoders, the choice of the ranker and
        trees learn from; linear parts of the ranker are fitted to all training rows.
    y : array-like of shape (n,)
        Which rows are positive: 0/1, -1/+1 or bool.
    goal : Goal
        The part of the list that matters.
    source : DataSource
        Origin of the rows, for the report.
    qid : array-like of shape (n,), optional
        Query of each row; queries are kept whole, and all measures are means over queries.
    ids : array-like of shape (n,), optional
        Names of the rows; by default their numbers, from 1.
    groups : array-like of shape (n,), optional
        Patient, customer or the like of each row. Groups are kept whole, in the holdout and in the folds. All
        guarantees come from one row of each held-out group and hold for new groups: see `split_groups`.
    times : array-like of shape (n,), optional
        Time of each row, as numbers or datetime64: the latest rows are held out, and the folds go forward in time. With
        groups, those that occur in training leave the holdout.
    folds : array-like of shape (n,), optional
        The fold of each row, for choosing the ranker; by default drawn at random.
    test : HoldoutFile, optional
        A given holdout; all rows of the table are then trained on.
    holdout : float in (0, 1), optional
        Share of rows, groups or queries to hold out; by default 0.3, of more than 1e7 rows less: `usual_share`.
    models : {"all", "linear", "trees"}, default="all"
        What the ranker is chosen from: linear scorers, trees, or both.
    max_seconds : float, optional
        Time for choosing the ranker; see `headrank.RankerCV`.
    confidence : float, default=0.95
        Confidence of each guarantee.
    random_state : int, default=0
        Seed; the same seed gives the same result.
    onnx_only : bool, default=False
        Whether to leave out what cannot be exported to ONNX: text with 40 or more distinct values, and trees where
        LightGBM cannot be loaded. A warning names it.
    sha256, command : str
        Hash of the input file and the command that reproduces the run, for the report.
    progress : callable, optional
        Called with each step: see `headrank.training.progress`.

    Examples
    --------
    >>> import polars as pl
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(400) < 0.3
    >>> frame = pl.DataFrame({"size": rng.normal(size=400) + 2 * y, "colour": rng.choice(["red", "blue"], 400)})
    >>> source = DataSource(source="parts.csv", target="broken", positive="yes")
    >>> result = train(frame, y, goal=Goal(max_fpr=0.2), source=source, models="linear")
    >>> [model.name for model in result.models], result.table.n_holdout
    (['ranker', 'logistic regression'], 120)
    """
    if models not in get_args(Models):
        raise ValueError(f"models must be one of {', '.join(map(repr, get_args(Models)))}, got {models!r}")
    models, found = exportable_models(models) if onnx_only else (models, ())
    confidence = check_confidence(confidence)
    given = features if isinstance(features, Handover | StoredTable) else Handover(features)
    del features
    known = RowRoles.of(y, n_rows=given.n_rows, qid=qid, ids=ids, groups=groups, times=times, folds=folds, test=test)
    parts = known.split(holdout=holdout, goal=goal, random_state=random_state)
    chosen_by = known.choice_folds(parts, random_state=random_state)
    sample: TrainingSample | None = None
    if isinstance(given, StoredTable):
        prepared, sample = prepared_parts(given, test, known, parts, random_state, onnx_only, progress)
    else:
        prepared = prepared_rows(given, test, known, parts, random_state, onnx_only, progress)
    source = replace(source, dropped=(*source.dropped, *prepared.left_out))
    labels, queries = known.y, known.queries
    learned_from = parts.train if sample is None else parts.train[sample.places]
    rows = TrainingRows(
        features=prepared.features,
        y=labels[learned_from],
        queries=None if queries is None else queries[learned_from],
        holdout_y=labels[parts.holdout],
        holdout_queries=None if queries is None else queries[parts.holdout],
        goal=goal,
        random_state=random_state,
        folds=chosen_by if chosen_by is None or sample is None else chosen_by.take(sample.places),
        measured=parts.measured,
        weights=None if sample is None else sample.weights,
        n_train=parts.train.size,
    )
    trained = tuple(trained_models(rows, models, progress, max_seconds=max_seconds))
    progress(_EVALUATING, 0, 1)
    curves = {each.name: each.holdout for each in trained}
    selection = select_curves(curves, measure=goal.measure, confidence=confidence)
    winner = next(each for each in trained if each.name == selection.picked)
    threshold, no_threshold = certified_threshold(winner, goal, confidence, len(trained))
    measured = prepared.features if parts.measured is None else prepared.features.holding_out(parts.measured)
    found = (
        *found,
        *prepared.warnings,
        *(split_warnings.of_repeated_ids(known, source) if ids is not None else ()),
        *_few_in_holdout(known, winner, confidence),
        *data_warnings.of_perfection(winner, measured),
        *data_warnings.of_models(trained),
    )
    progress(_EVALUATING, 1, 1)
    reasons = _reasons(winner, measured, goal, random_state, progress)
    info = known.info(parts, chosen_by, test)
    return TrainingResult(
        goal=goal,
        confidence=confidence,
        models=trained,
        selection=selection,
        ids=known.names_of(parts.measured_rows),
        qid=None if known.qid is None else known.qid[parts.holdout],
        threshold=threshold,
        no_threshold=no_threshold,
        table=_table_info(source, known, parts, winner, prepared.columns, trained, info),
        reasons=reasons,
        warnings=found,
        provenance=Provenance(
            *(command, sha256, random_state, versions_of(_LIBRARIES)),
            place=given.place if isinstance(given, StoredTable) else "",
        ),
        groups=None if known.group_names is None else known.group_names[parts.holdout],
        measured=parts.measured,
        times=None if known.times is None else known.times[parts.measured_rows],
        profile=_with_scores(prepared, winner, goal, threshold, selection),
        summaries=prepared.summaries,
    )


def _with_scores(
    prepared: Prepared, winner: ModelResult, goal: Goal, threshold: Threshold | None, selection: Selection
) -> Profile:
    """Add the scores of the winner to the profile of the holdout."""
    scores = (winner.holdout if winner.all_rows is None else winner.all_rows).sample.scores
    found = score_profile(
        scores if prepared.counted is None else scores[prepared.counted],
        top=goal.top,
        threshold=None if threshold is None else threshold.value,
        n_models=selection.n_scorers,
        interval=selection.interval,
    )
    return replace(prepared.profile, scores=found)


def _reasons(
    winner: ModelResult, features: Features, goal: Goal, random_state: int, progress: Progress
) -> HeadReasons | None:
    """Explain the first rows of the holdout, as the winner ranks them."""
    progress(_EXPLAINING, 0, 1)
    found = head_reasons(
        [step for _, step in winner.estimator.steps[len(features.steps) :]],
        features.holdout,
        winner.scores,
        goal.n_rows(winner.scores, winner.holdout.sample.positive),
        ColumnValues.of(features.steps[0][1]),
        random_state=random_state,
    )
    progress(_EXPLAINING, 1, 1)
    return found


def _table_info(
    source: DataSource,
    known: RowRoles,
    parts: Split,
    winner: ModelResult,
    columns: tuple[Column, ...],
    trained: Sequence[ModelResult],
    info: HoldoutInfo,
) -> TableInfo:
    linear = next(each.coefficients for each in trained if each.coefficients is not None)
    measured = winner.holdout.sample.positive
    return TableInfo(
        **vars(source),
        n_rows=known.y.size,
        n_pos=int(known.y.sum()),
        n_train=parts.train.size,
        n_train_pos=int(np.count_nonzero(known.y[parts.train])),
        n_holdout=measured.size,
        n_holdout_pos=int(measured.sum()),
        n_features=len(linear),
        n_queries=None if known.queries is None else np.unique(known.queries).size,
        n_holdout_queries=None if known.queries is None else np.unique(known.queries[parts.holdout]).size,
        columns=columns,
        holdout=info,
    )


def certified_threshold(
    winner: ModelResult, goal: Goal, confidence: float, n_models: int
) -> tuple[Threshold | None, str]:
    """Return the certified threshold of the winner, or why there is none."""
    sample = winner.holdout.sample
    if sample.queries is not None:
        return None, (
            "No threshold is certified: rows of a query are not independent draws, so guarantees apply to queries, "
            "not to rows."
        )
    if goal.budget.limit >= 1:
        return None, "No threshold is needed: the budget covers all rows."
    try:
        certified = threshold_for(
            sample, goal.budget, confidence_of_each(confidence, n_models), curve=winner.holdout.whole
        )
    except TooFewRowsError as error:
        counted = "negatives" if goal.budget.kind == "max_fpr" else "rows"
        more = "rows" if winner.all_rows is None or winner.all_rows is winner.holdout else "groups"
        return None, (
            f"No threshold is certified: a budget of {goal.budget} with {percent(confidence)} confidence, for the "
            f"best of {n_models} models, needs at least {error.n_needed:,} {counted} in the holdout, which has "
            f"{error.n_given:,}. Use more {more}, a larger budget or a lower confidence."
        )
    return replace(certified, confidence=confidence), ""


def versions_of(libraries: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the installed version of each library."""
    return tuple((name, version(name)) for name in libraries)


def confidence_of_each(confidence: float, n_models: int) -> float:
    """Return the confidence to certify each threshold with, so that the statement holds for the best of several.

    The winner is selected on the rows that certify its threshold. Thresholds of all k models keep their budgets
    simultaneously with confidence c if each does with 1 - (1 - c) / k (union bound). The returned value is slightly
    larger, e with k (1 - e^2) = 1 - c^2, so that budget and TPR together also hold with the joint confidence that a
    Threshold of confidence c states, c^2 at best.

    >>> round(confidence_of_each(0.95, 3), 4), round(1 - 0.05 / 3, 4)
    (0.9836, 0.9833)
    """
    return sqrt(1 - (1 - confidence**2) / n_models)


def _few_in_holdout(known: RowRoles, winner: ModelResult, confidence: float) -> list[str]:
    sample = winner.holdout.sample
    y, queries = sample.positive, sample.queries
    if known.groups is not None:
        return data_warnings.of_few_groups(int(y.sum()), y.size, np.unique(known.groups).size, confidence)
    n_mixed = None if queries is None else np.intersect1d(queries[y], queries[~y]).size
    return data_warnings.of_few(int(y.sum()), y.size, int(known.y.sum()), n_mixed, confidence)

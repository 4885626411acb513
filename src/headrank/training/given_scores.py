"""Scores from anywhere, as the result that a training would have given: nothing is trained, all rows are measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from headrank._types import ArrayLike
from headrank.bounds.comparison.selection import select_curves
from headrank.bounds.confidence import check_confidence
from headrank.bounds.sample_curves import SampleCurves
from headrank.labels import check_binary
from headrank.training.goal import Goal
from headrank.training.result import ModelResult, TrainingResult
from headrank.training.table_info import DataSource, HoldoutInfo, Provenance, TableInfo
from headrank.training.train import certified_threshold, versions_of

_LIBRARIES = ("headrank", "numpy", "scipy")


def result_of_scores(
    y: ArrayLike,
    scores: Mapping[str, ArrayLike],
    *,
    goal: Goal,
    source: DataSource,
    qid: ArrayLike | None = None,
    confidence: float = 0.95,
    sha256: str = "",
    command: str = "",
    pos_label: Any = None,
    n_without_label: int = 0,
) -> TrainingResult:
    """Select the best of the scorers by the measure of the goal, and certify it. All guarantees pay for the selection.

    Parameters
    ----------
    y : array-like of shape (n,)
        Which rows are positive.
    scores : mapping of str to array-like of shape (n,)
        The scores of one or more scorers that were neither trained nor selected on these rows, by name.
    goal : Goal
        The part of the list that matters.
    source : DataSource
        Origin of the rows, for the report.
    qid : array-like of shape (n,), optional
        Query of each row.
    confidence : float, default=0.95
        Confidence of each guarantee.
    sha256, command : str
        Hash of the input file and the command that reproduces the report.
    pos_label : optional
        The label of the positive class in ``y``.
    n_without_label : int, default=0
        How many rows were dropped because they have no label; the report says so.

    Examples
    --------
    >>> from headrank.datasets import Binormal
    >>> y, scores = Binormal(separation=2.0).sample_classes(50, 500, random_state=0)
    >>> source = DataSource(source="scores.csv", target="ill", positive="1")
    >>> result = result_of_scores(y, {"new": scores, "old": -scores}, goal=Goal(top=0.1), source=source)
    >>> result.winner.name, result.table.n_holdout
    ('new', 550)
    """
    if not scores:
        raise ValueError("expected the scores of at least one scorer, got none")
    confidence = check_confidence(confidence)
    models = tuple(
        ModelResult(name, None, SampleCurves(check_binary(y, each, qid=qid, pos_label=pos_label)))
        for name, each in scores.items()
    )
    sample = models[0].holdout.sample.require_both_classes()
    selection = select_curves({each.name: each.holdout for each in models}, measure=goal.measure, confidence=confidence)
    winner = next(each for each in models if each.name == selection.picked)
    threshold, no_threshold = certified_threshold(winner, goal, confidence, len(models))
    n_queries = None if sample.queries is None else np.unique(sample.queries).size
    n_rows, n_pos = sample.positive.size, int(sample.n_pos)
    return TrainingResult(
        goal=goal,
        confidence=confidence,
        models=models,
        selection=selection,
        ids=np.arange(1, n_rows + 1),
        qid=None if qid is None else np.asarray(qid),
        threshold=threshold,
        no_threshold=no_threshold,
        table=TableInfo(
            **vars(source),
            n_rows=n_rows,
            n_pos=n_pos,
            n_train=0,
            n_train_pos=0,
            n_holdout=n_rows,
            n_holdout_pos=n_pos,
            n_features=0,
            n_queries=n_queries,
            n_holdout_queries=n_queries,
            columns=(),
            holdout=HoldoutInfo(kind="scores"),
        ),
        warnings=_dropped(n_without_label, n_rows),
        provenance=Provenance(command, sha256, 0, versions_of(_LIBRARIES)),
    )


def _dropped(n_without_label: int, n_rows: int) -> tuple[str, ...]:
    if not n_without_label:
        return ()
    return (
        f"{n_without_label:,} of {n_without_label + n_rows:,} rows have no label and were dropped. All guarantees are "
        "about rows like those with a label.",
    )

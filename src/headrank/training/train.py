"""train: from rows to a contest of models, judged and certified on rows that none of them has seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.metadata import version
from math import sqrt
from typing import Any, get_args

import numpy as np

from headrank._types import ArrayLike, BoolVector, IntVector
from headrank.bounds.comparison.selection import select
from headrank.bounds.confidence import check_confidence
from headrank.bounds.interval import percent
from headrank.bounds.threshold import Threshold, threshold_at
from headrank.exceptions import InvalidSampleError, TooFewRowsError
from headrank.labels import check_labels, check_queries
from headrank.measures.spelling import shown
from headrank.training import suspicions
from headrank.training.columns import Column, columns_of, conformed
from headrank.training.contest import Contest, Entrant, Facts, Origin
from headrank.training.entrants import DENSE_NUMBERS, Models, TrainingRows, entrants, too_large_for_trees
from headrank.training.features import Features, sparse_features, table_features
from headrank.training.goal import Goal
from headrank.training.holdout import Split, split
from headrank.training.progress import Progress, quiet

_LIBRARIES = ("headrank", "numpy", "scipy", "scikit-learn", "skrub", "polars")
_FEATURES = "turning columns into features"
_JUDGING = "judging on the holdout"


class Handover:
    """Features that are given away: `train` frees them as soon as it has made its own numbers of them.

    Whoever holds on to a table while it is trained on pays for it twice.

    >>> box = Handover("a table")
    >>> box.take(), box.take()
    Traceback (most recent call last):
    ValueError: these features were handed over already; read them again
    """

    def __init__(self, features: Any) -> None:
        self._features = [features]

    def take(self) -> Any:
        """Return the features, once."""
        if not self._features:
            raise ValueError("these features were handed over already; read them again")
        return self._features.pop()


def train(
    features: Any,
    y: ArrayLike,
    *,
    goal: Goal,
    origin: Origin,
    qid: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    holdout: float = 0.3,
    models: Models = "all",
    confidence: float = 0.95,
    random_state: int = 0,
    progress: Progress = quiet,
) -> Contest:
    """Keep rows aside, train every entrant on the others, pick the best on those kept aside, and certify it.

    What is promised of the best one pays for all: the intervals by `select`; the threshold is that of `threshold_at`
    with so much more confidence that thresholds of all entrants would keep their promise at once.

    What a column holds, numbers, text or dates, is decided on all rows, those kept aside included: a type belongs to
    the table, as it does in a Parquet file, and no label has a say in it. All that is learned, scales, categories and
    weights, is learned from the training rows.

    Parameters
    ----------
    features : polars.DataFrame, CSR matrix, or Handover of either
        One row per case.
    y : array-like of shape (n,)
        Which rows are positive: 0/1, -1/+1 or bool.
    goal : Goal
        Which part of the list matters.
    origin : Origin
        Where the rows come from.
    qid : array-like of shape (n,), optional
        Query of each row; queries are kept whole, and all measures are means over queries.
    ids : array-like of shape (n,), optional
        What to call the rows; by default their numbers, from 1.
    holdout : float in (0, 1), default=0.3
        The share of rows, or of queries, to keep aside.
    models : {"all", "linear"}, default="all"
        Whether gradient boosting takes part.
    confidence : float, default=0.95
        Of every promise.
    random_state : int, default=0
        The same number gives the same contest.
    progress : callable, optional
        Is told what is being done: see `headrank.training.progress`.

    Examples
    --------
    >>> import polars as pl
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(400) < 0.3
    >>> frame = pl.DataFrame({"size": rng.normal(size=400) + 2 * y, "colour": rng.choice(["red", "blue"], 400)})
    >>> origin = Origin("parts.csv", sha256="", target="broken", positive="yes")
    >>> contest = train(frame, y, goal=Goal(max_fpr=0.2), origin=origin, models="linear")
    >>> [entrant.name for entrant in contest.entrants], contest.facts.n_holdout
    (['ranker', 'logistic regression'], 120)
    """
    if models not in get_args(Models):
        raise ValueError(f"models must be one of {', '.join(map(repr, get_args(Models)))}, got {models!r}")
    confidence = check_confidence(confidence)
    taken = features.take() if isinstance(features, Handover) else features
    del features
    labels = check_labels(y)
    queries = None if qid is None else check_queries(qid)
    _require_one_per_row(taken, y=labels, qid=queries, ids=ids)
    parts = split(labels, queries, holdout=holdout, random_state=random_state)
    progress(_FEATURES, 0, 1)
    box = [taken]
    del taken
    prepared = _prepared(box, parts, random_state)
    progress(_FEATURES, 1, 1)
    numbers, y_train, y_holdout = prepared.features, labels[parts.train], labels[parts.holdout]
    rows = TrainingRows(numbers, y_train, None if queries is None else queries[parts.train], goal, random_state)
    trained = tuple(entrants(rows, models, progress))
    progress(_JUDGING, 0, 1)
    held_queries = None if queries is None else queries[parts.holdout]
    selection = select(
        {each.name: each.scores for each in trained},
        y_holdout,
        measure=goal.measure,
        confidence=confidence,
        qid=held_queries,
    )
    winner = next(each for each in trained if each.name == selection.picked)
    threshold, why_none = _threshold(winner, y_holdout, goal, confidence, len(trained), held_queries)
    said = [
        *prepared.suspicions,
        *([_NO_TREES] if models == "all" and too_large_for_trees(numbers) else []),
        *_of_holdout(labels, y_holdout, held_queries, confidence),
        *suspicions.of_perfection(winner, y_holdout, numbers),
        *suspicions.of_entrants(trained),
    ]
    progress(_JUDGING, 1, 1)
    coefficients = trained[0].coefficients
    assert coefficients is not None
    facts = Facts(
        **vars(origin),
        n_rows=labels.size,
        n_pos=int(labels.sum()),
        n_train=y_train.size,
        n_train_pos=int(y_train.sum()),
        n_holdout=y_holdout.size,
        n_holdout_pos=int(y_holdout.sum()),
        columns=prepared.columns,
        n_features=len(coefficients),
        n_queries=None if queries is None else np.unique(queries).size,
        n_holdout_queries=None if held_queries is None else np.unique(held_queries).size,
        warnings=tuple(said),
        random_state=random_state,
        versions=_versions(),
    )
    names = np.arange(1, labels.size + 1) if ids is None else np.asarray(ids)
    return Contest(
        goal=goal,
        confidence=confidence,
        entrants=trained,
        selection=selection,
        y=y_holdout,
        ids=names[parts.holdout],
        qid=None if qid is None else np.asarray(qid)[parts.holdout],
        threshold=threshold,
        no_threshold=why_none,
        facts=facts,
    )


_NO_TREES = (
    f"Gradient boosting was left out: it needs dense features, and these would be more than {DENSE_NUMBERS:,} numbers."
)


@dataclass(frozen=True, eq=False)
class _Prepared:
    """Features, the columns they were made of, and what looks wrong with them."""

    features: Features
    columns: tuple[Column, ...]
    suspicions: tuple[str, ...]


def _prepared(box: list[Any], parts: Split, random_state: int) -> _Prepared:
    """Make numbers of a table or sparse matrix, which is taken out of its box and freed on the way."""
    raw = box.pop()
    if not hasattr(raw, "schema"):
        matrix = raw.tocsr()
        repeated = suspicions.of_repeated_rows(suspicions.row_keys(matrix), parts.train, parts.holdout)
        return _Prepared(sparse_features(matrix[parts.train], matrix[parts.holdout]), (), tuple(repeated))
    columns = columns_of(raw)
    found = suspicions.in_columns(raw, columns)
    table = conformed(raw, columns)
    del raw
    found += suspicions.of_repeated_rows(suspicions.row_keys(table), parts.train, parts.holdout)
    both = [table[parts.train], table[parts.holdout]]
    del table
    return _Prepared(table_features(both, random_state=random_state), columns, tuple(found))


def _require_one_per_row(features: Any, **others: Any) -> None:
    for name, values in others.items():
        if values is not None and len(values) != features.shape[0]:
            raise InvalidSampleError(
                f"{name} must have one value per row: the table has {features.shape[0]:,} rows, {name} {len(values):,}"
            )


def _threshold(
    winner: Entrant, y: BoolVector, goal: Goal, confidence: float, n_entrants: int, queries: IntVector | None
) -> tuple[Threshold | None, str]:
    """Return the certified threshold of the winner, or why there is none."""
    if queries is not None:
        return None, (
            "No threshold is certified: rows of a query are not independent draws, and what is counted here is "
            "certain for queries, not for rows."
        )
    (kind, limit), *_ = goal.budget.items()
    if limit >= 1:
        return None, "A budget of everything needs no threshold."
    try:
        certified = threshold_at(y, winner.scores, **goal.budget, confidence=confidence_of_each(confidence, n_entrants))
    except TooFewRowsError as error:
        counted = "negatives" if kind == "max_fpr" else "rows"
        return None, (
            f"No threshold is certified: a budget of {kind}={shown(limit)} with {percent(confidence)} confidence, for "
            f"the best of {n_entrants} models, needs at least {error.n_needed:,} {counted} in the holdout, and there "
            f"are {error.n_given:,}. Use more rows, a larger budget or less confidence."
        )
    return replace(certified, confidence=confidence), ""


def confidence_of_each(confidence: float, n_entrants: int) -> float:
    """Return with which confidence a threshold is to be found, so that what it states holds for the best of several.

    The winner is picked on the rows that certify its threshold. Thresholds of all k entrants keep their budgets at once
    with confidence c if each does with 1 - (1 - c) / k (union bound). This is a little more, e with k (1 - e^2) =
    1 - c^2, for which budget and TPR together also hold with the joint confidence that a Threshold of confidence c
    states, c^2 at best.

    >>> round(confidence_of_each(0.95, 3), 4), round(1 - 0.05 / 3, 4)
    (0.9836, 0.9833)
    """
    return sqrt(1 - (1 - confidence**2) / n_entrants)


def _of_holdout(labels: BoolVector, y_holdout: BoolVector, queries: IntVector | None, confidence: float) -> list[str]:
    n_mixed = None
    if queries is not None:
        n_mixed = np.intersect1d(queries[y_holdout], queries[~y_holdout]).size
    return suspicions.of_few(int(y_holdout.sum()), y_holdout.size, int(labels.sum()), n_mixed, confidence)


def _versions() -> dict[str, str]:
    return {name: version(name) for name in _LIBRARIES}

"""Why a row is at the top: what each column adds to its score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from headrank._types import IntVector, Vector
from headrank.estimators.scaling import SoftScaler
from headrank.training.column_values import ColumnValues
from headrank.training.directions import directions
from headrank.training.encoding import TableEncoder
from headrank.training.features import Matrix, OccurringFeatures

_NUMBERS_AT_A_TIME = 2_000_000
_MOST_EXPLAINED = 20
"""First rows that are explained, and others they are compared with."""


_ENCODING = (TableEncoder, OccurringFeatures, Matrix)


@dataclass(frozen=True, eq=False)
class Reasons:
    """What the columns of a table add to the scores of some rows; features made of one column are added up.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns; of an svmlight file, its features.
    values : array of shape (n_rows, n_columns)
        What each column adds to the score of each row, compared with an average row.
    texts : tuple of str
        Of each row, the columns that raise its score most, with their values.
    """

    columns: tuple[str, ...]
    values: Vector
    texts: tuple[str, ...]


def reasons(estimator: Any, rows: Any, *, n_columns: int = 3) -> Reasons | None:
    """Explain the scores of rows; None if the model cannot: trees by scikit-learn, and models of 0.1.

    Parameters
    ----------
    estimator : Pipeline
        Of a `TableModel`: from columns, or a sparse matrix, to scores.
    rows : polars.DataFrame or CSR matrix
        As the pipeline takes them.
    n_columns : int, default=3
        Columns that each text names at most.
    """
    if not isinstance(estimator, Pipeline) or not isinstance(estimator[0], TableEncoder | OccurringFeatures):
        return None
    steps = [step for _, step in estimator.steps]
    n_encoding = next(
        i for i, step in enumerate(steps) if not isinstance(step, TableEncoder | OccurringFeatures | Matrix)
    )
    columns = ColumnValues.of(steps[0])
    blocks = max(1, _NUMBERS_AT_A_TIME // max(1, columns.of_feature.size))
    parts = []
    for start in range(0, rows.shape[0], blocks):
        X = rows[start : start + blocks]
        for step in steps[:n_encoding]:
            X = step.transform(X)
        part = reasons_of_features(steps[n_encoding:], X, columns, n_columns=n_columns)
        if part is None:
            return None
        parts.append(part)
    values = np.concatenate([part.values for part in parts])
    return Reasons(parts[0].columns, values, tuple(text for part in parts for text in part.texts))


def reasons_of_features(
    steps: Sequence[Any],
    X: Any,
    columns: ColumnValues,
    *,
    n_columns: int = 3,
    added: Vector | None = None,
) -> Reasons | None:
    """Explain the scores of rows that have been encoded; None if the model cannot.

    Linear models: weights times centred features, exactly. Trees: Shapley values by LightGBM, at some milliseconds per
    row for boosted trees, and up to a second for forests.

    Parameters
    ----------
    steps : sequence of estimators
        Scaling, if any, and the model.
    X : array or CSR matrix of shape (n_rows, n_features)
        The features.
    columns : ColumnValues
        The columns that the features were made of.
    n_columns : int, default=3
        Columns that each text names at most.
    added : array of shape (n_rows, n_features), optional
        What each feature adds, if it is known already.
    """
    added = _of_features(steps[-1], steps[:-1], X) if added is None else added
    if added is None:
        return None
    values = np.zeros((added.shape[0], len(columns.columns)))
    np.add.at(values.T, columns.of_feature, added.T)
    dense = X.toarray() if hasattr(X, "toarray") else X
    texts = (
        "; ".join(columns.text(column, dense[i]) for column in _highest(values[i], n_columns))
        for i in range(added.shape[0])
    )
    return Reasons(columns.columns, values, tuple(texts))


def _of_features(model: Any, scalers: Sequence[Any], X: Any) -> Vector | None:
    """What each feature adds to the scores of rows, before scaling; None if that is not known."""
    if hasattr(model, "contributions"):
        try:
            result: Vector = model.contributions(X)[:, :-1]
        except NotImplementedError:  # trees by scikit-learn, where LightGBM could not be loaded
            return None
        return result
    if not hasattr(model, "coef_"):
        return None
    scaled = X
    for scaler in scalers:
        scaled = scaler.transform(scaled)
    added: Vector = (scaled.toarray() if hasattr(scaled, "toarray") else scaled) * np.ravel(model.coef_)
    result = added[:, : X.shape[1]].copy()
    for scaler in scalers:
        if isinstance(scaler, SoftScaler):  # whether a value is missing is a feature of the same column
            result[:, scaler.gaps_] += added[:, X.shape[1] :]
    return result


def _highest(values: Vector, n: int) -> IntVector:
    """Numbers of the highest values above 0, the highest first."""
    order = np.argsort(-values, kind="stable")[:n]
    return order[values[order] > 0]


@dataclass(frozen=True, eq=False)
class HeadReasons:
    """Why the first rows of a ranking are there.

    Attributes
    ----------
    rows : int array
        Numbers of the first rows, the best first.
    texts : tuple of str
        Of each of them, the columns that raise its score most.
    columns : tuple of str
        All columns.
    lifts : array
        What each column adds to the scores of these rows on average, minus what it adds to those of other rows.
    n_others : int
        Number of other rows, drawn at random from those outside the head.
    directions : tuple of str
        Which values of each column raise the score, in a few words; empty if that is not known.
    """

    rows: IntVector
    texts: tuple[str, ...]
    columns: tuple[str, ...]
    lifts: Vector
    n_others: int
    directions: tuple[str, ...] = ()


def head_reasons(
    steps: Sequence[Any],
    X: Any,
    scores: Vector,
    n_head: int,
    columns: ColumnValues,
    *,
    random_state: int,
) -> HeadReasons | None:
    """Explain the first rows, at most 20, and compare them with as many outside the head; None if the model cannot.

    Parameters
    ----------
    steps, columns
        As in `reasons_of_features`.
    X : array or CSR matrix
        Features of all rows.
    scores : array
        Scores of all rows.
    n_head : int
        Rows in the part of the list that matters.
    random_state : int
        Seed of the draw of the others.
    """
    order = np.argsort(-scores, kind="stable")
    n_first = min(max(n_head, 1), _MOST_EXPLAINED, max(scores.size - 1, 1))
    n_head = min(max(n_head, n_first), max(scores.size - 1, n_first))
    first, rest = order[:n_first], order[n_head:]
    others = np.random.default_rng(random_state).permutation(rest)[:_MOST_EXPLAINED]
    kept = X[np.concatenate([first, others])]
    rows = kept if hasattr(kept, "nnz") else Matrix().transform(kept)
    added = _of_features(steps[-1], steps[:-1], rows)
    if added is None:
        return None
    found = reasons_of_features(steps, rows, columns, added=added)
    assert found is not None
    lifts, of_each = (_lifts(each, n_first) for each in (found.values, added))
    dense = rows.toarray() if hasattr(rows, "toarray") else rows
    moved = directions(added, dense, columns.feature_names, columns.of_feature, of_each)
    return HeadReasons(first, found.texts[:n_first], found.columns, lifts, others.size, moved)


def _lifts(values: Vector, n_first: int) -> Vector:
    """What is added to the first rows on average, minus what is added to the others."""
    result: Vector = values[:n_first].mean(axis=0)
    return result - values[n_first:].mean(axis=0) if values.shape[0] > n_first else result

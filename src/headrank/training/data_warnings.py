"""What looks wrong with the data? Each warning is a sentence with what to do; none stops the training."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from headrank._format import percent
from headrank._types import BoolVector, IntVector, Vector
from headrank.bounds.inequalities.binomial import clopper_pearson
from headrank.measures import AUC
from headrank.training.columns import LARGEST, Column, listed
from headrank.training.features import Features
from headrank.training.result import ModelResult

if TYPE_CHECKING:
    import polars as pl

_PERFECT = 0.9999
_GIVES_AWAY = 0.99
"""AUC of a feature alone from which on it is named."""
_LEAST_IDS = 20
"""Fewer rows than this may well be distinct by chance."""
_FEW = 30
_WANTED = 0.05
_REPEATED = 0.01
_ROWS_LOOKED_AT = 20_000
_FEATURES_LOOKED_AT = 2_000
_TEXTS_LOOKED_AT = 200
_DATE = re.compile(
    r"(\d{4}[./ -]\d{1,2}[./ -]\d{1,2}|\d{1,2}[./ -]\d{1,2}[./ -](\d{4}|\d{2})|\d{1,2}[. -]*[^\W\d]{3,}[., -]*\d{2,4}"
    r"|[^\W\d]{3,}[. ]*\d{1,2},? *\d{4})([ T,].*)?"
)
"""2024-02-29T17:30+01:00, 29.2.2024, 2/29/24, 29 Feb 2024, Feb 29, 2024."""


def in_columns(frame: pl.DataFrame, columns: Sequence[Column]) -> list[str]:
    """Look at the columns by themselves: empty, constant, infinite, dates of another kind, all distinct."""
    found, schema = [], frame.schema  # made anew each time that it is asked for
    empty = [column.name for column in columns if column.n_distinct == 0]
    constant = [column.name for column in columns if column.n_distinct == 1 and column.n_missing == 0]
    if empty:
        found.append(f"No value at all in {_columns(empty)}; not used.")
    if constant:
        found.append(f"The same value in every row of {_columns(constant)}; not used.")
    infinite = {
        column.name: n
        for column in columns
        if schema[column.name].is_float() and (n := _n_infinite(frame[column.name]))
    }
    if infinite:
        found.append(
            f"{sum(infinite.values()):,} infinite (or larger than {LARGEST:g}) numbers in {_columns(list(infinite))}; "
            "they count as missing. Replace them if they mean something else."
        )
    dates = [column.name for column in columns if column.kind == "text" and _looks_like_dates(frame[column.name])]
    if dates:
        one, named = len(dates) == 1, _columns(dates)
        found.append(
            f"{named[0].upper()}{named[1:]} {'looks' if one else 'look'} like dates, but not as YYYY-MM-DD; "
            f"{'it is' if one else 'they are'} used as text: write dates so."
        )
    ids = [
        column.name
        for column in columns
        if column.name not in dates and _looks_like_id(column, schema[column.name], frame.height)
    ]
    if ids:
        one = len(ids) == 1
        found.append(
            f"Every row has another value in {_columns(ids)}, which {'looks like an id' if one else 'look like ids'}, "
            f"but {'was' if one else 'were'} used all the same: what is learned from an id does not hold for new rows. "
            f"If so, name {'it with --id, or leave it' if one else 'one with --id, and leave the others'} out with "
            "--drop, and fit again."
        )
    return found


def of_repeated_rows(keys: Any, train: IntVector, holdout: IntVector) -> list[str]:
    """Look for holdout rows that are among the training rows."""
    n = int(np.isin(keys[holdout], keys[train]).sum())
    if n <= _REPEATED * holdout.size:
        return []
    return [
        f"{n:,} of {holdout.size:,} holdout rows ({n / holdout.size:.1%}) equal some training row in every "
        "feature. That is no harm if features take few values; but if they are the same cases twice, the estimates are "
        "too good: remove the repeated rows."
    ]


def of_few(n_pos: int, n_rows: int, n_table_pos: int, n_queries: int | None, confidence: float) -> list[str]:
    """Say what to expect of so few positives, or queries, in the holdout, and how many it would take."""
    if n_queries is not None:
        if n_queries >= _FEW:
            return []
        return [
            f"The holdout has {n_queries:,} queries with both classes; what is certain of a mean over so few queries "
            f"is little. Bring more queries: {_FEW} in the holdout at least, some hundreds for an error of {_WANTED:g}."
        ]
    if n_pos >= _FEW:
        return []
    needed = positives_needed(_WANTED, confidence)
    return [
        f"The holdout has only {n_pos:,} positives among {n_rows:,} rows: the share of positives found, even by one "
        f"model at a threshold fixed beforehand, is then known to about ±{half_width(n_pos, confidence):.2f} with "
        f"{percent(confidence)} confidence, and what is stated of the best of several models less well. For "
        f"±{_WANTED:g} it takes at least {needed:,} positives in the holdout, so "
        f"{round(needed * n_table_pos / n_pos):,} or more in the table."
    ]


def half_width(n: int, confidence: float) -> float:
    """Half the width of the exact interval of a rate near one half, from n rows: no statement about it is sharper.

    >>> round(half_width(10, 0.95), 2), round(half_width(402, 0.95), 3)
    (0.31, 0.05)
    """
    low, high = clopper_pearson(n // 2, n, (1 - confidence) / 2)
    return (high - low) / 2


def positives_needed(width: float, confidence: float) -> int:
    """Return the fewest rows, to the next ten, that give such a half width.

    >>> positives_needed(0.05, 0.95)
    410
    """
    n = 10
    while half_width(n, confidence) > width:
        n += 10
    return n


def of_perfection(winner: ModelResult, features: Features) -> list[str]:
    """Suspect a leak where nothing is left to learn, and name the columns that give the answer away by themselves."""
    sample = winner.holdout.sample
    # Of all rows together, also where there are queries.
    auc = AUC()(sample.positive, sample.scores) if sample.queries is not None else AUC().value(winner.holdout.whole)
    if auc <= _PERFECT:
        return []
    alone = _best_alone(sample.positive, features)
    said = (
        f"These columns give it away alone: {listed(f'{name!r} (AUC {value:.4f})' for name, value in alone.items())}."
        if alone
        else "No column does so alone."
    )
    return [
        f"The holdout is ranked perfectly (AUC {float(auc):.5f}), which is rarely true: perhaps a column was written "
        f"after the outcome was known, or is made from it. {said} If a column would not be known when it is needed, "
        "leave it out with --drop."
    ]


def of_models(models: Sequence[ModelResult]) -> list[str]:
    """Name the models that have learned nothing."""
    return [
        f"The {each.name} has learned nothing: it found no direction in which the positives come first. Check that the "
        "columns say anything about the target, or ask for a wider part of the list."
        for each in models
        if each.collapsed
    ]


def row_keys(features: Any) -> Any:
    """One number per row; equal rows have equal numbers, and others, but for odds of one in billions, have not."""
    if hasattr(features, "hash_rows"):
        return features.hash_rows(seed=0).to_numpy()
    return features @ np.random.default_rng(0).normal(size=features.shape[1])


def _best_alone(y: BoolVector, features: Features) -> dict[str, float]:
    """Columns whose best feature ranks the holdout nearly perfectly, up or down; a gap is the lowest value."""
    if len(features.names) > _FEATURES_LOOKED_AT:
        return {}
    rows = np.arange(y.size)
    if y.size > _ROWS_LOOKED_AT:
        rng = np.random.default_rng(0)
        half = _ROWS_LOOKED_AT // 2
        rows = np.concatenate([rng.permutation(rows[side])[:half] for side in (y, ~y)])
    X = features.holdout[rows]
    best: dict[str, float] = {}
    for j, column in enumerate(features.origins):
        values: Vector = X[:, [j]].toarray()[:, 0] if hasattr(X, "toarray") else X[:, j].astype(np.float64)
        gaps = ~np.isfinite(values)
        if gaps.all():
            continue
        area = float(AUC()(y[rows], np.where(gaps, values[~gaps].min() - 1, values)))
        area = max(area, 1 - area)
        if area >= max(_GIVES_AWAY, best.get(column, 0.0)):
            best[column] = area
    return dict(sorted(best.items(), key=lambda item: -item[1]))


def _n_infinite(series: pl.Series) -> int:
    return int((series.is_not_nan() & (series.abs() > LARGEST)).sum())


def _looks_like_dates(series: pl.Series) -> bool:
    values = [str(value).strip() for value in series.drop_nulls().head(_TEXTS_LOOKED_AT)]
    return any(values) and all(_DATE.fullmatch(value) for value in values if value)


def _looks_like_id(column: Column, dtype: pl.DataType, n_rows: int) -> bool:
    if column.n_missing or column.n_distinct < max(n_rows, _LEAST_IDS):
        return False
    return column.kind == "text" or dtype.is_integer()


def _columns(names: Sequence[str]) -> str:
    return f"the column{'s' if len(names) > 1 else ''} {listed(map(repr, names))}"

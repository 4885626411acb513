"""Warnings about the data. Each says what to do; none stops the training."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
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
"""Smallest AUC of a single feature that is reported as a possible leak."""
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
    """Warn about columns that are empty, constant, infinite, all distinct, or dates in an unknown format."""
    return [said for look in _LOOKS_AT_COLUMNS for said in look(frame, columns)]


def _of_empty(_frame: pl.DataFrame, columns: Sequence[Column]) -> list[str]:
    empty = [column.name for column in columns if column.n_distinct == 0]
    return [f"There are no values in {_columns(empty)}; not used."] if empty else []


def _of_constant(_frame: pl.DataFrame, columns: Sequence[Column]) -> list[str]:
    constant = [column.name for column in columns if column.n_distinct == 1 and column.n_missing == 0]
    return [f"All rows have the same value in {_columns(constant)}; not used."] if constant else []


def _of_infinite(frame: pl.DataFrame, columns: Sequence[Column]) -> list[str]:
    schema = frame.schema  # made anew each time that it is asked for
    floats = [column.name for column in columns if schema[column.name].is_float()]
    infinite = {name: n for name in floats if (n := _n_infinite(frame[name]))}
    if not infinite:
        return []
    return [
        f"{sum(infinite.values()):,} infinite (or larger than {LARGEST:g}) numbers in {_columns(list(infinite))}; "
        "they are treated as missing. Replace them if they mean something else."
    ]


def _of_dates(frame: pl.DataFrame, columns: Sequence[Column]) -> list[str]:
    dates = [column.name for column in columns if _looks_like_dates(frame, column)]
    if not dates:
        return []
    one, named = len(dates) == 1, _columns(dates)
    return [
        f"{named[0].upper()}{named[1:]} {'looks' if one else 'look'} like dates, but not as YYYY-MM-DD, and "
        f"{'is' if one else 'are'} used as text. Write dates as YYYY-MM-DD."
    ]


def _of_ids(frame: pl.DataFrame, columns: Sequence[Column]) -> list[str]:
    ids = like_ids(frame, columns)
    if not ids:
        return []
    one = len(ids) == 1
    remedy = "name it with --id or remove it" if one else "name one with --id, remove the others"
    return [
        f"All values are distinct in {_columns(ids)}, which {'looks like an id' if one else 'look like ids'} but "
        f"{'was' if one else 'were'} used as {'a feature' if one else 'features'}: what is learned from an id does "
        f"not hold for new rows. If so, {remedy} with --drop, and fit again."
    ]


def like_ids(frame: pl.DataFrame, columns: Sequence[Column]) -> list[str]:
    """Name the columns that look like ids: text or whole numbers, all values distinct."""
    schema = frame.schema
    distinct = [column for column in columns if _looks_like_id(column, schema[column.name], frame.height)]
    return [column.name for column in distinct if not _looks_like_dates(frame, column)]


_LOOKS_AT_COLUMNS: tuple[Callable[[pl.DataFrame, Sequence[Column]], list[str]], ...] = (
    _of_empty,
    _of_constant,
    _of_infinite,
    _of_dates,
    _of_ids,
)
"""In the order in which they are reported."""


def of_repeated_rows(keys: Any, train: IntVector, holdout: IntVector) -> list[str]:
    """Warn if holdout rows also occur among the training rows."""
    n = int(np.isin(keys[holdout], keys[train]).sum())
    if n <= _REPEATED * holdout.size:
        return []
    return [
        f"{n:,} of {holdout.size:,} holdout rows ({n / holdout.size:.1%}) equal a training row in every feature. This "
        "is harmless if features have few distinct values; but if the same cases occur twice, the estimates are too "
        "optimistic: remove the duplicates, or keep rows of one case together with --group."
    ]


def of_few(n_pos: int, n_rows: int, n_table_pos: int, n_queries: int | None, confidence: float) -> list[str]:
    """Warn if the holdout has few positives or queries, and say how many are needed."""
    if n_queries is not None:
        if n_queries >= _FEW:
            return []
        return [
            f"The holdout has only {n_queries:,} queries with both classes, so a mean over queries is very uncertain. "
            f"Use more queries: at least {_FEW} in the holdout, several hundred for an error of {_WANTED:g}."
        ]
    if n_pos >= _FEW:
        return []
    needed = positives_needed(_WANTED, confidence)
    return [
        f"The holdout has only {n_pos:,} positives among {n_rows:,} rows. {_known_to(n_pos, confidence)} For "
        f"±{_WANTED:g} you need at least {needed:,} positives in the holdout, or "
        f"{round(needed * n_table_pos / n_pos):,} in the table."
    ]


def of_few_groups(n_pos: int, n_holdout: int, n_groups: int, confidence: float) -> list[str]:
    """Warn if the drawn rows of few groups of the holdout are positive, and say how many groups are needed."""
    if n_pos >= _FEW:
        return []
    needed = positives_needed(_WANTED, confidence)
    return [
        f"Of the {n_holdout:,} groups of the holdout, only {n_pos:,} count as positive. {_known_to(n_pos, confidence)} "
        f"For ±{_WANTED:g} you need at least {needed:,} of them, or about {round(needed * n_groups / n_pos):,} groups "
        "in the table."
    ]


def _known_to(n_pos: int, confidence: float) -> str:
    return (
        f"With {percent(confidence)} confidence, the share of positives found is then known to about "
        f"±{half_width(n_pos, confidence):.2f} for one model at a threshold fixed in advance, and less precisely for "
        "the best of several models."
    )


def half_width(n: int, confidence: float) -> float:
    """Return half the width of the exact (Clopper-Pearson) interval of a rate near one half from n rows.

    >>> round(half_width(10, 0.95), 2), round(half_width(402, 0.95), 3)
    (0.31, 0.05)
    """
    low, high = clopper_pearson(n // 2, n, (1 - confidence) / 2)
    return (high - low) / 2


def positives_needed(width: float, confidence: float) -> int:
    """Return the smallest number of rows, a multiple of ten, with at most this half width.

    >>> positives_needed(0.05, 0.95)
    410
    """
    n = 10
    while half_width(n, confidence) > width:
        n += 10
    return n


def of_perfection(winner: ModelResult, features: Features) -> list[str]:
    """Warn about a possible leak if the ranking is perfect, and name columns that alone rank nearly perfectly."""
    sample = winner.holdout.sample
    # Over all rows together, even with queries.
    auc = AUC()(sample.positive, sample.scores) if sample.queries is not None else AUC().value(winner.holdout.whole)
    if auc <= _PERFECT:
        return []
    alone = _best_alone(sample.positive, features)
    said = (
        f"Columns that suffice alone: {listed(f'{name!r} (AUC {value:.4f})' for name, value in alone.items())}."
        if alone
        else "No column suffices alone."
    )
    return [
        f"The holdout is ranked perfectly (AUC {float(auc):.5f}), which usually indicates a leak: a column may have "
        f"been recorded after the outcome was known, or computed from it. {said} If a column is not available at "
        "prediction time, remove it with --drop."
    ]


def of_models(models: Sequence[ModelResult]) -> list[str]:
    """Name the models that learned nothing, and families that were left out."""
    collapsed = [
        f"The {each.name} learned nothing: it found no direction in which the positives rank first. Check that the "
        "columns are related to the target, or choose a wider part of the list."
        for each in models
        if each.collapsed
    ]
    incomplete = [
        f"The {each.name} was trained without {_and(families)}: {reason}."
        for each in models
        for reason, families in _by_reason(each.left_out).items()
    ]
    return [*collapsed, *incomplete]


def _by_reason(left_out: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the families left out for each reason."""
    found: dict[str, list[str]] = {}
    for family, reason in left_out.items():
        found.setdefault(reason, []).append(family)
    return found


def _and(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def row_keys(features: Any) -> Any:
    """Return one number per row: equal for equal rows and, except with negligible probability, distinct otherwise."""
    if hasattr(features, "hash_rows"):
        return features.hash_rows(seed=0).to_numpy()
    return features @ np.random.default_rng(0).normal(size=features.shape[1])


def _best_alone(y: BoolVector, features: Features) -> dict[str, float]:
    """Columns with a feature that ranks the holdout nearly perfectly, up or down; missing values rank lowest."""
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
        missing = ~np.isfinite(values)
        if missing.all():
            continue
        area = float(AUC()(y[rows], np.where(missing, values[~missing].min() - 1, values)))
        area = max(area, 1 - area)
        if area >= max(_GIVES_AWAY, best.get(column, 0.0)):
            best[column] = area
    return dict(sorted(best.items(), key=lambda item: -item[1]))


def _n_infinite(series: pl.Series) -> int:
    return int((series.is_not_nan() & (series.abs() > LARGEST)).sum())


def _looks_like_dates(frame: pl.DataFrame, column: Column) -> bool:
    if column.kind != "text":
        return False
    values = [str(value).strip() for value in frame[column.name].drop_nulls().head(_TEXTS_LOOKED_AT)]
    return any(values) and all(_DATE.fullmatch(value) for value in values if value)


def _looks_like_id(column: Column, dtype: pl.DataType, n_rows: int) -> bool:
    if column.n_missing or column.n_distinct < max(n_rows, _LEAST_IDS):
        return False
    return column.kind == "text" or dtype.is_integer()


def _columns(names: Sequence[str]) -> str:
    return f"the column{'s' if len(names) > 1 else ''} {listed(map(repr, names))}"

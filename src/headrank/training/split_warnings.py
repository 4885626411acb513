"""Warnings about the split: rows on both sides that belong together, and tables that change over time."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from headrank._format import rounded_percent
from headrank._types import BoolVector, IntVector, Vector
from headrank.training import data_warnings
from headrank.training.columns import Column, listed
from headrank.training.holdout_time import printed_time

if TYPE_CHECKING:
    import polars as pl

    from headrank.training.design import RowRoles
    from headrank.training.holdout import Split
    from headrank.training.table_info import DataSource

_REPEATED = 0.01
"""Share of repeated ids, or of nearly equal holdout rows, above which they are reported."""
_CELL = 0.01
"""Rows are nearly equal if their ranks in each column differ by about this share of the rows."""
_LEAST_PER_CELL = 160
"""Ranks per cell, so that two neighbouring ranks are seldom in different cells."""
_FINER = 4
_COLUMNS_COMPARED = 8
_LEAST_ROWS = 200
_CLEAR = 5.0
"""Standard deviations that are no chance, however many columns are looked at."""
_DRIFT = 0.15
"""Distance from 1/2 of the probability that a late row exceeds an early one."""
_ID_PREDICTS = 0.1
_RATIO = 1.25
_SEPARATES = 0.99
_ROWS_LOOKED_AT = 20_000
_COLUMNS_LOOKED_AT = 200


def of_repeated_ids(known: RowRoles, source: DataSource) -> list[str]:
    """Warn if the names of the rows repeat, unless they are kept together."""
    if known.groups is not None or known.queries is not None:
        return []
    names = known.names_of(np.arange(known.n_table))
    n_repeated = names.size - len(set(names.tolist()))
    if n_repeated <= _REPEATED * names.size:
        return []
    column = "id" if source.id_column is None else source.id_column
    return [
        f"{n_repeated:,} of {names.size:,} rows repeat a value of {column!r}, so rows of one {column!r} are in "
        "training and in the holdout, and count as independent. If they belong to one patient, customer or the like, "
        f"the numbers are too optimistic: fit again with --group instead of --id for {column!r}."
    ]


def in_table(
    table: pl.DataFrame, ids: Sequence[str], columns: Sequence[Column], known: RowRoles, parts: Split
) -> list[str]:
    """Warn about repeated and nearly equal rows on both sides, changes over time, and ids that predict."""
    features = table.drop(ids)
    found = []
    if features.width:
        keys = data_warnings.row_keys(features)
        found = data_warnings.of_repeated_rows(keys, parts.train, parts.holdout)
        if not found and known.groups is None:
            telling = _telling_numbers(features, columns, known.n_table)
            found = of_nearly_equal_rows(features, telling, keys, parts.train, parts.holdout)
    if known.n_table < known.y.size:
        found += of_separated_files(features, columns, known.n_table)
    elif known.times is None:
        found += of_drift(features, columns, known.y)
    return found + of_predicting_ids(table.select(ids), known.y)


# -- rows on both sides --------------------------------------------------------------------------------------------


def of_nearly_equal_rows(
    table: pl.DataFrame, numbers: Sequence[str], keys: Any, train: IntVector, holdout: IntVector
) -> list[str]:
    """Warn if many holdout rows nearly equal a training row, as copies with a little noise do. O(n log n).

    Rows are compared by their cells: the ranks of these columns of numbers, in steps of 1 %, and all values of
    the columns that are not numbers. Pairs of rows share a cell by chance as well, very many in a dense or discrete
    table. But their number falls at least in proportion to the size of the cells, whereas copies remain together in
    smaller cells. So it is reported only if cells of a quarter of the size still have most of the pairs.
    """
    n = table.height
    if not numbers or n < _LEAST_ROWS:
        return []
    size = max(_CELL, _LEAST_PER_CELL / n)
    rest = [name for name, kind in table.schema.items() if not kind.is_float()]
    others = data_warnings.row_keys(table.select(rest)) if rest else np.zeros(n, dtype=np.uint64)
    ranks = [_ranks(table[name]) for name in numbers]
    coarse, fine = (_cells(ranks, others, width) for width in (size, size / _FINER))
    pairs = [near_pairs(cells, keys, train, holdout) for cells in (coarse, fine)]
    if 2 * pairs[1] <= pairs[0]:
        return []
    equal = np.isin(keys[holdout], keys[train])
    near = int(np.count_nonzero(np.isin(fine[holdout], fine[train]) & ~equal))
    if near <= _REPEATED * holdout.size:
        return []
    return [
        f"At least {near:,} of {holdout.size:,} holdout rows ({near / holdout.size:.1%}) nearly equal a training row "
        f"(compared by {listed(map(repr, numbers))}). If they are copies or belong to the same case, the estimates are "
        "too optimistic: remove the copies, or keep rows of one case together with --group."
    ]


def near_pairs(cells: Any, keys: Any, train: IntVector, holdout: IntVector) -> int:
    """Count the pairs of a training and a holdout row that share a cell but are not equal."""
    return _common(cells[train], cells[holdout]) - _common(keys[train], keys[holdout])


def _common(one: Any, other: Any) -> int:
    """Count the pairs of equal numbers, one of each array."""
    _, codes = np.unique(np.concatenate([one, other]), return_inverse=True)
    n = int(codes.max()) + 1
    return int(np.bincount(codes[: one.size], minlength=n) @ np.bincount(codes[one.size :], minlength=n))


def _telling_numbers(table: pl.DataFrame, columns: Sequence[Column], n_rows: int) -> list[str]:
    """The first columns of numbers most of whose values are distinct."""
    found = [
        column.name
        for column in columns
        if column.kind == "number" and 2 * column.n_distinct > n_rows and column.name in table.columns
    ]
    return found[:_COLUMNS_COMPARED]


def _ranks(column: pl.Series) -> Vector:
    """Ranks as shares of the rows, equal for equal values; missing values have rank -1."""
    ranks: Vector = column.rank("average").fill_null(-column.len()).to_numpy() / column.len()
    return ranks


def _cells(ranks: Sequence[Vector], others: Any, size: float) -> Any:
    """Return one number per row, equal for rows in one cell."""
    rng = np.random.default_rng(0)
    mixed = others.astype(np.uint64)
    for each in ranks:
        # A product of odd numbers in 64 bits: other cells collide with negligible probability.
        place = np.floor(each / size).astype(np.int64).astype(np.uint64)
        factor, offset = rng.integers(1, 2**62, 2, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
        mixed = (mixed ^ (place * factor + offset)) * factor
        mixed ^= mixed >> np.uint64(29)
    return mixed


# -- columns -------------------------------------------------------------------------------------------------------


def of_drift(table: pl.DataFrame, columns: Sequence[Column], y: BoolVector) -> list[str]:
    """Warn if the target or a feature changes along a column of dates: a random split would not show it."""
    for column in columns:
        if column.kind != "date" or column.name not in table.columns or column.n_missing:
            continue
        times = table[column.name].to_numpy()
        middle = np.sort(times)[times.size // 2]
        late = times >= middle
        if not _LEAST_ROWS <= np.count_nonzero(late) <= times.size - _LEAST_ROWS:
            continue
        others = table.drop([each.name for each in columns if each.kind == "date" and each.name in table.columns])
        said = [*_rate_change(y, late, middle), *_feature_changes(others, late)]
        if said:
            return [
                f"Rows differ along the date {column.name!r}: {'; '.join(said)}. The holdout is drawn from the whole "
                "period, so its numbers hold for rows of this period. If new rows are later ones, hold out the latest: "
                f"fit again with --time for {column.name!r}."
            ]
    return []


def _rate_change(y: BoolVector, late: BoolVector, middle: Any) -> list[str]:
    before, after, overall = float(y[~late].mean()), float(y[late].mean()), float(y.mean())
    error = sqrt(overall * (1 - overall) * (1 / np.count_nonzero(late) + 1 / np.count_nonzero(~late)))
    if abs(after - before) < _CLEAR * error or max(after, before) < _RATIO * min(after, before):
        return []
    return [
        f"{rounded_percent(before)} are positive before {printed_time(middle)}, {rounded_percent(after)} from then on"
    ]


def _feature_changes(table: pl.DataFrame, late: BoolVector) -> list[str]:
    areas = {name: area for name, area in _areas(table, late).items() if abs(area - 0.5) > _DRIFT}
    if not areas:
        return []
    first = sorted(areas, key=lambda name: -abs(areas[name] - 0.5))
    return [f"the values of {listed(map(repr, first[:3]))} shift"]


def of_separated_files(table: pl.DataFrame, columns: Sequence[Column], n_table: int) -> list[str]:
    """Warn about columns by which the rows of both files can be told apart."""
    test = np.arange(table.height) >= n_table
    found = [name for name, area in _areas(table, test).items() if max(area, 1 - area) >= _SEPARATES]
    dates = {column.name for column in columns if column.kind == "date"}
    if not found:
        return []
    one = len(found) == 1
    later = " A later period is a fair test if new rows are later still." if dates & set(found) else ""
    return [
        f"The column{'' if one else 's'} {listed(map(repr, found))} alone tell{'s' if one else ''} the rows of both "
        f"files apart (AUC at least {_SEPARATES}): what is learned from {'it' if one else 'them'} may not hold in the "
        f"holdout.{later} If {'it numbers' if one else 'they number'} the rows, leave {'it' if one else 'them'} out "
        "with --drop."
    ]


def of_predicting_ids(ids: pl.DataFrame, y: BoolVector) -> list[str]:
    """Warn if a column of distinct values, used as a feature, is related to the target."""
    found = {}
    for column in ids:
        codes = np.unique(column.to_numpy(), return_inverse=True)[1]
        area = _area(codes, y)
        if abs(area - 0.5) > max(_ID_PREDICTS, _CLEAR * _chance_error(y)):
            found[column.name] = max(area, 1 - area)
    if not found:
        return []
    named = listed(f"{name!r} (AUC {value:.2f})" for name, value in found.items())
    one = len(found) == 1
    return [
        f"The id-like column{'' if one else 's'} {named} predict{'s' if one else ''} the target: the rows seem to be "
        "numbered in an order that depends on it, such as by class or over time. New rows will be numbered otherwise: "
        f"leave {'it' if one else 'them'} out with --drop; if rows are numbered over time, give --time instead."
    ]


def _areas(table: pl.DataFrame, later: BoolVector) -> dict[str, float]:
    """Of each column of numbers or dates, the probability that a value on one side exceeds one on the other."""
    rows = np.arange(later.size)
    if rows.size > _ROWS_LOOKED_AT:
        rows = np.sort(np.random.default_rng(0).choice(rows, _ROWS_LOOKED_AT, replace=False))
    areas = {}
    numbers = [name for name, kind in table.schema.items() if kind.is_numeric() or kind.is_temporal()]
    for name in numbers[:_COLUMNS_LOOKED_AT]:
        column = table[name][rows]
        present = column.is_not_null().to_numpy()
        side = later[rows][present]
        if min(np.count_nonzero(side), np.count_nonzero(~side)) < _LEAST_ROWS // 2:
            continue
        area = _area(column.drop_nulls().rank("average").to_numpy(), side)
        if abs(area - 0.5) > _CLEAR * _chance_error(side):
            areas[name] = area
    return areas


def _area(ranks: Any, side: BoolVector) -> float:
    """Return the AUC of ranks, which count from any number, ties averaged."""
    n_pos, n = int(np.count_nonzero(side)), side.size
    mean = (float(ranks[side].mean()) - float(ranks[~side].mean())) / n
    return 0.5 + mean if 0 < n_pos < n else 0.5


def _chance_error(side: BoolVector) -> float:
    """Return the standard deviation of the AUC of a column that is unrelated to the side."""
    n_pos, n_neg = int(np.count_nonzero(side)), int(np.count_nonzero(~side))
    return sqrt((n_pos + n_neg + 1) / (12 * max(n_pos * n_neg, 1)))

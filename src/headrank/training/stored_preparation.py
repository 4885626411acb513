"""Prepared rows of a stored table: a sample of the training rows in memory, all others read when they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from headrank._types import IntVector
from headrank.rows import Blocks
from headrank.training import data_warnings, split_warnings
from headrank.training.column_summaries import column_summaries
from headrank.training.columns import Column, conformed
from headrank.training.design import HoldoutFile, RowRoles
from headrank.training.encoding import TableEncoder
from headrank.training.exportable import ExportableColumns
from headrank.training.features import Features, Matrix
from headrank.training.holdout import Split
from headrank.training.preparation import ENCODING, Prepared
from headrank.training.profile import reference_rows, table_profile
from headrank.training.progress import Progress
from headrank.training.stored_sample import TrainingSample, training_sample
from headrank.training.stored_table import StoredRows, StoredTable, encoded_block

if TYPE_CHECKING:
    import polars as pl

_DESCRIBED = 50_000
"""Rows of each side of the split by which columns are described, in warnings, summaries and the profile."""
_WIDTHS = {"number": 1, "boolean": 1, "date": 6, "text": 20}
"""About how many features a column becomes."""


def prepared_parts(
    given: StoredTable,
    test: HoldoutFile | None,
    known: RowRoles,
    parts: Split,
    random_state: int,
    onnx_only: bool,
    progress: Progress,
) -> tuple[Prepared, TrainingSample]:
    """Fit the encoder to a sample of the training rows, and describe the columns by a sample of both sides.

    Kinds of columns and numbers of missing values come from all rows. Two passes over the table; memory is that of the
    samples. If the sample has all training rows, everything learned is that of a table in memory.
    """
    progress(ENCODING, 0, 2)
    columns, table = given.columns(), given if test is None else given.joined(test.features)
    progress(ENCODING, 1, 2)
    queries = known.queries
    y, of_train = known.y[parts.train], None if queries is None else queries[parts.train]
    sample = training_sample(y, of_train, sum(_WIDTHS[each.kind] for each in columns), random_state)
    units = known.groups if queries is None else queries
    counted = reference_rows(known.y[parts.holdout], None if units is None else units[parts.holdout], random_state)
    sides = _described_rows(parts, random_state)
    described = np.sort(np.concatenate(sides))
    learned_from = parts.train[sample.places]
    wanted = np.union1d(described, learned_from)
    raw = table.take(wanted)
    shown = raw[np.searchsorted(wanted, described)]
    columns = _counted(columns, shown[: np.searchsorted(described, known.n_table)])
    left_out: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    if onnx_only:
        exportable = ExportableColumns.of(columns)
        columns, left_out, said = exportable.kept, exportable.left_out, exportable.warnings
        shown = shown.drop(left_out)
    some = known.take(described)
    own = shown[: some.n_table]
    found = data_warnings.in_columns(own, columns)
    ids = data_warnings.like_ids(own, columns)
    few = conformed(shown, columns)
    learned, held_out = (np.searchsorted(described, side) for side in sides)
    summaries = column_summaries(few[: some.n_table], some.y[: some.n_table], columns)
    found += split_warnings.in_table(few, ids, columns, some, Split(learned, held_out))
    if counted is not None:
        held_out = held_out[np.isin(sides[1], parts.holdout[counted])]
    profile = table_profile(few[learned], few[held_out], columns)
    encoder = TableEncoder(random_state)
    train = encoder.fit_transform(conformed(raw[np.searchsorted(wanted, learned_from)], columns, ignored=left_out))
    features = Features(
        (("table", encoder), ("matrix", Matrix())),
        train,
        StoredRows(table, parts.holdout, columns, encoder),
        tuple(encoder.names_.tolist()),
        tuple(encoder.origins_.tolist()),
        None if sample.places.size == y.size else _every(table, known, parts.train, columns, encoder),
        table.memory,
    )
    progress(ENCODING, 2, 2)
    return Prepared(features, columns, (*said, *found), profile, counted, left_out, summaries), sample


def _described_rows(parts: Split, random_state: int) -> tuple[IntVector, IntVector]:
    """Draw rows of both sides at random."""
    rng = np.random.default_rng([random_state, 3])
    train, held_out = (
        np.sort(rng.choice(side, _DESCRIBED, replace=False)) if side.size > _DESCRIBED else side
        for side in (parts.train, parts.holdout)
    )
    return train, held_out


def _counted(columns: Sequence[Column], frame: pl.DataFrame) -> tuple[Column, ...]:
    """Count distinct values of each column in some rows."""
    return tuple(
        replace(each, n_distinct=max(each.n_distinct, _n_distinct(frame.get_column(each.name)))) for each in columns
    )


def _n_distinct(series: pl.Series) -> int:
    values = series.drop_nulls()
    return (values.drop_nans() if values.dtype.is_float() else values).n_unique()


def _every(
    table: StoredTable, known: RowRoles, rows: IntVector, columns: tuple[Column, ...], encoder: TableEncoder
) -> Blocks:
    """Return all training rows as blocks, encoded in each pass."""
    make = partial(encoded_block, columns=columns, encoder=encoder)
    beside = (table.values_of(rows, None if each is None else each[rows]) for each in (known.y, known.queries))
    pool = table.pool.mapped(make, table.within_parts(rows), *beside)
    return Blocks(pool, n_features=len(encoder.names_), dtype=np.float32)

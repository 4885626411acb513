"""Prepared rows: features of both parts of the split, what the columns look like, and warnings about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headrank._types import IntVector
from headrank.exceptions import InvalidSampleError
from headrank.training import data_warnings, split_warnings
from headrank.training.column_summaries import ColumnSummary, column_summaries
from headrank.training.columns import Column, columns_of, conformed
from headrank.training.design import HoldoutFile, RowRoles
from headrank.training.exportable import ExportableColumns
from headrank.training.features import Features, OccurringFeatures, sparse_features, table_features
from headrank.training.handover import Handover
from headrank.training.holdout import Split
from headrank.training.profile import Profile, matrix_profile, reference_rows, table_profile
from headrank.training.progress import Progress

ENCODING = "encoding features"


@dataclass(frozen=True, eq=False)
class Prepared:
    """Features, the columns they were made of, warnings about them, and a profile of the holdout.

    ``counted``: the holdout rows in the profile, one of each group or query; None for all. ``left_out``: columns that
    are not used.
    """

    features: Features
    columns: tuple[Column, ...]
    warnings: tuple[str, ...]
    profile: Profile
    counted: IntVector | None
    left_out: tuple[str, ...] = ()
    summaries: tuple[ColumnSummary, ...] = ()


def prepared_rows(
    given: Handover,
    test: HoldoutFile | None,
    known: RowRoles,
    parts: Split,
    random_state: int,
    onnx_only: bool,
    progress: Progress,
) -> Prepared:
    """Encode the features of both parts, and describe the columns; the memory of the table is released on the way."""
    progress(ENCODING, 0, 1)
    units = known.groups if known.queries is None else known.queries
    drawn = None if units is None else units[parts.holdout]
    counted = reference_rows(known.y[parts.holdout], drawn, random_state)
    if hasattr(given.kind, "schema"):
        prepared = _of_table(given, test, known, parts, counted, random_state, onnx_only)
    else:
        prepared = _of_matrix(given, test, parts, counted)
    progress(ENCODING, 1, 1)
    return prepared


def _of_matrix(given: Handover, test: HoldoutFile | None, parts: Split, counted: IntVector | None) -> Prepared:
    """Encode a sparse matrix; its memory is released on the way."""
    matrix = given.take().tocsr()
    if test is not None:
        from scipy.sparse import csr_array, vstack

        both = matrix, test.handed_over().take().tocsr()
        width = max(each.shape[1] for each in both)
        wide = [csr_array((each.data, each.indices, each.indptr), shape=(each.shape[0], width)) for each in both]
        matrix = vstack(wide, format="csr")
    keys = data_warnings.row_keys(OccurringFeatures().fit_transform(matrix))
    repeated = data_warnings.of_repeated_rows(keys, parts.train, parts.holdout)
    train_rows, holdout_rows = matrix[parts.train], matrix[parts.holdout]
    profile = matrix_profile(train_rows, holdout_rows if counted is None else holdout_rows[counted])
    return Prepared(sparse_features(train_rows, holdout_rows), (), tuple(repeated), profile, counted)


def _of_table(
    given: Handover,
    test: HoldoutFile | None,
    known: RowRoles,
    parts: Split,
    counted: IntVector | None,
    random_state: int,
    onnx_only: bool,
) -> Prepared:
    """Encode a table as numbers; its memory is released on the way."""
    raw = given.take()
    columns = columns_of(raw)
    left_out: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    if onnx_only:
        exportable = ExportableColumns.of(columns)
        columns, left_out, said = exportable.kept, exportable.left_out, exportable.warnings
        raw = raw.drop(left_out)
    found = data_warnings.in_columns(raw, columns)
    ids = data_warnings.like_ids(raw, columns)
    table = conformed(raw, columns)
    del raw
    summaries = column_summaries(table, known.y[: known.n_table], columns)
    if test is not None:
        table = table.vstack(_conformed_test(test, columns, left_out))
    found += split_warnings.in_table(table, ids, columns, known, parts)
    both = table[parts.train], table[parts.holdout]
    del table
    profile = table_profile(both[0], both[1] if counted is None else both[1][counted], columns)
    rows = Handover(both)
    del both
    encoded = table_features(rows, random_state=random_state)
    return Prepared(encoded, columns, (*said, *found), profile, counted, left_out, summaries)


def _conformed_test(test: HoldoutFile, columns: Sequence[Column], left_out: Sequence[str]) -> Any:
    try:
        return conformed(test.handed_over().take(), columns, ignored=left_out)
    except InvalidSampleError as error:
        raise InvalidSampleError(f"{test.source}: {error}") from None

"""Scoring a file with a model from ``headrank fit``, block by block: shared by ``score`` and ``choose``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from headrank.cli._failures import CommandError, about_input
from headrank.cli._inputs import Input
from headrank.workflow.files import MODEL

if TYPE_CHECKING:
    import polars as pl

    from headrank.readers.svmlight import SvmlightBlock
    from headrank.training.table_model import TableModel

ROW, SCORE, FLAGGED, WHY = "row", "score", "flagged", "why"


LABEL, GRADE, QID, COMMENT = "label", "grade", "qid", "comment"
"""What the rows of an svmlight file have besides features."""


@dataclass(frozen=True, eq=False)
class _Block:
    """Features of some rows, the columns to copy to the output, and the group or query of each row."""

    features: Any
    copied: pl.DataFrame
    units: pl.Series | None


@dataclass(frozen=True, eq=False)
class ScoredBlock:
    """Some rows of the output, their features, the number of the first one in the file, and their groups or queries."""

    frame: pl.DataFrame
    features: Any
    first_row: int
    units: pl.Series | None


@dataclass(frozen=True)
class Copied:
    """Columns of the table that are copied to the output: the id, if any, and others; ``own``: what is beside them.

    ``unit``: column of groups or queries, read in any case; None if there is none.
    """

    id: str | None = None
    keep: tuple[str, ...] = ()
    own: tuple[str, ...] = (SCORE, FLAGGED)
    unit: str | None = None

    @property
    def names(self) -> dict[str, str]:
        """Name of each in the output: its own, with trailing underscores if that is taken."""
        taken = {*self.own} | ({ROW} if self.id is None else set())
        found = {}
        for name in (*([] if self.id is None else [self.id]), *self.keep):
            free = name
            while free in taken:
                free += "_"
            taken.add(free)
            found[name] = free
        return found

    @property
    def id_name(self) -> str:
        """Name of the first column of the output."""
        return ROW if self.id is None else self.names[self.id]


def require_output_name(out: Path, data: Input) -> None:
    """Raise unless the output is a CSV file other than the input."""
    if out.suffix.lower() != ".csv":
        raise typer.BadParameter(f"expected a name ending in .csv, got {out.name!r}", param_hint="'--out'")
    if data.contains(out):
        raise typer.BadParameter("this is the input; name another file", param_hint="'--out'")


def loaded_model(path: Path) -> TableModel:
    """Load a model from headrank fit, given as a file or as the output folder; other models raise."""
    from headrank.model_io import load
    from headrank.training.table_model import TableModel

    if path.is_dir():
        path /= MODEL
    with about_input(path):
        fitted = load(path)
    if not isinstance(fitted, TableModel):
        raise CommandError(
            f"{path} contains a {type(fitted).__name__}, which has no named columns; expected a model from headrank "
            "fit; load this one in Python with headrank.load"
        )
    return fitted


def checked_columns(
    fitted: TableModel, data: Input, named: str | None, drop: Sequence[str], keep: Sequence[str]
) -> Copied:
    """Raise if a column is missing or unknown; return the columns to copy."""
    if not fitted.columns:
        return _checked_svmlight(data, named, drop, keep)
    import polars as pl

    from headrank.readers.table_faults import require_columns
    from headrank.readers.tables import table_columns
    from headrank.training.columns import conformed

    names = table_columns(data.tables)
    require_columns(data.tables.first, names, [*drop, *keep, *([named] if named is not None else [])])
    if named is None and fitted.id_column in names:
        named = fitted.id_column
    ignored = [*fitted.ignored, *drop, *keep, *([named] if named is not None else [])]
    try:
        conformed(pl.DataFrame(schema=dict.fromkeys(names, pl.String)), fitted.columns, ignored=ignored)
    except ValueError as error:
        raise ValueError(f"{data}: {error}") from None
    unit = fitted.qid_column or fitted.group_column
    queries = [fitted.qid_column] if fitted.qid_column in names and fitted.qid_column is not None else []
    return Copied(
        named,
        tuple(name for name in dict.fromkeys([*queries, *keep]) if name != named),
        unit=unit if unit in names else None,
    )


def _checked_svmlight(data: Input, named: str | None, drop: Sequence[str], keep: Sequence[str]) -> Copied:
    """Copy the label and the query of each row, and what is asked for."""
    from headrank.readers.svmlight import has_queries

    for option, given in (("--id", named is not None), ("--drop", drop)):
        if given:
            raise typer.BadParameter(
                "the model was trained on an svmlight file, which has no named columns; omit this option",
                param_hint=f"'{option}'",
            )
    queries = all(has_queries(path) for path in data.paths)
    known = {LABEL, GRADE, COMMENT} | ({QID} if queries else set())
    for name in keep:
        if name not in known and not name.isdecimal():
            raise typer.BadParameter(
                f"an svmlight file has no named columns, so no {name!r}; expected {GRADE!r} (the label in the file), "
                f"{COMMENT!r} or the number of a feature; {LABEL!r} and {QID!r} are copied in any case",
                param_hint="'--keep'",
            )
    carried = [LABEL, *([QID] if queries else [])]
    return Copied(keep=tuple(dict.fromkeys([*carried, *keep])), unit=QID if queries else None)


def _svmlight_blocks(
    fitted: TableModel, data: Input, copied: Copied, n_rows: int, advance: Callable[[float], None]
) -> Iterator[_Block]:
    import polars as pl

    known, first = fitted.feature_numbers(), fitted.first_feature
    said = False
    for rows in _of_files(data, n_rows, advance):
        matrix = rows.X
        kept = pl.DataFrame({name: _svmlight_column(fitted, rows, name) for name in copied.keep})
        other = matrix.indices[~np.isin(matrix.indices, known)]
        if other.size and not said:
            said = True
            warnings.warn(
                f"{data} has features that did not occur in training, such as {other[0]}; they are ignored",
                UserWarning,
                stacklevel=2,
            )
        matrix.resize(matrix.shape[0], fitted.n_features + first)
        yield _Block(matrix[:, first:], kept, None if rows.qid is None else pl.Series(rows.qid))


def _svmlight_column(fitted: TableModel, rows: SvmlightBlock, name: str) -> Any:
    """Return what is copied: whether a row is positive, by the rule of the training, its grade, query and the like."""
    if name == LABEL:
        least = float(fitted.positive.split()[0])  # "2 or more"
        return (rows.grades >= least).astype(np.int8)
    if name == GRADE:
        return [int(each) if each.is_integer() else each for each in rows.grades.tolist()]
    if name == COMMENT:
        return list(rows.comments)
    if name == QID:
        return rows.qid
    number = int(name)
    if number >= rows.X.shape[1]:
        return np.zeros(rows.grades.size)
    return rows.X[:, [number]].toarray().ravel()


def _of_files(data: Input, n_rows: int, advance: Callable[[float], None]) -> Iterator[SvmlightBlock]:
    from headrank.readers.blocks import svmlight_blocks

    for number, path in enumerate(data.paths):

        def advance_all(share: float, number: int = number) -> None:
            advance((number + share) / len(data.paths))

        yield from svmlight_blocks(path, n_rows=n_rows, advance=advance_all)


def _table_blocks(
    fitted: TableModel, data: Input, copied: Copied, n_rows: int, advance: Callable[[float], None]
) -> Iterator[_Block]:
    import polars as pl

    from headrank.readers.blocks import Kind, table_blocks, text_as_numbers

    # Copied columns are read as text even if they are features, so that 007 stays 007; the model converts them.
    kinds: dict[str, Kind] = {
        column.name: "text" if column.name in copied.names else column.kind
        for column in fitted.columns
        if not column.is_empty
    }
    tables, n_before = data.tables, 0
    commas = any(file.has_decimal_commas for file in tables.files)
    as_text = [column.name for column in fitted.columns if column.kind == "number" and column.name in copied.names]
    names = dict.fromkeys([*copied.names, *([] if copied.unit is None else [copied.unit])])
    for frame in table_blocks(tables, kinds, keep=list(names), n_rows=n_rows, advance=advance):
        features = frame.select(list(kinds))
        for name in as_text if commas else []:
            if frame[name].dtype == pl.String:  # the model reads numbers with points
                numbers = text_as_numbers(tables, frame[name], n_before, commas=True)
                features = features.with_columns(numbers)
        n_before += frame.height
        units = None if copied.unit is None else frame[copied.unit]
        yield _Block(features, frame.select(list(copied.names)), units)


def scored_blocks(
    fitted: TableModel, data: Input, copied: Copied, *, n_rows: int, advance: Callable[[float], None], why: int = 0
) -> Iterator[ScoredBlock]:
    """Score ``n_rows`` rows at a time; errors here are about the input, not the output.

    The frames have the id or row number, the score, whether the row is flagged (if ``copied.own`` names it), the
    ``why`` columns that raise the score most, and the copied columns.
    """
    import polars as pl

    read = _table_blocks if fitted.columns else _svmlight_blocks
    blocks = read(fitted, data, copied, n_rows, advance)
    n_before = 0
    while True:
        with about_input(data):
            block = next(blocks, None)
            if block is None:
                break
            scores = np.asarray(fitted.decision_function(block.features, first_row=n_before + 1), dtype=np.float64)
            if not np.isfinite(scores).all():
                row = n_before + int(np.flatnonzero(~np.isfinite(scores))[0]) + 1
                raise ValueError(f"the score of row {row:,} of {data} is not finite; check its values")
        found = block.copied.rename(copied.names).to_dict()
        id_name = copied.id_name
        if copied.id is None:
            found[ROW] = pl.int_range(n_before + 1, n_before + scores.size + 1, eager=True)
        flags = fitted.flags(scores) if FLAGGED in copied.own else None
        own: dict[str, Any] = {SCORE: scores} if flags is None else {SCORE: scores, FLAGGED: flags}
        if why:
            own[WHY] = reasons_of(fitted, block.features, why, first_row=n_before + 1)
        frame = pl.DataFrame({id_name: found.pop(id_name), **own, **found})
        yield ScoredBlock(frame, block.features, n_before + 1, block.units)
        n_before += scores.size
    if not n_before:
        raise CommandError(f"{data} has a header but no rows; check that it is the right file")


def reasons_of(fitted: TableModel, features: Any, n_columns: int, *, first_row: int = 1) -> tuple[str, ...]:
    """Name the columns that raise each score most; raise if the model cannot."""
    found = fitted.reasons(features, n_columns=n_columns, first_row=first_row)
    if found is None:
        raise CommandError(
            f"this model ({fitted.name}) cannot say what each column adds to a score; score without --why, or fit a "
            "ranker with this version"
        )
    return found.texts

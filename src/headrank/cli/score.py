"""``headrank score``: score a table with a model from ``headrank fit``, block by block."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from headrank._format import rounded_percent
from headrank.cli import _options as options
from headrank.cli._failures import CommandError, about_input, about_output, after_writing
from headrank.cli._printing import console, print_json, progress_bar

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

    from headrank.training.table_model import TableModel

_ROW, _SCORE, _FLAGGED, _WHY = "row", "score", "flagged", "why"


@dataclass(frozen=True, eq=False)
class _Block:
    """Features of some rows, and the columns to copy to the output."""

    features: Any
    copied: pl.DataFrame | None = None


@dataclass(frozen=True)
class _Copied:
    """Columns of the table that are copied to the output: the id, if any, and others; ``why``: beside the reasons."""

    id: str | None = None
    keep: tuple[str, ...] = ()
    why: bool = False

    @property
    def names(self) -> dict[str, str]:
        """Name of each in the output: its own, with trailing underscores if that is taken."""
        taken = {_SCORE, _FLAGGED} | ({_WHY} if self.why else set()) | ({_ROW} if self.id is None else set())
        found = {}
        for name in (*([] if self.id is None else [self.id]), *self.keep):
            free = name
            while free in taken:
                free += "_"
            taken.add(free)
            found[name] = free
        return found


@dataclass(frozen=True)
class _Tally:
    """Number of rows written and flagged; ``n_flagged`` is None without a threshold."""

    n_rows: int
    n_flagged: int | None


def run(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file written by headrank fit.")],
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="Table with the columns used in training, or svmlight file.")
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Output file, ending in .csv.")],
    id: options.Id = None,  # noqa: A002  # the name of the option
    drop: options.Drop = None,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="COL", help="Column to copy to the output unchanged; may be repeated."),
    ] = None,
    why: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Name the N columns that raise each score most; slow for trees."),
    ] = 0,
    block: Annotated[int, typer.Option(metavar="N", min=1, help="Number of rows to read at a time.")] = 100_000,
    json: options.Json = False,
) -> None:
    """Score a table of any length with a model from headrank fit.

    Writes a CSV file with the id (or row number, from 1), score, flagged, why (with --why) and the --keep columns, in
    the order of the rows. Column names are checked before any row is read.

    Example: headrank score result/model new.csv --out scores.csv --id patient --keep ill --keep clinic
    """
    _require_output_name(out, data)
    fitted = _loaded(model)
    with about_input(data):
        copied = replace(_checked_columns(fitted, data, id, drop or [], keep or []), why=why > 0)
    with progress_bar() as progress:
        task = progress.add_task(f"Scoring {data.name}", total=1.0)

        def advance(share: float) -> None:
            progress.update(task, completed=share)

        if fitted.columns:
            blocks = _table_blocks(fitted, data, copied, block, advance)
        else:
            blocks = _svmlight_blocks(fitted, data, block, advance)
        with about_output(out):
            tally = _written(out, fitted, _scored(fitted, data, copied, blocks, why))
    with after_writing(out):
        if json:
            print_json(
                {
                    "command": "score",
                    "source": data.name,
                    "model": fitted.name,
                    "out": out,
                    "n_rows": tally.n_rows,
                    "n_flagged": tally.n_flagged,
                    "threshold": fitted.threshold,
                    "promise": fitted.promise,
                }
            )
        _print(console(as_json=json), fitted, tally, out)


def _require_output_name(out: Path, data: Path) -> None:
    if out.suffix.lower() != ".csv":
        raise typer.BadParameter(f"expected a name ending in .csv, got {out.name!r}", param_hint="'--out'")
    if out.exists() and data.exists() and out.samefile(data):
        raise typer.BadParameter("this is the input; name another file", param_hint="'--out'")


def _loaded(path: Path) -> TableModel:
    from headrank.model_io import load
    from headrank.training.table_model import TableModel

    with about_input(path):
        fitted = load(path)
    if not isinstance(fitted, TableModel):
        raise CommandError(
            f"{path} contains a {type(fitted).__name__}, which has no named columns; expected a model from headrank "
            "fit; load this one in Python with headrank.load"
        )
    return fitted


def _checked_columns(
    fitted: TableModel, data: Path, named: str | None, drop: Sequence[str], keep: Sequence[str]
) -> _Copied:
    """Raise if a column is missing or unknown; return the columns to copy."""
    if not fitted.columns:
        _require_no_names(named, drop, keep)
        return _Copied()
    import polars as pl

    from headrank.readers.opening import table_file
    from headrank.readers.table_faults import require_columns
    from headrank.readers.tables import table_columns
    from headrank.training.columns import conformed

    names = table_columns(data)
    require_columns(table_file(data), names, [*drop, *keep, *([named] if named is not None else [])])
    if named is None and fitted.id_column in names:
        named = fitted.id_column
    ignored = [*fitted.ignored, *drop, *keep, *([named] if named is not None else [])]
    try:
        conformed(pl.DataFrame(schema=dict.fromkeys(names, pl.String)), fitted.columns, ignored=ignored)
    except ValueError as error:
        raise ValueError(f"{data}: {error}") from None
    return _Copied(named, tuple(name for name in dict.fromkeys(keep) if name != named))


def _require_no_names(named: str | None, drop: Sequence[str], keep: Sequence[str]) -> None:
    for option, given in (("--id", named is not None), ("--drop", drop), ("--keep", keep)):
        if given:
            raise typer.BadParameter(
                "the model was trained on an svmlight file, which has no named columns; omit this option",
                param_hint=f"'{option}'",
            )


def _svmlight_blocks(fitted: TableModel, data: Path, n_rows: int, advance: Callable[[float], None]) -> Iterator[_Block]:
    from headrank.readers.blocks import svmlight_blocks

    known, first = fitted.feature_numbers(), fitted.first_feature
    said = False
    for matrix in svmlight_blocks(data, n_rows=n_rows, advance=advance):
        other = matrix.indices[~np.isin(matrix.indices, known)]
        if other.size and not said:
            said = True
            warnings.warn(
                f"{data} has features that did not occur in training, such as {other[0]}; they are ignored",
                UserWarning,
                stacklevel=2,
            )
        matrix.resize(matrix.shape[0], fitted.n_features + first)
        yield _Block(matrix[:, first:])


def _table_blocks(
    fitted: TableModel, data: Path, copied: _Copied, n_rows: int, advance: Callable[[float], None]
) -> Iterator[_Block]:
    from headrank.readers.blocks import Kind, table_blocks

    # Copied columns are read as text even if they are features, so that 007 stays 007; the model converts them.
    kinds: dict[str, Kind] = {
        column.name: "text" if column.name in copied.names else column.kind
        for column in fitted.columns
        if not column.is_empty
    }
    for frame in table_blocks(data, kinds, keep=list(copied.names), n_rows=n_rows, advance=advance):
        yield _Block(frame.select(list(kinds)), frame.select(list(copied.names)))


def _scored(
    fitted: TableModel, data: Path, copied: _Copied, blocks: Iterator[_Block], why: int
) -> Iterator[pl.DataFrame]:
    """Score block by block; errors here are about the input, not the output."""
    import polars as pl

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
        found = {} if block.copied is None else block.copied.rename(copied.names).to_dict()
        id_name = _ROW if copied.id is None else copied.names[copied.id]
        if copied.id is None:
            found[_ROW] = pl.int_range(n_before + 1, n_before + scores.size + 1, eager=True)
        flags = fitted.flags(scores)
        own: dict[str, Any] = {_SCORE: scores} if flags is None else {_SCORE: scores, _FLAGGED: flags}
        if why:
            own[_WHY] = _reasons(fitted, block, why, n_before)
        yield pl.DataFrame({id_name: found.pop(id_name), **own, **found})
        n_before += scores.size
    if not n_before:
        raise CommandError(f"{data} has a header but no rows; check that it is the right file")


def _reasons(fitted: TableModel, block: _Block, n_columns: int, n_before: int) -> tuple[str, ...]:
    found = fitted.reasons(block.features, n_columns=n_columns, first_row=n_before + 1)
    if found is None:
        raise CommandError(
            f"this model ({fitted.name}) cannot say what each column adds to a score; score without --why, or fit a "
            "ranker with this version"
        )
    return found.texts


def _written(out: Path, fitted: TableModel, blocks: Iterator[pl.DataFrame]) -> _Tally:
    """Write the blocks one by one; the file appears only when the last one is written."""
    from headrank._whole_files import write_file

    def write(unfinished: Path) -> _Tally:
        n_rows = n_flagged = 0
        with unfinished.open("w", encoding="utf-8", newline="") as stream:
            for frame in blocks:
                # polars prints the shortest decimal that reads back as the same number. Python writes the file, so
                # that a full disk raises an error with an errno.
                stream.write(frame.write_csv(include_header=n_rows == 0))
                n_rows += frame.height
                n_flagged += int(frame[_FLAGGED].sum()) if _FLAGGED in frame.columns else 0
        return _Tally(n_rows, None if fitted.threshold is None else n_flagged)

    return write_file(out, write)


def _print(screen: Console, fitted: TableModel, tally: _Tally, out: Path) -> None:
    screen.print(f"Scored {tally.n_rows:,} rows with the model ({fitted.name}) and wrote them to {out}.")
    if tally.n_flagged is None:
        screen.print(f"No rows are flagged, because the model has no threshold: {fitted.promise}")
    else:
        promise = f"{fitted.promise[:1].upper()}{fitted.promise[1:]}"
        share = rounded_percent(tally.n_flagged / tally.n_rows)
        screen.print(
            f"Flagged {tally.n_flagged:,} rows ({share}). The guarantee is about the rate over many future rows; "
            f"a single batch varies by chance. From the report: {promise}"
        )

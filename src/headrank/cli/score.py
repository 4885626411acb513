"""``headrank score``: the scores of a table by a model from ``headrank fit``, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from headrank.cli import options
from headrank.cli.failures import Refusal, about_input, about_output
from headrank.cli.printing import console, print_json, progress_bar

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

    from headrank.training.table_model import TableModel

_ROW, _SCORE, _FLAGGED = "row", "score", "flagged"


@dataclass(frozen=True, eq=False)
class _Block:
    """Features of some rows as the model takes them, and what names the rows, if a column does."""

    features: Any
    ids: pl.Series | None = None


@dataclass(frozen=True)
class _Tally:
    """How many rows were written, and flagged; None without a threshold."""

    n_rows: int
    n_flagged: int | None


def run(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file that headrank fit has written.")],
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="Table with the same columns, or svmlight file, as for fit.")
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the scores: a name ending in .csv.")],
    id: options.Id = None,  # noqa: A002  # the name of the option
    drop: options.Drop = None,
    block: Annotated[int, typer.Option(metavar="N", min=1, help="Rows in memory at once.")] = 100_000,
    json: options.Json = False,
) -> None:
    """Score the rows of a table, of any length, with a model from headrank fit.

    Writes a CSV file of id (or row number, from 1), score and flagged, in the order of the rows. Columns are checked by
    name before the first row is read.

    Example: headrank score result/model new.csv --out scores.csv --id customer
    """
    _require_fit_name(out, data)
    fitted = _loaded(model)
    with about_input(data):
        named_by = _checked_columns(fitted, data, id, drop or [])
    with progress_bar() as progress:
        task = progress.add_task(f"Scoring {data.name}", total=1.0)
        blocks = _blocks(fitted, data, named_by, block, lambda share: progress.update(task, completed=share))
        with about_output(out):
            tally = _written(out, fitted, named_by or _ROW, _scored(fitted, data, blocks))
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


def _require_fit_name(out: Path, data: Path) -> None:
    if out.suffix.lower() != ".csv":
        raise typer.BadParameter(f"scores are written as .csv, got {out.name!r}; end it in .csv", param_hint="'--out'")
    if out.exists() and data.exists() and out.samefile(data):
        raise typer.BadParameter("this is the input; name another file", param_hint="'--out'")


def _loaded(path: Path) -> TableModel:
    from headrank.model_io import load
    from headrank.training.table_model import TableModel

    with about_input(path):
        fitted = load(path)
    if not isinstance(fitted, TableModel):
        raise Refusal(
            f"{path} holds a {type(fitted).__name__}, which knows no columns; needed a model from headrank fit; "
            "this one can be loaded in Python, with headrank.load"
        )
    return fitted


def _checked_columns(fitted: TableModel, data: Path, named: str | None, drop: Sequence[str]) -> str | None:
    """Refuse a table that lacks a column or has one too many; return the column that names its rows, if any."""
    if not fitted.columns:
        _refuse_names(named, drop)
        return None
    import polars as pl

    from headrank.datasets.opening import table_file
    from headrank.datasets.table_faults import require_columns
    from headrank.datasets.tables import table_columns
    from headrank.training.columns import conformed

    names = table_columns(data)
    require_columns(table_file(data), names, [*drop, *([named] if named is not None else [])])
    if named is None and fitted.id_column in names:
        named = fitted.id_column
    if named in (_SCORE, _FLAGGED):
        raise ValueError(f"the id column of {data} is called {named!r}, as a column of the output is; rename it")
    ignored = [*fitted.ignored, *drop, *([named] if named is not None else [])]
    try:
        conformed(pl.DataFrame(schema=dict.fromkeys(names, pl.String)), fitted.columns, ignored=ignored)
    except ValueError as error:
        raise ValueError(f"{data}: {error}") from None
    return named


def _refuse_names(named: str | None, drop: Sequence[str]) -> None:
    if named is not None or drop:
        option = "--id" if named is not None else "--drop"
        raise typer.BadParameter(
            "the model is one of svmlight files, which have no named columns; leave it out", param_hint=f"'{option}'"
        )


def _blocks(
    fitted: TableModel, data: Path, named_by: str | None, n_rows: int, advance: Callable[[float], None]
) -> Iterator[_Block]:
    from headrank.datasets.blocks import svmlight_blocks, table_blocks

    if not fitted.columns:
        for matrix in svmlight_blocks(data, n_features=fitted.n_features, n_rows=n_rows, advance=advance):
            yield _Block(matrix)
        return
    kinds = {column.name: column.kind for column in fitted.columns}
    keep = [] if named_by is None else [named_by]
    for frame in table_blocks(data, kinds, keep=keep, n_rows=n_rows, advance=advance):
        yield _Block(frame.select(list(kinds)), None if named_by is None else frame[named_by])


def _scored(fitted: TableModel, data: Path, blocks: Iterator[_Block]) -> Iterator[pl.DataFrame]:
    """Score block by block; what fails here is about the input, whatever the caller is doing."""
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
                raise ValueError(f"row {row:,} of {data} has a score that is not finite; check its values")
        ids = pl.int_range(n_before + 1, n_before + scores.size + 1, eager=True) if block.ids is None else block.ids
        columns = {_ROW: ids, _SCORE: scores}
        flags = fitted.flags(scores)
        yield pl.DataFrame(columns if flags is None else {**columns, _FLAGGED: flags})
        n_before += scores.size
    if not n_before:
        raise Refusal(f"{data} holds names but no rows; check that it is the right file")


def _written(out: Path, fitted: TableModel, id_name: str, blocks: Iterator[pl.DataFrame]) -> _Tally:
    """Write the blocks as they come; the file is there when the last one is written, and not before."""
    from headrank._whole_files import whole_file

    n_rows = n_flagged = 0
    with whole_file(out) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as stream:
        for frame in blocks:
            # polars prints the shortest number that reads back as the same; Python writes, so that a full disk is an
            # error with a number.
            stream.write(frame.rename({_ROW: id_name}).write_csv(include_header=n_rows == 0))
            n_rows += frame.height
            n_flagged += int(frame[_FLAGGED].sum()) if _FLAGGED in frame.columns else 0
    return _Tally(n_rows, None if fitted.threshold is None else n_flagged)


def _print(screen: Console, fitted: TableModel, tally: _Tally, out: Path) -> None:
    screen.print(f"{tally.n_rows:,} rows were scored by the {fitted.name} and written to {out}.")
    if tally.n_flagged is None:
        screen.print(f"None is flagged, as the model has no threshold: {fitted.promise}")
    else:
        promise = f"{fitted.promise[:1].upper()}{fitted.promise[1:]}"
        screen.print(f"{tally.n_flagged:,} are flagged, scoring at least {fitted.threshold!r}. {promise}")

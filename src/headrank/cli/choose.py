"""``headrank choose``: new rows to act on, with a promise about the list at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import typer

from headrank._format import counted, percent, rounded_up, shown
from headrank._types import Vector
from headrank.cli import _options as options
from headrank.cli._failures import (
    TOO_FEW_ROWS,
    CommandError,
    about_input,
    about_option,
    about_output,
    after_writing,
)
from headrank.cli._inputs import Input, input_of, layout_of
from headrank.cli._printing import console, print_json
from headrank.cli._progress import shown_share
from headrank.cli._samples import negated, numbers_of, read_scores
from headrank.cli._scoring import (
    ROW,
    SCORE,
    Copied,
    checked_columns,
    loaded_model,
    require_output_name,
    scored_blocks,
)

if TYPE_CHECKING:
    import polars as pl

    from headrank.training.holdout_scores import HoldoutScores
    from headrank.training.table_model import TableModel

_RANK, _CHOSEN, _AT_LEAST = "rank", "chosen", "at_least"
_N_ROWS = 100_000
"""Number of rows to read at a time."""


@dataclass(frozen=True)
class _Request:
    """What is asked for: a limited share of negatives, or a list of k rows; and the assumption."""

    max_false: float | None
    k: int | None
    confidence: float
    assume: Literal["same negatives", "same rows"]
    lower_is_better: bool = False

    @property
    def own(self) -> tuple[str, ...]:
        """Columns of the output that are not copied."""
        return (SCORE, _RANK, _CHOSEN if self.k is None else _AT_LEAST)


@dataclass(frozen=True, eq=False)
class _Answer:
    """The output table, what to say about it, and the same as JSON."""

    table: pl.DataFrame
    sentences: tuple[str, ...]
    as_dict: dict[str, Any]


def run(
    labelled: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="Model or output folder of headrank fit; with --score, a table of labels and scores."
        ),
    ],
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="NEW",
            help=f"New rows: a table ({options.FORMATS}) or svmlight file, with --score a table of scores; several are "
            "read as one, - is standard input (CSV).",
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="Output file, ending in .csv.", rich_help_panel=options.RESULT)
    ],
    max_false: Annotated[
        float | None,
        typer.Option(metavar="Q", help="Choose as many rows as possible, of which this share is expected negative."),
    ] = None,
    list: Annotated[  # noqa: A002  # the name of the option
        int | None, typer.Option(metavar="K", min=1, help="Say how many of the first K rows are positive, at least.")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="COL",
            help="With --score: column of labels in the first table.",
            rich_help_panel=options.COLUMNS,
        ),
    ] = None,
    score: Annotated[
        str | None,
        typer.Option(
            "--score",
            metavar="COL",
            help="Column of scores in both tables, if there is no model.",
            rich_help_panel=options.COLUMNS,
        ),
    ] = None,
    lower_is_better: options.LowerIsBetter = False,
    positive: options.Positive = None,
    id: options.Id = None,  # noqa: A002
    drop: options.Drop = None,
    keep: options.Keep = None,
    assume: Annotated[
        Literal["same negatives", "same rows"],
        typer.Option(
            metavar="WHAT",
            help="What new rows have in common with labelled ones: 'same negatives', or all in 'same rows'.",
        ),
    ] = "same negatives",
    confidence: Annotated[
        float | None, typer.Option("--confidence", metavar="P", help="Confidence of --list.", show_default="0.95")
    ] = None,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    sheet: options.Sheet = None,
    json: options.Json = False,
) -> None:
    """Choose new rows with few negatives, or promise how many of the first K are positive.

    Writes a CSV file, best first, with the id (or row number, from 1), score and rank. With --max-false it has all rows
    and the column chosen; with --list the first K and the column at_least: the number of positives promised among the
    rows up to this one. Needs labelled rows that the scorer has not seen: headrank fit keeps those of its holdout in
    the model.

    Example: headrank choose result new.csv --list 50 --out first.csv
    """
    request = replace(_requested(max_false, list, confidence, assume), lower_is_better=lower_is_better)
    layout = layout_of(separator, decimal, sheet, files if score is None else [labelled, *files])
    new = input_of(files, layout)
    require_output_name(out, new)
    if score is None:
        given = (("--target", target), ("--positive", positive), ("--lower-is-better", lower_is_better or None))
        for option, value in given:
            if value is not None:
                raise typer.BadParameter(
                    "a model has its own labels; omit this option, or name the scores with --score",
                    param_hint=f"'{option}'",
                )
        fitted = loaded_model(labelled)
        rows = _rows_of(fitted, labelled)
        _require_enough(rows, request)
        with about_input(new):
            copied = replace(checked_columns(fitted, new, id, drop or [], keep or []), own=request.own)
        table = _scored(fitted, new, copied)
    else:
        if target is None:
            raise typer.BadParameter(f"name the column of labels in {labelled.name}", param_hint="'--target'")
        if drop:
            raise typer.BadParameter("without a model only the named columns are read; omit it", param_hint="'--drop'")
        rows = _labelled(input_of([labelled], layout), target, score, positive, lower_is_better)
        _require_enough(rows, request)
        copied = Copied(id, tuple(name for name in dict.fromkeys(keep or []) if name != id), request.own)
        table = _read(new, score, copied)
    answer = _answer(rows, table, request, new.name)
    with about_output(out):
        _write(answer.table, out)
    with after_writing(out):
        if json:
            source = {"command": "choose", "source": new.name, "labelled": labelled.name, "score": score, "out": out}
            print_json(source | {"lower_is_better": lower_is_better} | answer.as_dict)
        screen = console(as_json=json)
        screen.print(f"Wrote {counted(answer.table.height, 'row')}, best first, to {out}.")
        for sentence in answer.sentences:
            screen.print(sentence)


def _requested(max_false: float | None, k: int | None, confidence: float | None, assume: Any) -> _Request:
    if (max_false is None) == (k is None):
        raise typer.BadParameter(
            f"expected --max-false Q or --list K, got {'none' if k is None else 'both'}", param_hint="'--max-false'"
        )
    if max_false is not None:
        from headrank._numbers import inner_rate

        with about_option("--max-false"):
            inner_rate("the share", max_false)
        if confidence is not None:
            raise typer.BadParameter(
                "--max-false limits an expected share, which has no confidence; omit it, or use --list",
                param_hint="'--confidence'",
            )
    return _Request(max_false, k, options.confidence_of(0.95 if confidence is None else confidence), assume)


def _rows_of(fitted: TableModel, path: Path) -> HoldoutScores:
    """Return the labelled rows of a model, or say why it has none."""
    if fitted.qid_column is not None:
        raise CommandError(
            f"{path} was trained with queries: rows of a query are not independent draws, so nothing can be promised "
            "about a list of rows; train without --qid"
        )
    if fitted.holdout_scores is None:
        raise CommandError(
            f"{path} contains no scores of its holdout: it was written by an earlier version or with --no-calibration; "
            "fit it again, or give labelled scores with --target and --score"
        )
    return fitted.holdout_scores


def _labelled(path: Input, target: str, score: str, positive: str | None, lower_is_better: bool) -> HoldoutScores:
    from headrank.training.holdout_scores import HoldoutScores

    sample = read_scores(path, target=target, scores=[score], positive=positive, lower_is_better=lower_is_better)
    return HoldoutScores(scores=sample.scores[score], positive=sample.y, n_models=1, share=1.0, holds="")


def _require_enough(rows: HoldoutScores, request: _Request) -> None:
    """Raise if no list of new rows, however good, could be chosen from."""
    if request.max_false is None:
        return
    n = rows.positive.size if request.assume == "same rows" else int(np.count_nonzero(~rows.positive))
    needed = ceil(1 / (request.max_false * rows.share) * (1 - 1e-12)) - 1
    if n < needed:
        labelled = "rows" if request.assume == "same rows" else "negatives"
        raise CommandError(
            f"an expected share of negatives of at most {shown(request.max_false)} needs at least {needed:,} labelled "
            f"{labelled}, even for a perfect scorer, but there are {n:,}; label more rows or allow a larger share. "
            f"{rows.payment}".rstrip(),
            TOO_FEW_ROWS,
        )


def _scored(fitted: TableModel, data: Input, copied: Copied) -> pl.DataFrame:
    """Score all rows; with groups, one row of each is needed."""
    import polars as pl

    group = fitted.group_column
    with about_input(data):
        from headrank.readers.tables import table_columns

        added = (
            group is not None and data.is_table and group in table_columns(data.tables) and group not in copied.names
        )
    if added and group is not None:
        copied = replace(copied, keep=(*copied.keep, group))
    with shown_share(f"scoring {data.name}") as advance:
        blocks = scored_blocks(fitted, data, copied, n_rows=_N_ROWS, advance=advance)
        table = pl.concat([block.frame for block in blocks])
    if group is not None and group in copied.names:
        groups = table[copied.names[group]]
        if (n_groups := groups.n_unique()) < groups.len():
            raise CommandError(
                f"{data} has {groups.len():,} rows with {n_groups:,} values of {group!r}; the model promises something "
                f"about lists with one row of each: keep one row of each {group!r}, drawn at random"
            )
        table = table.drop(copied.names[group]) if added else table
    return table


def _read(data: Input, score: str, copied: Copied) -> pl.DataFrame:
    """Read scores, and the other columns as text."""
    import polars as pl

    from headrank.readers.blocks import table_blocks
    from headrank.readers.tables import read_columns

    with about_input(data):
        scores = numbers_of(read_columns(data.tables, [score, *copied.names])[score], data)
        if not scores.size:
            raise CommandError(f"{data} has a header but no rows; check that it is the right file")
        table = pl.DataFrame({SCORE: scores})
        if copied.id is None:
            table = table.with_columns(pl.int_range(1, scores.size + 1).alias(ROW))
        if copied.names:
            blocks = table_blocks(data.tables, {}, keep=[*copied.names], n_rows=_N_ROWS, advance=lambda _share: None)
            table = table.hstack(pl.concat([*blocks]).select(list(copied.names)).rename(copied.names))
    return table.select(copied.id_name, pl.exclude(copied.id_name))


def _answer(rows: HoldoutScores, table: pl.DataFrame, request: _Request, name: str) -> _Answer:
    given = table[SCORE].to_numpy()
    scores = negated(given, f"the scores of {name}") if request.lower_is_better else given
    if request.k is not None and request.k > scores.size:
        raise typer.BadParameter(f"{name} has only {counted(scores.size, 'row')}", param_hint="'--list'")
    with about_input():
        found = _chosen(rows, scores, request) if request.k is None else _certified(rows, scores, request)
    import polars as pl

    order = np.argsort(-scores, kind="stable")[: request.k]
    own = table[order].with_columns(
        pl.Series(_RANK, np.arange(1, order.size + 1)), pl.Series(request.own[-1], found.column[order])
    )
    copied = [each for each in table.columns[1:] if each != SCORE]
    holds = [] if found.nothing else [f"Assumes {request.assume}: {found.as_dict['assumptions']}."]
    if rows.holds and not found.nothing:
        holds.insert(0, f"It holds {rows.holds}.")
    payment = (rows.payment,) if rows.payment else ()
    paid = {"n_models": rows.n_models, "share_of_risk": rows.share, "holds": rows.holds}
    return _Answer(
        own.select(table.columns[0], *request.own, *copied),
        (*found.sentences, *payment, *holds),
        found.as_dict | paid,
    )


@dataclass(frozen=True, eq=False)
class _Found:
    """The last column of the output for all new rows, what to say, and the same as JSON."""

    column: Any
    sentences: Sequence[str]
    as_dict: dict[str, Any]
    nothing: bool = False
    """Whether there is no promise, whose assumptions would have to be named."""


def _chosen(rows: HoldoutScores, scores: Vector, request: _Request) -> _Found:
    assert request.max_false is not None
    found = rows.choose(scores, max_false_share=request.max_false, assume=request.assume)
    plain = found.as_dict()
    if request.lower_is_better:
        plain["threshold"] = -found.threshold
    if not found.n_chosen:
        return _Found(found.chosen, [_sentence(found.outcome)], plain, nothing=True)
    rule = f"at most {-found.threshold!r}" if request.lower_is_better else f"at least {found.threshold!r}"
    said = (
        f"Chose {found.n_chosen:,} of {counted(found.n_new, 'row')}: those with a score of {rule}. The expected share "
        f"of negatives among them is at most {percent(found.max_false_share)}: a mean over draws of labelled and new "
        "rows, so a single list may have more. For this one, the estimate is "
        f"{percent(float(rounded_up(found.false_share)))}."
    )
    return _Found(found.chosen, [said], plain)


def _certified(rows: HoldoutScores, scores: Vector, request: _Request) -> _Found:
    assert request.k is not None
    k = request.k
    found = rows.certify_list(scores, confidence=request.confidence, assume=request.assume)
    least, likely = found.at_least(k), float(found.likely[k - 1])
    if not least:
        said = _nothing_promised(rows, found, request)
    else:
        said = (
            f"At least {least:,} of these {k:,} rows are positive, with {percent(found.confidence)} confidence; the "
            f"estimate is {likely:,.0f}. The promises for all shorter lists hold simultaneously."
        )
    column = np.empty(scores.size, dtype=np.int64)
    column[found.order] = found.promised
    told = {"list": k, "at_least": least, "likely": likely} | found.as_dict()
    return _Found(column, [said], told, nothing=not least)


def _nothing_promised(rows: HoldoutScores, found: Any, request: _Request) -> str:
    """Say why; raise if there are too few labelled negatives for any list of this length."""
    from headrank.bounds.planning.lists import plan_list

    k, start = request.k, f"with {percent(request.confidence)} confidence"
    assert k is not None
    if request.assume == "same negatives":
        risk = (1 - request.confidence) * rows.share
        needed = plan_list(k, 1 / k, n_new=found.n_new, confidence=1 - risk).n_neg
        if found.n_neg < needed:
            raise CommandError(
                f"to promise {start} that at least 1 of the first {k:,} of {counted(found.n_new, 'row')} is positive "
                f"takes at least {needed:,} labelled negatives, even for a perfect scorer, but there are "
                f"{found.n_neg:,}; label more rows, or take a longer list or fewer new rows. {rows.payment}".rstrip(),
                TOO_FEW_ROWS,
            )
    return f"None of these {k:,} rows can be promised to be positive. {_sentence(found.explain(1 / k))}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _write(table: pl.DataFrame, out: Path) -> None:
    from headrank._whole_files import write_file

    # polars prints the shortest decimal that reads back as the same number.
    write_file(out, lambda unfinished: unfinished.write_text(table.write_csv(), encoding="utf-8", newline=""))

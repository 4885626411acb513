"""``headrank fit``: train models for the head of the list, certify the best one and write a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from shlex import quote
from typing import Annotated, Literal

import typer

from headrank._format import shown
from headrank._memory import size_of
from headrank.cli import _options as options
from headrank.cli._failures import about_option
from headrank.cli._fitting import FitOptions, fit_and_write
from headrank.cli._inputs import input_of, layout_of
from headrank.cli._sources import Source, TableColumns, svmlight_source, table_source
from headrank.cli._stored_source import Storage, stored_source

DEFAULT_FPR = "0:0.1"
HOLDOUT = "Holdout"
_COLUMNS = ("--target", "--qid", "--id", "--group", "--time", "--fold", "--decimal", "--sheet")


def run(
    files: options.Data,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Output folder.", rich_help_panel=options.RESULT)],
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="COL",
            help="Binary column to predict; svmlight files contain their own labels.",
            rich_help_panel=options.COLUMNS,
        ),
    ] = None,
    fpr: options.Fpr = None,
    specificity: options.Specificity = None,
    top: options.Top = None,
    qid: options.Qid = None,
    id: options.Id = None,  # noqa: A002  # the name of the option
    group: Annotated[
        str | None,
        typer.Option(
            "--group",
            metavar="COL",
            help="Column of patients, customers or the like, whose rows stay on one side; guarantees are for new ones.",
            rich_help_panel=HOLDOUT,
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            "--time",
            metavar="COL",
            help="Column of times: train on the past, hold out the latest rows; not a feature.",
            rich_help_panel=HOLDOUT,
        ),
    ] = None,
    test: Annotated[
        list[Path] | None,
        typer.Option(
            "--test",
            metavar="FILE",
            help="Hold out this file, and train on all rows of DATA; may be repeated.",
            rich_help_panel=HOLDOUT,
        ),
    ] = None,
    fold: Annotated[
        str | None,
        typer.Option(
            "--fold",
            metavar="COL",
            help="Column of folds by which the ranker is chosen; not a feature.",
            rich_help_panel=HOLDOUT,
        ),
    ] = None,
    drop: options.Drop = None,
    positive: options.Positive = None,
    positive_name: options.PositiveName = None,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    sheet: options.Sheet = None,
    zero_based: Annotated[
        bool,
        typer.Option(
            "--zero-based",
            help="Features of the svmlight file are numbered from 0.",
            rich_help_panel=options.INPUT,
        ),
    ] = False,
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            metavar="SIZE",
            help="Memory that a table may take, such as 4GB; a larger one is read in parts.",
            show_default="half of what is free",
            rich_help_panel=options.INPUT,
        ),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            "--dask",
            metavar="ADDRESS",
            help="Fit on a Dask cluster: tcp://host:8786, or local for the cores of this machine.",
            rich_help_panel=options.INPUT,
        ),
    ] = None,
    holdout: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Share of the rows (or groups, or queries) to hold out for evaluation.",
            show_default="0.3, or less of more than 1e7 rows",
            rich_help_panel=HOLDOUT,
        ),
    ] = None,
    models: Annotated[
        Literal["all", "linear", "trees"],
        typer.Option(
            metavar="KIND",
            help="What the ranker is chosen from: linear, trees (boosted, forests) or all (also kernels).",
        ),
    ] = "all",
    max_minutes: Annotated[
        float | None,
        typer.Option(metavar="MINUTES", help="Time for choosing the ranker; what is not finished by then is left out."),
    ] = None,
    confidence: options.Confidence = 0.95,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of the split and of all other randomness.")] = 0,
    no_calibration: Annotated[
        bool,
        typer.Option(
            "--no-calibration",
            help="Keep no scores and labels of holdout rows in the model file; headrank choose needs them.",
            rich_help_panel=options.RESULT,
        ),
    ] = False,
    onnx_only: Annotated[
        bool,
        typer.Option(
            "--onnx-only",
            help="Train without columns and models that headrank export cannot write as ONNX.",
            rich_help_panel=options.RESULT,
        ),
    ] = False,
    overwrite: options.Overwrite = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            help="Also print all models, what the ranker is made of, the threshold and all warnings in full.",
            rich_help_panel=options.RESULT,
        ),
    ] = False,
    json: options.Json = False,
) -> None:
    """Train models for the head of the list, select the best one on a holdout, and certify it.

    Writes DIR/report.html, DIR/ranked.csv (the holdout, best first), DIR/model (for headrank score and choose) and
    DIR/result.json. The default goal is false positive rates up to 0.1.

    Example: headrank fit visits.csv --target ill --group patient --fpr 0:0.02 --out result
    """
    goal = options.goal_of(fpr, top, specificity) or options.goal_of(DEFAULT_FPR, None)
    assert goal is not None
    with about_option("--holdout"):
        if holdout is not None and test:
            raise ValueError("--test gives the holdout; omit --holdout")
        if holdout is not None and not 0 < holdout < 1:
            raise ValueError(f"expected a share strictly between 0 and 1, got {holdout:g}")
    _refuse_pairs({"--group": group, "--qid": qid, "--time": time, "--fold": fold})
    with about_option("--max-minutes"):
        if max_minutes is not None and not 0 < max_minutes < inf:
            raise ValueError(f"expected a number of minutes above 0, got {max_minutes:g}")
    chosen = FitOptions(goal, holdout, models, max_minutes, options.confidence_of(confidence), seed, not no_calibration)
    chosen = replace(chosen, positive_name=options.positive_name_of(positive_name))
    if onnx_only:
        from headrank.training.exportable import exportable_models

        with about_option("--onnx-only"):
            exportable_models(models)
        chosen = replace(chosen, onnx_only=True)
    layout = layout_of(separator, decimal, sheet, [*files, *(test or [])])
    data, held_out = input_of(files, layout), input_of(test, layout) if test else None
    storage = storage_of(memory, dask, out)
    if (memory is not None or dask is not None) and not data.is_table:
        raise typer.BadParameter(
            f"{data.name} is read as an svmlight file, which is in memory; omit this option, or give a table",
            param_hint="'--memory'" if dask is None else "'--dask'",
        )
    needed = storage.on_disk(data, held_out) if data.is_table and (held_out is None or held_out.is_table) else None
    if memory is None and dask is None and needed is not None:
        memory = f"{needed / 2:.0g}"  # on a machine with more memory, the same rows are read in the same way
    named = {"--target": target, "--qid": qid, "--id": id, "--group": group, "--time": time, "--fold": fold}
    named |= {"--positive": positive, "--positive-name": positive_name}
    named |= {"--separator": separator, "--decimal": decimal, "--sheet": sheet, "--memory": memory, "--dask": dask}
    repeated = {"--test": [] if held_out is None else held_out.words, "--drop": drop or []}
    chosen = replace(chosen, command=_command(data.words, named, repeated, zero_based, chosen))

    def source(_folder: Path) -> Source:
        if data.is_table:
            if target is None:
                raise typer.BadParameter("name the column to predict", param_hint="'--target'")
            if zero_based:
                raise typer.BadParameter(
                    "only svmlight files have numbered features; omit this option", param_hint="'--zero-based'"
                )
            if held_out is not None and not held_out.is_table:
                raise typer.BadParameter(f"{data.name} is a table; give a table", param_hint="'--test'")
            columns = TableColumns(target, qid, id, group, time, fold, tuple(drop or ()), positive)
            if needed is None:
                return table_source(data, columns, held_out)
            return stored_source(data, columns, storage, held_out)
        for option, value in (*((name, given) for name, given in named.items() if name in _COLUMNS), ("--drop", drop)):
            if value:
                raise typer.BadParameter(
                    f"{data.name} is read as an svmlight file, which has no named columns; omit this option, or give "
                    "a table whose name ends in .csv, .tsv or .parquet",
                    param_hint=f"'{option}'",
                )
        return svmlight_source(data, positive=positive, zero_based=zero_based, test=held_out)

    fit_and_write(source, chosen, out=out, overwrite=overwrite, as_json=json, verbose=verbose)


def storage_of(memory: str | None, dask: str | None, out: Path) -> Storage:
    """Return where the rows may be, or raise."""
    with about_option("--memory"):
        return Storage(None if memory is None else size_of(memory), dask, out)


def _refuse_pairs(given: dict[str, str | None]) -> None:
    """Raise if two options contradict each other."""
    for one, other, why in (
        ("--group", "--qid", "the rows of a query are kept together anyway"),
        ("--fold", "--time", "with times, the folds go forward in time"),
    ):
        if given[one] is not None and given[other] is not None:
            raise typer.BadParameter(f"give {one} or {other}, not both: {why}", param_hint=f"'{one}'")


def _command(
    files: Sequence[str],
    named: Mapping[str, str | None],
    repeated: Mapping[str, Sequence[str]],
    zero_based: bool,
    chosen: FitOptions,
) -> str:
    """Return the command that reproduces the run, without local folders."""
    words = ["headrank fit", *map(quote, files)]
    words += [f"{option} {quote(value)}" for option, value in named.items() if value is not None]
    words += [f"{option} {quote(value)}" for option, values in repeated.items() for value in values]
    words += ["--zero-based"] * zero_based
    words += [chosen.goal.option]
    usual = FitOptions(chosen.goal)
    if chosen.holdout is not None:
        words.append(f"--holdout {shown(chosen.holdout)}")
    if chosen.models != usual.models:
        words.append(f"--models {chosen.models}")
    if chosen.max_minutes is not None:
        words.append(f"--max-minutes {shown(chosen.max_minutes)}")
    if chosen.confidence != usual.confidence:
        words.append(f"--confidence {shown(chosen.confidence)}")
    if chosen.seed != usual.seed:
        words.append(f"--seed {chosen.seed}")
    words += [] if chosen.calibration else ["--no-calibration"]
    words += ["--onnx-only"] * chosen.onnx_only
    return " ".join([*words, "--out result"])

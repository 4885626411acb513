"""``headrank fit``: train models for the head of the list, certify the best one and write a report."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from pathlib import Path
from shlex import quote
from typing import Annotated, Literal

import typer

from headrank._format import shown
from headrank.cli import _options as options
from headrank.cli._failures import about_option
from headrank.cli._fitting import FitOptions, fit_and_write
from headrank.cli._sources import Source, is_table, svmlight_source, table_source

DEFAULT_FPR = "0:0.1"


def run(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="Table (.csv, .tsv, .csv.gz, .tsv.gz, .parquet) or svmlight/LETOR file.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Output folder.")],
    target: Annotated[
        str | None,
        typer.Option(
            "--target", metavar="COL", help="Binary column to predict; svmlight files contain their own labels."
        ),
    ] = None,
    fpr: options.Fpr = None,
    top: options.Top = None,
    qid: options.Qid = None,
    id: options.Id = None,  # noqa: A002  # the name of the option
    drop: options.Drop = None,
    positive: options.Positive = None,
    zero_based: Annotated[
        bool, typer.Option("--zero-based", help="Features of the svmlight file are numbered from 0.")
    ] = False,
    holdout: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of the rows (or queries) to hold out for evaluation.")
    ] = 0.3,
    models: Annotated[
        Literal["all", "linear", "trees"],
        typer.Option(help="What the ranker is chosen from: linear scorers, boosted trees and forests, or all."),
    ] = "all",
    max_minutes: Annotated[
        float | None,
        typer.Option(metavar="MINUTES", help="Time for choosing the ranker; what is not finished by then is left out."),
    ] = None,
    confidence: options.Confidence = 0.95,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of the split and of all other randomness.")] = 0,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
) -> None:
    """Train models for the head of the list, select the best one on a holdout, and certify it.

    Writes DIR/report.html, DIR/ranked.csv (the holdout, best first), DIR/model (for headrank score) and
    DIR/result.json. The default goal is false positive rates up to 0.1.

    Example: headrank fit patients.csv --target ill --id patient --fpr 0:0.02 --out result
    """
    goal = options.goal_of(fpr, top) or options.goal_of(DEFAULT_FPR, None)
    assert goal is not None
    with about_option("--holdout"):
        if not 0 < holdout < 1:
            raise ValueError(f"expected a share strictly between 0 and 1, got {holdout:g}")
    with about_option("--max-minutes"):
        if max_minutes is not None and not 0 < max_minutes < inf:
            raise ValueError(f"expected a number of minutes above 0, got {max_minutes:g}")
    chosen = FitOptions(goal, holdout, models, max_minutes, options.confidence_of(confidence), seed)
    chosen = replace(chosen, command=_command(data.name, target, qid, id, drop or [], positive, zero_based, chosen))

    def source(_folder: Path) -> Source:
        if is_table(data):
            if target is None:
                raise typer.BadParameter("name the column to predict", param_hint="'--target'")
            if zero_based:
                raise typer.BadParameter(
                    "only svmlight files have numbered features; omit this option", param_hint="'--zero-based'"
                )
            return table_source(data, target=target, qid=qid, id=id, drop=tuple(drop or ()), positive=positive)
        for option, value in (("--target", target), ("--qid", qid), ("--id", id), ("--drop", drop)):
            if value:
                raise typer.BadParameter(
                    f"{data.name} is read as an svmlight file, which has no named columns; omit this option, or give "
                    "a table whose name ends in .csv, .tsv or .parquet",
                    param_hint=f"'{option}'",
                )
        return svmlight_source(data, positive=positive, zero_based=zero_based)

    fit_and_write(source, chosen, out=out, overwrite=overwrite, as_json=json)


def _command(
    name: str,
    target: str | None,
    qid: str | None,
    id: str | None,  # noqa: A002
    drop: list[str],
    positive: str | None,
    zero_based: bool,
    chosen: FitOptions,
) -> str:
    """Return the command that reproduces the run, without local folders."""
    named = {"--target": target, "--qid": qid, "--id": id, "--positive": positive}
    words = ["headrank fit", quote(name)]
    words += [f"{option} {quote(value)}" for option, value in named.items() if value is not None]
    words += [f"--drop {quote(column)}" for column in drop]
    words += ["--zero-based"] * zero_based
    words += [chosen.goal.option]
    usual = FitOptions(chosen.goal)
    if chosen.holdout != usual.holdout:
        words.append(f"--holdout {shown(chosen.holdout)}")
    if chosen.models != usual.models:
        words.append(f"--models {chosen.models}")
    if chosen.max_minutes is not None:
        words.append(f"--max-minutes {shown(chosen.max_minutes)}")
    if chosen.confidence != usual.confidence:
        words.append(f"--confidence {shown(chosen.confidence)}")
    if chosen.seed != usual.seed:
        words.append(f"--seed {chosen.seed}")
    return " ".join([*words, "--out result"])

"""Options that several commands share, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headrank.cli._failures import about_option

if TYPE_CHECKING:
    from headrank.measures import Measure
    from headrank.training.goal import Goal

Scores = Annotated[
    Path,
    typer.Argument(metavar="SCORES", help="Table of labels and scores: .csv, .tsv, either with .gz, or .parquet."),
]
Target = Annotated[str, typer.Option("--target", metavar="COL", help="Column that says which rows are positive.")]
Positive = Annotated[
    str | None,
    typer.Option("--positive", metavar="VALUE", help="Value of the target that means positive; others do not."),
]
ManyScores = Annotated[
    list[str],
    typer.Option("--score", metavar="COL", help="Column of scores, higher = more positive; may be repeated."),
]
OneScore = Annotated[str, typer.Option("--score", metavar="COL", help="Column of scores, higher = more positive.")]
Fpr = Annotated[
    str | None,
    typer.Option("--fpr", metavar="A:B", help="The false positive rates that matter: 0:0.02, or 0.02 for the same."),
]
Top = Annotated[
    float | None, typer.Option("--top", metavar="U", help="The best fraction of all rows that matters: 0.01.")
]
Qid = Annotated[
    str | None,
    typer.Option("--qid", metavar="COL", help="Column of query ids; measures are then means over queries."),
]
Id = Annotated[str | None, typer.Option("--id", metavar="COL", help="Column that names the rows; not a feature.")]
Drop = Annotated[list[str] | None, typer.Option("--drop", metavar="COL", help="Column to leave out; may be repeated.")]
Confidence = Annotated[
    float, typer.Option("--confidence", metavar="P", help="Probability with which each promise holds.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the files of an earlier run in the same folder.")]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on stdout, and everything for people on stderr.")
]


def goal_of(fpr: str | None, top: float | None) -> Goal | None:
    """Return which part of the list matters, if it was said; refuse two parts.

    >>> str(goal_of("0:0.02", None)), str(goal_of("0.02", None)), goal_of(None, None)
    ('false positive rates from 0 to 0.02', 'false positive rates from 0 to 0.02', None)
    """
    if fpr is None and top is None:
        return None
    if fpr is not None and top is not None:
        raise typer.BadParameter("give one of --fpr and --top, not both", param_hint="'--top'")
    from headrank.training.goal import Goal

    if top is not None:
        with about_option("--top"):
            if 1 < top <= 100:
                raise ValueError(f"needed a fraction of all rows, not percent: for {top:g} % write {top / 100:g}")
            return Goal(top=top)
    assert fpr is not None
    with about_option("--fpr"):
        low, colon, high = fpr.rpartition(":")
        return Goal(min_fpr=_fpr(low, fpr) if colon else 0.0, max_fpr=_fpr(high, fpr))


def _fpr(text: str, whole: str) -> float:
    try:
        value = float(text)
    except ValueError:
        number = text.strip().removesuffix("%").strip()
        percent = f"; rates are fractions, for {number} % write {float(number) / 100:g}" if _is_percent(text) else ""
        raise ValueError(f"needed rates like 0:0.02 or 0.02, got {whole!r}{percent}") from None
    if 1 < value <= 100:
        raise ValueError(
            f"false positive rates are fractions, not percent: for {value:g} % write {value / 100:g}, got {whole!r}"
        )
    return value


def _is_percent(text: str) -> bool:
    number = text.strip().removesuffix("%").strip()
    return text.strip().endswith("%") and number.replace(".", "", 1).isdecimal()


def confidence_of(value: float) -> float:
    """Return the confidence, or refuse."""
    from headrank.bounds.confidence import check_confidence

    with about_option("--confidence"):
        return check_confidence(value)


def measures_of(names: list[str]) -> list[Measure]:
    """Return the measures of these short names, each once, or refuse."""
    from headrank.measures import measure

    with about_option("--measure"):
        return list(dict.fromkeys(measure(name) for name in names))

"""Options shared by several commands."""

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
    typer.Argument(metavar="SCORES", help="Table of labels and scores: .csv, .tsv, .csv.gz, .tsv.gz or .parquet."),
]
Target = Annotated[str, typer.Option("--target", metavar="COL", help="Column of labels.")]
Positive = Annotated[
    str | None,
    typer.Option(
        "--positive", metavar="VALUE", help="Value of the target that counts as positive; all others are negative."
    ),
]
PositiveName = Annotated[
    str | None,
    typer.Option(
        "--positive-name",
        metavar="NOUN",
        help="What a positive row is called in the report: fraud, or diagnosis/diagnoses.",
        show_default="from the target and its positive value",
    ),
]
ManyScores = Annotated[
    list[str],
    typer.Option("--score", metavar="COL", help="Column of scores (higher: more likely positive); may be repeated."),
]
OneScore = Annotated[
    str, typer.Option("--score", metavar="COL", help="Column of scores (higher: more likely positive).")
]
Fpr = Annotated[
    str | None,
    typer.Option("--fpr", metavar="A:B", help="Range of false positive rates that matters: 0:0.02, or 0.02 for short."),
]
Top = Annotated[float | None, typer.Option("--top", metavar="U", help="Best fraction of all rows that matters: 0.01.")]
Qid = Annotated[
    str | None,
    typer.Option("--qid", metavar="COL", help="Column of query ids; measures are then means over queries."),
]
Id = Annotated[str | None, typer.Option("--id", metavar="COL", help="Column that identifies the rows; not a feature.")]
Drop = Annotated[list[str] | None, typer.Option("--drop", metavar="COL", help="Column to ignore; may be repeated.")]
Keep = Annotated[
    list[str] | None,
    typer.Option("--keep", metavar="COL", help="Column to copy to the output unchanged; may be repeated."),
]
Confidence = Annotated[float, typer.Option("--confidence", metavar="P", help="Confidence level of each guarantee.")]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace the files of an earlier run in the output folder.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, and the text on stderr.")]


def goal_of(fpr: str | None, top: float | None) -> Goal | None:
    """Return the part of the list that matters, or None if it was not given. Raises if both options were.

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
                raise ValueError(f"expected a fraction of all rows, not per cent: for {top:g} % write {top / 100:g}")
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
        raise ValueError(f"expected rates like 0:0.02 or 0.02, got {whole!r}{percent}") from None
    if 1 < value <= 100:
        raise ValueError(
            f"false positive rates are fractions, not per cent: for {value:g} % write {value / 100:g}, got {whole!r}"
        )
    return value


def _is_percent(text: str) -> bool:
    number = text.strip().removesuffix("%").strip()
    return text.strip().endswith("%") and number.replace(".", "", 1).isdecimal()


def confidence_of(value: float) -> float:
    """Return the confidence, or raise if it is out of range."""
    from headrank.bounds.confidence import check_confidence

    with about_option("--confidence"):
        return check_confidence(value)


def positive_name_of(name: str | None) -> str:
    """Return what a positive row is called, empty by default; raise if it has more parts than singular and plural."""
    if name is None:
        return ""
    from headrank.training.naming import nouns_of

    with about_option("--positive-name"):
        nouns_of(name)
    return name


def measures_of(names: list[str]) -> list[Measure]:
    """Return the measures of these short names, without duplicates; raise on unknown names."""
    from headrank.measures import measure

    with about_option("--measure"):
        return list(dict.fromkeys(measure(name) for name in names))

"""Options shared by several commands."""

from __future__ import annotations

import decimal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headrank.cli._failures import about_option

if TYPE_CHECKING:
    from headrank.measures import Measure
    from headrank.training.goal import Goal

COLUMNS, PART, INPUT, RESULT = "Columns", "Part of the list that matters", "Input files", "Result"
"""Headings in the help of a command."""
FORMATS = ".csv, .tsv (also .gz), .parquet, .xlsx"
_MANY = "several, or those of a folder, are read as one, - is standard input (CSV)"

Scores = Annotated[
    list[Path], typer.Argument(metavar="SCORES", help=f"Table of labels and scores ({FORMATS}); {_MANY}.")
]
Data = Annotated[list[Path], typer.Argument(metavar="DATA", help=f"Table ({FORMATS}) or svmlight/LETOR file; {_MANY}.")]
Separator = Annotated[
    str | None,
    typer.Option(
        "--separator",
        metavar="CHAR",
        help="Character between fields of text files, such as ';' or tab; by default that of .csv or .tsv.",
        rich_help_panel=INPUT,
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        "--decimal",
        metavar="CHAR",
        help="Decimal mark of text files: a point, the default, or a comma.",
        rich_help_panel=INPUT,
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        "--sheet", metavar="NAME", help="Sheet to read of a workbook that has several.", rich_help_panel=INPUT
    ),
]
Target = Annotated[str, typer.Option("--target", metavar="COL", help="Column of labels.", rich_help_panel=COLUMNS)]
Positive = Annotated[
    str | None,
    typer.Option(
        "--positive",
        metavar="VALUE",
        help="Value of the target that counts as positive; all others are negative.",
        rich_help_panel=COLUMNS,
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
    typer.Option(
        "--score",
        metavar="COL",
        help="Column of scores (higher: more likely positive); may be repeated.",
        rich_help_panel=COLUMNS,
    ),
]
OneScore = Annotated[
    str,
    typer.Option(
        "--score", metavar="COL", help="Column of scores (higher: more likely positive).", rich_help_panel=COLUMNS
    ),
]
LowerIsBetter = Annotated[
    bool,
    typer.Option(
        "--lower-is-better",
        help="Low scores are more likely positive, in all columns of scores.",
        rich_help_panel=COLUMNS,
    ),
]
Fpr = Annotated[
    str | None,
    typer.Option(
        "--fpr",
        metavar="A:B",
        help="Range of false positive rates: 0:0.02, or 0.02 for short.",
        rich_help_panel=PART,
    ),
]
Specificity = Annotated[
    str | None,
    typer.Option(
        "--specificity",
        metavar="A:B",
        help="The same as a range of specificities: 0.98:1, or 0.98 for short.",
        rich_help_panel=PART,
    ),
]
Sensitivity = Annotated[
    str | None,
    typer.Option(
        "--sensitivity",
        metavar="A:B",
        help="Range of sensitivities: 0.8:0.95, or 0.8 for 0.8:1; alone or with one of the above.",
        rich_help_panel=PART,
    ),
]
Top = Annotated[
    float | None,
    typer.Option("--top", metavar="U", help="Best fraction of all rows: 0.01.", rich_help_panel=PART),
]
Qid = Annotated[
    str | None,
    typer.Option(
        "--qid",
        metavar="COL",
        help="Column of query ids; measures are then means over queries.",
        rich_help_panel=COLUMNS,
    ),
]
Clusters = Annotated[
    str | None,
    typer.Option(
        "--clusters",
        metavar="COL",
        help="Column of patients or the like, whose rows depend on each other: intervals by the cluster bootstrap.",
        rich_help_panel=COLUMNS,
    ),
]
Id = Annotated[
    str | None,
    typer.Option(
        "--id", metavar="COL", help="Column that identifies the rows; not a feature.", rich_help_panel=COLUMNS
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COL", help="Column to ignore; may be repeated.", rich_help_panel=COLUMNS),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="COL",
        help="Column to copy to the output unchanged; may be repeated.",
        rich_help_panel=COLUMNS,
    ),
]
Confidence = Annotated[float, typer.Option("--confidence", metavar="P", help="Confidence level of each guarantee.")]
Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite", help="Replace the files of an earlier run in the output folder.", rich_help_panel=RESULT
    ),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON object on stdout, and the text on stderr.", rich_help_panel=RESULT),
]


def goal_of(fpr: str | None, top: float | None, specificity: str | None = None) -> Goal | None:
    """Return the part of the list that matters, or None if it was not given. Raises if two options were.

    >>> str(goal_of("0:0.02", None)), str(goal_of(None, None, "0.98")), goal_of(None, None)
    ('false positive rates from 0 to 0.02', 'false positive rates from 0 to 0.02', None)
    """
    given = [
        option
        for option, value in (("--fpr", fpr), ("--specificity", specificity), ("--top", top))
        if value is not None
    ]
    if not given:
        return None
    if len(given) > 1:
        raise typer.BadParameter(f"give one of {' and '.join(given)}, not both", param_hint=f"'{given[-1]}'")
    from headrank.training.goal import Goal

    if top is not None:
        with about_option("--top"):
            if 1 < top <= 100:
                raise ValueError(f"expected a fraction of all rows, not per cent: for {top:g} % write {top / 100:g}")
            return Goal(top=top)
    if specificity is not None:
        with about_option("--specificity"):
            low, high = range_of(specificity, "specificities", default_low=None)
            return Goal(min_fpr=_complement(high), max_fpr=_complement(low))
    assert fpr is not None
    with about_option("--fpr"):
        low, high = range_of(fpr, "false positive rates", default_low=0.0)
        return Goal(min_fpr=low, max_fpr=high)


def box_of(sensitivity: str | None, goal: Goal | None) -> Measure | None:
    """Return the area of a range of sensitivities, within the false positive rates of the goal; None without a range.

    >>> str(box_of("0.8:1", goal_of("0:0.1", None))), str(box_of("0.8", None)), box_of(None, None)
    ('tpauc@fpr=0.1,tpr=0.8', 'tpauc@fpr=1,tpr=0.8', None)
    """
    if sensitivity is None:
        return None
    from headrank.measures import TwoWayPartialAUC

    with about_option("--sensitivity"):
        low, high = range_of(sensitivity, "sensitivities", default_low=None)
        if goal is not None and (goal.top is not None or goal.min_fpr > 0):
            raise ValueError("it goes together with false positive rates from 0, or specificities up to 1, only")
        max_fpr = 1.0 if goal is None or goal.max_fpr is None else goal.max_fpr
        return TwoWayPartialAUC(max_fpr=max_fpr, min_tpr=low, max_tpr=high)


def range_of(text: str, what: str, *, default_low: float | None) -> tuple[float, float]:
    """Parse ``"0.02:0.05"``; a single rate is the upper end if there is a default for the lower one, else the lower.

    >>> range_of("0.02", "rates", default_low=0.0), range_of("0.9", "rates", default_low=None)
    ((0.0, 0.02), (0.9, 1.0))
    """
    low, colon, high = text.rpartition(":")
    if colon:
        return _rate(low, text, what), _rate(high, text, what)
    return (_rate(text, text, what), 1.0) if default_low is None else (default_low, _rate(text, text, what))


def _complement(rate: float) -> float:
    """Return 1 - rate without an error of rounding: 1 - 0.9 is 0.1."""
    return float(1 - decimal.Decimal(repr(rate)))


def _rate(text: str, whole: str, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        number = text.strip().removesuffix("%").strip()
        percent = f"; rates are fractions, for {number} % write {float(number) / 100:g}" if _is_percent(text) else ""
        raise ValueError(f"expected rates like 0:0.02 or 0.02, got {whole!r}{percent}") from None
    if 1 < value <= 100:
        raise ValueError(f"{what} are fractions, not per cent: for {value:g} % write {value / 100:g}, got {whole!r}")
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


def method_of(name: str | None, methods: Sequence[str], clusters: str | None) -> str:
    """Return the method by its name, or raise; with clusters there is only one, the bootstrap.

    >>> method_of(None, ["auto", "bootstrap"], None), method_of(None, ["auto", "bootstrap"], "patient")
    ('auto', 'bootstrap')
    """
    chosen = name or ("auto" if clusters is None else "bootstrap")
    if chosen not in methods:
        raise typer.BadParameter(f"expected one of {', '.join(methods)}, got {chosen!r}", param_hint="'--method'")
    if clusters is not None and chosen != "bootstrap":
        raise typer.BadParameter(
            f"rows of one cluster depend on each other, but {chosen} assumes independent rows; with --clusters use "
            "bootstrap",
            param_hint="'--method'",
        )
    return chosen

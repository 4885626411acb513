"""The report as plain text, for a terminal or an email: in full, in brief, or in a few lines."""

from __future__ import annotations

import re
import sys
from textwrap import wrap

from headrank._format import coefficient, decimal, lower_limit, percent, upper_limit
from headrank.reports.contents import ModelPart, Summary
from headrank.reports.wording import sentence

_WIDTH = 100
_WARNINGS_SHOWN = 3
_INDENT_BELOW = "    "
"""Of the last cell of a row that does not fit."""


def render_text(summary: Summary) -> str:
    """Return the full report as text with lines of at most 100 characters. Same summary, same bytes."""
    parts = [
        _paragraph(" ".join(summary.answer.sentences)),
        *_models(summary),
        *_families(summary),
        *_periods(summary),
        *_threshold(summary),
        *_drivers(summary),
        *_first_rows(summary),
        *_example_lists(summary),
        *_data(summary),
        *_listed("Warnings", summary.warnings),
        *_listed("Guarantees and assumptions", [f"{each.about}: {each.words}" for each in summary.promises]),
        *_reproduce(summary),
    ]
    return "\n".join(parts) + "\n"


def render_brief(summary: Summary, *, width: int = _WIDTH) -> str:
    """Return the answer, all models, what the ranker is made of, the threshold and the warnings.

    Lines have at most ``width`` characters, unless a name is longer.
    """
    parts = [
        _paragraph(" ".join(summary.answer.sentences), width=width),
        *_models(summary, width),
        *_families(summary, width),
        *_periods(summary, width),
        *_threshold(summary, width),
        *_listed("Warnings", summary.warnings, width),
    ]
    return "\n".join(parts) + "\n"


def render_short(summary: Summary, *, width: int | None = _WIDTH) -> str:
    """Return the answer in a few lines: headline, models, threshold, and the first sentence of each warning.

    Each is a paragraph of lines of at most ``width`` characters, or one line if it is None.
    """
    models = "; ".join(f"{each.name} {decimal(each.estimate)}, {each.verdict}" for each in summary.entrants)
    shown = [_first_sentence(each) for each in summary.warnings[:_WARNINGS_SHOWN]]
    more = len(summary.warnings) - len(shown)
    sentences = [
        summary.answer.sentences[0],
        f"{summary.goal.measure} on the holdout: {models}.",
        *([] if summary.periods is None else [_first_sentence(summary.periods.words)]),
        *([] if summary.threshold.value is None else [_first_sentence(summary.threshold.words)]),  # a warning says why
        *(f"Warning: {each}" for each in shown),
        *([f"{more} more warning{'s' if more > 1 else ''} in the report."] if more > 0 else []),
    ]
    return "\n".join(_paragraph(each, width=width or sys.maxsize) for each in sentences) + "\n"


def _first_sentence(words: str) -> str:
    return re.split(r"(?<=[.!?]) (?=[A-Z])", words, maxsplit=1)[0]


def _paragraph(words: str, indent: str = "", first: str | None = None, width: int = _WIDTH) -> str:
    # Names and commands longer than a line are not broken, so that they can be copied.
    lines = wrap(
        _printable(words),
        width,
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines)


def _printable(words: str) -> str:
    """Replace control characters: names in a table may contain anything."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in words)


def _title(words: str) -> list[str]:
    return ["", words, "-" * len(words)]


def _listed(title: str, sentences: list[str] | tuple[str, ...], width: int = _WIDTH) -> list[str]:
    if not sentences:
        return []
    return [*_title(title), *(_paragraph(each, "  ", "- ", width) for each in sentences)]


def _models(summary: Summary, width: int = _WIDTH) -> list[str]:
    header = [
        "model",
        summary.goal.measure,
        f"{percent(summary.confidence)} limits",
        "AUC",
        *_headline_name(summary),
        "",
    ]
    rows = [header, *(_model(summary, each) for each in summary.entrants)]
    remarks = [f"{sentence(each.name)}: {each.remark}" for each in summary.entrants if each.remark]
    return [
        *_title("All models"),
        *_table(rows, width),
        "",
        _paragraph(f"{summary.goal.measure}: {summary.goal.measure_in_words}.", width=width),
        *(_paragraph(each, width=width) for each in remarks),
    ]


def _families(summary: Summary, width: int = _WIDTH) -> list[str]:
    if not summary.ranker.families:
        return []
    rows = [["family", "out of fold", "standard error", "weight"]]
    rows += [
        [each.name, decimal(each.estimate), decimal(each.standard_error), each.share]
        for each in summary.ranker.families
    ]
    return [
        *_title("What the ranker is made of"),
        *_table(rows, width),
        "",
        _paragraph(summary.ranker.words, width=width),
    ]


def _headline_name(summary: Summary) -> list[str]:
    """Return the header of the headline's column, or nothing if it is the measure of the goal."""
    if summary.goal.headline == summary.goal.measure:
        return []
    if summary.answer.total is None:
        return [summary.goal.headline]
    return [f"{'found' if summary.answer.counted == 'positives' else 'positive'} of {summary.answer.total:,}"]


def _model(summary: Summary, each: ModelPart) -> list[str]:
    headline = decimal(each.headline) if each.expected is None else f"{each.expected:,}"
    return [
        each.name,
        decimal(each.estimate),
        f"{lower_limit(each.low)} to {upper_limit(each.high)}",
        decimal(each.auc),
        *([headline] if _headline_name(summary) else []),
        each.verdict,
    ]


def _table(rows: list[list[str]], width: int = _WIDTH) -> list[str]:
    """Align the cells; if a row is too long, the last cells of all rows are on lines of their own."""
    rows = [[_printable(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    fits = sum(widths) + 2 * (len(widths) - 1) <= width
    lines = []
    for row in rows:
        beside, below = (row, "") if fits else (row[:-1], row[-1])
        lines.append("  ".join(cell.ljust(size) for cell, size in zip(beside, widths, strict=False)).rstrip())
        if below:
            lines.append(_paragraph(below, _INDENT_BELOW, width=width))
    return lines


def _periods(summary: Summary, width: int = _WIDTH) -> list[str]:
    if summary.periods is None:
        return []
    rows = [["period", "rows", "positive", summary.goal.measure, f"{percent(summary.confidence)} limits"]]
    rows += [
        [
            each.words,
            f"{each.n_rows:,}",
            f"{each.n_pos:,}",
            decimal(each.estimate),
            f"{lower_limit(each.low)} to {upper_limit(each.high)}",
        ]
        for each in summary.periods.periods
    ]
    return [*_title("By period"), *_table(rows, width), "", _paragraph(summary.periods.words, width=width)]


def _threshold(summary: Summary, width: int = _WIDTH) -> list[str]:
    if summary.threshold.value is None:  # the warnings say why
        return []
    return [*_title("Threshold"), _paragraph(summary.threshold.words, width=width)]


def _drivers(summary: Summary) -> list[str]:
    if not summary.drivers.words:  # scores were given
        return []
    rows = [[each.feature, coefficient(each.value)] for each in summary.drivers.coefficients]
    return [*_title("What drives the score"), _paragraph(summary.drivers.words), *(_table(rows) if rows else [])]


def _first_rows(summary: Summary) -> list[str]:
    if not summary.first_rows:
        return []
    rows = [["rank", "row", "positive", "raised most by"]]
    rows += [[str(each.rank), each.name, "yes" if each.positive else "no", each.why] for each in summary.first_rows]
    return [*_title("The first rows, and why they are there"), *_table(rows)]


def _example_lists(summary: Summary) -> list[str]:
    part = summary.example_lists
    if part is None:
        return []
    rows = [["first rows", "promised positive", "likely", "truly positive"]]
    rows += [[f"{each.k:,}", f"{each.at_least:,}", f"{each.likely:,.1f}", f"{each.found:,}"] for each in part.lists]
    table = ["", *_table(rows), ""] if part.lists else []
    return [*_title("What is promised of a new list"), _paragraph(part.words), *table, _paragraph(part.outcome)]


def _data(summary: Summary) -> list[str]:
    data = summary.data
    if data.is_given:
        rows = (
            f"{data.sources}: {data.n_rows:,} rows, {data.n_pos:,} of them positive ({data.target} = {data.positive})."
        )
        return [*_title("Data"), _paragraph(f"{rows} {summary.split}")]
    queries = "" if data.n_holdout_queries is None else f" in {data.n_holdout_queries:,} queries"
    words = (
        f"{data.sources}: {data.n_rows:,} rows, {data.n_pos:,} of them positive ({data.target} = {data.positive}). "
        f"Training: {data.n_train:,} rows, {data.n_train_pos:,} positive. Holdout: {data.n_holdout:,} rows, "
        f"{data.n_holdout_pos:,} positive{queries}. Linear models use {data.n_features:,} features."
    )
    dropped = [f"Dropped columns: {', '.join(data.dropped)}."] if data.dropped else []
    return [*_title("Data"), _paragraph(" ".join([words, summary.split, *dropped]))]


def _reproduce(summary: Summary) -> list[str]:
    again = summary.reproduce
    if summary.data.is_given:
        return [*_title("How to reproduce this"), f"  {_printable(again.command)}"]
    versions = ", ".join(f"{name} {version}" for name, version in again.versions)
    return [
        *_title("How to reproduce this"),
        f"  {_printable(again.command)}",
        _paragraph(f"sha256 of the input: {again.sha256}", "  "),
        *_test_hash(summary),
        _paragraph(f"random state {again.random_state}; {versions}", "  "),
        *([_paragraph(f"trained {again.place}", "  ")] if again.place else []),
    ]


def _test_hash(summary: Summary) -> list[str]:
    info = summary.data.holdout
    return [] if info.test_source is None else [_paragraph(f"sha256 of the holdout: {info.test_sha256}", "  ")]

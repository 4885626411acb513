"""report.html and monitor.html: self-contained files. The only module that imports Jinja."""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from headrank._format import decimal, lower_limit, percent, rounded_percent, upper_limit
from headrank.reports.contents import Summary
from headrank.reports.figures import Control, Levels
from headrank.reports.geometry import bars, chart_drawing, forest, histogram_drawing, roc_drawing, spark
from headrank.reports.monitor import (
    MonitorSummary,
    estimate_and_limits,
    false_positive_course,
    flagged_course,
    measure_course,
)
from headrank.reports.wording import sentence, subject


def render_html(summary: Summary) -> str:
    """Return the report as one self-contained HTML file. Same summary, same bytes.

    The figures are static; scripts are only needed to try other goals and to sort tables. Everything that comes from
    the table, such as column names, is escaped, and a content security policy allows no script except the page's own.
    """
    style, script, sorting = _part("report.css"), _part("report.js"), _part("sorting.js")
    digests = [b64encode(sha256(each.encode()).digest()).decode() for each in (script, sorting)]
    return (
        _environment()
        .get_template("report.html")
        .render(
            summary=summary,
            roc=roc_drawing(summary.roc),
            forest=forest(summary.entrants),
            families=forest(summary.ranker.families) if summary.ranker.families else None,
            histogram=histogram_drawing(summary.histogram),
            bars=bars(summary.drivers.coefficients),
            gains=None if summary.gains is None else chart_drawing(summary.gains),
            precision_recall=None if summary.precision_recall is None else chart_drawing(summary.precision_recall),
            sparks=[spark(each.pos_shares, each.neg_shares) if each.pos_shares else None for each in summary.columns],
            style=Markup(style),
            script=Markup(script),
            sorting=Markup(sorting),
            script_hashes=digests,
            curve=None if summary.control is None else _embedded(summary.control),
        )
    )


def render_monitor_html(summary: MonitorSummary) -> str:
    """Return the report of ``headrank monitor`` as one self-contained HTML file without scripts."""
    return (
        _environment()
        .get_template("monitor.html")
        .render(
            summary=summary,
            flagged=flagged_course(summary),
            measured=measure_course(summary),
            false_positives=false_positive_course(summary),
            style=Markup(_part("report.css") + _part("monitor.css")),
        )
    )


_BEFORE_OPTION = re.compile(r" (?=--?[a-z])")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def _tidy(words: str) -> Markup:
    """Escape a text, and keep numbers with their percent signs and options of commands in one line."""
    escaped = str(escape(words)).replace(" %", "\N{NO-BREAK SPACE}%")
    return Markup(_OPTION.sub(lambda option: f'<span class="part">{option[0]}</span>', escaped))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("headrank.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    # Jinja's filter escapes <, > and &, so that no value can close the script element.
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    environment.filters |= {
        "decimal": decimal,
        "lower_limit": lower_limit,
        "upper_limit": upper_limit,
        "percent": percent,
        "rounded_percent": rounded_percent,
        "sentence": sentence,
        "count": "{:,}".format,
        "limits": estimate_and_limits,
        "subject": subject,
        "whole": "{:,.0f}".format,
        "figures": lambda value: "–" if value is None else f"{value:.3g}",
        "parts": lambda command: _BEFORE_OPTION.split(command),
        "tidy": _tidy,
    }
    return environment


@cache
def _part(name: str) -> str:
    return files("headrank.reports").joinpath("templates", name).read_text(encoding="utf-8")


def _embedded(control: Control) -> dict[str, Any]:
    """Return the data for the script: numbers and base64 only, no text from the table."""
    return {
        "curves": [_levels(curve) for curve in control.curves],
        "byQuery": control.by_query,
        "reach": {"fpr": control.max_fpr, "top": control.max_top},
        "right": control.right,
        "start": {"min": control.start_min_fpr, "max": control.start_max_fpr, "top": control.start_top},
        "lead": control.lead,
    }


def _levels(curve: Levels) -> dict[str, Any]:
    # Base64 keeps every bit of a score in 11 characters; decimal digits would need up to 20.
    scores = b64encode(np.asarray(curve.scores, dtype="<f8").tobytes()).decode()
    return {
        "scores": scores,
        "pos": curve.pos,
        "neg": curve.neg,
        "nPos": curve.n_pos,
        "nNeg": curve.n_neg,
        "complete": curve.complete,
    }

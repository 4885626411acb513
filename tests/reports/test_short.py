"""The short answer of ``headrank fit``: a few lines, the headline first, and no warning kept quiet."""

from dataclasses import replace

import pytest

from headrank._format import decimal
from headrank.reports import render_brief, render_short
from reports.made_up import RESULTS, summary_of

EVERY = pytest.mark.parametrize("name", RESULTS)


@EVERY
def test_the_answer_is_a_few_lines_of_what_the_report_says(name):
    summary = summary_of(name)
    lines = render_short(summary, width=None).splitlines()
    has_threshold, has_periods = summary.threshold.value is not None, summary.periods is not None
    assert len(lines) == 2 + has_threshold + has_periods + min(len(summary.warnings), 3) + (len(summary.warnings) > 3)
    assert len(lines) < len(render_brief(summary).splitlines())
    assert lines[0].split()[:5] == summary.answer.sentences[0].split()[:5]
    for each in summary.entrants:
        assert f"{decimal(each.estimate)}, {each.verdict}" in lines[1]
    if has_threshold:
        assert repr(summary.threshold.value) in " ".join(lines)


@pytest.mark.parametrize("width", [80, 100])
@EVERY
def test_it_fits_and_says_the_same_at_any_width(name, width):
    text = render_short(summary_of(name), width=width)
    assert all(len(line) <= width for line in text.splitlines())
    assert text.split() == render_short(summary_of(name), width=None).split()


@pytest.mark.parametrize("n_warnings", [0, 1, 3, 4, 6])
def test_each_warning_is_named_and_the_rest_counted(n_warnings):
    warnings = tuple(f"Column {i} is odd. Drop it." for i in range(n_warnings))
    lines = render_short(replace(summary_of("top"), warnings=warnings), width=None).splitlines()
    assert [line for line in lines if line.startswith("Warning: ")] == [
        f"Warning: Column {i} is odd." for i in range(min(n_warnings, 3))
    ]
    more = {4: ["1 more warning in the report."], 6: ["3 more warnings in the report."]}.get(n_warnings, [])
    assert [line for line in lines if "more warning" in line] == more


def test_control_characters_of_names_do_not_reach_the_terminal():
    summary = replace(summary_of("top"), warnings=("Column '\x1b[2J' is odd.",))
    assert "\x1b" not in render_short(summary)

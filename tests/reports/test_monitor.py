"""The report of ``headrank monitor``: words, figures and JSON from plain data."""

import json

import numpy as np
import pytest

from cli.fitted import claims_model
from headrank.reports import monitor_summary, render_monitor_html, render_monitor_json
from headrank.reports.monitor import flagged_course, measure_course, short_names
from headrank.training.drift import Change, Drift
from headrank.training.monitoring import Batch, LabelledPart, Limits


def limits(estimate, verdict="open", promised=0.1):
    return Limits(estimate / 2, estimate, min(2 * estimate, 1.0), promised, verdict)


def batch(name, *, flagged=0.05, verdict="open", drift=(), labelled=True):
    changes = tuple(Change(column, "above 9", 0.5, 0.25, 1e-9, np.log(1e-9)) for column in drift)
    part = LabelledPart(100, 20, limits(0.3), None) if labelled else None
    return Batch(name, 100, 100, limits(flagged, verdict), Drift(100, 450, 3, changes, 0.01), part)


def summary_of(*batches):
    return monitor_summary(claims_model(), batches, confidence=0.95)


@pytest.mark.parametrize(
    ("batches", "first", "second"),
    [
        ([batch("a")], "In the file, rows look like those of the holdout.", "No promise is known to be broken."),
        (
            [batch("a"), batch("b", drift=["Age"])],
            "Rows differ from those of the holdout in 1 of 2 files.",
            "Drift: b.",
        ),
        (
            [batch("a", verdict="broken"), batch("b", verdict="broken"), batch("c", drift=["Age"])],
            "A promise of the model is broken in 2 of 3 files.",
            "Broken: a and b.",
        ),
        (
            [batch(f"f{i}", drift=["Age"]) for i in range(9)],
            "Rows differ from those of the holdout in 9 of 9 files.",
            "Drift: f0, f1, f2, f3, f4 and 4 more.",
        ),
    ],
)
def test_the_answer_in_words(batches, first, second):
    assert summary_of(*batches).sentences[:2] == (first, second)


def test_figures_have_a_mark_for_each_file_that_has_a_number():
    summary = summary_of(batch("w1.csv"), batch("w2.csv", labelled=False, flagged=0.2, verdict="broken"))
    flagged, measured = flagged_course(summary), measure_course(summary)
    assert [mark.at for mark in flagged.marks] == ["25", "75"]
    assert [mark.verdict for mark in flagged.marks] == ["open", "broken"]
    assert [mark.at for mark in measured.marks] == ["25"]
    for course in (flagged, measured):
        for mark in course.marks:
            assert 0 <= float(mark.low) <= float(mark.estimate) <= float(mark.low) + float(mark.height) <= 100.001
    assert flagged.promised is not None
    assert flagged.holdout is not None
    assert measure_course(summary_of(batch("w", labelled=False))) is None


def test_many_files_have_few_labels():
    course = flagged_course(summary_of(*(batch(f"week_{i:02d}.csv") for i in range(60))))
    assert len(course.marks) == 60
    assert len(course.x_ticks) <= 8
    assert course.x_ticks[0].label == "00"


def test_short_names_are_never_empty():
    assert short_names(["a-1.csv", "a-.csv"]) == ["1", "a-"]
    assert short_names(["same.csv", "same.csv"]) == ["same", "same"]
    assert short_names([".csv", "x" * 40 + ".csv"])[1].startswith("…")


def test_same_data_same_bytes_and_the_json_has_all_numbers():
    summary = summary_of(batch("a", drift=["Age", "make"]), batch("b"))
    assert render_monitor_html(summary) == render_monitor_html(summary)
    found = json.loads(render_monitor_json(summary))
    assert found["schema"] == 1
    assert [each["column"] for each in found["batches"][0]["drift"]["changes"]] == ["Age", "make"]
    html = render_monitor_html(summary)
    assert "<b>Age</b>: 50" in html
    assert "Age and 1 more" in html


def test_nothing_is_said_where_there_is_no_threshold():
    silent = Batch("a", 10, 10, None, None, None)
    html = render_monitor_html(summary_of(silent))
    assert "Flagged rows" not in html
    assert "not tested" in html
    assert summary_of(silent).sentences[0] == "Drift could not be tested."

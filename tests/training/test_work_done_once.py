"""One training and its report: each model's holdout is checked once, and its curve built once."""

from collections import Counter

import numpy as np
import polars as pl
import pytest

import headrank.bounds.confidence
import headrank.labels
from headrank.curve import RocCurve
from headrank.reports import render_html, summarize
from headrank.training.goal import Goal
from headrank.training.models import FAMILIES
from headrank.training.outputs import ranked, table_model
from headrank.training.table_info import DataSource
from headrank.training.train import train

SOURCE = DataSource(source="t.csv", target="y", positive="1")
HOLDOUT = 300


@pytest.fixture
def calls(monkeypatch):
    """Count calls of the checks, wherever they were imported, and curves of as many rows as the holdout has."""
    import sys

    count = Counter()

    def counted(name, function):
        def call(*args, **options):
            count[name] += 1
            return function(*args, **options)

        return call

    for home, name in (
        (headrank.labels, "check_binary"),
        (headrank.labels, "check_labels"),
        (headrank.bounds.confidence, "check_confidence"),
    ):
        original = getattr(home, name)
        for module in list(sys.modules.values()):
            if module.__name__.startswith("headrank") and getattr(module, name, None) is original:
                monkeypatch.setattr(module, name, counted(name, original))
    build = RocCurve.of_sample.__func__

    def of_sample(cls, sample, depth=None):
        count["curves"] += sample.scores.size == HOLDOUT
        return build(cls, sample, depth)

    monkeypatch.setattr(RocCurve, "of_sample", classmethod(of_sample))
    return count


@pytest.mark.parametrize("goal", [Goal(max_fpr=0.2), Goal(top=0.1)], ids=str)
def test_one_check_per_sample_and_one_curve_per_model(goal, calls, monkeypatch):
    monkeypatch.setitem(FAMILIES, "all", ("linear", "extra trees"))  # all of them take longer, on the other rows
    rng = np.random.default_rng(0)
    y = np.arange(1000) % 4 == 0
    frame = pl.DataFrame({"a": rng.normal(size=1000) + y, "b": rng.normal(size=1000)})
    result = train(frame, y, goal=goal, source=SOURCE)
    render_html(summarize(result))
    ranked(result)
    table_model(result)
    assert len(result.models) == 3
    assert result.y.size == HOLDOUT
    assert result.threshold is not None
    # The example list of the report is a sample of its own, with one check and the confidence at both of its doors.
    assert calls == {"check_labels": 1 + 1, "check_binary": 1, "check_confidence": 1 + 2, "curves": 3}

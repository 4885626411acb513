"""Training on a stored table: the result of a table in memory, and a linear part that has seen all rows."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from fits import same_scores
from headrank.estimators.combined import linear_part
from headrank.reports import render_html, render_json, render_text, summarize
from headrank.training import models as models_module
from headrank.training import stored_preparation, stored_sample
from headrank.training.design import HoldoutFile
from headrank.training.goal import Goal
from headrank.training.outputs import ranked, table_model
from headrank.training.table_info import DataSource
from headrank.training.train import train
from stored import stored_table
from training.tables import messy_frame

SOURCE = DataSource(source="t.parquet", target="y", positive="1")
N = 300
RNG = np.random.default_rng(5)
Y = RNG.random(N) < 0.3
FRAME = messy_frame(RNG, Y)
AT = [0, 90, 90, 91, 200, N]


@pytest.fixture(autouse=True)
def _few_candidates(monkeypatch):
    monkeypatch.setattr(linear_part, "_surrogates_for", lambda _: ("logistic",))


def trained(features, y=Y, **options):
    return train(features, y, goal=Goal(max_fpr=0.2), source=SOURCE, models="linear", **options)


def roles(name):
    """What is known of the rows besides the features, and of a given holdout."""
    groups = RNG.integers(0, 80, N)
    if name == "test":
        n = 200
        rest = {"y": Y[n:], "source": "later"}
        stored = HoldoutFile(stored_table(FRAME[n:], [0, 40, N - n]), **rest), stored_table(FRAME[:n], [0, 90, n])
        return Y[:n], {"test": HoldoutFile(FRAME[n:], **rest)}, FRAME[:n], *stored
    known = {"plain": {}, "groups": {"groups": groups}, "times": {"times": np.arange(N)}, "queries": {"qid": groups}}
    return Y, known[name], FRAME, None, stored_table(FRAME, AT)


@pytest.mark.parametrize("name", ["plain", "groups", "times", "queries", "test"])
def test_the_result_is_that_in_memory(name):
    y, known, frame, held_out, table = roles(name)
    one = trained(frame, y, **known)
    other = trained(table, y, **(known if held_out is None else {"test": held_out}))
    assert [each.name for each in other.models] == [each.name for each in one.models]
    for mine, its in zip(other.models, one.models, strict=True):
        # Text is embedded in single precision, in products with as many rows as a part has.
        np.testing.assert_allclose(mine.scores, its.scores, atol=1e-5 * np.abs(its.scores).max())
    assert_array_equal(other.ids, one.ids)
    assert other.warnings == one.warnings
    assert other.summaries == one.summaries
    assert (other.profile is None) == (one.profile is None)
    assert other.provenance.place == "in a test"
    summaries = [json.loads(render_json(summarize(each))) for each in (one, other)]
    assert summaries[1]["reproduce"].pop("place") == "in a test"
    assert summaries[0]["reproduce"].pop("place") == ""
    assert summaries[0].keys() == summaries[1].keys()
    assert summaries[0]["data"] == summaries[1]["data"]


@pytest.fixture
def small_samples(monkeypatch):
    monkeypatch.setattr(stored_sample, "MOST_VALUES", 20_000)
    monkeypatch.setattr(stored_preparation, "_DESCRIBED", 60)


def many(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.05
    frame = pl.DataFrame({f"x{j}": rng.normal(size=n) + (1.5 - j / 4) * y for j in range(4)})
    return frame.with_columns(pl.when(pl.col("x3") > 1.5).then(None).otherwise(pl.col("x3")).alias("x3")), y


@pytest.mark.usefixtures("small_samples")
def test_the_linear_part_is_fitted_to_all_rows(monkeypatch):
    monkeypatch.setattr(stored_sample, "MOST_VALUES", 4 * 900)
    monkeypatch.setattr(models_module, "ROWS_TO_CHOOSE", 600)
    frame, y = many()
    told = []
    result = trained(stored_table(frame, [0, 700, 1500, 3000]), y, progress=lambda *state: told.append(state))
    again = trained(stored_table(frame, [0, 1, 2999, 3000], n_jobs=2, memory=1e6), y)
    ranker = result.model("ranker")
    assert "of 2,100 training rows. Then fitted to all of them." in ranker.remark
    assert "Trained on 900 of 2,100 training rows." in result.model("logistic regression").remark
    np.testing.assert_allclose(again.model("ranker").scores, ranker.scores, atol=1e-4)  # features are float32
    assert (result.table.n_train, result.table.n_holdout, result.table.n_rows) == (2100, 900, 3000)
    assert ranker.holdout.sample.positive.size == 900
    fitting = [state for state in told if state[0] == "fitting the linear part to all rows"]
    assert fitting[0][1:3] == (0, 1)
    assert fitting[-1][1:3] == (1, 1)
    assert any("rows per second" in state[3].detail for state in fitting[1:-1])
    # The fit is near that of a table in memory, which sees as many rows.
    in_memory = trained(frame, y).model("ranker")
    assert abs(np.corrcoef(ranker.scores, in_memory.scores)[0, 1]) > 0.97


@pytest.mark.usefixtures("small_samples")
def test_model_ranking_and_report_are_made_of_it():
    frame, y = many()
    result = trained(stored_table(frame, [0, 1000, 3000]), y)
    model = table_model(result)
    assert same_scores(model.decision_function(frame)[np.sort(result.ids - 1)], result.winner.scores)
    assert ranked(result).height == 900
    assert result.reasons is not None
    summary = summarize(result)
    for text in (render_text(summary), render_html(summary), render_json(summary)):
        assert "in a test" in text


@pytest.mark.parametrize("memory", [1e9, 1e5])
def test_trees_see_all_rows_within_memory_and_weights_restore_the_classes(memory, monkeypatch):
    monkeypatch.setattr(stored_sample, "MOST_VALUES", 4 * 600)
    monkeypatch.setattr(stored_sample, "_ENOUGH_POSITIVES", 80)
    monkeypatch.setitem(models_module.FAMILIES, "trees", ("boosted trees",))
    frame, y = many()
    table = replace(stored_table(frame, [0, 1000, 3000]), memory=memory)
    result = train(table, y, goal=Goal(max_fpr=0.2), source=SOURCE, models="trees", max_seconds=0.5)
    told = {
        1e9: "Its trees were grown on 2,100 rows.",
        1e5: "Its trees are those of the sample: on all 2,100 rows, they",
    }
    assert f"Selected on 600 of 2,100 training rows. {told[memory]}" in result.model("ranker").remark
    assert "Trained on 600 of 2,100" in result.model("gradient boosting").remark
    assert result.winner.holdout.whole.area() > 0.75

"""The ranked list and the model of a result: against slow and obvious counts."""

import dataclasses

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from headrank.bounds.comparison.selection import select
from headrank.bounds.sample_curves import SampleCurves
from headrank.bounds.threshold import threshold_at
from headrank.labels import check_binary
from headrank.training.features import OccurringFeatures
from headrank.training.goal import Goal
from headrank.training.outputs import ranked, table_model
from headrank.training.result import ModelResult, TrainingResult
from headrank.training.table_info import HoldoutInfo, Provenance, TableInfo

SVMLIGHT_MODEL = [OccurringFeatures().fit(csr_array(np.eye(2, 6)))]


def result_of(y, scores, goal, *, qid=None, threshold=None, **facts):
    y, scores = np.asarray(y, dtype=bool), np.asarray(scores, dtype=float)
    plain = {field.name: 0 for field in dataclasses.fields(TableInfo)}
    plain |= {"target": "ill", "columns": (), "dropped": (), "holdout": HoldoutInfo()}
    plain |= dict.fromkeys(("id_column", "qid_column", "group_column", "time_column", "fold_column"))
    selection = select({"ranker": scores}, y, measure="auc")
    return TrainingResult(
        goal=goal,
        confidence=0.95,
        models=(ModelResult("ranker", SVMLIGHT_MODEL, SampleCurves(check_binary(y, scores))),),
        selection=selection,
        ids=np.arange(100, 100 + y.size),
        qid=None if qid is None else np.asarray(qid),
        threshold=threshold,
        no_threshold="" if threshold else "too few rows",
        table=TableInfo(**(plain | facts)),
        warnings=(),
        provenance=Provenance("", "", 0, ()),
    )


samples = st.lists(st.tuples(st.booleans(), st.integers(-3, 3), st.sampled_from("ba")), min_size=2, max_size=20).filter(
    lambda rows: len({y for y, *_ in rows}) == 2
)
goals = st.sampled_from([Goal(max_fpr=0.3), Goal(min_fpr=0.1, max_fpr=0.5), Goal(top=0.25), Goal(top=0.5)])


@settings(max_examples=40)
@given(samples, goals, st.booleans())
def test_ranks_order_and_budget_are_those_of_slow_counting(rows, goal, by_query):
    y, scores, queries = map(list, zip(*rows, strict=True))
    table = ranked(result_of(y, scores, goal, qid=queries if by_query else None, qid_column="q"))
    seen = list(dict.fromkeys(queries)) if by_query else [None]
    expected = []
    for query in seen:
        mine = [i for i in range(len(y)) if query in (None, queries[i])]
        n_neg = sum(not y[i] for i in mine)
        for place, i in enumerate(sorted(mine, key=lambda i: (-scores[i], i))):
            if goal.top is not None:
                inside = place + 1 <= goal.top * len(mine)
            else:
                inside = sum(scores[j] >= scores[i] and not y[j] for j in mine) <= goal.max_fpr * n_neg
            rank = 1 + sum(scores[j] > scores[i] for j in mine)
            expected.append((rank, 100 + i, *([query] if by_query else []), scores[i], int(y[i]), inside, None))
    assert table.rows() == expected
    assert table.columns == ["rank", "row", *(["q"] if by_query else []), "score", "ill", "in_budget", "flagged"]


def test_flagged_rows_are_those_of_the_threshold():
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.3
    scores = rng.normal(size=300) + y
    threshold = threshold_at(y, scores, max_fpr=0.1)
    result = result_of(y, scores, Goal(max_fpr=0.1), threshold=threshold)
    table = ranked(result)
    assert table["flagged"].sum() == threshold.n_flagged > 0
    assert table.filter("flagged")["score"].min() >= threshold.value
    assert table.filter(~pl.col("flagged"))["score"].max() < threshold.value
    assert table["flagged"].dtype == pl.Boolean
    assert table_model(result).threshold == threshold.value
    assert "stays at or below 0.1 with 95 % confidence" in table_model(result).promise


def test_names_that_are_taken_get_a_line():
    result = result_of([1, 0], [1, 0], Goal(top=0.5), qid=[1, 1], id_column="score", qid_column="rank", target="score")
    assert ranked(result).columns == ["rank", "score_", "rank_", "score", "score__", "in_budget", "flagged"]


def test_without_a_threshold_the_model_says_why():
    model = table_model(result_of([1, 0], [1, 0], Goal(top=0.5)))
    assert (model.threshold, model.promise, model.n_features) == (None, "too few rows", 6)


def test_the_best_rows_of_a_result_come_first(messy):
    table = ranked(messy.result)
    assert table.columns == ["rank", "case", "score", "ill", "in_budget", "flagged", "why"]
    assert table["score"].is_sorted(descending=True)
    labels = dict(zip([f"case {i}" for i in range(messy.y.size)], messy.y, strict=True))
    assert [labels[name] for name in table["case"]] == table["ill"].cast(bool).to_list()
    assert table["ill"].head(20).mean() > 2 * table["ill"].mean()


@pytest.mark.parametrize("case", ["messy", "sparse"])
def test_the_model_knows_what_the_result_knew(case, request):
    result = request.getfixturevalue(case).result
    model = table_model(result)
    assert model.name == result.winner.name
    assert model.estimator is result.winner.estimator
    assert (model.target, model.goal, model.columns) == (result.table.target, result.goal, result.table.columns)

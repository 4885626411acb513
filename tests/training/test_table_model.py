"""TableModel: the winner scores the holdout as it did in the result, whole, in blocks, in any order of columns."""

import dataclasses

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix

from fits import same_scores
from headrank.exceptions import InvalidSampleError
from headrank.training.holdout import split
from headrank.training.outputs import table_model


@pytest.fixture(params=["ranker", "logistic regression", "gradient boosting"])
def winner(request, messy):
    """Each model as a model, whichever won."""
    result = messy.result
    picked = dataclasses.replace(result.selection, picked=request.param)
    return dataclasses.replace(result, selection=picked)


def test_the_model_is_the_one_that_was_certified(winner, messy):
    rows = messy.features[split(messy.y).holdout]
    assert same_scores(table_model(winner).decision_function(rows), winner.winner.scores)


def test_a_score_does_not_depend_on_the_rows_beside_it(winner, messy):
    model, rows = table_model(winner), messy.features.head(60)
    whole = model.decision_function(rows)
    blocks = [model.decision_function(rows[i : i + 7]) for i in range(0, rows.height, 7)]
    assert same_scores(np.concatenate(blocks), whole)


def test_any_order_of_columns_and_the_known_others_are_fine(winner, messy):
    model, rows = table_model(winner), messy.features.head(20)
    turned = rows.select(reversed(rows.columns)).with_columns(ill=pl.lit("no"), case=pl.lit(1), note=pl.lit("x"))
    assert same_scores(model.decision_function(turned), model.decision_function(rows))
    with pytest.raises(InvalidSampleError, match="does not know: 'more'"):
        model.decision_function(rows.with_columns(more=1))
    with pytest.raises(InvalidSampleError, match="lacks the column 'size'"):
        model.decision_function(rows.drop("size"))


def test_pandas_frames_score_the_same(winner, messy):
    model, rows = table_model(winner), messy.features.head(50)
    assert same_scores(model.decision_function(rows.to_pandas()), model.decision_function(rows))


def test_text_read_from_a_file_scores_the_same(winner, messy):
    model, rows = table_model(winner), messy.features.head(50)
    text = pl.read_csv(rows.write_csv().encode(), infer_schema=False)
    assert same_scores(model.decision_function(text), model.decision_function(rows))


def test_no_rows_and_values_never_seen(winner, messy):
    model = table_model(winner)
    assert model.decision_function(messy.features.clear()).shape == (0,)
    strange = messy.features.head(3).with_columns(
        flag=pl.lit("?!"), street=pl.lit(None), size=pl.lit(float("inf")), count=pl.lit(None), constant=pl.lit(7.0)
    )
    assert np.isfinite(model.decision_function(strange)).all()


def test_messages_count_rows_from_where_the_block_starts(messy):
    rows = messy.features.head(3).with_columns(size=pl.Series(["1", "2", "big"]))
    with pytest.raises(InvalidSampleError, match="row 1,003 has 'big'"):
        table_model(messy.result).decision_function(rows, first_row=1001)


def test_a_matrix_is_no_table(messy):
    with pytest.raises(InvalidSampleError, match="expected a table with named columns"):
        table_model(messy.result).decision_function(np.zeros((2, 11)))


def test_flags(messy):
    model = table_model(messy.result)
    assert model.threshold is not None
    scores = messy.result.winner.scores
    assert np.array_equal(model.flags(scores), messy.result.threshold.flags(scores))
    assert 0 < model.flags(scores).sum() == messy.result.threshold.n_flagged
    assert model.flags([model.threshold]).tolist() == [True]
    assert dataclasses.replace(model, threshold=None).flags(scores) is None


def test_flags_of_rows_that_are_not_scored_yet_are_refused(messy):
    model, rows = table_model(messy.result), messy.features.head(3)
    for wrong in (rows, rows.to_pandas(), rows.select("size").to_numpy(), 0.5, ["a", "b"]):
        for threshold in (model.threshold, None):
            with pytest.raises(InvalidSampleError, match=r"one score per row, got .*decision_function\(rows\)"):
                dataclasses.replace(model, threshold=threshold).flags(wrong)


def test_sparse_models_take_matrices_of_the_right_width(sparse):
    model = table_model(sparse.result)
    assert model.n_features == 6
    scores = model.decision_function(sparse.features)
    assert same_scores(model.decision_function(sparse.features.toarray()), scores)
    assert same_scores(model.decision_function(csr_matrix(sparse.features)), scores)
    parts = [model.decision_function(sparse.features[i : i + 7]) for i in range(0, 400, 7)]
    assert same_scores(np.concatenate(parts), scores)
    for wrong in (sparse.features[:, :5], [[1.0] * 6], pl.DataFrame({"a": [1]})):
        with pytest.raises(InvalidSampleError, match="expected a matrix with 6 features"):
            model.decision_function(wrong)

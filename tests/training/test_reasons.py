"""Why a row is at the top: contributions by column add up to the score, and name the columns that matter."""

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from headrank.training.goal import Goal
from headrank.training.outputs import ranked, table_model
from headrank.training.reasons import reasons
from headrank.training.table_info import DataSource
from headrank.training.train import train

SOURCE = DataSource(source="parts.csv", target="broken", positive="yes")


def parts(n=300):
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.3
    size = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n) + 3 * y)
    colour = np.where(y & (rng.random(n) < 0.5), "red", rng.choice(["blue", "green"], n))
    return pl.DataFrame({"size": size, "colour": colour, "noise": rng.normal(size=n)}), y


@pytest.fixture(scope="module", params=["linear", "trees"])
def result(request):
    frame, y = parts()
    return train(frame, y, goal=Goal(max_fpr=0.2), source=SOURCE, models=request.param)


def test_contributions_by_column_differ_from_the_score_by_a_constant(result):
    frame, _ = parts()
    model = table_model(result)
    found = model.reasons(frame)
    assert found.columns == ("size", "colour", "noise")
    rest = model.decision_function(frame) - found.values.sum(axis=1)
    assert np.ptp(rest) < 1e-6
    assert np.abs(found.values).max() > 0.1


def test_the_columns_that_matter_are_named_with_their_values(result):
    frame = pl.DataFrame({"size": [9.0, None], "colour": ["blue", "red"], "noise": [0.0, 0.0]})
    first, second = table_model(result).reasons(frame, n_columns=1).texts
    assert first == "size = 9"
    assert "red" in second or "size is missing" in second


def test_the_first_rows_of_the_ranked_list_are_explained(result):
    table = ranked(result)
    assert table["why"][0]
    assert table["why"].is_not_null().sum() == result.reasons.rows.size <= 20
    assert table["why"].is_not_null()[: result.reasons.rows.size].all()


def test_a_column_that_separates_has_the_largest_lift(result):
    lifts = dict(zip(result.reasons.columns, result.reasons.lifts, strict=True))
    assert max(lifts, key=lifts.get) == "size"
    assert abs(lifts["noise"]) < lifts["size"] / 2


def test_sparse_features_are_explained_by_their_numbers():
    frame, y = parts()
    X = csr_array(np.nan_to_num(frame.select("size", "noise").to_numpy()))
    result = train(X, y, goal=Goal(max_fpr=0.2), source=SOURCE, models="linear")
    assert result.reasons.columns == ("feature 0", "feature 1")
    assert result.reasons.texts[0].startswith("feature 0 = ")


def test_a_model_that_is_no_pipeline_of_ours_explains_nothing():
    assert reasons(object(), np.zeros((2, 2))) is None

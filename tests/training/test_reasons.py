"""Why a row is at the top: contributions by column add up to the score, and name the columns that matter."""

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from headrank.estimators import BoostedRanker, LinearRanker
from headrank.estimators.trees import engine
from headrank.training.column_values import ColumnValues
from headrank.training.goal import Goal
from headrank.training.outputs import ranked, table_model
from headrank.training.reasons import head_reasons, reasons, reasons_of_features
from headrank.training.table_info import DataSource
from headrank.training.train import train
from samples import gaussians

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
    assert second in ("colour = red", "size is missing")


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


def test_trees_by_scikit_learn_explain_nothing(monkeypatch):
    """The stand-in where LightGBM cannot be loaded."""
    monkeypatch.setattr(engine, "why_not", lambda: "no OpenMP")
    X, y = gaussians(40, 160)
    with pytest.warns(RuntimeWarning, match="LightGBM could not be loaded"):
        ranker = BoostedRanker(n_estimators=5).fit(X, y)
    columns = ColumnValues.of_numbers([f"feature {j}" for j in range(X.shape[1])])
    assert reasons_of_features([ranker], X, columns) is None
    assert head_reasons([ranker], X, ranker.decision_function(X), 20, columns, random_state=0) is None


def test_the_first_rows_are_compared_with_rows_behind_the_head():
    """The feature is 1 in the whole head, so that it sets no two rows of the head apart."""
    in_head = np.arange(200) < 100
    X = np.c_[in_head, np.linspace(1, 0, 200)].astype(float)
    ranker = LinearRanker("auc").fit(X, in_head)
    found = head_reasons([ranker], X, np.linspace(1, 0, 200), 100, ColumnValues.of_numbers("ab"), random_state=0)
    assert found.n_others == 20
    assert found.lifts[0] == pytest.approx(ranker.coef_[0])

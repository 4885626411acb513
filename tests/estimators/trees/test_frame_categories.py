"""Category columns of data frames: codes are learned in fit, kept in files, and unknown categories are missing."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import headrank as hr
from headrank.estimators.combined.linear_part import ScaledLinear
from headrank.estimators.frame_categories import FrameCategories
from headrank.exceptions import ModelFileError
from headrank.model_io import export_onnx, load, save
from model_io.forging import unchecked
from model_io.running_onnx import assert_same, onnx_scores

N = 600
GOOD = ["kiwi", "fig"]
FRUIT = ["apple", "fig", "kiwi", "lime", "pear"]


def rows(seed=0):
    rng = np.random.default_rng(seed)
    fruit = np.array(FRUIT)[rng.integers(0, 5, N)]
    y = rng.random(N) < 0.15 + 0.6 * np.isin(fruit, GOOD)
    fruit = [None if rng.random() < 0.1 else each for each in fruit]
    return rng.normal(size=N) + y, fruit, rng.integers(10, 13, N), y


def pandas_frame(seed=0):
    size, fruit, year, y = rows(seed)
    return pd.DataFrame({"size": size, "fruit": pd.Categorical(fruit), "year": pd.Categorical(year)}), y


def polars_frame(kind):
    size, fruit, year, y = rows()
    years = pl.Series(year.astype(str)).cast(pl.Categorical())
    return pl.DataFrame({"size": size, "fruit": pl.Series(fruit).cast(kind), "year": years}), y


RANKERS = {
    "boosted": lambda: hr.BoostedRanker("auc", n_estimators=10),
    "tuned": lambda: hr.BoostedRankerCV("auc", grid=[{"max_leaf_nodes": 4}], max_estimators=20, cv=2),
    "combined": lambda: hr.RankerCV("auc", families=("boosted trees", "linear"), cv=2),
    "linear": lambda: hr.RankerCV("auc", families=("linear",), cv=2),
    "forest": lambda: hr.RankerCV("auc", families=("extra trees",), cv=2),
}


@pytest.mark.usefixtures("few_trees")
@pytest.mark.parametrize("name", RANKERS)
def test_categories_are_learned_and_survive_a_file(name, tmp_path):
    frame, y = pandas_frame()
    ranker = RANKERS[name]().fit(frame, y)
    assert ranker.categories_.values == {1: FRUIT, 2: [10, 11, 12]}
    assert ranker.score(frame, y) > 0.8
    scores = ranker.decision_function(frame)
    turned = frame.assign(fruit=frame["fruit"].cat.reorder_categories(FRUIT[::-1]), year=frame["year"].astype(int))
    np.testing.assert_array_equal(ranker.decision_function(turned), scores)
    np.testing.assert_array_equal(ranker.decision_function(frame.assign(fruit=frame["fruit"].astype(object))), scores)
    missing = ranker.decision_function(frame.assign(fruit=pd.Categorical([None] * N, categories=FRUIT)))
    np.testing.assert_array_equal(ranker.decision_function(frame.assign(fruit="durian")), missing)
    assert not np.array_equal(scores, missing)
    added = ranker.contributions(frame)
    np.testing.assert_allclose(added.sum(axis=1), scores, atol=1e-6)
    assert np.abs(added[:, 1]).max() > 0.1 * scores.std()
    save(ranker, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").decision_function(turned), scores)
    export_onnx(ranker, tmp_path / "model.onnx")
    assert_same(onnx_scores(tmp_path / "model.onnx", ranker.categories_.encoded(frame).to_numpy(float)), scores)


@pytest.mark.parametrize("kind", [pl.Categorical(), pl.Enum(FRUIT)])
def test_polars_gives_the_same_trees(kind):
    frame, y = polars_frame(kind)
    ranker = RANKERS["boosted"]().fit(frame, y)
    assert ranker.categories_.values == {1: FRUIT, 2: ["10", "11", "12"]}
    other, _ = pandas_frame()
    scores = ranker.decision_function(frame)
    np.testing.assert_array_equal(scores, RANKERS["boosted"]().fit(other, y).decision_function(other))
    text = frame.with_columns(pl.col("fruit").cast(pl.String))
    np.testing.assert_array_equal(ranker.decision_function(text), scores)
    with pytest.raises(ValueError, match="column 'fruit' must have categories or text, as in training, but is of type"):
        ranker.decision_function(frame.with_columns(fruit=pl.lit(1.5)))


def test_the_trees_are_those_of_given_codes():
    frame, y = pandas_frame()
    codes = np.column_stack([frame["size"], *(frame[name].cat.codes for name in ("fruit", "year"))]).astype(float)
    codes[codes < 0] = np.where(np.nonzero(codes < 0)[1] > 0, np.nan, codes[codes < 0])
    given = hr.BoostedRanker("auc", n_estimators=10, categorical_features=[1, 2]).fit(codes, y)
    np.testing.assert_array_equal(
        RANKERS["boosted"]().fit(frame, y).decision_function(frame), given.decision_function(codes)
    )


def test_refits_keep_or_learn_the_codes():
    frame, y = pandas_frame()
    other = frame.assign(fruit=frame["fruit"].cat.rename_categories({"apple": "yam"}))
    for name in ("tuned", "linear"):
        ranker = RANKERS[name]().fit(frame, y).refit(other, y)
        assert "yam" in ranker.categories_.values[1] or name == "linear"
        assert ranker.score(other, y) > 0.75
    assert ranker.categories_.values[1] == FRUIT
    ranker.fit(frame[["size"]], y)
    assert not hasattr(ranker, "categories_")


def test_what_cannot_be_read_is_said():
    frame, y = pandas_frame()
    ranker = RANKERS["boosted"]().fit(frame, y)
    with pytest.raises(ValueError, match=r"category columns \(numbers 1, 2\): expected a data frame, got ndarray"):
        ranker.decision_function(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="now missing:\n- fruit"):
        ranker.decision_function(frame[["size"]])
    dates = frame.assign(fruit=pd.Categorical(pd.date_range("2024-01-01", periods=N)))
    with pytest.raises(ValueError, match="categories must be text or numbers, but the column 'fruit' has others"):
        ranker.fit(dates, y)
    with pytest.raises(ValueError, match="only numbers"):
        hr.LinearRanker("auc").fit(frame, y)


def test_very_many_categories_fit_into_memory():
    rng = np.random.default_rng(0)
    n_rows, n_categories = 120_000, 100_000
    codes = rng.integers(0, n_categories, n_rows)
    codes[: n_rows // 2] = rng.integers(0, 5, n_rows // 2)
    y = rng.random(n_rows) < 0.1 + 0.5 * (codes == 3)
    frame = pd.DataFrame(
        {"place": pd.Categorical.from_codes(codes, categories=[f"place {i}" for i in range(n_categories)])}
    )
    ranker = hr.BoostedRanker("auc", n_estimators=5).fit(frame, y)
    assert ranker.score(frame, y) > 0.6
    X = ranker.categories_.encoded(frame).to_numpy()
    linear = ScaledLinear("auc", one_hot=(0,), cv=2)
    some = np.arange(0, n_rows, 40)
    linear.fit(X[some], y[some])
    assert linear._features(X[:10]).shape == (10, 100)


def test_forged_categories_are_refused(tmp_path):
    frame, y = pandas_frame()
    ranker = RANKERS["boosted"]().fit(frame, y)
    for text in (b'{"1": 5}', b"[", b'["a"]'):
        ranker.categories_ = FrameCategories(np.frombuffer(text, dtype=np.uint8))
        (tmp_path / "model").write_bytes(unchecked(ranker))
        with pytest.raises(ModelFileError, match="FrameCategories"):
            load(tmp_path / "model")

"""Trees in ONNX take the branches that LightGBM takes, for whatever numbers."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

import headrank as hr
from headrank.estimators.trees import lightgbm_trees
from headrank.estimators.trees.forests import FoldForests
from headrank.estimators.trees.lightgbm_trees import LightGBMTrees
from headrank.exceptions import ModelFileError
from headrank.model_io import export_onnx
from headrank.model_io.onnx_export.trees import _same_branches
from model_io.running_onnx import assert_same, onnx_scores

STRANGE = [0.0, -0.0, 1e-36, -1e-36, 9.9e-36, 1e-35, 1e-38, np.nan, np.inf, -np.inf, 3.5e38, -3.5e38, 1e300, -1e300]


def rows(seed=0, n_rows=400, *, gaps=True, huge=False):
    """Many ties, values near 0, gaps, infinities, and a column that is far from 0."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n_rows) % 4 == 0).astype(int)
    X = rng.integers(-3, 4, (n_rows, 4)).astype(float) + y[:, None] * [1, 0, 0.5, 0]
    X[:, 1] *= 1e-36
    X[:, 2] += 1e6
    X[:, 3] = np.round(rng.normal(size=n_rows), 1)
    if gaps:
        X[rng.random(X.shape) < 0.1] = np.nan
    if huge:
        X[rng.random(X.shape) < 0.05] = np.inf
        X[rng.random(X.shape) < 0.05] = -np.inf
    return X, y


def strange_rows(X):
    """The rows, and each strange number in every column of one of them."""
    return np.vstack([X, np.repeat(np.array(STRANGE)[:, None], X.shape[1], axis=1)])


MODELS = {
    "log loss": lambda: hr.BoostedRanker("pauc@0.3", n_estimators=15, min_samples_leaf=3),
    "smooth": lambda: hr.BoostedRanker("pauc@0.3", objective="smooth", n_estimators=8, n_refining=8),
    "tuned": lambda: hr.BoostedRankerCV(
        "pauc@0.3",
        grid=[{"max_leaf_nodes": 4}, {"random_splits": True, "min_samples_leaf": 3}],
        max_estimators=30,
        cv=3,
    ),
    "random forest": lambda: FoldForests("pauc@0.3", cv=2),
    "extra trees": lambda: FoldForests("pauc@0.3", kind="extra trees", cv=2),
    "combination": lambda: hr.RankerCV("pauc@0.3", cv=2, families=("boosted trees", "linear", "extra trees")),
    "linear part": lambda: hr.RankerCV("pauc@0.3", cv=2, families=("linear",)),
}


@pytest.mark.parametrize(
    ("name", "data"),
    [("log loss", {"gaps": False}), ("log loss", {"gaps": True}), *((name, {"huge": True}) for name in MODELS)],
)
def test_scores_are_those_of_the_model(name, data, tmp_path):
    X, y = rows(**data)
    model = MODELS[name]().fit(X, y)
    export_onnx(model, tmp_path / "double.onnx")
    every = strange_rows(X)
    linear = name in ("combination", "linear part")
    expected = model.decision_function(every)
    assert_same(onnx_scores(tmp_path / "double.onnx", every), expected, tolerance=1e-5 if linear else 1e-12)
    export_onnx(model, tmp_path / "single.onnx", precision="float32")
    with np.errstate(over="ignore"):
        single = every.astype(np.float32)
    expected = model.decision_function(single.astype(np.float64))
    # The linear part subtracts 1e6 from a column whose float32 has seven digits.
    assert_same(onnx_scores(tmp_path / "single.onnx", single), expected, tolerance=1e-4 if linear else 1e-5)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_categories_are_sets(precision, tmp_path):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 70, 2000).astype(float)
    y = (rng.random(2000) < 0.1 + 0.6 * np.isin(codes, [1, 5, 33, 64, 69])).astype(int)
    codes[rng.random(2000) < 0.1] = np.nan
    X = np.column_stack([rng.normal(size=2000) + y, codes])
    model = hr.BoostedRanker("pauc@0.3", categorical_features=[1], n_estimators=10).fit(X, y)
    assert "cat_threshold" in model.trees_[0].text
    export_onnx(model, tmp_path / "model.onnx", precision=precision)
    new = np.array([[0.5, code] for code in (70.0, 1e6, -1.0, -0.5, 5.7, 64.2, -5.0, np.nan)])
    every = np.vstack([X.astype(np.float32), new]).astype(precision)
    tolerance = 1e-12 if precision == "float64" else 1e-5
    assert_same(
        onnx_scores(tmp_path / "model.onnx", every), model.decision_function(every.astype(float)), tolerance=tolerance
    )


@given(arrays(np.float64, 5, elements=st.floats(-1e39, 1e39)), arrays(np.float32, 40, elements=st.floats(width=32)))
@settings(max_examples=100)
def test_rounded_thresholds_part_the_same_numbers(thresholds, values):
    with np.errstate(over="ignore"):
        around = thresholds.astype(np.float32)
        above = np.nextafter(around, np.float32(np.inf))
    values = np.concatenate([values, around, above, np.float32([0, 1e-36, -1e-36])])
    values = values[~np.isnan(values)]
    rounded = _same_branches(thresholds, np.dtype(np.float32))
    assert rounded.dtype == np.float32
    seen = np.where(np.abs(values.astype(float)) <= np.float32(1e-35), 0.0, values.astype(float))
    np.testing.assert_array_equal(values[:, None] <= rounded, seen[:, None] <= thresholds)


def test_trees_without_a_split_and_a_sparse_matrix(tmp_path):
    X, y = rows(gaps=False)
    with pytest.warns(hr.exceptions.CollapsedFitWarning):
        model = hr.BoostedRanker("auc", n_estimators=3).fit(np.ones_like(X), y)
    export_onnx(model, tmp_path / "model.onnx")
    np.testing.assert_allclose(onnx_scores(tmp_path / "model.onnx", X[:3]), model.decision_function(X[:3]))
    X[:, [0, 3]] = np.maximum(X[:, [0, 3]], 0)
    model = hr.RankerCV("pauc@0.3", cv=2, families=("linear",)).fit(csr_array(X), y)
    export_onnx(model, tmp_path / "model.onnx")
    assert_same(onnx_scores(tmp_path / "model.onnx", X), model.decision_function(csr_array(X)))


def test_other_trees_are_refused_by_name(tmp_path, monkeypatch):
    X, y = rows(gaps=False)
    grown = hr.BoostedRanker("auc", n_estimators=2).fit(X, y)
    text = grown.trees_[0].text
    kinds = text.split("decision_type=")[1].split("\n")[0]
    zeros = " ".join("6" for _ in kinds.split(" "))
    grown.trees_ = (LightGBMTrees.of(text.replace(f"decision_type={kinds}", f"decision_type={zeros}")),)
    with pytest.raises(ModelFileError, match="take zeros for missing values"):
        export_onnx(grown, tmp_path / "model.onnx")
    monkeypatch.setattr("headrank.estimators.trees.engine.why_not", lambda: "not here")
    with pytest.warns(RuntimeWarning, match="LightGBM could not be loaded"):
        other = hr.BoostedRanker("auc", n_estimators=2).fit(X, y)
    with pytest.raises(ModelFileError, match=r"trees grown by scikit-learn, .* cannot be exported"):
        export_onnx(other, tmp_path / "model.onnx")
    combined = hr.RankerCV("auc", cv=2, families=("linear",)).fit(X, y)
    combined.parts_ = (*combined.parts_, replace(combined.parts_[0], family="boosted trees", scorer=other))
    with pytest.raises(ModelFileError, match=r"the part 'boosted trees' of the ranker has no operators in ONNX: trees"):
        export_onnx(combined, tmp_path / "model.onnx")
    with pytest.raises(ModelFileError, match="BoostedRanker is not fitted"):
        export_onnx(hr.BoostedRanker(), tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())
    assert lightgbm_trees.why_not() == ""

"""Models of ``headrank fit`` in ONNX: one input per column, and the scores of the model."""

import datetime as dt
from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler

import headrank as hr
from headrank.estimators.scaling import SoftScaler
from headrank.exceptions import ModelFileError
from headrank.model_io import export_onnx
from headrank.model_io.onnx_export.graph import Graph
from headrank.model_io.onnx_export.tables import encoded
from headrank.training.columns import columns_of, conformed
from headrank.training.encoding import TableEncoder
from headrank.training.features import Matrix, OccurringFeatures
from headrank.training.goal import Goal
from headrank.training.table_model import TableModel
from model_io.running_onnx import assert_same, onnx_scores

N = 500


def table(seed=0):
    """Every kind of column, with gaps; a column called score, one that is constant and one that is empty."""
    rng = np.random.default_rng(seed)
    y = rng.random(N) < 0.3

    def gaps(values):
        return [None if rng.random() < 0.1 else value for value in values]

    start = dt.datetime(1899, 12, 31)
    seconds = rng.integers(0, 8 * 10**9, N)
    frame = pl.DataFrame(
        {
            "size": gaps((rng.normal(size=N) + y).tolist()),
            "count": rng.integers(0, 9, N),
            "stamp": 1.7e9 + rng.integers(0, 10**6, N) + y * 3e5,
            "colour": gaps([("red", "grün", " blue", "0")[i] for i in rng.integers(0, 4, N)]),
            "kind": np.where(rng.random(N) < 0.3 + 0.3 * y, "a", "b"),
            "member": gaps((rng.random(N) < 0.5).tolist()),
            "since": gaps([start + dt.timedelta(seconds=int(s), milliseconds=int(s) % 999) for s in seconds]),
            "day": [dt.date(2020, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 999, N) + 300 * y],
            "score": rng.normal(size=N),
            "constant": ["q"] * N,
            "empty": pl.Series([None] * N, dtype=pl.String),
        }
    )
    return frame, y


def fitted(frame, y, *steps):
    columns = columns_of(frame)
    rows = conformed(frame, columns)
    encoder = TableEncoder()
    X = Matrix().transform(encoder.fit_transform(rows))
    rest = Pipeline([(str(i), step) for i, step in enumerate(steps)]).fit(X, y)
    return TableModel(
        name="ranker",
        estimator=Pipeline([("table", encoder), ("matrix", Matrix()), *rest.steps]),
        columns=columns,
        n_features=len(columns),
        target="y",
        positive="1",
        goal=Goal(max_fpr=0.1),
        threshold=0.25,
        promise="holds",
    )


def new_rows(frame):
    """Categories that are new or blank, values that are missing, infinite or too large."""
    i = pl.int_range(pl.len())
    return frame.with_columns(
        pl.when(i % 7 == 0).then(pl.lit(" \u3000\t")).otherwise("colour").alias("colour"),
        pl.when(i % 11 == 0).then(pl.lit("new")).otherwise("kind").alias("kind"),
        pl.when(i % 13 == 0).then(pl.lit(np.inf)).when(i % 17 == 0).then(-3.401e38).otherwise("score").alias("score"),
        pl.when(i % 5 == 0).then(None).otherwise("stamp").alias("stamp"),
    )


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize(
    "steps",
    [(SoftScaler(), LogisticRegression()), (hr.BoostedRanker("pauc@0.3", n_estimators=20),)],
    ids=["linear", "trees"],
)
def test_scores_are_those_of_the_model(steps, precision, tmp_path):
    frame, y = table()
    model = fitted(frame, y, *steps)
    export_onnx(model, tmp_path / "model.onnx", precision=precision)
    for rows in (frame, new_rows(frame), table(seed=1)[0]):
        assert_same(onnx_scores(tmp_path / "model.onnx", rows), model.decision_function(rows))


def test_inputs_are_the_columns_in_use_and_the_output_has_a_name_of_its_own(tmp_path):
    frame, y = table()
    model = fitted(frame, y, hr.BoostedRanker("pauc@0.3", n_estimators=3))
    export_onnx(model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    kinds = {each.name: each.type.removeprefix("tensor(").removesuffix(")") for each in session.get_inputs()}
    assert kinds == {
        **dict.fromkeys(("size", "count", "stamp", "member", "score"), "double"),
        **dict.fromkeys(("colour", "kind"), "string"),
        **dict.fromkeys(("since", "day"), "int64"),
    }
    assert [each.name for each in session.get_outputs()] == ["score_"]
    assert session.get_modelmeta().custom_metadata_map == {"threshold": "0.25", "promise": "holds"}
    export_onnx(replace(model, threshold=None), tmp_path / "model.onnx")
    assert "threshold" not in {each.key for each in onnx.load(tmp_path / "model.onnx").metadata_props}


def test_columns_with_names_of_results_in_the_graph(tmp_path):
    frame, y = table()
    model = fitted(frame.select(pl.col("size").alias("headrank/1"), pl.col("kind").alias("headrank/_")), y, *_linear())
    export_onnx(model, tmp_path / "model.onnx")
    rows = frame.select(pl.col("size").alias("headrank/1"), pl.col("kind").alias("headrank/_"))
    assert_same(onnx_scores(tmp_path / "model.onnx", rows), model.decision_function(rows))


def test_dates_are_those_of_the_calendar():
    days = np.arange(np.datetime64("1600-01-01"), np.datetime64("2500-01-01"), np.timedelta64(5, "D"))
    moments = days.astype("datetime64[us]") + np.arange(days.size) * np.timedelta64(12_345_678_901, "us")
    frame = pl.DataFrame({"since": pl.Series(moments).cast(pl.Datetime("us"))})
    frame = pl.concat([frame, pl.DataFrame({"since": [None]}, schema=frame.schema)])
    encoder = TableEncoder().fit(frame)
    assert encoder.names_.tolist() == [f"since_{part}" for part in ("year", "month", "day", "hour", "total_seconds")]
    for j in range(5):
        graph = Graph("float32")
        data = graph.finished(graph.columns(encoded(encoder, graph), [j]), "score", {})
        np.testing.assert_array_equal(onnx_scores(data, frame), encoder.transform(frame)[:, j])


def test_text_with_many_values_is_refused_by_name(tmp_path):
    frame, y = table()
    frame = frame.with_columns(pl.int_range(N).cast(pl.String).map_elements(lambda i: f"x{i}", pl.String).alias("note"))
    model = fitted(frame, y, hr.BoostedRanker("auc", n_estimators=2))
    with pytest.raises(ModelFileError, match=r"the column 'note' has text with many values, .*--onnx-only"):
        export_onnx(model, tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("first_feature", [0, 1])
def test_models_of_svmlight_files_take_a_matrix(first_feature, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.3
    X = rng.normal(size=(300, 6)) * (rng.random((300, 6)) < 0.5) + y[:, None]
    X[:, [0, 3]] = 0.0
    rows = csr_array(np.hstack([np.zeros((300, first_feature)), X]))
    occurring = OccurringFeatures().fit(rows)
    scaler = MaxAbsScaler().fit(occurring.transform(rows))
    ranker = LogisticRegression().fit(scaler.transform(occurring.transform(rows)), y)
    model = TableModel(
        name="ranker",
        estimator=Pipeline([("occurring", occurring), ("scale", scaler), ("model", ranker)]),
        columns=(),
        n_features=6,
        first_feature=first_feature,
        target="label",
        positive="1",
        goal=Goal(max_fpr=0.1),
        threshold=None,
        promise="none",
    )
    export_onnx(model, tmp_path / "model.onnx")
    X[:, 3] = rng.normal(size=300)  # did not occur in training
    assert_same(onnx_scores(tmp_path / "model.onnx", X), model.decision_function(X), tolerance=1e-12)


def _linear():
    return SoftScaler(), LogisticRegression()

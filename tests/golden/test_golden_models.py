"""Model files of past releases load, and score as they did then."""

import json
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import sklearn
from sklearn.utils.fixes import parse_version

from headrank.model_io import load
from headrank.model_io.container import FORMAT
from headrank.training.table_model import TableModel

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*.headrank"))


def rows_of(said):
    if isinstance(said, list):
        return np.array(said)
    return pl.DataFrame(said).with_columns(pl.col("since").str.to_datetime())


def loaded(path):
    """Another version of scikit-learn may be installed by now; whether it matters is what is tested."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* was written with", UserWarning)
        return load(path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_scores_are_what_they_were(path):
    if path.stem == "table_v1" and parse_version(sklearn.__version__) < parse_version("1.8"):
        pytest.skip("its SimpleImputer is of scikit-learn 1.9; that of 1.7 cannot use it")
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    scores = loaded(path).decision_function(rows_of(expected["rows"]))
    np.testing.assert_allclose(scores, expected["scores"], rtol=0, atol=1e-9)
    assert np.ptp(expected["scores"]) > 0.1


def test_there_are_three_of_every_format_and_they_are_small():
    names = {path.stem for path in FILES}
    assert names >= {
        f"{name}_v{number}" for name in ("linear_ranker", "ranker_cv", "table") for number in range(1, FORMAT + 1)
    }
    assert all(path.stat().st_size < 100_000 for path in FILES)


def test_the_table_has_every_kind_of_column_and_gaps():
    path = HERE / "table_v1.headrank"
    model = loaded(path)
    assert isinstance(model, TableModel)
    assert {column.kind for column in model.columns} == {"number", "text", "boolean", "date"}
    encoders = {type(each).__name__ for each in model.estimator[0].transformers_.values()}
    assert encoders >= {"StringEncoder", "OneHotEncoder", "DatetimeEncoder"}
    rows = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))["rows"]
    assert all(None in values for values in rows.values())


@pytest.mark.parametrize("name", ["table_v1", "table_v2"])
def test_earlier_models_have_no_scores_of_their_holdout(name):
    assert loaded(HERE / f"{name}.headrank").holdout_scores is None

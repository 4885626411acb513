"""hr.fit: what headrank fit does, from pandas and polars frames."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import headrank as hr
from cli.running import run
from headrank.estimators.combined import linear_part
from headrank.exceptions import InvalidSampleError


def table(n=500, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.2
    return pl.DataFrame(
        {
            "customer": np.arange(n) + 1000,
            "amount": np.round(rng.normal(size=n) + 1.5 * y, 4),
            "city": rng.choice(["Rome", "Lyon", "Ulm"], n),
            "day": np.datetime64("2024-03-01") + (np.arange(n) // 10).astype("timedelta64[D]"),
            "fraud": np.where(y, "yes", "no"),
        }
    )


OPTIONS = {"target": "fraud", "id": "customer", "top": 0.1, "models": "linear", "positive_name": "fraud"}


@pytest.fixture(autouse=True, scope="module")
def _few_candidates():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linear_part, "_surrogates_for", lambda _: ("logistic", "tight"))
        yield


@pytest.fixture(scope="module")
def fitted():
    return hr.fit(table(), **OPTIONS)


def test_it_is_the_command(fitted, tmp_path, capsys):
    table().write_csv(tmp_path / "cases.csv")
    options = [
        "--target",
        "fraud",
        "--id",
        "customer",
        "--top",
        "0.1",
        "--models",
        "linear",
        "--positive-name",
        "fraud",
    ]
    done = run(capsys, "fit", tmp_path / "cases.csv", *options, "--out", tmp_path / "result")
    assert done.code == 0, done.err
    fitted.save(tmp_path / "python")
    ours, theirs = (json.loads((tmp_path / folder / "result.json").read_text()) for folder in ("python", "result"))
    for key in ("answer", "entrants", "threshold", "points", "confusion", "columns"):
        assert ours[key] == theirs[key], key
    ranked = [(tmp_path / folder / "ranked.csv").read_text() for folder in ("python", "result")]
    assert ranked[0] == ranked[1]
    model = hr.load(tmp_path / "python" / "model")
    rows = table(20, seed=1).drop("fraud", "customer")
    assert np.array_equal(model.decision_function(rows), hr.load(tmp_path / "result" / "model").decision_function(rows))
    assert np.array_equal(model.decision_function(rows), fitted.model.decision_function(rows))


def test_pandas_and_polars_give_the_same(fitted):
    frame = table()
    pandas = pd.DataFrame({name: frame[name].to_list() for name in frame.columns})
    other = hr.fit(pandas, **OPTIONS)
    assert other.summary == fitted.summary
    assert other.ranked.equals(fitted.ranked)


def test_what_it_gives(fitted, tmp_path):
    report = fitted.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == report.html
    assert "frauds in the first 15 of 150 cases" in str(fitted)
    assert repr(fitted).startswith("<FitResult: ")
    assert fitted._repr_html_() == report._repr_html_()
    assert "hr.fit(table, target=&#39;fraud&#39;, top=0.1, id=&#39;customer&#39;" in report.html
    assert [each.name for each in report.summary.columns] == ["amount", "city", "day"]
    with pytest.raises(FileExistsError):
        fitted.save(tmp_path)  # the report is there
    fitted.save(tmp_path, overwrite=True)


def test_a_given_holdout_groups_and_times():
    frame, later = table(), table(300, seed=2)
    given = hr.fit(frame, test=later, **OPTIONS)
    assert (given.training.table.n_train, given.training.table.n_holdout) == (500, 300)
    timed = hr.fit(frame, time="day", **OPTIONS)
    assert timed.training.table.holdout.kind == "latest"
    doubled = pl.concat([frame, frame])
    grouped = hr.fit(doubled, **(OPTIONS | {"group": "customer", "id": None}))
    assert grouped.training.table.group_column == "customer"
    assert grouped.training.table.n_holdout == 150


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"target": "Fraud"}, ValueError, "did you mean 'fraud'"),
        ({"id": "fraud"}, ValueError, "different columns"),
        ({"drop": "city"}, TypeError, r"drop=\['city'\]"),
        ({"drop": ["city", "amount", "day"]}, ValueError, "no feature left"),
        ({"fpr": 0.1}, TypeError, "one of fpr and top"),
        ({"models": "deep"}, ValueError, "models must be one of"),
        ({"pos_label": "maybe"}, InvalidSampleError, "does not occur"),
        ({"frame": table().lazy()}, TypeError, "collect"),
        ({"frame": {"fraud": [1, 0]}}, TypeError, "polars or pandas DataFrame, got dict"),
        ({"frame": table().head(0)}, InvalidSampleError, "no rows"),
        ({"frame": table().with_columns(customer=None)}, InvalidSampleError, "missing values"),
    ],
)
def test_what_is_wrong_is_refused(changes, error, words):
    given = {"frame": table()} | OPTIONS | changes
    with pytest.raises(error, match=words):
        hr.fit(given.pop("frame"), **given)


def test_names_of_columns_that_are_numbers_or_repeat():
    frame = pd.DataFrame({0: np.random.default_rng(0).normal(size=200), "y": np.arange(200) % 4 == 0})
    assert hr.fit(frame, target="y", models="linear").training.table.columns[0].name == "0"
    with pytest.raises(ValueError, match="two columns named 'a'"):
        hr.fit(pd.DataFrame(np.zeros((9, 2)), columns=["a", "a"]), target="a")

"""The service and the MLflow model of the page "Production", taken from the page and run with the real libraries."""

import asyncio
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import numpy as np
import polars as pl
import pytest

import headrank as hr
from cli.running import run
from cli.tables import of_all_kinds

PAGE = Path(__file__).parents[2] / "docs" / "production.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
SERVICE, RANKER, SAVED = BLOCKS
NAMES = (
    "auc",
    "pauc@0.1:0.4",
    "spauc@0.1",
    "tpr@fpr=0.01",
    "fpr@tpr=0.7",
    "locauc@0.2",
    "w@0.2",
    "p@10",
    "ef@0.01",
    "ks",
)
ROWS = of_all_kinds(seed=5).drop("churned", "customer")


@pytest.fixture
def fitted(tmp_path, monkeypatch, capsys):
    """A folder with ``result/model``, in which the code of the page works."""
    monkeypatch.chdir(tmp_path)
    of_all_kinds().write_csv("customers.csv")
    options = ("--target", "churned", "--id", "customer", "--fpr", "0:0.2", "--models", "linear", "--out", "result")
    assert run(capsys, "fit", "customers.csv", *options).code == 0
    return tmp_path


def imported(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def post(app, *rows):
    """Post rows to a service, one after the other, without a network."""

    async def answers():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service") as client:
            return [await client.post("/score", json=row) for row in rows]

    return asyncio.run(answers())


@pytest.mark.parametrize("code", [SERVICE, RANKER], ids=["service", "MLflow"])
def test_the_code_has_ten_lines(code):
    lines = [line for line in code.splitlines() if line and not line.startswith("#")]
    assert len(lines) <= 10


def test_the_service_answers_as_the_model_does(fitted):
    (fitted / "service.py").write_text(SERVICE, encoding="utf-8")
    app = imported(fitted / "service.py").app
    model = hr.load("result/model")
    rows = [*ROWS.head(20).to_dicts(), {**ROWS.row(0, named=True), "amount": None, "city": "Oslo"}]
    expected = pl.DataFrame(rows, infer_schema_length=None)
    assert model.predict(expected).any()
    for i, answer in enumerate(post(app, *rows)):
        assert answer.status_code == 200, answer.text
        one = expected[i : i + 1]
        given = answer.json()
        assert given["score"] == pytest.approx(model.decision_function(one)[0], rel=1e-12)
        assert given["flagged"] is bool(model.predict(one)[0])
        probability = model.calibration.probabilities(np.array([given["score"]]))
        assert probability.tolist() == model.predict_proba(one)[:, 1].tolist()


def test_the_service_refuses_rows_in_words(fitted):
    (fitted / "service.py").write_text(SERVICE, encoding="utf-8")
    app = imported(fitted / "service.py").app
    row = ROWS.row(0, named=True)
    lacking = {name: value for name, value in row.items() if name != "amount"}
    for bad, words in (
        (lacking, "lacks the column 'amount'"),
        (row | {"amount": "much"}, "'much'"),
        (row | {"colour": "red"}, "'colour'"),
        ({}, "lacks the columns"),
    ):
        (answer,) = post(app, bad)
        assert (answer.status_code, words in answer.json()["detail"]) == (422, True), answer.text


ROUND_TRIP = """
import json
import headrank as hr, mlflow, numpy as np, pandas as pd, polars as pl

rows = pd.read_csv("rows.csv")
{saved}
np.testing.assert_array_equal(scores, hr.load("result/model").decision_function(pl.read_csv("rows.csv")))

y = np.arange(200) % 2
interval = hr.interval(y, y + np.sin(np.arange(200)), measure="pauc@0.02:0.05")
metrics = dict.fromkeys(json.load(open("names.json")), 0.5) | interval.as_metrics()
mlflow.set_tracking_uri("runs")
with mlflow.start_run() as run:
    mlflow.log_metrics(metrics)
assert mlflow.get_run(run.info.run_id).data.metrics == metrics
print("done")
"""


@pytest.mark.slow
def test_a_model_goes_to_mlflow_and_back(fitted):
    # In a process of its own: importing MLflow warns, and it changes settings of the whole process.
    (fitted / "ranker.py").write_text(RANKER, encoding="utf-8")
    ROWS.write_csv("rows.csv")
    Path("names.json").write_text(json.dumps([hr.measure(name).safe_name for name in NAMES]))
    (fitted / "round_trip.py").write_text(ROUND_TRIP.format(saved=SAVED), encoding="utf-8")
    # MLflow keeps runs in a database by default, for which mlflow-skinny has no driver.
    paths = os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), str(Path(hr.__file__).parents[1])])
    environment = {**os.environ, "PYTHONPATH": paths, "MLFLOW_ALLOW_FILE_STORE": "true"}
    done = subprocess.run([sys.executable, "round_trip.py"], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["done"]), done.stderr
    assert not list(Path("served").rglob("*.pkl"))

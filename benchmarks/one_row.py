"""One row at a time, as a web service scores: a loaded model of `headrank fit` against a plain LightGBM `predict`.

Run: python benchmarks/one_row.py [calls]
"""

import sys
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import lightgbm
import numpy as np
import onnxruntime
import polars as pl

import headrank as hr
from headrank.training.goal import Goal
from headrank.training.outputs import table_model
from headrank.training.table_info import DataSource
from headrank.training.table_model import TableModel
from headrank.training.train import train

N_ROWS = 4000


def table() -> tuple[pl.DataFrame, np.ndarray]:
    """Twelve numbers, three categories, two dates and a flag, with missing values."""
    rng = np.random.default_rng(0)
    y = rng.random(N_ROWS) < 0.2

    def gaps(values: list) -> list:
        return [None if rng.random() < 0.05 else value for value in values]

    days = rng.integers(0, 900, (2, N_ROWS)) + 100 * y
    columns = {f"x{j}": gaps((rng.normal(size=N_ROWS) + y * (j < 4)).tolist()) for j in range(12)}
    columns |= {f"kind{j}": gaps(rng.choice([*"abcdefgh"[: 2 + 2 * j]], N_ROWS).tolist()) for j in range(3)}
    columns |= {f"day{j}": gaps([date(2024, 1, 1) + timedelta(days=int(d)) for d in days[j]]) for j in range(2)}
    return pl.DataFrame(columns | {"flag": rng.random(N_ROWS) < 0.3 + 0.2 * y}), y


def fitted(frame: pl.DataFrame, y: np.ndarray, models: str, folder: Path) -> TableModel:
    """Fit, write and load a model; the ranker is kept, whether it is the best or not."""
    source = DataSource(source="table", target="y", positive="1")
    result = train(frame, y, goal=Goal(max_fpr=0.1), source=source, models=models)
    ranker = next(each for each in result.models if each.name == "ranker")
    model = table_model(result)
    object.__setattr__(model, "estimator", ranker.estimator)
    hr.save(model, folder / models)
    return hr.load(folder / models)


def milliseconds(call: Callable[[], object], n_calls: int) -> float:
    """Return the median time of a call."""
    call()
    times = np.empty(n_calls)
    for i in range(n_calls):
        start = perf_counter()
        call()
        times[i] = perf_counter() - start
    return float(np.median(times)) * 1000


def onnx_call(model: object, frame: pl.DataFrame, path: Path) -> Callable[[], object]:
    """Return a call of the exported model with one row."""
    hr.export_onnx(model, path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    kinds = {"tensor(double)": np.float64, "tensor(int64)": np.int64, "tensor(string)": object}
    row = frame.drop_nulls()[:1]
    given = {}
    for each in session.get_inputs():
        values = row[each.name].to_numpy()
        values = values.astype("datetime64[us]") if values.dtype.kind == "M" else values
        given[each.name] = values.astype(kinds[each.type]).reshape(1, 1)
    return lambda: session.run(["score"], given)


def main() -> None:
    n_calls = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    frame, y = table()
    plain = lightgbm.train({"verbose": -1, "num_threads": 1}, lightgbm.Dataset(frame.select("^x.*$").to_numpy(), y))
    numbers = frame.select("^x.*$").to_numpy()[:1]
    yardstick = milliseconds(lambda: plain.predict(numbers, num_threads=1), n_calls)
    print(f"plain LightGBM, 100 trees, 12 numbers: {yardstick:.2f} ms; median of {n_calls} calls with one row each")
    print(f"{'ranker':<8}{'call':<28}{'ms':>8}{'ratio':>8}")
    row = frame[:1]
    with TemporaryDirectory() as folder:
        for models in ("linear", "trees", "all"):
            model = fitted(frame, y, models, Path(folder))
            pandas_row = row.to_pandas()
            calls = {
                "decision_function, polars": lambda model=model: model.decision_function(row),
                "decision_function, pandas": lambda model=model, pandas_row=pandas_row: model.decision_function(
                    pandas_row
                ),
                "predict_proba, polars": lambda model=model: model.predict_proba(row),
                "onnxruntime": onnx_call(model, frame, Path(folder) / "model.onnx"),
            }
            for name, call in calls.items():
                taken = milliseconds(call, n_calls)
                print(f"{models:<8}{name:<28}{taken:>8.2f}{taken / yardstick:>8.1f}")


if __name__ == "__main__":
    main()

"""The methods of `headrank.rivals` beside headrank's own learners and logistic regression, on shared sets.

Training and test rows are split as in the quality benchmark. Prints one line per set and model as it goes: mean
and standard error of the measure on the test rows over the splits, and processor seconds of a fit.

    python benchmarks/rivals.py                              # about half an hour on one core
    python benchmarks/rivals.py --sets mammography --splits 2
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from quality_cells import read, split_rows
from quality_summary import standard_error
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from threadpoolctl import threadpool_limits

import headrank as hr

DATA = Path(__file__).parents[2] / "shared" / "data"
SETS = ("mammography", "annthyroid", "spambase", "oil_spill", "jg_like:cdk2")


def logistic(name: str, X: Any) -> Any:
    scaler = MaxAbsScaler() if hasattr(X, "toarray") else StandardScaler()
    pipeline = make_pipeline(scaler, LogisticRegression(max_iter=2000))
    grid = {"logisticregression__C": [1e-3, 1e-2, 0.1, 1.0, 10.0]}
    return GridSearchCV(pipeline, grid, scoring=hr.measure(name).scorer())


MODELS = {
    "LinearRankerCV": lambda name, _: hr.LinearRankerCV(name),
    "BoostedRankerCV": lambda name, _: hr.BoostedRankerCV(name),
    "logistic regression": logistic,
    "PartialAUCBoost": lambda name, _: hr.rivals.PartialAUCBoost(name),
    "GreedyCombination": lambda name, _: hr.rivals.GreedyCombination(name),
    "ColumnGeneration": lambda name, _: hr.rivals.ColumnGeneration(name),
}


def compare(folder: Path, data: str, name: str, *, n_splits: int, cap: int, models: list[str]) -> None:
    rows = read(folder, data)
    for model in models:
        values, seconds = [], []
        for split in range(n_splits):
            train, test = (rows.take(part) for part in split_rows(rows.y, None, seed=split, cap=cap))
            start = time.process_time()
            fitted = MODELS[model](name, train.X).fit(train.X, train.y)
            seconds.append(time.process_time() - start)
            values.append(float(hr.measure(name)(test.y, fitted.decision_function(test.X))))
        error = standard_error(np.array(values))
        print(f"| {data} | {model} | {np.mean(values):.3f} ± {error:.3f} | {np.mean(seconds):.1f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder with load.py")
    parser.add_argument("--sets", nargs="+", default=SETS, help="sets, or set:task")
    parser.add_argument("--measure", default="pauc@0.1")
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--rows", type=int, default=2_000, help="maximum number of training rows")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of collapsed hinges on some folds, and of iterations
    print("| set | model | test value | processor seconds |")
    print("| --- | --- | --- | --- |", flush=True)
    with threadpool_limits(1):
        for data in options.sets:
            compare(
                options.data,
                data,
                options.measure,
                n_splits=options.splits,
                cap=options.rows,
                models=options.models,
            )


if __name__ == "__main__":
    main()

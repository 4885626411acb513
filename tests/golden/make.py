"""Write the golden model files of the present format: ``python tests/golden/make.py``.

Each ``NAME_vN.headrank`` stands beside ``NAME_vN.json``: rows, and the scores that the model gave them when it was
written. They must load, with these scores, in every later release. So this is run once per format number, under a new
one: a file of an old format is never written again, and the script refuses to.
"""

import datetime as dt
import json
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.pipeline import Pipeline

import headrank as hr
from headrank.estimators.scaling import SoftScaler
from headrank.model_io import save
from headrank.model_io.container import FORMAT
from headrank.training.columns import Column
from headrank.training.encoding import TableEncoder
from headrank.training.features import Matrix
from headrank.training.goal import Goal
from headrank.training.table_model import TableModel

HERE = Path(__file__).parent
N = 120
KINDS = {"size": "number", "note": "text", "colour": "text", "member": "boolean", "since": "date"}


def numbers():
    rng = np.random.default_rng(1)
    y = (rng.random(N) < 0.3).astype(int)
    return rng.normal(size=(N, 3)) + np.outer(y, [1.5, 0.5, 0.0]), y


def table():
    """A column of each kind, with gaps; few letters, so that the file stays small."""
    rng = np.random.default_rng(2)
    X, y = numbers()
    start = dt.datetime(2024, 2, 28, 22)
    gaps = {name: rng.random(N) < 0.1 for name in KINDS}
    columns = {
        "size": X[:, 0].round(3).tolist(),
        "note": ["".join(rng.choice(list("ab "), 5 + each)) for each in y],
        "colour": [str(rng.choice(["red", "green", "blue"][: 2 + each])) for each in y],
        "member": (rng.random(N) < 0.5).tolist(),
        "since": [start + dt.timedelta(hours=int(hours)) for hours in rng.integers(0, 9999, N)],
    }
    return pl.DataFrame(
        {
            name: [None if gap else value for gap, value in zip(gaps[name], values, strict=True)]
            for name, values in columns.items()
        }
    )


def table_model():
    rows, y = table(), numbers()[1]
    steps = [
        ("table", TableEncoder()),
        ("matrix", Matrix()),
        ("scale", SoftScaler()),
        ("model", hr.LinearRankerCV("pauc@0.3", surrogates=("logistic", "smooth"), Cs=(0.1, 1.0), cv=3)),
    ]
    columns = tuple(
        Column(name, kind, rows[name].null_count(), rows[name].drop_nulls().n_unique()) for name, kind in KINDS.items()
    )
    return TableModel(
        name="ranker",
        estimator=Pipeline(steps).fit(rows, y),
        columns=columns,
        n_features=len(columns),
        target="bought",
        positive="yes",
        id_column="customer",
        qid_column=None,
        dropped=("comment",),
        goal=Goal(max_fpr=0.3),
        threshold=0.5,
        promise="chosen for this file",
    )


def models():
    X, y = numbers()
    return {
        "linear_ranker": (hr.LinearRanker("auc", C=10.0).fit(X, np.array(["no", "yes"])[y]), X),
        "ranker_cv": (hr.LinearRankerCV("pauc@0.3", Cs=(0.1, 1.0), cv=3).fit(X, y), X),
        "table": (table_model(), table()),
    }


def main():
    for name, (model, rows) in models().items():
        path = HERE / f"{name}_v{FORMAT}.headrank"
        if path.exists():
            raise SystemExit(f"{path.name} is there, and golden files are never written again")
        save(model, path)
        few = rows[:25]
        said = few.to_dict(as_series=False) if isinstance(few, pl.DataFrame) else few.tolist()
        expected = {"rows": said, "scores": model.decision_function(few).tolist()}
        text = json.dumps(expected, indent=1, default=dt.datetime.isoformat)
        path.with_suffix(".json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

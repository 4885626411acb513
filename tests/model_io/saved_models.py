"""Models of every kind that a file may hold, each with rows to score; made once."""

import datetime as dt
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from skrub import SquashingScaler, StringEncoder, TableVectorizer

import headrank as hr
from headrank.estimators.trees import forests
from headrank.training.columns import Column
from headrank.training.features import Matrix
from headrank.training.goal import Goal
from headrank.training.profile import score_profile, table_profile
from headrank.training.table_model import TableModel

N = 240


@cache
def numbers():
    rng = np.random.default_rng(3)
    y = rng.random(N) < 0.3
    return rng.normal(size=(N, 3)) + np.outer(y, [1.0, 0.5, 0.0]), y.astype(int)


@cache
def table():
    """Numbers, text, categories, booleans and dates, all with gaps."""
    rng = np.random.default_rng(5)
    X, y = numbers()
    words = ["red", "green", "blue", "dark", "light"]
    start = dt.datetime(2024, 2, 28, 22)

    def gaps(values, every):
        return [None if i % every == 0 else value for i, value in enumerate(values)]

    return pl.DataFrame(
        {
            "size": gaps(X[:, 0].tolist(), 17),
            "count": rng.integers(0, 9, N),
            "text": gaps([f"{words[i % 5]} {words[rng.integers(5)]}" for i in range(N)], 11),
            "colour": gaps([words[rng.integers(2 + y[i])] for i in range(N)], 13),
            "member": gaps([bool(rng.random() < 0.5) for _ in range(N)], 19),
            "since": gaps([start + dt.timedelta(hours=int(h)) for h in rng.integers(0, 9999, N)], 23),
            "day": [start.date() + dt.timedelta(days=int(h)) for h in rng.integers(0, 999, N)],
        }
    )


def vectorizer():
    return TableVectorizer(cardinality_threshold=10, high_cardinality=StringEncoder(n_components=4))


def _of_numbers(model):
    X, y = numbers()
    return model.fit(X, y), X


def _of_families():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forests, "_N_TREES", 20)
        return _of_numbers(hr.RankerCV("pauc@0.3", families=("boosted trees", "linear", "extra trees"), cv=3))


def _of_table(*steps, frame=lambda rows: rows):
    rows = frame(table())
    return make_pipeline(*steps).fit(rows, numbers()[1]), rows


def _of_queries():
    X, y = numbers()
    return hr.LinearRanker("pauc@0.3", surrogate="logistic").fit(X, y, qid=np.arange(N) % 12), X


def _of_names():
    X, y = numbers()
    rows = pl.DataFrame({name: X[:, j] for j, name in enumerate("abc")})
    return hr.LinearRanker("pauc@0.3").fit(rows, np.array(["no", "yes"])[y]), rows


def _of_categories():
    rows = table().select("size", "colour").to_pandas().astype({"colour": "category"})
    return hr.BoostedRanker("pauc@0.3", n_estimators=4, min_samples_leaf=5).fit(rows, numbers()[1]), rows


def _as_fitted(model):
    """A table model as ``headrank fit`` makes it."""
    y = numbers()[1]
    rows = table()
    vectorized = vectorizer().fit(rows)
    matrix = Matrix()
    X = matrix.transform(vectorized.transform(rows))
    scaler = SquashingScaler().fit(X)
    imputer = SimpleImputer(strategy="constant", fill_value=0.0, add_indicator=True).fit(X)
    linear = (("scale", scaler), ("impute", imputer)) if isinstance(model, hr.LinearRankerCV) else ()
    model.fit(Pipeline(linear).transform(X) if linear else X, y)
    estimator = Pipeline([("table", vectorized), ("matrix", matrix), *linear, ("model", model)])
    kinds = ("number", "number", "text", "text", "boolean", "date", "date")
    columns = tuple(Column(name, kind, 1, 2) for name, kind in zip(rows.columns, kinds, strict=True))
    goal = Goal(max_fpr=0.1)
    fitted = TableModel(
        name="ranker",
        estimator=estimator,
        columns=columns,
        n_features=len(columns),
        target="y",
        positive="1",
        dropped=("note",),
        goal=goal,
        threshold=0.25,
        promise="holds",
    )
    return fitted, rows


def _with_profile():
    """The same, with what the holdout looks like."""
    fitted, rows = _as_fitted(HistGradientBoostingClassifier(max_iter=5, random_state=0))
    scores = fitted.decision_function(rows[160:])
    interval = hr.interval(numbers()[1][160:], scores, measure="pauc@0.1")
    kept = score_profile(scores, top=None, threshold=0.25, n_models=2, interval=interval)
    table_rows = fitted.conformed(rows)
    profile = replace(table_profile(table_rows[:160], table_rows[160:], fitted.columns), scores=kept)
    return replace(fitted, profile=profile), rows


MAKERS = {
    "what fit writes, ranker": lambda: _as_fitted(hr.LinearRankerCV("pauc@0.3", surrogates=("logistic",), cv=3)),
    "what fit writes, trees": lambda: _as_fitted(HistGradientBoostingClassifier(max_iter=5, random_state=0)),
    "what fit writes, with a profile": _with_profile,
    "ranker": lambda: _of_numbers(hr.LinearRanker("pauc@0.3")),
    "smooth ranker": lambda: _of_numbers(hr.LinearRanker(hr.LocalAUC(0.3), surrogate="smooth")),
    "ranker of queries": _of_queries,
    "ranker with names": _of_names,
    "ranker by cross-validation": lambda: _of_numbers(hr.LinearRankerCV("pauc@0.3", Cs=(0.1, 1.0), cv=3)),
    "ranker by given folds": lambda: _of_numbers(
        hr.LinearRankerCV(hr.PrecisionAt(20), surrogates=["logistic"], cv=StratifiedKFold(3))
    ),
    "kernel ranker": lambda: _of_numbers(hr.KernelRanker("pauc@0.3", ranker=hr.LinearRanker(), n_components=40)),
    "budget": lambda: _of_numbers(hr.FPRBudgetClassifier(LogisticRegression(), max_fpr=0.2, random_state=0)),
    "budget of a frozen scorer": lambda: _of_numbers(
        hr.FPRBudgetClassifier(FrozenEstimator(LogisticRegression().fit(*numbers())), max_fpr=0.2)
    ),
    "boosted trees": lambda: _of_numbers(hr.BoostedRanker("pauc@0.3", n_estimators=4, min_samples_leaf=5)),
    "boosted trees of categories": _of_categories,
    "boosted trees for the head": lambda: _of_numbers(
        hr.BoostedRanker("pauc@0.3", objective="smooth", n_estimators=3, n_refining=3)
    ),
    "boosted trees by cross-validation": lambda: _of_numbers(
        hr.BoostedRankerCV("pauc@0.3", grid=[{"max_leaf_nodes": 4}, {"objective": "push"}], max_estimators=20, cv=3)
    ),
    "combination": _of_families,
    "ranking tree": lambda: _of_numbers(hr.TreeRanker("pauc@0.3", min_samples_split=10, cv=3)),
    "ranking tree of all rows": lambda: _of_numbers(hr.TreeRanker("auc", local=False, cv=None)),
    "ranking forest": lambda: _of_numbers(hr.ForestRanker("pauc@0.3", n_estimators=30, min_samples_split=20)),
    "splines": lambda: _of_numbers(hr.rivals.PartialAUCBoost("pauc@0.3", penalties=[1e-5], max_rounds=8, cv=3)),
    "greedy combination": lambda: _of_numbers(hr.rivals.GreedyCombination("pauc@0.3", n_angles=20)),
    "column generation": lambda: _of_numbers(hr.rivals.ColumnGeneration("pauc@0.3", Cs=[10], max_rounds=5, cv=3)),
    "fraction": lambda: _of_numbers(hr.TopFractionClassifier(hr.LinearRanker("auc"), top=0.2)),
    "logistic regression": lambda: _of_numbers(LogisticRegression(class_weight={0: 1, 1: 3})),
    "trees": lambda: _of_numbers(HistGradientBoostingClassifier(max_iter=10)),
    "scaled ranker": lambda: _of_numbers(
        make_pipeline(StandardScaler(), MinMaxScaler(), RobustScaler(), MaxAbsScaler(), hr.LinearRanker("auc"))
    ),
    "table, ranker": lambda: _of_table(
        vectorizer(),
        SimpleImputer(add_indicator=True),
        SquashingScaler(),
        hr.LinearRankerCV("pauc@0.3", surrogates=("logistic", "smooth"), Cs=(1.0,), cv=3),
    ),
    "table, logistic regression": lambda: _of_table(
        vectorizer(), SimpleImputer(), StandardScaler(), LogisticRegression()
    ),
    "table, trees": lambda: _of_table(vectorizer(), HistGradientBoostingClassifier(max_iter=5)),
    "pandas table": lambda: _of_table(
        vectorizer(),
        SimpleImputer(),
        SquashingScaler(),
        LogisticRegression(max_iter=1000),
        frame=lambda rows: rows.to_pandas(),
    ),
}


@cache
def made(name):
    return MAKERS[name]()

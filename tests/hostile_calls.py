"""Calls of the public functions, and values that no argument of theirs should be."""

import datetime
import decimal
import traceback
import warnings
from collections.abc import Callable
from contextlib import chdir
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate

import headrank as hr
from samples import gaussians

mpl.use("Agg")
SOURCE = str(Path(hr.__file__).parent)
N = 40


class Stranger:
    """An instance of a class that nobody has heard of."""

    def __repr__(self) -> str:
        return "Stranger()"


class Unequal(Stranger):
    """One that cannot even be compared."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("not comparable")


def ragged() -> np.ndarray:
    lists = np.empty(N, dtype=object)
    lists[:] = [[0], [1, 2]] * (N // 2)
    return lists


def objects(*values: Any) -> np.ndarray:
    array = np.empty(N, dtype=object)
    array[:] = [values[i % len(values)] for i in range(N)]
    return array


BITS = [0, 1] * (N // 2)
VALUES: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "empty string": lambda: "",
    "'3'": lambda: "3",
    "'auc'": lambda: "auc",
    "'nonsense@0.1'": lambda: "nonsense@0.1",
    "empty list": list,
    "empty dict": dict,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "-1": lambda: -1,
    "0": lambda: 0,
    "0.5": lambda: 0.5,
    "95": lambda: 95,
    "10**400": lambda: 10**400,
    "-10**400": lambda: -(10**400),
    "1e308": lambda: 1e308,
    "5e-324": lambda: 5e-324,
    "complex": lambda: 1 + 2j,
    "True": lambda: True,
    "Fraction": lambda: Fraction(1, 3),
    "Decimal nan": lambda: decimal.Decimal("NaN"),
    "bytes": lambda: b"ab",
    "set": lambda: {1, 2},
    "generator": lambda: (i for i in BITS),
    "range": lambda: range(N),
    "Stranger": Stranger,
    "class": lambda: Stranger,
    "Unequal": Unequal,
    "lambda": lambda: lambda: None,
    "NA": lambda: pd.NA,
    "NaT": lambda: pd.NaT,
    "date": lambda: datetime.date(2020, 1, 1),
    "np.float32": lambda: np.float32(0.3),
    "np.bool": lambda: np.bool_(True),
    "0-d array": lambda: np.array(0.3),
    "array of 1": lambda: np.array([0.3]),
    "pair": lambda: np.array([0, 1]),
    "list": lambda: list(BITS),
    "tuple of str": lambda: ("a", "b"),
    "strings": lambda: np.array(["a", "b"] * (N // 2)),
    "numbers as strings": lambda: [str(i) for i in range(N)],
    "floats": lambda: np.linspace(0, 1, N),
    "with nan": lambda: np.where(np.arange(N) == 3, np.nan, BITS),
    "with inf": lambda: np.where(np.arange(N) == 3, np.inf, BITS),
    "negative": lambda: -np.arange(N),
    "huge floats": lambda: np.linspace(-1.0, 1.0, N) * 1e308,
    "huge ints": lambda: objects(10**400, 1),
    "uint64": lambda: np.arange(N, dtype=np.uint64) + np.uint64(2**63),
    "longdouble": lambda: np.arange(N).astype(np.longdouble) / 3,
    "complexes": lambda: np.arange(N) + 1j,
    "None beside strings": lambda: objects("a", None),
    "numbers beside strings": lambda: objects("a", 1),
    "lists": ragged,
    "lists of one": lambda: objects([0], [1]),
    "arrays": lambda: objects(np.zeros(2), np.ones(3)),
    "arrays of two": lambda: objects(np.zeros(2), np.ones(2)),
    "dicts": lambda: objects({}, {"a": 1}),
    "sets": lambda: objects({1}, {2}),
    "strangers": lambda: objects(Stranger(), 1),
    "unequals": lambda: objects(Unequal(), 1),
    "NA objects": lambda: objects(pd.NA, 1),
    "NaT objects": lambda: objects(pd.NaT, 1),
    "NA Int64": lambda: pd.array([None, 1] * (N // 2), dtype="Int64"),
    "Int64": lambda: pd.array(BITS, dtype="Int64"),
    "NA boolean": lambda: pd.Series([None, True] * (N // 2), dtype="boolean"),
    "Categorical": lambda: pd.Categorical(["a", "b"] * (N // 2)),
    "Categorical with NA": lambda: pd.Series(pd.Categorical(["a", None] * (N // 2))),
    "StringArray": lambda: pd.array(["a", pd.NA] * (N // 2), dtype="string"),
    "datetimes": lambda: np.arange(N).astype("datetime64[D]"),
    "timedeltas": lambda: np.arange(N).astype("timedelta64[s]"),
    "periods": lambda: pd.Series(pd.period_range("2020", periods=N)),
    "intervals": lambda: pd.Series(pd.interval_range(0, N)),
    "polars nulls": lambda: pl.Series([None, 1] * (N // 2)),
    "polars strings": lambda: pl.Series(["a", None] * (N // 2)),
    "polars lists": lambda: pl.Series([[1], [2, 3]] * (N // 2)),
    "polars frame": lambda: pl.DataFrame({"a": range(N), "b": ["x"] * N}),
    "frame with text": lambda: pd.DataFrame({"age": range(N), "town": ["x"] * N}),
    "frame with dates": lambda: pd.DataFrame({"age": range(N), "when": pd.date_range("2020", periods=N)}),
    "frame with NA": lambda: pd.DataFrame({"age": range(N), "n": pd.array([None, 1] * (N // 2), dtype="Int64")}),
    "frame with lists": lambda: pd.DataFrame({"age": range(N), "n": [[1]] * N}),
    "empty frame": pd.DataFrame,
    "frame without rows": lambda: pd.DataFrame({"a": [], "b": []}),
    "empty polars frame": pl.DataFrame,
    "frame": lambda: pd.DataFrame(np.ones((N, 4))),
    "masked": lambda: np.ma.array(BITS, mask=[i == 1 for i in range(N)]),
    "unmasked": lambda: np.ma.array(BITS, mask=False),
    "matrix": lambda: np.matrix(BITS).T,
    "row matrix": lambda: np.matrix(BITS),
    "sparse column": lambda: sparse.csr_matrix(np.array(BITS)[:, None]),
    "sparse": lambda: sparse.coo_matrix(np.ones((N, 4))),
    "sparse vector": lambda: sparse.coo_array(np.array(BITS, dtype=float)),
    "3-d": lambda: np.zeros((N, 2, 2)),
    "2-d": lambda: np.ones((N, 2)),
    "no columns": lambda: np.ones((N, 0)),
    "nested lists": lambda: [[1, 2], [3, 4]] * (N // 2),
    "ragged lists": lambda: [[1, 2], [3]] * (N // 2),
    "nested strings": lambda: [["a", "b"]] * N,
    "structured": lambda: np.zeros(N, dtype=[("a", float), ("b", int)]),
    "void": lambda: np.zeros(N, dtype="V4"),
    "bytes array": lambda: np.array([b"a", b"b"] * (N // 2)),
    "bytes objects": lambda: objects(b"a", b"b"),
    "wrong length": lambda: np.arange(N + 1) % 2,
    "one class": lambda: np.ones(N),
    "three classes": lambda: np.arange(N) % 3,
    "dict of lists": lambda: {"a": list(BITS)},
    "dict of columns": lambda: {"a": np.linspace(0, 1, N), "b": np.ones(N)},
    "dict of rubbish": lambda: {"a": None, 3: "x"},
    "measure": lambda: hr.PartialAUC(max_fpr=0.1),
    "estimator": LogisticRegression,
    "curve": lambda: hr.RocCurve.from_scores(BITS, np.arange(N)),
}

X, Y = gaussians(n_pos=15, n_neg=N - 15, n_features=4, shift=2.0)
S = X[:, 0]
CURVE = hr.RocCurve.from_scores(Y, S)
LINEAR = hr.LinearRanker("auc").fit(X, Y)
TREES = hr.BoostedRanker("auc", n_estimators=3, min_samples_leaf=5).fit(X, Y)
CHOSEN = hr.LinearRankerCV("auc", surrogates=["logistic"], Cs=[1.0], cv=2).fit(X, Y)
PATH = hr.path(LINEAR, X, Y, Cs=[0.1, 1.0])
SAMPLE: dict[str, Any] = {"y": Y, "scores": S, "sample_weight": np.ones(N), "pos_label": 1}
ROWS: dict[str, Any] = {"X": X, "y": Y, "sample_weight": np.ones(N), "qid": np.arange(N) % 3}


def cv_results() -> Any:
    return cross_validate(LINEAR, X, Y, return_estimator=True, return_indices=True)


def fit(kind: Any, **settings: Any) -> Callable[..., Any]:
    """Construct with some parameters, fit to the rest."""

    def call(**arguments: Any) -> Any:
        rows = {name: arguments.pop(name) for name in ROWS if name in arguments}
        return kind(**{**settings, **arguments}).fit(**rows)

    return call


def measured(name: str) -> Callable[..., Any]:
    return lambda **arguments: hr.measure(name)(**arguments)


LINEAR_PARAMETERS: dict[str, Any] = {
    "measure": "pauc@0.3", "surrogate": "tight", "C": 1.0, "bandwidth": 0.3, "start_C": 1.0, "start": None,
    "anneal": False, "tol": 1e-3, "max_iter": 20, "standardize": False, "solver": "hybrid",
}  # fmt: skip
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "from_scores": (hr.RocCurve.from_scores, SAMPLE),
    "head_from_scores": (hr.RocCurve.head_from_scores, {**SAMPLE, "n_neg": 3, "n_pos": 2, "n_rows": 4}),
    "head": (CURVE.head, {"n_neg": 3, "n_pos": 2, "n_rows": 4}),
    "merge": (CURVE.merge, {"other": CURVE}),
    "area": (CURVE.area, {"min_fpr": 0.1, "max_fpr": 0.4}),
    "mean_tpr": (CURVE.mean_tpr, {"min_fpr": 0.1, "max_fpr": 0.4}),
    "tpr_at": (CURVE.tpr_at, {"fpr": 0.1}),
    "fpr_at": (CURVE.fpr_at, {"tpr": 0.1}),
    "tp_in_first": (CURVE.tp_in_first, {"n_rows": 3}),
    "measure": (hr.measure, {"name": "auc"}),
    "value": (hr.AUC().value, {"curve": CURVE}),
    "interval": (hr.interval, {
        **SAMPLE, "sample_weight": None, "measure": "pauc@0.3", "confidence": 0.9, "method": "auto",
        "side": "two-sided", "qid": np.arange(N) % 3, "clusters": None, "positive_rate": None,
    }),
    "interval by bootstrap": (hr.interval, {
        **SAMPLE, "measure": "auc", "method": "bootstrap", "clusters": np.arange(N) % 9, "n_replicates": 40,
        "random_state": 0,
    }),
    "band": (hr.band, {"curve": CURVE, "confidence": 0.9, "method": "tail"}),
    "lower_at": (hr.band(CURVE).lower_at, {"fpr": [0.1, 0.2]}),
    "interval of band": (hr.band(CURVE).interval, {"measure": "auc", "positive_rate": 0.3}),
    "compare": (hr.compare, {
        "y": Y, "a": S, "b": X[:, 1], "measure": "auc", "confidence": 0.9, "method": "auto", "side": "two-sided",
        "names": ("a", "b"), "sample_weight": None, "qid": None, "clusters": None, "pos_label": 1,
    }),
    "compare by bootstrap": (hr.compare, {
        "y": Y, "a": S, "b": X[:, 1], "method": "bootstrap", "sample_weight": np.ones(N), "clusters": np.arange(N) % 9,
        "n_replicates": 40, "random_state": 0,
    }),
    "compare_many": (hr.compare_many, {
        "scorers": {"a": S, "b": X[:, 1]}, "y": Y, "measure": "auc", "against": None, "confidence": 0.9,
        "method": "auto", "side": "two-sided", "sample_weight": None, "qid": None, "clusters": None, "pos_label": 1,
        "n_replicates": 20, "random_state": 0,
    }),
    "select": (hr.select, {
        "scorers": {"a": S, "b": X[:, 1]}, "y": Y, "measure": "auc", "confidence": 0.9, "method": "auto",
        "side": "two-sided", "rows": "validation", "n_scorers": None, "qid": None, "pos_label": 1,
    }),
    "plan": (hr.plan, {
        "epsilon": 0.1, "confidence": 0.9, "positive_rate": 0.2, "method": "mcdiarmid", "n_scorers": 1, "auc": None,
    }),
    "sample_size": (hr.sample_size, {
        "epsilon": 0.1, "confidence": 0.9, "positive_rate": 0.2, "method": "kl", "n_scorers": 1, "auc": 0.8,
    }),
    "plan_head": (hr.plan_head, {
        "measure": "pauc@0.3", "epsilon": 0.3, "positive_rate": 0.3, "auc": 0.8, "confidence": 0.9, "n_scorers": 1,
    }),
    "threshold_at": (hr.threshold_at, {"y": Y, "scores": S, "max_fpr": 0.4, "confidence": 0.8, "pos_label": 1}),
    "threshold_at top": (hr.threshold_at, {"y": Y, "scores": S, "top": 0.4, "confidence": 0.8}),
    "threshold_at alerts": (hr.threshold_at, {"y": Y, "scores": S, "alerts": 30, "out_of": 50, "confidence": 0.8}),
    "LinearRanker": (fit(hr.LinearRanker), {**LINEAR_PARAMETERS, **ROWS}),
    "LinearRanker smooth": (fit(hr.LinearRanker, surrogate="smooth", max_iter=10), ROWS),
    "LinearRankerCV": (
        fit(hr.LinearRankerCV, surrogates=["logistic"], max_iter=10),
        {**ROWS, "measure": "auc", "Cs": [1.0], "bandwidths": [0.3], "cv": 2, "tol": 1e-2, "standardize": None},
    ),
    "LinearRankerCV surrogates": (fit(hr.LinearRankerCV, cv=2, Cs=[1.0], max_iter=5), {
        "X": X, "y": Y, "surrogates": ["tight", "smooth"], "random_state": 0, "max_iter": 5,
    }),
    "KernelRanker": (fit(hr.KernelRanker), {
        **ROWS, "measure": "auc", "ranker": LINEAR, "kernel": "rbf", "gamma": "scale", "n_components": 20,
        "random_state": 0,
    }),
    "KernelRanker poly": (fit(hr.KernelRanker, kernel="poly", ranker=LINEAR), {
        "X": X, "y": Y, "degree": 2, "coef0": 1.0, "gamma": 0.1,
    }),
    "path": (hr.path, {"ranker": LINEAR, "X": X, "y": Y, "Cs": [0.1, 1.0], "sample_weight": np.ones(N), "qid": None}),
    "decision_function": (LINEAR.decision_function, {"X": X}),
    "predict": (LINEAR.predict, {"X": X}),
    "score": (LINEAR.score, ROWS),
    "FPRBudgetClassifier": (fit(hr.FPRBudgetClassifier), {
        "X": X, "y": Y, "sample_weight": np.ones(N), "estimator": LINEAR, "max_fpr": 0.4, "confidence": 0.8,
        "calibration_size": 0.5, "random_state": 0,
    }),
    "TopFractionClassifier": (fit(hr.TopFractionClassifier), {**ROWS, "estimator": LINEAR, "top": 0.3, "cv": 2}),
    "score of a decider": (hr.TopFractionClassifier(LINEAR, cv=None).fit(X, Y).score, {"X": X, "y": Y}),
    "RocDisplay": (hr.RocDisplay, {"curves": {"a": CURVE}, "pos_label": 1}),
    "from_predictions": (hr.RocDisplay.from_predictions, {
        **SAMPLE, "name": "a", "measure": "auc", "max_fpr": 0.5, "band": None, "confidence": 0.9, "top": None,
    }),
    "from_estimator": (hr.RocDisplay.from_estimator, {
        "estimator": LINEAR, "X": X, "y": Y, "sample_weight": np.ones(N), "pos_label": 1,
    }),
    "from_cv_results": (hr.RocDisplay.from_cv_results, {"cv_results": cv_results(), "X": X, "y": Y, "pos_label": 1}),
    "ForestDisplay": (hr.ForestDisplay, {"intervals": {"a": hr.interval(Y, S)}}),
    "PathDisplay": (hr.PathDisplay, {"path": PATH, "feature_names": ["a", "b", "c", "d"]}),
    "CrossValidationDisplay": (hr.CrossValidationDisplay, {"ranker": CHOSEN}),
    "SampleSizeDisplay": (hr.SampleSizeDisplay, {
        "positive_rates": (0.5, 0.1), "confidences": (0.9,), "min_epsilon": 0.05, "max_epsilon": 0.2,
        "method": "mcdiarmid", "n_scorers": 1, "auc": None,
    }),
    "save": (hr.save, {"model": LINEAR, "path": "model"}),
    "load": (hr.load, {"path": "/nowhere/model"}),
    "export_json": (hr.export_json, {"model": LINEAR, "path": "model"}),
    **{
        name: (getattr(hr, name), {parameter: 0.3})
        for name, parameter in (
            ("BEDROC", "alpha"), ("EnrichmentFactor", "k"), ("FPRAtTPR", "tpr"), ("Lift", "k"), ("LocalAUC", "top"),
            ("MassConstrainedError", "top"), ("PNormPush", "power"), ("PrecisionAt", "k"),
            ("RecallAt", "k"), ("TPRAtFPR", "fpr"), ("TopFPR", "top"), ("TopTPR", "top"), ("TruncatedAUC", "top"),
            ("WRanking", "top"), ("LocalRankingError", "top"), ("LocalRankingRisk", "top"),
        )
    },
    "RankStatistic": (hr.RankStatistic, {"phi": np.square}),
    "PartialAUC": (hr.PartialAUC, {"min_fpr": 0.0, "max_fpr": 0.3}),
    "StandardizedPartialAUC": (hr.StandardizedPartialAUC, {"min_fpr": 0.0, "max_fpr": 0.3}),
    "TwoWayPartialAUC": (hr.TwoWayPartialAUC, {"max_fpr": 0.3, "min_tpr": 0.1}),
    "FROCArea": (hr.FROCArea, {"min_fp": 0.1, "max_fp": 0.3, "images_per_negative": 1.0}),
    **{
        f"calling {name}": (measured(name), {**SAMPLE, "qid": np.arange(N) % 3})
        for name in ("auc", "pauc@0.3", "p@5", "bedroc@20", "locauc@0.3", "ks")
    },
    "BoostedRanker": (fit(hr.BoostedRanker), {
        **ROWS, "measure": "pauc@0.3", "objective": "smooth", "n_estimators": 3, "learning_rate": 0.1,
        "max_leaf_nodes": 4, "min_samples_leaf": 5, "l2_regularization": 0.0, "max_features": 1.0, "subsample": 1.0,
        "random_splits": False, "power": 4.0, "bandwidth": 0.3, "n_refining": 2, "monotonic_cst": None,
        "categorical_features": None, "n_jobs": 1,
    }),
    "BoostedRankerCV": (fit(hr.BoostedRankerCV), {
        **ROWS, "measure": "pauc@0.3", "grid": [{"min_samples_leaf": 3}], "max_estimators": 10, "max_seconds": None,
        "cv": 2, "monotonic_cst": None, "categorical_features": None,
    }),
    "RankerCV": (fit(hr.RankerCV), {
        **ROWS, "measure": "pauc@0.3", "families": ["extra trees"], "max_seconds": None, "cv": 2,
    }),
    "staged_decision_function": (
        lambda **rows: list(TREES.staged_decision_function(**rows)), {"X": X, "every": 2},
    ),
    "contributions": (TREES.contributions, {"X": X}),
}  # fmt: skip


def call(name: str, hostile: dict[str, str]) -> BaseException | None:
    """Make the call with some arguments replaced, and return what it raised, if anything."""
    import matplotlib.pyplot as plt

    function, arguments = CALLS[name]
    try:
        with TemporaryDirectory() as folder, chdir(folder), warnings.catch_warnings():  # "3" is the name of a file
            warnings.simplefilter("ignore")
            replaced = arguments | {argument: VALUES[value]() for argument, value in hostile.items()}
            function(**replaced)
    except Exception as error:  # whatever it is, it is looked at
        return error
    finally:
        plt.close("all")
    return None


def raised_in(error: BaseException) -> tuple[str, str]:
    """The file and the line of the innermost frame."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return frame.filename, frame.line or ""


WELL_WORDED = (
    "Input ", "Found array with", "Expected 2D array", "Expected a 2-dimensional", "Found input variables",
    "Complex data not supported", "Unknown label type", "is expecting", "feature names", "np.matrix is not supported",
    "Cannot clone object", "parameter of Nystroem must be", "Expected 2D input", "is not fitted yet", "The test_size =",
    "bytes/strings.Convert your data",
)  # fmt: skip
"""How scikit-learn's own messages about X and y begin; they say what is wrong."""


def is_ours(error: BaseException) -> bool:
    """Whether this is a ValueError or TypeError that says what is wrong, in our words or in good ones."""
    if isinstance(error, OSError):
        return True
    if not isinstance(error, ValueError | TypeError):
        return False
    where, line = raised_in(error)
    if where.startswith(SOURCE):
        return line.startswith("raise")  # else NumPy or Python raised it, at a line of ours that expected nothing
    if "metric(x, y" in line:  # a kernel that is a function, and raised the error itself
        return True
    return "sklearn" in where and any(words in str(error) for words in WELL_WORDED)

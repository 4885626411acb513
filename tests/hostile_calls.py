"""Calls of the public functions, with arguments that can be replaced by values that they should not be."""

import traceback
import warnings
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import matplotlib as mpl
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate

import headrank as hr
from headrank.integrations import catboost, lightgbm, optuna, torch, xgboost
from hostile_values import VALUES, N
from samples import gaussians

mpl.use("Agg")
SOURCE = str(Path(hr.__file__).parent)
X, Y = gaussians(n_pos=15, n_neg=N - 15, n_features=4, shift=2.0)
S = X[:, 0]
CURVE = hr.RocCurve.from_scores(Y, S)
LINEAR = hr.LinearRanker("auc").fit(X, Y)
TREES = hr.BoostedRanker("auc", n_estimators=3, min_samples_leaf=5).fit(X, Y)
REGIONS = hr.TreeRanker("auc", min_samples_split=10, min_samples_leaf=2, cv=None).fit(X, Y)
CHOSEN = hr.LinearRankerCV("auc", surrogates=["logistic"], Cs=[1.0], cv=2).fit(X, Y)
PATH = hr.path(LINEAR, X, Y, Cs=[0.1, 1.0])
SAMPLE: dict[str, Any] = {"y": Y, "scores": S, "sample_weight": np.ones(N), "pos_label": 1}
LISTED: dict[str, Any] = {"y": Y, "scores": S, "new_scores": S + 0.1, "assume": "same negatives"}
CERTIFICATE = hr.certify_list(**LISTED)
ROWS: dict[str, Any] = {"X": X, "y": Y, "sample_weight": np.ones(N), "qid": np.arange(N) % 3}
OF_OBJECTIVE: dict[str, Any] = {"y": Y, "scores": S, "sample_weight": None}


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
    "one_vs_rest": (hr.one_vs_rest, {
        "measure": "auc", "y": np.arange(N) % 3, "scores": X[:, :3], "average": "macro", "classes": [0, 1, 2],
        "sample_weight": np.ones(N),
    }),
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
    "certify_list": (hr.certify_list, {**LISTED, "confidence": 0.9, "pos_label": 1}),
    "at_least": (CERTIFICATE.at_least, {"k": 3}),
    "largest_list": (CERTIFICATE.largest_list, {"precision": 0.5}),
    "choose": (hr.choose, {**LISTED, "max_false_share": 0.3, "pos_label": 1}),
    "choose with weights": (hr.choose, {**LISTED, "weights": np.ones(N), "new_weights": np.ones(N)}),
    "plan_list": (hr.plan_list, {
        "k": 20, "precision": 0.5, "n_new": 40, "confidence": 0.8, "auc": 0.98, "positive_rate": 0.5,
    }),
    "plan_new_rows": (hr.plan_new_rows, {
        "k": 20, "precision": 0.5, "n_neg": 150, "confidence": 0.8, "auc": 0.98, "positive_rate": 0.5,
    }),
    "ListDisplay": (hr.ListDisplay, {"certificate": CERTIFICATE, "precision": 0.5}),
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
            ("RIE", "alpha"), ("MassConstrainedError", "top"), ("PNormPush", "power"), ("PrecisionAt", "k"),
            ("RecallAt", "k"), ("TPRAtFPR", "fpr"), ("TopFPR", "top"), ("TopTPR", "top"), ("TruncatedAUC", "top"),
            ("WRanking", "top"), ("LocalRankingError", "top"), ("LocalRankingRisk", "top"),
        )
    },
    "RankStatistic": (hr.RankStatistic, {"phi": np.square}),
    "PartialAUC": (hr.PartialAUC, {"min_fpr": 0.0, "max_fpr": 0.3}),
    "StandardizedPartialAUC": (hr.StandardizedPartialAUC, {"min_fpr": 0.0, "max_fpr": 0.3}),
    "TwoWayPartialAUC": (hr.TwoWayPartialAUC, {"max_fpr": 0.3, "min_tpr": 0.1, "max_tpr": 0.8}),
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
    "TreeRanker": (fit(hr.TreeRanker), {
        **ROWS, "measure": "pauc@0.3", "max_depth": 3, "min_samples_split": 10, "min_samples_leaf": 2, "max_cells": 4,
        "max_features": 0.5, "local": True, "cv": 2,
    }),
    "ForestRanker": (fit(hr.ForestRanker), {
        **ROWS, "measure": "pauc@0.3", "n_estimators": 20, "max_depth": 3, "min_samples_split": 10,
        "min_samples_leaf": 2, "max_cells": 4, "max_features": "sqrt", "local": False, "aggregate": "mean",
        "n_jobs": None,
    }),
    "PartialAUCBoost": (fit(hr.rivals.PartialAUCBoost), {
        **ROWS, "measure": "pauc@0.3", "penalties": [1e-5], "max_rounds": 3, "learning_rate": 0.5, "n_knots": 4,
        "bandwidth": 0.3, "cv": 2, "n_jobs": None,
    }),
    "GreedyCombination": (fit(hr.rivals.GreedyCombination), {
        **ROWS, "measure": "pauc@0.3", "max_columns": 2, "n_angles": 5, "max_pairs": 5,
    }),
    "ColumnGeneration": (fit(hr.rivals.ColumnGeneration), {
        **ROWS, "measure": "pauc@0.3", "surrogate": "tight", "Cs": [10.0], "max_cells": 3, "min_samples_leaf": 2,
        "max_rounds": 2, "tol": 1e-2, "edge_tol": 1e-3, "cv": 2, "n_jobs": None,
    }),
    "better_part": (REGIONS.better_part, {"region": 0}),
    "apply": (REGIONS.apply, {"X": X}),
    "TreeDisplay": (hr.TreeDisplay, {"ranker": REGIONS}),
    "staged_decision_function": (
        lambda **rows: list(TREES.staged_decision_function(**rows)), {"X": X, "every": 2},
    ),
    "contributions": (TREES.contributions, {"X": X}),
    **{
        f"{library.__name__} metric": (
            lambda measure, library=library, **rows: library.metric(measure)(*rows.values()),
            {"measure": "auc", "y": Y, "scores": S, "sample_weight": None},
        )
        for library in (lightgbm, xgboost)
    },
    **{
        f"{library.__name__} objective": (
            lambda y, scores, sample_weight, library=library, **options: library.objective(**options)(
                y, scores, sample_weight
            ),
            {"kind": "smooth", "measure": "auc", "power": 4.0, "bandwidth": 0.3, **OF_OBJECTIVE},
        )
        for library in (lightgbm, xgboost)
    },
    "early_stopping": (xgboost.early_stopping, {"measure": "auc", "rounds": 3}),
    "catboost metric": (
        lambda measure, approxes, y, sample_weight: catboost.Metric(measure).evaluate(approxes, y, sample_weight),
        {"measure": "auc", "approxes": [S], "y": Y, "sample_weight": None},
    ),
    "torch loss": (torch.loss, {"measure": "auc", "bandwidth": 0.3}),
    "optuna objective": (optuna.objective, {
        "measure": "auc", "make": LogisticRegression, "X": X, "y": Y, "qid": None, "cv": 3, "random_state": 0,
    }),
    "operating_points": (hr.operating_points, {
        **SAMPLE, "sample_weight": None, "thresholds": [0.1, 0.2], "prevalence": 0.2, "confidence": 0.9,
    }),
    "best_cutoff": (hr.best_cutoff, {
        "y": Y, "scores": S, "by": "cost", "costs": {"false_negative": 2.0, "false_positive": 1.0}, "prevalence": 0.2,
        "confidence": 0.8, "n_replicates": 10, "random_state": 0, "pos_label": 1,
    }),
    "compare_samples": (hr.compare_samples, {
        "y1": Y, "scores1": S, "y2": Y, "scores2": X[:, 1], "measure": "auc", "confidence": 0.9, "method": "bootstrap",
        "side": "two-sided", "names": ("a", "b"), "pos_label": 1, "n_replicates": 40, "random_state": 0,
    }),
    "power": (hr.power, {
        "n_pos": 20, "n_neg": 30, "auc": (0.9, 0.8), "measure": "pauc@0.3", "paired": True, "correlation": 0.5,
        "level": 0.1, "side": "lower", "method": "delong",
    }),
    "power of curves": (hr.power, {
        "n_pos": 20, "n_neg": 30, "binormal": ((2.0, 0.8), (1.5, 1.2)), "method": "delong_null",
    }),
    "sample_size_of_test": (hr.sample_size_of_test, {
        "positive_rate": 0.2, "power": 0.8, "auc": (0.9, 0.8), "measure": "auc", "level": 0.1, "method": "obuchowski",
    }),
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

"""Fitted estimators as ONNX operators: rankers, the steps before them, and what they are made of."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from headrank._types import Vector
from headrank.estimators import BoostedRanker, BoostedRankerCV, LinearRanker, LinearRankerCV, RankerCV
from headrank.estimators.combined.gaussian_ridge import GaussianSum
from headrank.estimators.combined.kernel_part import ScaledKernel
from headrank.estimators.combined.linear_part import ScaledLinear
from headrank.estimators.combined.scaled_features import OnScaledFeatures
from headrank.estimators.scaling import FARTHEST, LIMIT, SoftScaler
from headrank.estimators.trees.forests import FoldForests
from headrank.exceptions import ModelFileError
from headrank.model_io.linear_form import linear_form
from headrank.model_io.onnx_export.graph import Graph
from headrank.model_io.onnx_export.trees import ensemble
from headrank.training.features import Matrix

EXPORTED = (
    "RankerCV, BoostedRanker, BoostedRankerCV, LinearRanker, LinearRankerCV, LogisticRegression of two classes, "
    "pipelines of scalers that end in one of these, and the models of headrank fit"
)
_LARGEST_SINGLE = float(np.finfo(np.float32).max)
_FARTHEST_SINGLE = 1e15
"""The same as `FARTHEST` in float32."""


# -- steps: features in, features out ------------------------------------------------------------------------------


@singledispatch
def transformed(step: Any, graph: Graph, x: str) -> str:  # noqa: ARG001
    """Add a step before a model, and return the name of its features."""
    raise ModelFileError(
        f"{type(step).__name__} cannot be exported to ONNX; the steps before a model may be StandardScaler, "
        "MaxAbsScaler, MinMaxScaler and RobustScaler; for the coefficients of a linear model alone use export_json"
    )


@transformed.register
def _(scaler: StandardScaler, graph: Graph, x: str) -> str:
    return _shifted_and_divided(graph, x, scaler.mean_ if scaler.with_mean else None, scaler.scale_)


@transformed.register
def _(scaler: RobustScaler, graph: Graph, x: str) -> str:
    centers = scaler.center_ if scaler.with_centering else None
    return _shifted_and_divided(graph, x, centers, scaler.scale_ if scaler.with_scaling else None)


@transformed.register
def _(scaler: MaxAbsScaler, graph: Graph, x: str) -> str:
    scaled = _shifted_and_divided(graph, x, None, scaler.scale_)
    return _clipped(graph, scaled, -1.0, 1.0) if getattr(scaler, "clip", False) else scaled


@transformed.register
def _(scaler: MinMaxScaler, graph: Graph, x: str) -> str:
    product = graph.add("Mul", x, graph.constant(scaler.scale_))
    scaled = graph.add("Add", product, graph.constant(scaler.min_))
    return _clipped(graph, scaled, *scaler.feature_range) if scaler.clip else scaled


@transformed.register
def _(scaler: SoftScaler, graph: Graph, x: str) -> str:
    missing = graph.add("IsNaN", x)
    known = graph.add("Where", missing, graph.constant(scaler.centers_), x)
    z = graph.add("Sub", known, graph.constant(scaler.centers_))
    z = graph.add("Mul", z, graph.constant(scaler.scales_))
    farthest = FARTHEST if graph.precision == np.float64 else _FARTHEST_SINGLE
    z = _clipped(graph, z, -farthest, farthest)
    share = graph.add("Div", z, graph.constant(LIMIT))
    root = graph.add("Sqrt", graph.add("Add", graph.add("Mul", share, share), graph.constant(1.0)))
    scaled = graph.add("Div", z, root)
    if not scaler.gaps_.size:
        return scaled
    return graph.add("Concat", scaled, graph.cast(graph.columns(missing, scaler.gaps_)), axis=1)


@transformed.register
def _(_step: Matrix, graph: Graph, x: str) -> str:
    return without_infinities(graph, graph.cast(x))


def without_infinities(graph: Graph, x: str) -> str:
    """Replace infinities by NaN, in the precision of the computation."""
    return graph.add("Where", graph.add("IsInf", x), graph.constant(np.nan), x)


def _shifted_and_divided(graph: Graph, x: str, centers: Vector | None, scales: Vector | None) -> str:
    if centers is not None:
        x = graph.add("Sub", x, graph.constant(centers))
    return x if scales is None else graph.add("Div", x, graph.constant(scales))


def _clipped(graph: Graph, x: str, low: float, high: float) -> str:
    return graph.add("Clip", x, graph.constant(low), graph.constant(high))


# -- models: features in, scores out -------------------------------------------------------------------------------


@singledispatch
def scored(model: Any, graph: Graph, x: str) -> str:  # noqa: ARG001
    """Add a model, and return the name of its scores, of shape (rows, 1)."""
    inner = "; export its estimator_" if hasattr(model, "estimator_") else ""
    raise ModelFileError(f"{type(model).__name__} cannot be exported to ONNX{inner}; supported: {EXPORTED}")


@scored.register
def _(pipeline: Pipeline, graph: Graph, x: str) -> str:
    *steps, (_, model) = pipeline.steps
    for _, step in steps:
        if step is not None and step != "passthrough":
            x = transformed(step, graph, x)
    return scored(model, graph, x)


@scored.register(LinearRanker)
@scored.register(LinearRankerCV)
@scored.register(LogisticRegression)
def _(model: Any, graph: Graph, x: str) -> str:
    form = linear_form(model)
    return _product(graph, x, form.coefficients, form.intercept)


@scored.register
def _(model: ScaledLinear, graph: Graph, x: str) -> str:
    return scored(model.ranker_, graph, _scaled(model, graph, x))


@scored.register
def _(model: ScaledKernel, graph: Graph, x: str) -> str:
    features = _scaled(model, graph, x)
    terms = [scored(each, graph, features) for each in model.sums_]
    return graph.add("Add", graph.total(terms), graph.constant([[model.intercept_]]))


@scored.register
def _(model: GaussianSum, graph: Graph, x: str) -> str:
    landmarks, gamma = model.kernel.landmarks, model.kernel.gamma
    z = (landmarks.toarray() if hasattr(landmarks, "toarray") else landmarks).astype(np.float64)
    own = graph.add("ReduceSum", graph.add("Mul", x, x), graph.constant([1], np.int64), keepdims=1)
    products = graph.add("MatMul", x, graph.constant(-2 * z.T))
    squares = graph.add("Add", graph.add("Add", own, products), graph.constant([np.einsum("ij,ij->i", z, z)]))
    near = graph.add("Exp", graph.add("Mul", graph.add("Relu", squares), graph.constant(-gamma)))
    return graph.add("MatMul", near, graph.constant(model.weights.reshape(-1, 1)))


def _scaled(model: OnScaledFeatures, graph: Graph, x: str) -> str:
    """Add the scaling of features, and return their name."""
    if model.scaler_ is None:
        return x
    numbers = graph.columns(x, model.numbers_) if model.codes_ else x
    parts = [_rounded(graph, transformed(model.scaler_, graph, without_infinities(graph, numbers)))]
    for j, codes in model.codes_.items():
        parts.append(graph.cast(graph.add("Equal", graph.columns(x, [j]), graph.constant([codes]))))
    return parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)


@scored.register
def _(model: BoostedRanker, graph: Graph, x: str) -> str:
    return ensemble(graph, x, [(trees, 1.0) for trees in model.trees_], model.intercept_)


@scored.register
def _(model: BoostedRankerCV, graph: Graph, x: str) -> str:
    weighted = [each for member in model.members_ for each in member.weighted]
    return ensemble(graph, x, weighted, model.intercept_)


@scored.register
def _(model: FoldForests, graph: Graph, x: str) -> str:
    largest = graph.constant(_LARGEST_SINGLE)
    finite = graph.add("Where", graph.add("Greater", x, largest), largest, x)
    weighted = [(trees, 1 / len(model.trees_)) for trees in model.trees_]
    return ensemble(graph, _rounded(graph, finite), weighted, model.intercept_)


@scored.register
def _(model: RankerCV, graph: Graph, x: str) -> str:
    terms = []
    for part in model.parts_:
        try:
            scores = scored(part.scorer, graph, x)
        except ModelFileError as error:
            raise ModelFileError(f"the part {part.family!r} of the ranker has no operators in ONNX: {error}") from error
        terms.append(graph.add("Mul", scores, graph.constant([[part.factor]])))
    return graph.add("Add", graph.total(terms), graph.constant([[model.intercept_]]))


def _product(graph: Graph, x: str, coefficients: Vector, intercept: float) -> str:
    terms = graph.add("MatMul", x, graph.constant(coefficients.reshape(-1, 1)))
    return graph.add("Add", terms, graph.constant([[intercept]]))


def _rounded(graph: Graph, x: str) -> str:
    """Round to single precision, as the model does."""
    return x if graph.precision == np.float32 else graph.cast(graph.cast(x, np.float32))

"""Whatever is passed to a public function, an error says in our words what is wrong, not in another library's."""

import numpy as np
import pandas as pd
import pytest

import headrank as hr
from hostile_calls import CALLS, VALUES, N, X, Y, call, is_ours, raised_in

FOREIGN = ("from_cv_results", "FPRBudgetClassifier", "TopFractionClassifier", "score of a decider", "from_estimator")
"""They hand X to an estimator of any kind, whose own errors come through."""


@pytest.mark.parametrize("name", [name for name in CALLS if name not in FOREIGN])
def test_errors_are_ours(name):
    rng = np.random.default_rng(list(CALLS).index(name))
    arguments = list(CALLS[name][1])
    for value in rng.choice(list(VALUES), 8, replace=False):
        hostile = {str(rng.choice(arguments)): str(value)}
        error = call(name, hostile)
        assert error is None or is_ours(error), (hostile, raised_in(error), error)


@pytest.mark.parametrize("kind", ["frame with text", "polars frame"])
def test_text_in_a_data_frame_names_its_column(kind):
    column = "'town'" if kind == "frame with text" else "'b'"
    with pytest.raises(ValueError, match=f"column {column} contains 'x' in row 0"):
        hr.LinearRanker().fit(VALUES[kind](), Y)


def test_numbers_beyond_float_are_refused():
    with pytest.raises(ValueError, match="fits a float"):
        hr.PartialAUC(max_fpr=10**400)
    with pytest.raises(TypeError, match="n_neg must be a number, got '3'"):
        hr.RocCurve.head_from_scores(Y, X[:, 0], n_neg="3")


def test_kernels_that_overflow_are_refused():
    with pytest.raises(ValueError, match="features must lie within"):
        hr.KernelRanker("auc").fit(X * 1e154, Y)
    with pytest.raises(ValueError, match="scale the features first"):
        hr.KernelRanker("auc", kernel="poly", degree=9, gamma=1.0).fit(X * 1e60, Y)


def test_missing_labels_are_counted():
    y = pd.Series(["a", pd.NA] * (N // 2), dtype=object)
    with pytest.raises(ValueError, match="y has 20 missing values"):
        hr.LinearRanker().fit(X, y)

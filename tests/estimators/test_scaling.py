"""SoftScaler: skrub's SquashingScaler and scikit-learn's SimpleImputer, for all features at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from skrub import SquashingScaler

from headrank.estimators import scaling
from headrank.estimators.scaling import SoftScaler

VALUES = st.sampled_from([np.nan, -3.0, -1.0, 0.0, 1.0, 2.0, 1e-12, 1e6, -1e30])
"""None so small that scikit-learn, on which skrub rests, takes it for rounding."""


def reference(train, rows):
    """One feature after the other; a feature without any value is 0."""
    scaled, missing = [], []
    for j in range(train.shape[1]):
        column, known = rows[:, [j]], np.isfinite(train[:, j])
        if known.any():
            chain = make_pipeline(SquashingScaler(), SimpleImputer(strategy="constant", fill_value=0.0))
            column = chain.fit(train[:, [j]]).transform(column)
        else:
            column = np.zeros_like(column)
        scaled.append(column[:, 0])
        if not known.all():
            missing.append(np.isnan(rows[:, j]))
    return np.column_stack([*scaled, *missing])


@settings(max_examples=150, deadline=None)
@given(st.data(), array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9), st.sampled_from([1, 4_000_000]))
def test_it_scales_as_skrub_does(data, shape, at_a_time):
    train = data.draw(arrays(np.float64, shape, elements=VALUES))
    rows = data.draw(arrays(np.float64, (4, shape[1]), elements=VALUES))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scaling, "_NUMBERS_AT_A_TIME", at_a_time)
        scaler = SoftScaler().fit(train)
    np.testing.assert_allclose(scaler.transform(rows), reference(train, rows), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("unit", [1e-20, 1e20])
def test_the_unit_does_not_matter(unit):
    X = np.array([[0.0, 5.0], [1.0, np.nan], [2.0, 5.0], [4.0, 7.0]])
    np.testing.assert_allclose(SoftScaler().fit_transform(X * unit), SoftScaler().fit_transform(X), rtol=1e-9)


def test_the_score_of_a_row_does_not_depend_on_its_neighbours():
    X = np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32)
    X[::7, 2] = np.nan
    scaler = SoftScaler().fit(X)
    whole = scaler.transform(X)
    assert whole.dtype == np.float64
    assert np.array_equal(np.vstack([scaler.transform(X[i : i + 1]) for i in range(40)]), whole)


def test_names():
    scaler = SoftScaler().fit(np.array([[1.0, np.nan], [2.0, 3.0]]))
    assert scaler.get_feature_names_out(["a", "b"]).tolist() == ["a", "b", "b is missing"]
    assert scaler.get_feature_names_out().tolist() == ["x0", "x1", "x1 is missing"]


def test_values_whose_square_is_not_finite_are_at_the_bound():
    X = np.array([[0.0], [1e-300], [2e-300], [1e160], [-1e308]])
    scaled = SoftScaler().fit(X[:3]).transform(X).ravel()
    np.testing.assert_allclose(scaled[3:], [3.0, -3.0])

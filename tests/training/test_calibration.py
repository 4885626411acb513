"""Probabilities from scores: isotonic regression, ties and all; measured on rows it was not fitted to."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrank.exceptions import InvalidSampleError
from headrank.model_io import load, save
from headrank.training.calibration import Calibration, _calibration_error, calibrated
from headrank.training.outputs import table_model
from reference.isotonic import isotonic

RANKINGS = st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=1, max_size=12)


@given(RANKINGS)
def test_it_is_isotonic_regression(rows):
    positive, scores = (np.array(each) for each in zip(*rows, strict=True))
    steps = Calibration.of(positive, scores.astype(float))
    np.testing.assert_allclose(steps.probabilities(scores), isotonic(positive, scores), atol=1e-12)


@given(RANKINGS)
def test_probabilities_keep_the_order_and_the_mean_and_take_any_score(rows):
    positive, scores = (np.array(each) for each in zip(*rows, strict=True))
    steps = Calibration.of(positive, scores.astype(float))
    assert steps.probabilities(scores).mean() == pytest.approx(positive.mean())
    between = steps.probabilities(np.array([-np.inf, -9, *np.arange(-3, 3.5, 0.5), 9, np.inf]))
    assert np.all(np.diff(between) >= 0)
    assert between[0] == steps.values[0]
    assert between[-1] == steps.values[-1]


def test_neighbouring_numbers_are_told_apart():
    low = 1.0
    high = np.nextafter(low, 2)
    steps = Calibration.of(np.array([False, True]), np.array([low, high]))
    assert steps.probabilities(np.array([low, high])).tolist() == [0.0, 1.0]


def test_it_is_measured_on_other_rows():
    """If a score says nothing, the steps fitted to all rows look better than the share, but not by cross-fitting."""
    rng = np.random.default_rng(0)
    positive, noise = rng.random(2000) < 0.2, rng.normal(size=2000)
    steps = calibrated(positive, noise)
    in_sample = np.mean((steps.probabilities(noise) - positive) ** 2)
    assert in_sample < steps.brier_of_share < steps.brier
    assert steps.brier_of_share == pytest.approx(positive.mean() * (1 - positive.mean()))
    truth = 1 / (1 + np.exp(-3 * noise))
    steps = calibrated(rng.random(2000) < truth, noise)
    assert steps.brier < 0.7 * steps.brier_of_share
    assert steps.calibration_error < 0.06
    assert np.mean(np.abs(steps.probabilities(noise) - truth)) < 0.05
    assert "an estimate without guarantee" in str(steps)


def test_the_error_is_the_distance_in_bins():
    positive = np.arange(1000) % 2 == 0
    assert _calibration_error(positive, np.full(1000, 0.5)) == 0
    assert _calibration_error(positive, np.full(1000, 0.9)) == pytest.approx(0.4)
    right = np.repeat([0.2, 0.8], 500)
    assert _calibration_error(right > 0.5, right) == pytest.approx(0.2)


def test_one_class_few_rows_and_wrong_steps():
    assert calibrated(np.ones(5, dtype=bool), np.arange(5)).values.tolist() == [1.0]
    assert calibrated(np.array([False, True]), np.arange(2)).values.tolist() == [0.0, 1.0]
    with pytest.raises(InvalidSampleError, match="at least two rows for a calibration, got 1"):
        calibrated(np.ones(1, dtype=bool), np.arange(1))
    for edges, values in (
        ([], []),
        ([1.0], [0.5, 0.6]),
        ([1.0, 1.0], [0.1, 0.2]),
        ([0.0, 1.0], [0.2, 0.1]),
        ([0.0], [2]),
    ):
        with pytest.raises(ValueError, match="calibration"):
            Calibration(np.array(edges), np.array(values))


def test_a_table_model_is_a_classifier(messy, tmp_path):
    model, rows = table_model(messy.result), messy.features
    save(model, tmp_path / "model")
    for each in (model, load(tmp_path / "model")):
        scores = each.decision_function(rows)
        assert each.classes_.tolist() == [False, True]
        proba = each.predict_proba(rows)
        assert proba.shape == (rows.height, 2)
        np.testing.assert_allclose(proba.sum(axis=1), 1)
        order = np.argsort(scores, kind="stable")
        assert np.all(np.diff(proba[order, 1]) >= 0)
        np.testing.assert_array_equal(dataclasses.replace(each, threshold=0.1).predict(rows), scores >= 0.1)
        with pytest.raises(ValueError, match=r"the model has no threshold: it was not wanted\. Use"):
            dataclasses.replace(each, threshold=None, promise="it was not wanted.").predict(rows)
    assert str(load(tmp_path / "model").calibration) == str(model.calibration)
    with pytest.raises(ValueError, match="the model has no probabilities: it was trained on queries"):
        dataclasses.replace(model, calibration=None).predict_proba(rows)

"""Derivatives of surrogates, row by row, as boosting takes them."""

import numpy as np
import pytest

import headrank as hr
from headrank.surrogates import LogisticLoss, RowFacts, surrogate_for
from headrank.surrogates.cut import Cut
from headrank.surrogates.row_derivatives import RowDerivatives

POSITIVE = np.array([True, False, False, True, False])
SCORES = np.array([0.3, -1.0, 2.0, 0.1, 0.0])


def test_they_are_the_surrogates_in_the_order_of_the_rows_up_to_one_factor():
    gradient, hessian = RowDerivatives(LogisticLoss(2.0), POSITIVE)(SCORES)
    cut = LogisticLoss(2.0)(SCORES[POSITIVE], SCORES[~POSITIVE])
    factor = gradient[0] / cut.pos_coef[0]
    assert factor > 0
    np.testing.assert_allclose(gradient[POSITIVE], factor * cut.pos_coef)
    np.testing.assert_allclose(gradient[~POSITIVE], factor * cut.neg_coef)
    np.testing.assert_allclose(hessian[POSITIVE], factor * cut.pos_curvature)
    np.testing.assert_allclose(hessian[~POSITIVE], factor * cut.neg_curvature)
    assert hessian.mean() == pytest.approx(0.25)


def test_without_second_derivatives_the_absolute_first_ones_stand_in():
    smooth = surrogate_for(hr.measure("pauc@0.5"), "smooth", RowFacts(), bandwidth=0.5)
    gradient, hessian = RowDerivatives(smooth, POSITIVE)(SCORES)
    assert np.abs(gradient).max() > 0
    np.testing.assert_allclose(hessian, np.maximum(np.abs(gradient), 0.25e-3))
    assert gradient[POSITIVE].sum() < 0 < gradient[~POSITIVE].sum()


def test_second_derivatives_are_bounded_away_from_0():
    far = np.array([60.0, -60.0, 0.0, 60.0, -60.0])
    _, hessian = RowDerivatives(LogisticLoss(), POSITIVE)(far)
    assert hessian.min() == pytest.approx(0.25e-3)


def test_a_surrogate_that_is_flat_moves_no_leaf():
    def flat(pos, neg):
        return Cut(0.0, np.zeros(pos.size), np.zeros(neg.size))

    gradient, hessian = RowDerivatives(flat, POSITIVE)(SCORES)
    assert not gradient.any()
    assert (hessian == 0.25).all()


@pytest.mark.parametrize("kind", ["push", "smooth"])
def test_whole_weights_are_copies(kind):
    weights = np.array([2.0, 1.0, 3.0, 1.0, 2.0])
    copied = np.repeat(np.arange(5), weights.astype(int))

    def derivatives(positive, weights):
        facts = RowFacts() if weights is None else RowFacts(weights[positive], weights[~positive])
        surrogate = (
            LogisticLoss(3.0, rows=facts)
            if kind == "push"
            else surrogate_for(hr.measure("auc"), "smooth", facts, bandwidth=0.5)
        )
        return RowDerivatives(surrogate, positive, weights)

    weighted = derivatives(POSITIVE, weights)(SCORES)
    copies = derivatives(POSITIVE[copied], None)(SCORES[copied])
    for ours, theirs in zip(weighted, copies, strict=True):
        np.testing.assert_allclose(ours, np.bincount(copied, weights=theirs), rtol=1e-6, atol=1e-9)

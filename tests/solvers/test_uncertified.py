"""Without a certificate, the hybrid ends earlier, near its tolerance, and proves no wrong bound."""

import numpy as np
import pytest

from headrank.estimators._risk import LinearRisk
from headrank.rows import DenseRows
from headrank.solvers import hybrid
from headrank.surrogates import StructuralHinge, TightHinge

N_ROWS, N_FEATURES, TOL = 300, 60, 1e-2


def risk_of(loss, seed):
    X = np.random.default_rng(seed).normal(size=(N_ROWS, N_FEATURES))
    positive = np.arange(N_ROWS) < N_ROWS // 5
    X[positive] += 0.3
    return LinearRisk(DenseRows(X), loss, positive)


@pytest.mark.parametrize("hinge", [TightHinge, StructuralHinge])
@pytest.mark.parametrize("C", [1.0, 1000.0])
@pytest.mark.parametrize("seed", range(2))
def test_it_ends_near_the_certified_minimum(hinge, C, seed):
    risk = risk_of(hinge(0.0, 0.2), seed)
    proved = hybrid(risk, n_features=N_FEATURES, C=C, tol=TOL / 100)
    loose = hybrid(risk, n_features=N_FEATURES, C=C, tol=TOL, certify=False)
    assert proved.gap <= TOL / 100
    assert loose.lower <= proved.objective
    # What is left is judged by progress, so it may be somewhat more than the tolerance.
    tolerance = TOL * max(loose.objective, 0.01 * (C - loose.objective))
    assert loose.objective - proved.lower <= 2.5 * tolerance
    assert loose.n_iter < proved.n_iter

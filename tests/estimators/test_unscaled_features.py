"""Features of enormous size, not scaled: the certificate stays true, and what has learned nothing says so."""

import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from headrank import LinearRanker, LinearRankerCV
from headrank.exceptions import CollapsedFitWarning
from samples import gaussians


def with_a_date(unit, seed=1):
    """Rows that can be learned, and the second of each in a count since 1970, which says nothing."""
    X, y = gaussians(60, 240, shift=3.0)
    seconds = 1.7e9 + np.random.default_rng(seed).uniform(0, 3e7, y.size)
    return np.column_stack([X, unit * seconds]), y


@pytest.mark.parametrize("surrogate", ["tight", "structural"])
@pytest.mark.parametrize("solver", ["hybrid", "cutting-plane"])
@pytest.mark.parametrize("unit", [1.0, 1e3, 1e9])
def test_a_lower_bound_is_below_what_can_be_reached(surrogate, solver, unit, capfd):
    X, y = with_a_date(unit)
    ranker = LinearRanker("pauc@0.2", surrogate=surrogate, solver=solver, max_iter=60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ranker.fit(X, y)
    # Whoever does not see the date loses nothing but what it may add, so no bound can be above this.
    without = LinearRanker("pauc@0.2", surrogate=surrogate, tol=1e-6).fit(X[:, :-1], y)
    assert ranker.lower_bound_ <= without.objective_ * (1 + 1e-9)
    assert ranker.lower_bound_ <= ranker.objective_ * (1 + 1e-9)
    assert not ranker.collapsed_
    assert capfd.readouterr().err == ""  # of the quadratic program, which has a voice of its own


def test_a_smooth_fit_that_ranks_like_chance_says_so():
    X, y = with_a_date(1.0, seed=4)  # of other dates, some rank a little better than chance
    with pytest.warns(CollapsedFitWarning, match=r"no better than at random, .*; set standardize=True"):
        ranker = LinearRanker("pauc@0.2", surrogate="smooth").fit(X, y)
    assert ranker.collapsed_
    assert not ranker.set_params(standardize=True).fit(X, y).collapsed_


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_choice_scales_them(form):
    X, y = with_a_date(1e3)
    ranker = LinearRankerCV("pauc@0.2", surrogates=("logistic", "tight", "smooth"), Cs=(1.0, 100.0), cv=3)
    assert ranker.fit(form(X), y).best_score_ > 0.8


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize(
    ("form", "surrogate"),
    [
        (np.asarray, "tight"),
        (np.asarray, "logistic"),
        (lambda X: X.astype(np.float32), "tight"),
        (lambda X: X.astype(np.float32), "logistic"),
        (sparse.csr_array, "tight"),
    ],
)
def test_only_the_date_is_copied(form, surrogate, standardize):
    rng = np.random.default_rng(0)
    y = np.arange(20_000) % 4 == 0
    X = rng.normal(size=(y.size, 200)) + 0.3 * y[:, None]
    X[:, 7] = 1.7e9 + rng.uniform(0, 1e4, y.size)  # three hours, far from 1970
    X = form(X)
    ranker = LinearRanker("auc", surrogate=surrogate, standardize=standardize, max_iter=3)
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            ranker.fit(X, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    size = X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes
    assert peak < 0.6 * size

"""A path over C: what it saves, and what ends it. That it equals single fits is tested with the rankers."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from headrank.estimators import LinearRanker, LinearRankerCV, path
from samples import gaussians

SURROGATES = ["structural", "tight", "logistic", "svc", "smooth", "tau-fpl", "patmat", "asymmetric", "push"]


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [60, 240])
    X = rng.normal(size=(300, 10))
    X[:, :3] += 1.0 * y[:, None]
    return X, y


def ranker_of(surrogate, **parameters):
    return LinearRanker("pauc@0.3", surrogate=surrogate, standardize=True, tol=1e-4, **parameters)


# What earlier fits have learned


@pytest.mark.parametrize("C", [3.0, 100.0])
@pytest.mark.parametrize(
    ("surrogate", "solver"),
    [
        ("structural", "hybrid"),
        ("tight", "hybrid"),
        ("tight", "cutting-plane"),
        ("logistic", "hybrid"),
        ("svc", "hybrid"),
    ],
)
def test_the_same_problem_again_takes_one_look(surrogate, solver, C, sample):
    """The weights are those found before; for a hinge, the cuts found before prove that they are the best."""
    ranker = ranker_of(surrogate, solver=solver)
    first, *again = path(ranker, *sample, Cs=[C, C, C]).n_iter
    assert first == pytest.approx(clone(ranker).set_params(C=C).fit(*sample).n_iter_, abs=2)
    assert first > 3
    assert again == [1, 1]


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_near_problems_take_less_than_half_the_evaluations(surrogate, sample):
    ranker, Cs = ranker_of(surrogate), [100.0, 101.0, 102.0]
    first, *others = path(ranker, *sample, Cs=Cs).n_iter
    cold, *others_cold = (clone(ranker).set_params(C=C).fit(*sample).n_iter_ for C in Cs)
    assert first == pytest.approx(cold, abs=2)
    assert sum(others) < 0.5 * sum(others_cold)


# Cut short


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_an_interrupt_ends_the_whole_path(surrogate, sample, monkeypatch):
    """Not one C only, with the others after it; and without a warning, which would be an error here."""
    ranker, Cs = ranker_of(surrogate, verbose=1), [1.0, 10.0, 100.0]
    steps = []

    def interrupting(step):
        steps.append(step)
        if len(steps) == at:
            raise KeyboardInterrupt

    monkeypatch.setattr("headrank.estimators._fitting.live_line", interrupting)
    at = 0
    first, second, _ = path(ranker, *sample, Cs=Cs).n_iter
    steps.clear()
    at = first + min(second, 2)
    with pytest.raises(KeyboardInterrupt):
        path(ranker, *sample, Cs=Cs)
    assert len(steps) == at


def test_one_warning_names_all_that_has_not_converged(sample):
    with pytest.warns(ConvergenceWarning, match=r"^not converged to tol 0.0001 at C = 10, 100; raise max_iter") as told:
        result = path(ranker_of("tight", max_iter=8), *sample, Cs=[100, 1e-6, 10])
    assert len(told) == 1
    assert told[0].filename == __file__
    assert list(result.Cs) == [1e-6, 10, 100]


def test_only_a_linear_ranker_has_a_path():
    X, y = gaussians()
    with pytest.raises(TypeError, match="ranker must be a LinearRanker, got LinearRankerCV"):
        path(LinearRankerCV(), X, y)


def test_the_ranker_is_left_alone(sample):
    X, y = sample
    ranker = LinearRanker("auc").fit(X, y)
    path(ranker, X, np.where(y, "b", "a"), Cs=[0.1])
    assert ranker.classes_.tolist() == np.unique(y).tolist()

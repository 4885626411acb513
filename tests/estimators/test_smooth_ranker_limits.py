"""The smooth ranker when it runs out of passes, or is interrupted."""

import warnings

import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from headrank import LinearRanker
from headrank.estimators import _fitting
from samples import gaussians, with_outlying_negatives


def smooth(measure="pauc@0.2", **parameters):
    return LinearRanker(measure, surrogate="smooth", **parameters)


def test_a_limit_that_is_too_small_is_said():
    X, y = with_outlying_negatives(100, 500)
    with pytest.warns(ConvergenceWarning, match="after 3 evaluations") as caught:
        ranker = smooth("pauc@0.05", C=100, max_iter=3).fit(X, y)
    assert ranker.n_iter_ == len(ranker.trace_) == 3
    assert all("nan" not in str(warning.message) for warning in caught)


@pytest.mark.parametrize("surrogate", ["logistic", "tight"])
def test_a_fit_that_converges_at_the_limit_is_not_warned_of(surrogate):
    X, y = gaussians(shift=3.0)
    ranker = LinearRanker("pauc@0.3", surrogate=surrogate).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = clone(ranker).set_params(max_iter=ranker.n_iter_).fit(X, y)
    assert again.gap_ <= 1e-3


@pytest.fixture
def interrupted(monkeypatch):
    """Interrupt the n-th search of a fit at its third evaluation; how many there were is in the list."""
    searches, searched = [], _fitting.lbfgs

    def at(n_th):
        def search(risk, *, callback=None, **limits):
            searches.append(limits)
            mine = len(searches) == n_th

            def stop(step):
                if mine and step.n_iter == 3:
                    raise KeyboardInterrupt

            return searched(risk, callback=stop, **limits)

        monkeypatch.setattr(_fitting, "lbfgs", search)
        return searches

    return at


def test_an_interrupt_keeps_the_best_so_far(interrupted):
    X, y = with_outlying_negatives(100, 500)
    searches = interrupted(2)
    with pytest.warns(ConvergenceWarning, match="interrupted") as caught:
        ranker = smooth("pauc@0.05", C=100).fit(X, y)
    assert len(searches) == 2
    assert ranker.n_iter_ == 3
    assert ranker.objective_ < ranker.trace_[0].objective
    assert ranker.score(X, y) == pytest.approx(ranker.training_measure_)
    assert "nan" not in str(caught[0].message)


@pytest.mark.parametrize("stage", [2, 3])
def test_an_interrupt_of_the_annealing_ends_the_fit(interrupted, stage):
    X, y = with_outlying_negatives(100, 500)
    searches = interrupted(stage)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        ranker = smooth("pauc@0.05", C=100, anneal=True).fit(X, y)
    assert len(searches) == stage
    assert ranker.score(X, y) == pytest.approx(ranker.training_measure_)

"""What has learned nothing on a fold, or on all rows, is worth a random order and adds nothing to an average."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

import headrank as hr
from fits import alike
from headrank import LinearRanker, LinearRankerCV
from headrank.estimators import _fitting
from headrank.estimators._problem import Problem
from headrank.estimators.cv.candidates import Candidate, Fold, tried
from headrank.estimators.cv.refits import Refits
from headrank.estimators.cv.tally import Tally
from headrank.exceptions import CollapsedFitWarning
from headrank.surrogates import KINDS
from samples import gaussians

LIMITS = {"tol": 1e-3, "max_iter": 100}


@pytest.fixture
def collapsing(monkeypatch):
    """Hinges are said to have collapsed, though their weights are not 0."""
    monkeypatch.setattr(Problem, "collapsed", lambda self, _solution, _C: self.kind is KINDS["tight"])


def problem_of(measure="pauc@0.3", **more):
    X, y = gaussians(60, 140, shift=2.0, **more)
    return LinearRankerCV()._pose(hr.measure(measure), X, y, None, None)


def folds_of(problem, n_folds=3):
    y = problem.risk.positive
    return [Fold(problem, *split) for split in StratifiedKFold(n_folds).split(y, y)]


@pytest.mark.parametrize(
    ("measure", "chance"), [("auc", 0.5), ("pauc@0.2", 0.1), ("locauc@0.1", 0.1 - 0.1**2 / 2), ("mass@0.2", -0.38)]
)
def test_weights_of_0_are_worth_a_random_order(measure, chance):
    values = [fold.measured(np.zeros(4)) for fold in folds_of(problem_of(measure))]
    assert np.mean(values) == pytest.approx(chance, abs=0.06)
    assert values == [fold.measured(np.zeros(4)) for fold in folds_of(problem_of(measure))]


def test_a_fold_on_which_a_candidate_collapses_gains_nothing_by_its_ties(collapsing):
    """All rows tie, all are the best, and the local AUC is 1/2: more than any ranking of these is worth."""
    fold = folds_of(problem_of("locauc@0.05"))[0]
    (learned,) = tried(fold, [Candidate("logistic", 1.0)], **LIMITS, told=lambda: None)
    (collapsed,) = tried(fold, [Candidate("tight", 100.0)], **LIMITS, told=lambda: None)
    assert collapsed.collapsed
    assert not collapsed.weights.any()
    assert collapsed.value < learned.value < 0.5


def test_a_hinge_that_collapses_on_some_folds_is_not_chosen_for_that():
    """Where classes overlap so that the hinge collapses on two of five folds."""
    rng = np.random.default_rng(1)
    y = (rng.random(500) < 0.3).astype(int)
    X = rng.standard_normal((500, 4))
    X[:, 0] += 2.1 * y
    ranker = LinearRankerCV("locauc@0.05", surrogates=("logistic", "tight"), Cs=(1.0, 10.0)).fit(X, y)
    assert any(0 < trial.collapsed.sum() < 5 for trial in ranker.trials_)
    assert ranker.best_score_ < 0.25  # the best scorer there is has 0.17


def test_collapsed_members_add_nothing_to_what_is_fitted_to_all_rows(collapsing):
    refits = Refits(problem_of(), [], None, **LIMITS, tally=Tally(lambda _done, _total: None))
    pair = (Candidate("tight", 100.0), Candidate("logistic", 1.0))
    together, alone = (refits.rankers(Candidate("smooth", 1.0, 0.3, start))[0] for start in (pair, pair[1:]))
    assert alike(together.coef_, alone.coef_)
    assert together.start_measure_ == pytest.approx(alone.start_measure_, abs=0.01)


def test_collapsed_starts_add_nothing_to_a_start(collapsing):
    X, y = gaussians(60, 140, shift=2.0)
    starts = [LinearRanker("pauc@0.3", C=100.0), LinearRanker(surrogate="logistic")]
    several, one = (LinearRanker("pauc@0.3", surrogate="smooth", start=s).fit(X, y) for s in (starts, starts[1]))
    assert alike(several.coef_, one.coef_)


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_the_length_of_the_start_does_not_matter(factor, monkeypatch):
    X, y = gaussians(60, 140, shift=2.0)
    plain = LinearRanker("pauc@0.3", surrogate="smooth", start=LinearRanker(surrogate="svc")).fit(X, y)
    learned = _fitting.learned_from
    monkeypatch.setattr(_fitting, "learned_from", lambda self, problem: factor * learned(self, problem))
    longer = LinearRanker("pauc@0.3", surrogate="smooth", start=LinearRanker(surrogate="svc")).fit(X, y)
    assert alike(longer.coef_, plain.coef_)


def test_running_out_of_evaluations_is_no_collapse():
    X, y = gaussians(60, 140, shift=2.0)
    ranker = LinearRanker("auc", surrogate="logistic", C=1e-7, max_iter=1)
    with (
        pytest.warns(CollapsedFitWarning, match="the weights are still 0 after 1 evaluations; raise max_iter"),
        pytest.warns(ConvergenceWarning, match="still falling after 1 evaluations; raise max_iter"),
    ):
        ranker.fit(X, y)
    assert not ranker.set_params(max_iter=100).fit(X, y).collapsed_


@pytest.mark.parametrize("start", [LinearRankerCV(), [LinearRanker(), LinearRankerCV()]])
def test_a_start_is_one_linear_ranker_or_several(start):
    X, y = gaussians()
    with pytest.raises(TypeError, match="start must be a LinearRanker or a sequence of them, got LinearRankerCV"):
        LinearRanker(surrogate="smooth", start=start).fit(X, y)

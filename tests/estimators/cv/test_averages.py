"""LinearRankerCV where the folds cannot tell which surrogate is best: averages, and smooth ones that start there."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

import headrank as hr
from fits import alike
from headrank import LinearRanker, LinearRankerCV
from headrank.estimators import _fitting
from headrank.estimators.cv.candidates import Average, Candidate
from headrank.exceptions import CollapsedFitWarning
from samples import few_gaussians as gaussians
from samples import with_outlying_negatives

CONVEX = ("logistic", "svc", "auc")


def quick(measure="pauc@0.2", surrogates=CONVEX, **parameters):
    defaults = {"Cs": (0.1, 10.0), "bandwidths": (0.3,), "cv": 3}
    return LinearRankerCV(measure, surrogates=surrogates, **(defaults | parameters))


def standardised(scores, weights=None):
    mean = np.average(scores, weights=weights)
    return (scores - mean) / np.sqrt(np.average((scores - mean) ** 2, weights=weights))


@pytest.fixture
def averaged():
    X, y = gaussians()
    ranker = quick().fit(X, y)
    assert isinstance(ranker.best_, Average)
    return X, y, ranker


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_it_is_the_average_of_its_members(standardize, weighted):
    X, y = gaussians()
    weights = np.random.default_rng(0).uniform(0.5, 2, y.size) if weighted else None
    ranker = quick(standardize=standardize).fit(X, y, sample_weight=weights)
    assert len(ranker.rankers_) == len(ranker.best_.members) > 1
    scores = sum(standardised(each.decision_function(X), weights) for each in ranker.rankers_)
    np.testing.assert_allclose(standardised(X @ ranker.coef_, weights), standardised(scores, weights), atol=1e-9)
    assert ranker.n_iter_ == sum(each.n_iter_ for each in ranker.rankers_)
    for member, fitted in zip(ranker.best_.members, ranker.rankers_, strict=True):
        twin = member.ranker(hr.measure("pauc@0.2"), tol=1e-3, max_iter=300).set_params(standardize=standardize)
        assert alike(twin.fit(X, y, weights).coef_, fitted.coef_)


def test_it_calls_as_many_rows_positive_as_there_are(averaged):
    X, y, ranker = averaged
    assert (ranker.predict(X) == 1).sum() == y.sum()


def test_what_is_measured_on_the_folds_is_the_average(averaged):
    X, y, ranker = averaged
    assert ranker.cv_results_.filter(surrogate="average of convex").height == 3
    trial = next(t for t in ranker.trials_ if t.candidate == ranker.best_)
    assert ranker.best_score_ == trial.mean
    X = X / X.std(axis=0)  # of all rows, as on the folds
    splits = StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)
    for value, (train, test) in zip(trial.values, splits, strict=True):
        scores = 0
        for member in ranker.best_.members:
            twin = member.ranker(hr.measure("pauc@0.2"), tol=1e-4, max_iter=300).fit(X[train], y[train])
            scores = scores + X[test] @ twin.coef_ / (X[train] @ twin.coef_).std()
        assert value == pytest.approx(hr.measure("pauc@0.2")(y[test], scores), abs=0.03)


def test_the_average_of_one_is_itself():
    X, y = gaussians()
    ranker = quick(surrogates=("logistic",)).fit(X, y)
    assert isinstance(ranker.best_, Candidate)
    assert set(ranker.cv_results_["surrogate"]) == {"logistic"}
    scores = ranker.rankers_[0].decision_function(X)
    np.testing.assert_allclose(ranker.decision_function(X), scores / scores.std(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("surrogates", [("logistic",), ("tight", "logistic")])
def test_scores_have_variance_1_whatever_was_chosen(surrogates, weighted):
    X, y = gaussians()
    weights = np.random.default_rng(0).uniform(0.5, 2, y.size) if weighted else np.ones(y.size)
    scores = quick(surrogates=surrogates).fit(7 * X, y, sample_weight=weights).decision_function(7 * X)
    assert np.average((scores - np.average(scores, weights=weights)) ** 2, weights=weights) == pytest.approx(1)


def test_smooth_starts_from_the_average():
    X, y = gaussians()
    ranker = quick(surrogates=(*CONVEX, "smooth"), Cs=(1e-9, 10.0), tol=1e-6).fit(X, y)
    together = next(t for t in ranker.trials_ if isinstance(t.candidate, Average))
    smooth = [t for t in ranker.trials_ if t.candidate.surrogate == "smooth"]
    assert {t.candidate.start for t in smooth} == {together.candidate.members}
    np.testing.assert_allclose(smooth[0].values, together.values)  # with so small a C it stays there
    assert not np.allclose(smooth[1].values, together.values)


def test_a_smooth_ranker_starts_from_the_average_of_others():
    X, y = gaussians()
    start = [LinearRanker("auc", C=3.0), LinearRanker(surrogate="svc", C=0.1)]
    ranker = LinearRanker("pauc@0.2", surrogate="smooth", C=1e-9, start=start).fit(X, y)
    assert not hasattr(start[0], "coef_")
    scores = sum(standardised(X @ each.fit(X, y).coef_) for each in start)
    np.testing.assert_allclose(standardised(X @ ranker.coef_), standardised(scores), atol=1e-5)
    assert ranker.start_measure_ == pytest.approx(hr.measure("pauc@0.2")(y, scores))
    assert LinearRanker("pauc@0.2", surrogate="smooth", C=10, start=start).fit(X, y).training_measure_ > 0


def test_a_start_that_collapses_says_nothing():
    X, y = gaussians(80, 800, shift=1.0)
    nothing, something = LinearRanker("pauc@0.02", C=1.0), LinearRanker(surrogate="logistic")
    with pytest.warns(CollapsedFitWarning):
        assert nothing.fit(X, y).collapsed_
    both, one = (
        LinearRanker("pauc@0.02", surrogate="smooth", C=1.0, start=start).fit(X, y)
        for start in ([nothing, something], [something])
    )
    assert alike(both.coef_, one.coef_)
    with pytest.warns(CollapsedFitWarning):
        assert LinearRanker("pauc@0.02", surrogate="smooth", start=[nothing]).fit(X, y).collapsed_


def test_members_that_collapse_on_all_rows_are_left_out(averaged, monkeypatch):
    X, y, first = averaged
    adopt = _fitting.adopt

    def collapsing(self, *arguments, **more):
        adopt(self, *arguments, **more)
        self.collapsed_ = self.surrogate == first.rankers_[0].surrogate

    monkeypatch.setattr(_fitting, "adopt", collapsing)
    second = quick().fit(X, y)
    assert second.best_ == first.best_
    assert [each.surrogate for each in second.rankers_] == [each.surrogate for each in first.rankers_[1:]]


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_the_unit_of_the_features_does_not_matter(averaged, factor):
    X, y, ranker = averaged
    other = quick().fit(X * factor, y)
    assert other.best_ == ranker.best_
    assert alike(other.coef_ * factor, ranker.coef_)


def test_queries_and_threads(averaged):
    X, y, _ = averaged
    qid = np.arange(y.size) % 9
    one, two = (quick(n_jobs=n_jobs).fit(X, y, qid=qid) for n_jobs in (1, 2))
    assert alike(one.coef_, two.coef_)
    assert one.choice_ == two.choice_
    assert one.score(X, y, qid=qid) > 0.3


def test_it_is_not_collapsed_while_a_member_is_not():
    """The hinges collapse here; what is left are the classifiers, and only they are averaged."""
    X, y = gaussians(80, 800, shift=1.0)
    ranker = quick("pauc@0.02", ("logistic", "svc", "tight", "structural"), Cs=(1.0,)).fit(X, y)
    collapsed = {t.candidate.surrogate for t in ranker.trials_ if t.has_collapsed}
    assert collapsed == {"tight", "structural"}
    members = getattr(ranker.best_, "members", (ranker.best_,))
    assert not {member.surrogate for member in members} & collapsed
    assert ranker.score(X, y) > 2 * 0.01


def both_averaged():
    X, y = gaussians()
    ranker = quick(surrogates=(*CONVEX, "smooth"), Cs=(0.01, 0.1), bandwidths=(0.3, 1.0)).fit(X, y)
    assert ranker.best_.surrogate == "average of both"
    return X, y, ranker


def test_convex_and_smooth_ones_that_cannot_be_told_apart_are_averaged():
    X, _, ranker = both_averaged()
    convex, smooth = ([m for m in ranker.best_.members if (m.surrogate == "smooth") == s] for s in (False, True))
    assert {m.surrogate for m in convex} <= set(CONVEX)
    assert len({m.bandwidth for m in smooth}) == len(smooth) >= 1
    assert all(m.start == tuple(convex) for m in smooth)
    assert [(each.surrogate, each.C) for each in ranker.rankers_ if each.surrogate == "smooth"] == [
        (m.surrogate, m.C) for m in smooth
    ]
    scores = sum(standardised(each.decision_function(X)) for each in ranker.rankers_)
    np.testing.assert_allclose(standardised(X @ ranker.coef_), standardised(scores), atol=1e-9)
    trial = next(t for t in ranker.trials_ if t.candidate == ranker.best_)
    assert ranker.best_score_ == trial.mean
    assert "the smooth ones starting from the others" in ranker.choice_


def test_each_member_is_fitted_to_all_rows_once(monkeypatch):
    """Though the smooth ones start from the others; and as `LinearRanker` by itself would be."""
    searched, search = [], _fitting.search

    def counted(self, problem, C, **known):
        searched.append((problem.risk.positive.size, self.surrogate, C, self.bandwidth))
        return search(self, problem, C, **known)

    monkeypatch.setattr(_fitting, "search", counted)
    X, y, ranker = both_averaged()
    to_all = [name for n_rows, *name in searched if n_rows == y.size]
    assert len(to_all) == len(ranker.best_.members)
    monkeypatch.undo()
    for each in ranker.rankers_:
        twin = clone(each).fit(X, y)
        assert alike(twin.coef_, each.coef_)
        assert alike(twin.decision_function(X), each.decision_function(X))
        for name in ("classes_", "n_features_in_", "objective_", "training_measure_", "collapsed_"):
            np.testing.assert_allclose(getattr(twin, name), getattr(each, name), rtol=1e-3)


def test_a_smooth_average_that_is_clearly_ahead_is_chosen_alone():
    X, y = with_outlying_negatives()
    ranker = quick("pauc@0.05", ("logistic", "smooth"), Cs=(0.02, 50.0), bandwidths=(0.1, 0.2), cv=5, tol=1e-4)
    ranker.fit(X, y)
    assert ranker.best_.surrogate == "average of smooth"
    assert [m.bandwidth for m in sorted(ranker.best_.members, key=lambda m: m.bandwidth)] == [0.1, 0.2]
    assert {each.surrogate for each in ranker.rankers_} == {"smooth"}
    assert "starting from logistic (C=" in ranker.choice_
    assert "The best other candidate, logistic (C=" in ranker.choice_

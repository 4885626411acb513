"""LinearRankerCV: what it chooses on data."""

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold

import headrank as hr
from fits import alike
from headrank import LinearRanker, LinearRankerCV
from headrank.estimators import _fitting
from headrank.exceptions import CollapsedFitWarning
from headrank.measures.names import MEASURES
from headrank.surrogates.registry import smooth_for
from samples import few_gaussians as gaussians
from samples import with_outlying_negatives


def quick(measure="pauc@0.2", surrogates=("logistic", "tight", "smooth"), **parameters):
    defaults = {"Cs": (0.1, 10.0), "bandwidths": (0.3,), "cv": 3}
    return LinearRankerCV(measure, surrogates=surrogates, **(defaults | parameters))


def test_it_never_returns_a_collapsed_model_while_another_is_better():
    X, y = gaussians(80, 800, shift=1.0)
    ranker = quick("pauc@0.02", ("tight", "structural", "logistic"), Cs=(1.0,)).fit(X, y)
    collapsed = ranker.cv_results_.group_by("surrogate").agg(pl.col("collapsed").all())
    assert dict(collapsed.iter_rows()) == {"tight": True, "structural": True, "logistic": False}
    assert ranker.best_.surrogate == "logistic"
    assert not any(fitted.collapsed_ for fitted in ranker.rankers_)
    assert ranker.score(X, y) > 2 * 0.01


def ranked(ranker):
    """The candidates, best mean first."""
    return [t.candidate for t in sorted(ranker.trials_, key=lambda t: -t.mean)]


def test_a_choice_that_collapses_on_all_rows_gives_way(monkeypatch):
    X, y = gaussians()
    first = quick(surrogates=("logistic",)).fit(X, y)
    adopt, (best, *others) = _fitting.adopt, ranked(first)

    def collapsing(self, *arguments, **more):
        adopt(self, *arguments, **more)
        self.collapsed_ = self.C == best.C

    monkeypatch.setattr(_fitting, "adopt", collapsing)
    second = quick(surrogates=("logistic",)).fit(X, y)
    assert first.best_ == best
    assert second.best_ == others[0]
    assert [each.C for each in second.rankers_] == [second.best_.C]
    assert second.choice_.startswith(f"Selected {second.best_}")


def test_rows_that_say_nothing_are_said_to():
    X, y = np.ones((60, 2)), np.arange(60) % 3 == 0
    with pytest.warns(CollapsedFitWarning, match="every candidate has collapsed") as caught:
        ranker = quick().fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert (ranker.coef_ == 0).all()


def test_the_answer_is_the_ranker_of_the_best_candidate():
    X, y = gaussians()
    for standardize in (True, False):
        ranker = quick(surrogates=("svc",), standardize=standardize).fit(X, y)
        best = ranker.best_
        twin = LinearRanker("pauc@0.2", surrogate=best.surrogate, C=best.C, max_iter=300, standardize=standardize)
        twin.fit(X, y)
        assert alike(twin.coef_, ranker.rankers_[0].coef_)
        scores = twin.decision_function(X)
        np.testing.assert_allclose(ranker.decision_function(X), scores / scores.std(), rtol=1e-9, atol=1e-12)
        assert ranker.score(X, y) == pytest.approx(hr.measure("pauc@0.2")(y, X @ ranker.coef_))


def test_the_refit_starts_where_the_folds_did():
    X, y = with_outlying_negatives()
    ranker = quick("pauc@0.05", surrogates=("smooth", "logistic"), Cs=(0.02, 50.0), cv=5).fit(X, y)
    assert ranker.best_.surrogate == "smooth"
    (start,), (again,) = ranker.best_.start, ranker.rankers_[0].start
    assert (again.surrogate, again.C) == (start.surrogate, start.C)
    assert start.C in (0.02, 50.0)
    assert ranker.rankers_[0].bandwidth == ranker.best_.bandwidth == 0.3


def test_the_last_fit_goes_the_way_that_the_folds_went():
    """The smooth risk has many minima. From the smallest C up, each fit starts where the last one ended."""
    X, y = with_outlying_negatives()
    Cs = (0.1, 1.0, 10.0, 100.0)
    ranker = quick("pauc@0.05", surrogates=("smooth",), Cs=Cs).fit(X, y)
    assert ranker.best_.C == 100
    along = LinearRanker(
        "pauc@0.05", surrogate="smooth", bandwidth=0.3, max_iter=300, standardize=True, warm_start=True
    )
    for C in Cs:
        along.set_params(C=C).fit(X, y)
    assert alike(ranker.rankers_[0].coef_, along.coef_)
    assert not alike(ranker.rankers_[0].coef_, clone(along).fit(X, y).coef_)


@pytest.mark.parametrize("surrogate", ["logistic", "tight", "smooth"])
def test_weights_and_queries_count_on_the_folds(surrogate):
    X, y = gaussians(60, 120, shift=2.0)
    rng = np.random.default_rng(0)
    X[:, 1] += 3 * y * (np.arange(y.size) % 2)
    weights, qid = rng.uniform(0.5, 1, y.size) * np.where(np.arange(y.size) % 2, 0.01, 1), rng.integers(0, 3, y.size)
    splits = [*StratifiedKFold(3).split(X, y)]
    ranker = quick("pauc@0.5", (surrogate,), cv=splits, Cs=(1.0,), standardize=False, tol=1e-5)
    values = ranker.fit(X, y, weights, qid).trials_[0].values
    twin = LinearRanker("pauc@0.5", surrogate=surrogate, tol=1e-5)
    matters = []
    for value, (train, test) in zip(values, splits, strict=True):
        twin.fit(X[train], y[train], weights[train], qid[train])
        scores, measure = X[test] @ twin.coef_, hr.measure("pauc@0.5")
        expected = measure(y[test], scores, sample_weight=weights[test], qid=qid[test])
        assert value == pytest.approx(expected, abs=0.005)
        unaware = X[test] @ twin.fit(X[train], y[train], qid=qid[train]).coef_
        unlearned = measure(y[test], unaware, sample_weight=weights[test], qid=qid[test])
        matters.append((unlearned - expected, measure(y[test], scores, sample_weight=weights[test]) - expected))
    assert (np.abs(matters).max(axis=0) > 0.01).all()


@pytest.mark.parametrize("surrogate", ["logistic", "svc", "auc", "tight", "structural", "smooth"])
def test_what_is_measured_on_the_folds(surrogate):
    """Each value is that of a single fit on the rows of the fold, scaled as all rows are, on the rows left out."""
    X, y = gaussians(shift=2.5)
    splits = [*StratifiedKFold(3).split(X, y)]
    ranker = quick("pauc@0.3", (surrogate,), cv=splits, tol=1e-5).fit(X, y)
    scaled = X / X.std(0)
    kind, measure = ("tight", "auc") if surrogate == "auc" else (surrogate, "pauc@0.3")
    for i, C in enumerate((0.1, 10.0)):
        for k, (train, test) in enumerate(splits):
            twin = LinearRanker(measure, surrogate=kind, C=C, tol=1e-5, bandwidth=0.3).fit(scaled[train], y[train])
            value = hr.measure("pauc@0.3")(y[test], scaled[test] @ twin.coef_)
            assert ranker.trials_[i].values[k] == pytest.approx(value, abs=0.03)
    assert ranker.trials_[0].values.std() > 0.02


def test_smooth_starts_from_the_best_of_the_others():
    X, y = gaussians()
    ranker = quick(surrogates=("logistic", "smooth"), Cs=(1e-3, 1.0)).fit(X, y)
    logistic = [t for t in ranker.trials_ if t.candidate.surrogate == "logistic"]
    best = max(logistic, key=lambda t: t.mean).candidate
    assert {t.candidate.start for t in ranker.trials_ if t.candidate.surrogate == "smooth"} == {(best,)}
    assert {t.candidate.start for t in quick(surrogates=("smooth",)).fit(X, y).trials_} == {()}


def test_the_frame():
    X, y = gaussians()
    ranker = quick(surrogates=("logistic", "smooth"), bandwidths=(0.1, 0.5)).fit(X, y)
    frame = ranker.cv_results_
    assert frame.columns == ["candidate", "surrogate", "C", "bandwidth", "fold", "pauc@0.2", "collapsed", "n_iter"]
    assert frame["candidate"].to_list() == [str(trial.candidate) for trial in ranker.trials_ for _ in range(3)]
    assert frame.filter(~pl.col("surrogate").str.starts_with("average")).height == (2 + 4) * 3
    assert frame.height == len(ranker.trials_) * 3
    assert frame["fold"].unique().sort().to_list() == [0, 1, 2]
    assert frame.filter(surrogate="logistic")["bandwidth"].null_count() == 6
    assert frame.filter(surrogate="smooth")["bandwidth"].unique().sort().to_list() == [0.1, 0.5]
    best = ranker.best_
    rows = frame.filter(candidate=str(best))
    assert rows["pauc@0.2"].mean() == pytest.approx(ranker.best_score_)
    assert f"mean {ranker.best_score_:.4g} over 3 folds" in ranker.choice_
    assert str(best) in ranker.choice_
    assert (frame["n_iter"] >= 1).all()
    alone = quick(surrogates=("logistic",)).fit(X, y).cv_results_
    assert alone.schema == frame.schema


@pytest.mark.parametrize("measure", ["mass@0.25", "rankrisk@0.25"])
def test_lower_is_better(measure):
    """Noise features on top: a heavy penalty is clearly worse or better, and the lower mean must be chosen."""
    X, y = gaussians(40, 120, 12, shift=2.0)
    ranker = quick(measure, ("logistic",), Cs=(1e-6, 1.0), standardize=False).fit(X * np.r_[1, [30] * 11], y)
    means = ranker.cv_results_.group_by("C").agg(pl.col(measure).mean())
    assert (means[measure] > 0).all()
    lowest = min(means.iter_rows(), key=lambda row: row[1])
    assert means[measure].max() > means[measure].min() + 0.01
    assert (ranker.best_.C, ranker.best_score_) == (lowest[0], pytest.approx(lowest[1]))
    assert f"mean {lowest[1]:.4g} over" in ranker.choice_


@pytest.mark.parametrize("kind", [hr.PrecisionAt, hr.RecallAt])
def test_a_count_of_all_rows_is_the_same_share_of_a_fold(kind):
    X, y = gaussians()
    ranker = quick(kind(24), ("logistic", "smooth")).fit(X, y)
    assert f"{kind(0.2)}" in ranker.cv_results_.columns
    assert ranker.measure_ == kind(0.2)
    twice = quick(kind(24), ("logistic",)).fit(X, y, sample_weight=np.full(y.size, 2.0))
    assert twice.measure_ == kind(0.1)  # weight 2 is the row twice
    some = quick(kind(24), ("logistic",)).fit(np.vstack([X, X]), np.append(y, y), np.repeat([1.0, 0.0], y.size))
    assert some.measure_ == kind(0.2)  # weight 0 is no row
    ranker.refit(np.vstack([X, X]), np.append(y, y))
    assert {one.measure for one in ranker.rankers_} == {ranker.measure_} == {kind(0.2)}
    same = quick(kind(0.2), ("logistic", "smooth")).fit(X, y)
    for a, b in zip(ranker.trials_, same.trials_, strict=True):
        np.testing.assert_allclose(a.values, b.values, atol=0.01)
    assert ranker.score(X, y) == kind(24)(y, ranker.decision_function(X))
    by_query = quick(kind(4), ("logistic",)).fit(X, y, qid=np.arange(120) % 10)
    assert f"{kind(4)}" in by_query.cv_results_.columns  # a query is as long in a fold as in all


DEFAULTS = [
    hr.AUC(),
    hr.PartialAUC(max_fpr=0.2),
    hr.StandardizedPartialAUC(max_fpr=0.2),
    hr.TwoWayPartialAUC(max_fpr=0.4, min_tpr=0.3),
    hr.FROCArea(0.0, 0.5, images_per_negative=0.3),
    hr.LocalAUC(0.1),
    hr.WRanking(0.1),
    hr.MassConstrainedError(0.2),
    hr.LocalRankingRisk(0.2),
    hr.TopTPR(0.1),
    hr.PrecisionAt(20),
    hr.RecallAt(0.1),
    hr.EnrichmentFactor(0.1),
    hr.Lift(0.2),
    hr.AveragePrecision(),
    hr.NDCG(10),
    hr.PNormPush(4.0),
    hr.RankStatistic(np.square),
]


@pytest.mark.parametrize("measure", DEFAULTS, ids=str)
def test_all_surrogates_are_tried_for_every_learnable_measure(measure):
    X, y = gaussians()
    ranker = LinearRankerCV(measure, Cs=(1.0,), bandwidths=(0.3,), cv=2).fit(X, y)
    assert hr.AUC()(y, ranker.decision_function(X)) > 0.7
    assert set(ranker.cv_results_["surrogate"]) >= {"logistic", "auc", "smooth"}


@pytest.mark.parametrize(
    ("measure", "hinges"),
    [
        (hr.AUC(), ["auc"]),
        (hr.PartialAUC(max_fpr=1.0), ["auc"]),
        (hr.PNormPush(4.0), ["auc"]),
        (hr.PrecisionAt(20), ["auc", "tight", "structural"]),
        (hr.PartialAUC(max_fpr=0.5), ["auc", "tight", "structural"]),
    ],
    ids=str,
)
def test_a_hinge_is_tried_once_though_several_surrogates_mean_it(measure, hinges):
    X, y = gaussians()
    ranker = quick(measure, ("logistic", "auc", "tight", "structural"), Cs=(1.0,), cv=2).fit(X, y)
    tried = set(ranker.cv_results_["surrogate"])
    assert [name for name in ("auc", "tight", "structural") if name in tried] == hinges
    tried = set(quick(measure, ("logistic", "tight", "structural"), Cs=(1.0,), cv=2).fit(X, y).cv_results_["surrogate"])
    assert [name for name in ("tight", "structural") if name in tried] == (hinges[1:] or ["tight"])


def test_the_list_of_measures_is_complete():
    learnable = {kind for kind in MEASURES if smooth_for.dispatch(kind) is not smooth_for.dispatch(object)}
    assert {type(measure) for measure in DEFAULTS} == learnable


def test_the_frame_is_made_from_the_trials_and_kept_nowhere():
    X, y = gaussians()
    ranker = quick(surrogates=("logistic",))
    assert not hasattr(ranker, "cv_results_")
    ranker.fit(X, y)
    assert not any(isinstance(value, pl.DataFrame) for value in vars(ranker).values())
    assert ranker.cv_results_["pauc@0.2"].to_list() == [v for trial in ranker.trials_ for v in trial.values]
    assert ranker.measure_ == hr.PartialAUC(max_fpr=0.2)


def test_what_was_chosen_can_be_fitted_to_other_rows():
    X, y = gaussians(200, 600, shift=1.5)
    few = np.arange(0, y.size, 4)
    ranker = quick().fit(X[few], y[few])
    chosen, trials = ranker.best_, ranker.trials_
    before = ranker.coef_
    assert ranker.refit(X, y) is ranker
    assert ranker.best_ == chosen
    assert ranker.trials_ is trials
    assert not alike(ranker.coef_, before)
    for one in ranker.rankers_:
        assert alike(clone(one).fit(X, y).coef_, one.coef_)
    with pytest.raises(NotFittedError):
        quick().refit(X, y)


def test_whoever_wants_to_know_is_told_how_far_it_is():
    X, y = gaussians()
    told = []
    ranker = quick(surrogates=("logistic", "smooth"), verbose=lambda done, total: told.append((done, total)))
    ranker.fit(X, y)
    n_last = len(
        {C for one in ranker.rankers_ for C in ((0.1, one.C) if one.surrogate == "smooth" else (one.surrogate,))}
    )
    assert told[0] == (0, 3)  # the last fits: one of logistic, and all that may lead to a smooth one
    assert told[1:14] == [(done, 15) for done in range(13)]
    assert told[14:] == [(done, 12 + n_last) for done in range(12, 13 + n_last)]
    told.clear()
    assert ranker.refit(X, y)
    assert told == [(done, n_last) for done in range(n_last + 1)]

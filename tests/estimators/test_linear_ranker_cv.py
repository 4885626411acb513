"""LinearRankerCV: what it chooses and why, the rule against noise, and the customs of scikit-learn."""

import pickle
import re
import tracemalloc
import warnings
from contextlib import suppress

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import headrank as hr
from headrank import LinearRanker, LinearRankerCV
from headrank.estimators import linear
from headrank.estimators._candidates import SURROGATES, Candidate, Trial
from headrank.estimators.cross_validation import _in_order_of_choice, _why
from headrank.exceptions import CollapsedFitWarning
from headrank.surrogates.choice import smooth_for


def gaussians(n_pos=30, n_neg=90, n_features=3, shift=1.5, seed=0):
    """Unit Gaussians, the positives shifted along the first direction; the rows are in no order."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([1, 0], [n_pos, n_neg]))
    X = rng.normal(size=(y.size, n_features))
    X[y == 1, 0] += shift
    return X, y


def quick(measure="pauc@0.2", surrogates=("logistic", "tight", "smooth"), **parameters):
    defaults = {"Cs": (0.1, 10.0), "bandwidths": (0.3,), "cv": 3}
    return LinearRankerCV(measure, surrogates=surrogates, **(defaults | parameters))


# The rule, on trials made by hand


def trial(surrogate, values, *, C=1.0, collapsed=False):
    values = np.array(values, dtype=float)
    flags = np.broadcast_to(collapsed, values.shape)
    return Trial(Candidate(surrogate, C), values, flags, np.ones(values.size, dtype=int))


def chosen(*trials, surrogates=SURROGATES):
    present = [name for name in surrogates if any(t.candidate.surrogate == name for t in trials)]
    return _in_order_of_choice(trials, present)[0]


def test_a_trial_knows_mean_and_standard_error():
    t = trial("logistic", [0.2, 0.4, 0.9])
    assert t.mean == pytest.approx(0.5)
    assert t.standard_error == pytest.approx(np.std([0.2, 0.4, 0.9], ddof=1) / np.sqrt(3))
    assert trial("logistic", [0.2]).standard_error == 0


@pytest.mark.parametrize(
    ("flags", "has"), [([0, 0, 0, 1], False), ([1, 1, 0, 0], False), ([1, 1, 1, 0], True), ([1, 1, 1, 1], True)]
)
def test_a_trial_has_collapsed_when_most_folds_have(flags, has):
    assert trial("tight", [0.1] * 4, collapsed=np.array(flags, dtype=bool)).has_collapsed == has


def test_a_challenger_within_one_paired_standard_error_loses():
    simple = trial("logistic", [0.50, 0.60, 0.70])
    # The lead 0.06, -0.03, 0.03 has mean 0.02 and standard error 0.0265.
    assert chosen(simple, trial("smooth", [0.56, 0.57, 0.73])) is simple


def test_a_challenger_ahead_by_more_wins_however_much_folds_differ():
    """Folds that differ by 0.2 do not hide a lead of 0.02 that is the same in each: the error is that of the lead."""
    simple, daring = trial("logistic", [0.50, 0.70, 0.90]), trial("smooth", [0.519, 0.720, 0.921])
    assert chosen(simple, daring) is daring


def test_the_border_is_one_standard_error():
    simple = trial("logistic", [0.0, 0.0, 0.0, 0.0])
    lead = np.array([1.0, 1.0, -1.0, -1.0])
    error = lead.std(ddof=1) / 2
    for factor, wins in ((0.99, False), (1.01, True)):
        assert (chosen(simple, trial("smooth", lead + factor * error)) is simple) != wins


def test_equals_keep_the_simpler():
    simple = trial("logistic", [0.5, 0.6])
    assert chosen(trial("smooth", [0.5, 0.6]), simple) is simple
    assert chosen(trial("smooth", [0.4, 0.5]), simple) is simple


def test_within_a_surrogate_the_best_mean_wins():
    best = trial("logistic", [0.51, 0.50], C=10.0)
    assert chosen(trial("logistic", [0.5, 0.5]), best, trial("logistic", [0.4, 0.3], C=100.0)) is best


def test_the_order_of_the_surrogates_says_what_is_simple():
    one, other = trial("logistic", [0.5, 0.6, 0.7]), trial("smooth", [0.6, 0.55, 0.66])
    assert _in_order_of_choice([one, other], ("logistic", "smooth"))[0] is one
    assert _in_order_of_choice([one, other], ("smooth", "logistic"))[0] is other


def test_a_collapsed_incumbent_is_replaced_by_anything_better():
    nothing = trial("tight", [0.2, 0.2, 0.2], collapsed=True)
    noisy = trial("smooth", [0.9, 0.0, 0.0])  # within the error, but better and not collapsed
    assert chosen(nothing, noisy) is noisy


def test_a_collapsed_challenger_never_wins():
    simple = trial("logistic", [0.3, 0.3, 0.3])
    assert chosen(simple, trial("tight", [0.9, 0.9, 0.9], collapsed=True)) is simple
    assert chosen(simple, trial("logistic", [0.9, 0.9, 0.9], C=9.0, collapsed=True)) is simple


def test_all_others_follow_by_their_means_the_collapsed_last():
    trials = [
        trial("logistic", [0.5, 0.5]),
        trial("auc", [0.4, 0.4]),
        trial("tight", [0.45, 0.45], collapsed=True),
        trial("smooth", [0.9, 0.12]),
        trial("logistic", [0.3, 0.3], C=2.0),
    ]
    order = _in_order_of_choice(trials, SURROGATES[:3] + SURROGATES[4:])
    assert order == [trials[i] for i in (0, 3, 1, 4, 2)]


def said(*trials, measure="auc"):
    return _why(chosen(*trials), trials, hr.measure(measure))


def test_the_sentence_says_what_and_why():
    text = said(trial("logistic", [0.5, 0.6, 0.7]), trial("smooth", [0.6, 0.7, 0.81]))
    assert text.startswith("Chose smooth (C=1) for auc: 0.7033 on average over 3 folds, standard error 0.061.")
    assert "logistic (C=1), is behind by 0.1, standard error of the difference 0.0033" in text
    text = said(trial("logistic", [0.5, 0.6, 0.7]), trial("smooth", [0.56, 0.57, 0.73]))
    assert text.startswith("Chose logistic (C=1)")
    assert "smooth (C=1) is ahead by 0.02" in text
    assert "too little" in text
    assert said(trial("logistic", [0.5, 0.6])).endswith("standard error 0.05.")


def test_the_sentence_shows_lower_is_better_as_it_is():
    text = said(trial("logistic", [-0.5, -0.3]), trial("smooth", [-0.2, -0.1]), measure="mass@0.1")
    assert "for mass@0.1: 0.15 on average" in text
    assert "behind by 0.25" in text


def test_the_sentence_does_not_call_the_lead_of_a_collapsed_fit_too_little():
    text = said(trial("logistic", [0.3, 0.3, 0.3]), trial("tight", [0.9, 0.9, 0.9], collapsed=True))
    assert "too little" not in text


def test_the_sentence_does_not_call_the_chosen_simpler_than_what_comes_before_it():
    text = said(
        trial("logistic", [0.5, 0.5, 0.5, 0.5]),
        trial("auc", [0.9, 0.3, 0.9, 0.4]),  # ahead, but by chance: loses to logistic
        trial("smooth", [0.52, 0.53, 0.52, 0.53]),
    )
    assert text.startswith("Chose smooth")
    assert "simpler" not in text


# The choice, on data


def test_it_never_returns_a_collapsed_model_while_another_is_better():
    X, y = gaussians(80, 800, shift=1.0)
    ranker = quick("pauc@0.02", ("tight", "structural", "logistic"), Cs=(1.0,)).fit(X, y)
    collapsed = ranker.cv_results_.group_by("surrogate").agg(pl.col("collapsed").all())
    assert dict(collapsed.iter_rows()) == {"tight": True, "structural": True, "logistic": False}
    assert ranker.best_.surrogate == "logistic"
    assert not ranker.ranker_.collapsed_
    assert ranker.score(X, y) > 2 * 0.01


def test_a_choice_that_collapses_on_all_rows_gives_way(monkeypatch):
    X, y = gaussians()
    first = quick(surrogates=("logistic", "smooth"), Cs=(1.0,)).fit(X, y)
    fit = LinearRanker.fit

    def collapsing(self, *arguments):
        fit(self, *arguments)
        self.collapsed_ = self.surrogate == first.best_.surrogate
        return self

    monkeypatch.setattr(LinearRanker, "fit", collapsing)
    second = quick(surrogates=("logistic", "smooth"), Cs=(1.0,)).fit(X, y)
    assert {first.best_.surrogate, second.best_.surrogate} == {"logistic", "smooth"}
    assert second.ranker_.surrogate == second.best_.surrogate
    assert second.choice_.startswith(f"Chose {second.best_}")


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
        ranker = quick(standardize=standardize).fit(X, y)
        best = ranker.best_
        twin = LinearRanker("pauc@0.2", surrogate=best.surrogate, C=best.C, max_iter=300, standardize=standardize)
        if best.surrogate == "smooth":
            twin.set_params(bandwidth=best.bandwidth, start_C=best.start_C)
        twin.fit(X, y)
        assert (twin.coef_ == ranker.coef_).all()
        assert (twin.decision_function(X) == ranker.decision_function(X)).all()
        assert ranker.score(X, y) == pytest.approx(hr.measure("pauc@0.2")(y, X @ ranker.coef_))


def test_the_refit_starts_where_the_folds_did():
    X, y = gaussians()
    ranker = quick(surrogates=("smooth", "logistic"), Cs=(0.02, 50.0)).fit(X, y)
    assert ranker.best_.surrogate == "smooth"
    assert ranker.ranker_.start_C == ranker.best_.start_C
    assert ranker.best_.start_C in (0.02, 50.0)
    assert ranker.ranker_.bandwidth == ranker.best_.bandwidth == 0.3


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


@pytest.mark.parametrize("surrogate", ["logistic", "auc", "tight", "structural", "smooth"])
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


def test_smooth_starts_from_the_best_logistic():
    X, y = gaussians()
    ranker = quick(surrogates=("logistic", "smooth"), Cs=(1e-3, 1.0)).fit(X, y)
    logistic = [t for t in ranker.trials_ if t.candidate.surrogate == "logistic"]
    best = max(logistic, key=lambda t: t.mean).candidate.C
    assert {t.candidate.start_C for t in ranker.trials_ if t.candidate.surrogate == "smooth"} == {best}
    assert {t.candidate.start_C for t in quick(surrogates=("smooth",)).fit(X, y).trials_} == {1.0}


def test_the_frame():
    X, y = gaussians()
    ranker = quick(surrogates=("logistic", "smooth"), bandwidths=(0.1, 0.5)).fit(X, y)
    frame = ranker.cv_results_
    assert frame.columns == ["surrogate", "C", "bandwidth", "fold", "pauc@0.2", "collapsed", "n_iter"]
    assert frame.height == (2 + 4) * 3 == len(ranker.trials_) * 3
    assert frame["fold"].unique().sort().to_list() == [0, 1, 2]
    assert frame.filter(surrogate="logistic")["bandwidth"].null_count() == 6
    assert frame.filter(surrogate="smooth")["bandwidth"].unique().sort().to_list() == [0.1, 0.5]
    best = ranker.best_
    rows = frame.filter(pl.col("bandwidth").eq_missing(best.bandwidth), surrogate=best.surrogate, C=best.C)
    assert rows["pauc@0.2"].mean() == pytest.approx(ranker.best_score_)
    assert f"{ranker.best_score_:.4g} on average over 3 folds" in ranker.choice_
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
    assert f"{lowest[1]:.4g} on average" in ranker.choice_


@pytest.mark.parametrize("kind", [hr.PrecisionAt, hr.RecallAt])
def test_a_count_of_all_rows_is_the_same_share_of_a_fold(kind):
    X, y = gaussians()
    ranker = quick(kind(24), ("logistic", "smooth")).fit(X, y)
    assert f"{kind(0.2)}" in ranker.cv_results_.columns
    assert ranker.trials_ is not None
    same = quick(kind(0.2), ("logistic", "smooth")).fit(X, y)
    assert all((a.values == b.values).all() for a, b in zip(ranker.trials_, same.trials_, strict=True))
    assert ranker.score(X, y) == kind(24)(y, X @ ranker.coef_)
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
    hr.PNormPush(4.0),
    hr.RankStatistic(np.square),
]


@pytest.mark.parametrize("measure", DEFAULTS, ids=str)
def test_all_surrogates_are_tried_for_every_learnable_measure(measure):
    X, y = gaussians()
    ranker = LinearRankerCV(measure, Cs=(1.0,), bandwidths=(0.3,), cv=2).fit(X, y)
    assert hr.AUC()(y, ranker.decision_function(X)) > 0.7
    assert set(ranker.cv_results_["surrogate"]) >= {"logistic", "auc", "smooth"}


def test_the_list_of_measures_is_complete():
    assert {type(measure) for measure in DEFAULTS} == set(smooth_for.registry) - {object}


# Folds


def test_queries_stay_whole():
    X, y = gaussians(60, 120)
    qid = np.random.default_rng(0).integers(0, 12, y.size)
    seen = []

    class Spy(StratifiedGroupKFold):
        def split(self, X, y, groups):
            for train, test in super().split(X, y, groups):
                seen.append((set(qid[train]), set(qid[test])))
                yield train, test

    ranker = quick(surrogates=("logistic",), cv=Spy(3, shuffle=True, random_state=0)).fit(X, y, qid=qid)
    plain = quick(surrogates=("logistic",), cv=3).fit(X, y, qid=qid)  # the same splitter, chosen by default
    assert all(not train & test for train, test in seen)
    assert len(seen) == 3
    assert plain.cv_results_.equals(ranker.cv_results_)
    unaware = quick(surrogates=("logistic",), cv=3).fit(X, y)
    assert not plain.cv_results_.equals(unaware.cv_results_)
    text = np.array(list("abcdefghijkl"))[qid]
    assert quick(surrogates=("logistic",), cv=3).fit(X, y, qid=text).cv_results_.equals(plain.cv_results_)


def test_a_query_is_measured_by_itself():
    """Offsets that differ by query hide the order of all rows, not that within queries."""
    X, y = gaussians(60, 120, 2, shift=2.0)
    qid = np.arange(y.size) % 9
    X[:, 1] += 50 * qid
    ranker = quick("auc", ("logistic", "tight"), cv=3).fit(X, y, qid=qid)
    assert ranker.best_score_ > 0.8
    assert ranker.score(X, y, qid=qid) > 0.8


def test_weights_count_in_fit_and_measure():
    X, y = gaussians(100, 300, shift=1.0)
    X[:, 1] += 2 * y * (np.arange(y.size) % 2)
    weights = np.where(np.arange(y.size) % 2, 1e-3, 1.0) * np.random.default_rng(0).uniform(0.9, 1.1, y.size)
    splits = [*StratifiedKFold(3).split(X, y)]
    weighted = quick(surrogates=("logistic",), cv=splits).fit(X, y, sample_weight=weights)
    plain = quick(surrogates=("logistic",), cv=splits).fit(X, y)
    assert abs(weighted.coef_[1]) < 0.5 * plain.coef_[1]
    even = [(train, test[test % 2 == 0]) for train, test in splits]  # only these are worth measuring on
    for t in quick(surrogates=("logistic",), cv=even).fit(X, y, sample_weight=weights).trials_:
        same = next(other for other in weighted.trials_ if other.candidate == t.candidate)
        np.testing.assert_allclose(t.values, same.values, atol=0.02)
    ones = quick(cv=splits).fit(X, y, sample_weight=np.ones(y.size))
    assert ones.cv_results_.equals(quick(cv=splits).fit(X, y).cv_results_)


def test_rows_of_weight_zero_are_absent():
    X, y = gaussians(60, 180)
    weights = np.random.default_rng(0).integers(0, 3, y.size)
    kept = np.flatnonzero(weights)
    splits = [*StratifiedKFold(3).split(X[kept], y[kept])]
    present = quick(cv=splits, tol=1e-6).fit(X[kept], y[kept], sample_weight=weights[kept])
    everywhere = [(kept[train], kept[test]) for train, test in splits]
    absent = quick(cv=everywhere, tol=1e-6).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(absent.cv_results_["pauc@0.2"], present.cv_results_["pauc@0.2"], atol=0.02)
    assert absent.best_ == present.best_


@pytest.mark.parametrize(
    "cv",
    [
        StratifiedKFold(3),
        KFold(3, shuffle=True, random_state=0),
        ShuffleSplit(3, test_size=0.3, random_state=0),
        [*KFold(3).split(np.zeros((120, 1)))],
    ],
    ids=lambda cv: type(cv).__name__,
)
def test_splitters_and_iterables(cv):
    X, y = gaussians()
    splits = cv if isinstance(cv, list) else [*cv.split(X, y)]
    ranker = quick(surrogates=("logistic",), cv=cv).fit(X, y)
    assert ranker.cv_results_.equals(quick(surrogates=("logistic",), cv=iter(splits)).fit(X, y).cv_results_)
    assert ranker.cv_results_["fold"].max() == 2
    masks = [(np.isin(np.arange(120), train), np.isin(np.arange(120), test)) for train, test in splits]
    as_masks = quick(surrogates=("logistic",), cv=masks).fit(X, y)
    np.testing.assert_allclose(as_masks.cv_results_["pauc@0.2"], ranker.cv_results_["pauc@0.2"], atol=1e-9)


def test_a_splitter_is_given_the_queries():
    X, y = gaussians(60, 120)
    qid = np.arange(y.size) % 9
    folds = quick(surrogates=("logistic",), cv=GroupKFold(3)).fit(X, y, qid=qid).cv_results_
    assert folds.equals(
        quick(surrogates=("logistic",), cv=[*GroupKFold(3).split(X, y, qid)]).fit(X, y, qid=qid).cv_results_
    )


def test_the_state_decides_the_folds():
    X, y = gaussians()
    one, same, other = (quick(surrogates=("logistic",), random_state=s).fit(X, y).cv_results_ for s in (0, 0, 1))
    assert one.equals(same)
    assert not one.equals(other)
    state = np.random.RandomState(0)
    assert quick(surrogates=("logistic",), random_state=state).fit(X, y).cv_results_.equals(one)


def test_threads_change_nothing():
    X, y = gaussians()
    one, two = (quick(n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    assert one.cv_results_.equals(two.cv_results_)
    assert (one.coef_ == two.coef_).all()
    assert one.choice_ == two.choice_


# What is refused

BAD = {
    "too few positives": ({"cv": 5}, {"y": np.arange(120) < 3}, ValueError, r"cv=5 folds.*one has 3.*lower cv"),
    "one fold": ({"cv": 1}, {}, ValueError, "cv must be at least 2"),
    "no fold": ({"cv": []}, {}, ValueError, "fold|cv"),
    "unknown surrogate": ({"surrogates": ("logistic", "smoth")}, {}, ValueError, "'logistic', 'auc'.*'smoth'"),
    "no surrogate": ({"surrogates": ()}, {}, ValueError, "surrogates must be some of"),
    "a string": ({"surrogates": "logistic"}, {}, ValueError, "surrogates must be some of"),
    "no C": ({"Cs": ()}, {}, ValueError, "at least one C"),
    "C = 0": ({"Cs": (1.0, 0.0)}, {}, ValueError, "C must be above 0"),
    "no bandwidth": ({"bandwidths": ()}, {}, ValueError, "one bandwidth"),
    "bandwidth": ({"bandwidths": (-0.1,)}, {}, ValueError, "bandwidth must be above 0"),
    "tol": ({"tol": 0.0}, {}, ValueError, "tol must be above 0"),
    "max_iter": ({"max_iter": 0}, {}, ValueError, "max_iter must be at least 1"),
    "measure": ({"measure": "nonsense"}, {}, ValueError, "nonsense"),
    "not learnable": ({"measure": "ks"}, {}, ValueError, "surrogate"),
    "NaN": ({}, {"X": np.full((120, 3), np.nan)}, ValueError, "NaN"),
    "one class": ({}, {"y": np.ones(120)}, ValueError, "class"),
    "three classes": ({}, {"y": np.arange(120) % 3}, ValueError, "binary"),
    "weights": ({}, {"sample_weight": np.ones(3)}, ValueError, "sample_weight.*120 rows"),
    "qid": ({}, {"qid": np.ones(3)}, ValueError, "qid.*120 rows"),
    "few queries": ({}, {"qid": np.arange(120) % 2}, ValueError, "groups|queries"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_with_a_reason(case):
    parameters, arguments, error, message = BAD[case]
    X, y = gaussians()
    with pytest.raises(error, match=message):
        quick(**parameters).fit(**({"X": X, "y": y} | arguments))


# What it shows, and what it keeps to itself


def test_verbose_shows_a_bar_and_silence_is_the_default(capsys):
    X, y = gaussians()
    quick().fit(X, y)
    assert capsys.readouterr() == ("", "")
    quick(verbose=1, n_jobs=2).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    assert "choosing for pauc@0.2" in err
    assert "100%" in err


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_candidates_do_not_warn(n_jobs):
    """They collapse, and they run out of passes; only the answer may say so."""
    X, y = gaussians(80, 400, shift=1.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ranker = quick("pauc@0.02", SURROGATES, max_iter=2, n_jobs=n_jobs).fit(X, y)
    assert ranker.cv_results_["collapsed"].any()
    assert (ranker.cv_results_["n_iter"] == 2).any()
    assert len(caught) <= 2  # the refit: at most its start and itself
    assert all(warning.category is ConvergenceWarning for warning in caught)


def test_an_interrupt_is_not_swallowed(monkeypatch):
    """One candidate cut short and all the others still to come is not what Ctrl-C asks for."""
    X, y = gaussians()
    searches, searched = [], linear.lbfgs

    def search(risk, **limits):
        searches.append(limits)
        if len(searches) == 2:

            def stop(step):
                raise KeyboardInterrupt

            limits["callback"] = stop
        return searched(risk, **limits)

    monkeypatch.setattr(linear, "lbfgs", search)
    with suppress(KeyboardInterrupt):
        quick(surrogates=("logistic", "smooth")).fit(X, y)
    assert len(searches) <= 3, "it went on after the interrupt"


@pytest.mark.parametrize("shape", [(50_000, 100), (5_000, 1000)], ids=["tall", "wide"])
def test_rows_are_not_copied(shape):
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape)
    y = X[:, 0] + rng.normal(size=shape[0]) > 2
    X.flags.writeable = False
    ranker = quick(cv=2, Cs=(1.0,), max_iter=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tracemalloc.start()
        try:
            ranker.fit(X, y)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 0.6 * X.nbytes


# The customs of scikit-learn


@pytest.mark.filterwarnings("ignore::headrank.exceptions.CollapsedFitWarning")  # many checks fit noise
@parametrize_with_checks(
    [LinearRankerCV("auc", surrogates=("logistic", "tight", "smooth"), Cs=(1.0,), bandwidths=(0.5,), cv=2)]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_fit_leaves_the_constructor_arguments_alone_and_can_be_run_again():
    X, y = gaussians()
    ranker = LinearRankerCV(hr.PartialAUC(max_fpr=0.3), Cs=[1.0, 0.1], bandwidths=[0.5], cv=2)
    before = dict(ranker.get_params())
    assert ranker.fit(X, y) is ranker
    assert ranker.get_params() == before
    first = ranker.coef_
    assert (ranker.fit(X, y).coef_ == first).all()
    for copy in (pickle.loads(pickle.dumps(ranker)), clone(ranker).fit(X, y)):
        assert (copy.decision_function(X) == ranker.decision_function(X)).all()
        assert copy.choice_ == ranker.choice_
        assert copy.cv_results_.equals(ranker.cv_results_)
    assert not hasattr(clone(ranker), "best_")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames(frame):
    X, y = gaussians()
    table = frame({name: X[:, j] for j, name in enumerate("abc")})
    ranker = quick().fit(table, frame({"y": np.array(["no", "yes"])[y]})["y"])
    assert list(ranker.feature_names_in_) == ["a", "b", "c"]
    assert list(ranker.classes_) == ["no", "yes"]
    assert (ranker.predict(table) == "yes").sum() == 30
    np.testing.assert_allclose(ranker.coef_, quick().fit(X, y).coef_)
    with pytest.raises(ValueError, match="feature names"):
        ranker.predict(table[["c", "b", "a"]])


def test_sparse_rows_are_not_standardised_unless_asked_for():
    X, y = gaussians()
    X *= [1, 20, 0.2]
    stored = sparse.csr_array(X)
    by_default, asked = (quick(standardize=s).fit(stored, y) for s in (None, True))
    np.testing.assert_allclose(by_default.coef_, quick(standardize=False).fit(X, y).coef_, rtol=1e-6)
    np.testing.assert_allclose(asked.coef_, quick().fit(X, y).coef_, rtol=1e-6)
    assert not np.allclose(asked.cv_results_["pauc@0.2"], by_default.cv_results_["pauc@0.2"])


def test_searches_and_cross_validation():
    X, y = gaussians()
    values = cross_val_score(quick(), X, y, cv=3)
    assert values.shape == (3,)
    assert values.mean() > 0.3
    assert (cross_val_score(quick(), X, y, cv=3, scoring=hr.measure("pauc@0.2").scorer()) == values).all()
    pipeline = make_pipeline(StandardScaler(), quick(standardize=False))
    search = GridSearchCV(pipeline, {"linearrankercv__surrogates": [("logistic",), ("logistic", "tight")]}, cv=2)
    assert search.fit(X, y).best_score_ > 0.3


@pytest.mark.parametrize(
    "estimator", [LinearRanker("mass@0.25", surrogate="logistic"), quick("mass@0.25", ("logistic",))]
)
def test_a_search_picks_the_better_value_of_a_lower_is_better_measure(estimator):
    """scikit-learn takes the greatest score; a measure that is better when lower must not be handed to it as it is."""
    X, y = gaussians(40, 120, 12, shift=2.0)
    X = X * np.r_[1, [30] * 11]
    grid = {"C": [1e-6, 1.0]} if isinstance(estimator, LinearRanker) else {"Cs": [(1e-6,), (1.0,)]}
    estimator = clone(estimator).set_params(standardize=False)
    default = GridSearchCV(estimator, grid, cv=3).fit(X, y)
    named = GridSearchCV(estimator, grid, cv=3, scoring=hr.measure("mass@0.25").scorer()).fit(X, y)
    values = -named.cv_results_["mean_test_score"]
    assert values.max() > values.min() + 0.01
    assert default.best_params_ == named.best_params_


def test_a_candidate_reads_well():
    assert str(Candidate("smooth", 10.0, 0.5, 1.0)) == "smooth (C=10, bandwidth=0.5)"
    assert re.fullmatch(r"tight \(C=0\.1\)", str(Candidate("tight", 0.1)))

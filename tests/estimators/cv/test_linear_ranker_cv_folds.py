"""LinearRankerCV: its folds, what it refuses, what it shows, and the customs of scikit-learn."""

import pickle
import re
import tracemalloc
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal, assert_frame_not_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import headrank as hr
from fits import alike
from headrank import LinearRanker, LinearRankerCV
from headrank.estimators import _fitting
from headrank.estimators.cv.candidates import SURROGATES, Candidate, members_of
from headrank.estimators.cv.folds import folds
from headrank.exceptions import OneClassError
from samples import few_gaussians as gaussians


def quick(measure="pauc@0.2", surrogates=("logistic", "tight", "smooth"), **parameters):
    defaults = {"Cs": (0.1, 10.0), "bandwidths": (0.3,), "cv": 3}
    return LinearRankerCV(measure, surrogates=surrogates, **(defaults | parameters))


# Folds


def test_queries_stay_whole():
    X, y = gaussians(60, 120)
    qid = np.random.default_rng(0).integers(0, 12, y.size)
    splits = folds(y == 1, qid, 3)
    assert all(not set(qid[train]) & set(qid[test]) for train, test in splits)
    plain = quick(surrogates=("logistic",), cv=3).fit(X, y, qid=qid)
    given = quick(surrogates=("logistic",), cv=splits).fit(X, y, qid=qid)
    assert plain.cv_results_.equals(given.cv_results_)
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
    results = quick(surrogates=("logistic",), cv=GroupKFold(3)).fit(X, y, qid=qid).cv_results_
    assert results.equals(
        quick(surrogates=("logistic",), cv=[*GroupKFold(3).split(X, y, qid)]).fit(X, y, qid=qid).cv_results_
    )


def test_the_state_decides_the_folds():
    X, y = gaussians()
    one, same, other = (quick(surrogates=("logistic",), random_state=s).fit(X, y).cv_results_ for s in (0, 0, 1))
    state = np.random.RandomState(0)
    by_state = quick(surrogates=("logistic",), random_state=state).fit(X, y).cv_results_
    assert_frame_equal(same, one, abs_tol=0.01)
    assert_frame_equal(by_state, one, abs_tol=0.01)
    assert_frame_not_equal(other, one, abs_tol=0.01)


def test_threads_change_nothing():
    X, y = gaussians()
    one, two = (quick(n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    assert_frame_equal(one.cv_results_, two.cv_results_, abs_tol=0.01)
    assert alike(one.coef_, two.coef_)
    assert one.choice_ == two.choice_


# What is refused

BAD = {
    "one positive": ({}, {"y": np.arange(120) < 1}, ValueError, "folds need at least 2 rows of each class, got 1; add"),
    "one fold": ({"cv": 1}, {}, ValueError, "cv must be at least 2"),
    "no fold": ({"cv": []}, {}, ValueError, "fold|cv"),
    "unknown surrogate": ({"surrogates": ("logistic", "smoth")}, {}, ValueError, "'logistic', 'svc'.*'smoth'"),
    "no surrogate": ({"surrogates": ()}, {}, ValueError, "surrogates must be some of"),
    "a string": ({"surrogates": "logistic"}, {}, TypeError, r"surrogates must be a sequence, .* pass \['logistic'\]"),
    "a number": ({"Cs": 1.0}, {}, TypeError, r"Cs must be a sequence, got 1.0; for a single value pass \[1.0\]"),
    "cv by name": ({"cv": "abc"}, {}, ValueError, "cv must be an int, a splitter, or an iterable .*, got 'abc'"),
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
    "one query": ({}, {"qid": np.ones(120)}, ValueError, "at least 2 queries with positive and negative rows, got 1"),
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
    (warning,) = caught
    assert warning.category is ConvergenceWarning
    assert warning.filename == __file__
    text = str(warning.message)
    assert text.endswith("did not reach tol=0.001 within 2 evaluations; raise max_iter or tol, or set standardize=True")
    assert any(str(member) in text for member in members_of(ranker.best_))


def test_only_what_is_in_the_answer_is_warned_of(monkeypatch):
    """Should the first choice run out of passes and collapse, and another be taken that does not."""
    X, y = gaussians()
    first = quick(surrogates=("logistic",)).fit(X, y)
    adopt, search = _fitting.adopt, _fitting.search

    def collapsing(self, *arguments, **more):
        adopt(self, *arguments, **more)
        self.collapsed_ = self.C == first.best_.C

    def cut_short(self, problem, C, **known):
        return replace(search(self, problem, C, **known), converged=C != first.best_.C)

    monkeypatch.setattr(_fitting, "adopt", collapsing)
    monkeypatch.setattr(_fitting, "search", cut_short)
    assert quick(surrogates=("logistic",)).fit(X, y).best_ != first.best_


def test_a_fold_that_cannot_be_used_is_named():
    X, y = gaussians(80, 80)
    qid = np.arange(y.size) // 10
    y = np.where(qid < 2, y, 0)  # 2 of 16 queries have both classes
    with pytest.raises(OneClassError, match=r"fold \d of 5 has no query with positive and negative rows to measure"):
        quick(cv=GroupKFold(5)).fit(X, y, qid=qid)
    halves = [(np.flatnonzero(y == 0), np.arange(y.size))]
    with pytest.raises(
        OneClassError, match="fold 1 of 1 has no rows of both classes to learn from; pass a number of folds"
    ):
        quick(cv=halves).fit(X, y)


@pytest.mark.parametrize("form", [np.ndarray.tolist, sparse.csr_array, pd.DataFrame, pl.DataFrame])
def test_folds_may_be_given_for_rows_of_any_form(form):
    X, y = gaussians()
    splits = list(StratifiedKFold(3).split(X, y))
    twin = quick(surrogates=("logistic",), standardize=True, cv=splits).fit(X, y)
    for cv in (splits, StratifiedKFold(3)):
        ranker = quick(surrogates=("logistic",), standardize=True, cv=cv).fit(form(X), y.tolist())
        np.testing.assert_allclose(ranker.trials_[0].values, twin.trials_[0].values, atol=0.01)


def test_one_fold_says_that_it_knows_no_noise():
    X, y = gaussians()
    ranker = quick(cv=[(np.arange(60), np.arange(60, y.size))]).fit(X, y)
    assert " over one fold, standard error unknown." in ranker.choice_


def test_what_is_asked_for_twice_is_tried_once():
    X, y = gaussians()
    told = []
    twice = quick(surrogates=("logistic", "smooth") * 2, Cs=(1.0, 1.0), bandwidths=(0.3, 0.3))
    ranker = twice.set_params(verbose=lambda done, total: told.append(done)).fit(X, y)
    once = quick(surrogates=("logistic", "smooth"), Cs=(1.0,), bandwidths=(0.3,)).fit(X, y)
    assert [str(trial.candidate) for trial in ranker.trials_] == [str(trial.candidate) for trial in once.trials_]
    assert told[-1] <= 2 * 3 + 2


def test_an_interrupt_is_not_swallowed(monkeypatch):
    """One candidate cut short and all the others still to come is not what Ctrl-C asks for."""
    X, y = gaussians()
    searches, searched = [], _fitting.lbfgs

    def search(risk, **limits):
        searches.append(limits)
        if len(searches) == 2:

            def stop(step):
                raise KeyboardInterrupt

            limits["callback"] = stop
        return searched(risk, **limits)

    monkeypatch.setattr(_fitting, "lbfgs", search)
    with pytest.raises(KeyboardInterrupt):
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
    assert alike(ranker.fit(X, y).coef_, first)
    for copy in (pickle.loads(pickle.dumps(ranker)), clone(ranker).fit(X, y)):
        assert alike(copy.decision_function(X), ranker.decision_function(X))
        assert copy.choice_ == ranker.choice_
        assert_frame_equal(copy.cv_results_, ranker.cv_results_, abs_tol=0.01)
    assert not hasattr(clone(ranker), "best_")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames(frame):
    X, y = gaussians()
    table = frame({name: X[:, j] for j, name in enumerate("abc")})
    ranker = quick().fit(table, frame({"y": np.array(["no", "yes"])[y]})["y"])
    assert list(ranker.feature_names_in_) == ["a", "b", "c"]
    assert list(ranker.classes_) == ["no", "yes"]
    assert (ranker.predict(table) == "yes").sum() == 30
    assert alike(ranker.coef_, quick().fit(X, y).coef_)
    with pytest.raises(ValueError, match="feature names"):
        ranker.predict(table[["c", "b", "a"]])


def test_sparse_rows_are_only_standardised_where_they_are_large_unless_asked_for():
    X, y = gaussians()
    X *= [0.5, 2000, 0.2]
    stored, large = sparse.csr_array(X), [1, X[:, 1].std(), 1]
    by_default, asked = (quick(standardize=s).fit(stored, y) for s in (None, True))
    assert alike(by_default.coef_ * large, quick(standardize=False).fit(X / large, y).coef_)
    for one in by_default.rankers_:
        assert alike(clone(one).fit(stored, y).coef_, one.coef_)
    assert alike(asked.decision_function(stored), quick().fit(X, y).decision_function(X))
    assert not np.allclose(asked.cv_results_["pauc@0.2"], by_default.cv_results_["pauc@0.2"])


def test_searches_and_cross_validation():
    X, y = gaussians()
    values = cross_val_score(quick(), X, y, cv=3)
    assert values.shape == (3,)
    assert values.mean() > 0.3
    by_scorer = cross_val_score(quick(), X, y, cv=3, scoring=hr.measure("pauc@0.2").scorer())
    assert by_scorer == pytest.approx(values, abs=0.01)
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
    assert str(Candidate("smooth", 10.0, 0.5, (Candidate("logistic", 1.0),))) == "smooth (C=10, bandwidth=0.5)"
    assert re.fullmatch(r"tight \(C=0\.1\)", str(Candidate("tight", 0.1)))

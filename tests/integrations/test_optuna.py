"""The mean over headrank's folds as an Optuna objective."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import headrank as hr
from headrank.estimators.cv.folds import folds
from headrank.integrations.optuna import objective
from samples import gaussians

optuna = pytest.importorskip("optuna", reason="Optuna is not installed")
optuna.logging.set_verbosity(optuna.logging.WARNING)

X, Y = gaussians(60, 240, 4)
QID = np.arange(Y.size) % 12


def logistic(trial):
    return LogisticRegression(C=trial.suggest_float("C", 1e-4, 1.0, log=True))


def expected(measure, estimator, queries=None):
    values = []
    for train, test in folds(Y == 1, queries, 5):
        scores = estimator.fit(X[train], Y[train]).predict_proba(X[test])[:, 1]
        values.append(measure(Y[test], scores, qid=None if queries is None else queries[test]))
    return np.mean(values)


@pytest.mark.parametrize("name", ["pauc@0.2", "fpr@tpr=0.5"])
def test_it_is_the_mean_over_the_folds_of_the_rankers(name):
    value = objective(name, lambda _: GaussianNB(), X, Y)(optuna.trial.FixedTrial({}))
    assert value == pytest.approx(expected(hr.measure(name), GaussianNB()), abs=1e-12)


def test_queries_are_not_split():
    value = objective("pauc@0.5", lambda _: GaussianNB(), X, Y, qid=QID)(optuna.trial.FixedTrial({}))
    assert value == pytest.approx(expected(hr.measure("pauc@0.5"), GaussianNB(), QID), abs=1e-12)


def test_the_first_rows_are_a_share_of_a_fold():
    value = objective("p@30", lambda _: GaussianNB(), X, Y)(optuna.trial.FixedTrial({}))
    assert value == pytest.approx(expected(hr.measure("p@0.1"), GaussianNB()), abs=1e-12)


@pytest.mark.parametrize(("name", "direction"), [("pauc@0.2", "maximize"), ("fpr@tpr=0.5", "minimize")])
def test_a_study_goes_in_the_right_direction(name, direction):
    target = objective(name, logistic, X, Y, cv=3)
    assert target.direction == direction
    sampler = optuna.samplers.RandomSampler(seed=0)
    study = optuna.create_study(direction=target.direction, sampler=sampler, pruner=optuna.pruners.NopPruner())
    study.optimize(target, n_trials=6)
    values = [trial.value for trial in study.trials]
    assert len(set(values)) > 1
    assert study.best_value == (max(values) if direction == "maximize" else min(values))
    assert np.mean(study.best_trial.user_attrs["folds"]) == pytest.approx(study.best_value, abs=1e-12)
    assert len(study.best_trial.user_attrs["folds"]) == 3


def test_a_trial_that_is_behind_is_pruned():
    target = objective("auc", lambda trial: Flipped(trial.suggest_categorical("sign", [1, -1])), X, Y)
    study = optuna.create_study(direction=target.direction, pruner=optuna.pruners.ThresholdPruner(lower=0.5))
    for sign in (1, -1):
        study.enqueue_trial({"sign": sign})
    study.optimize(target, n_trials=2)
    assert [trial.state.name for trial in study.trials] == ["COMPLETE", "PRUNED"]
    assert len(study.trials[1].user_attrs["folds"]) == 1


class Flipped:
    def __init__(self, sign):
        self.sign = sign

    def fit(self, X, y):
        return self

    def decision_function(self, X):
        return self.sign * X[:, 0]


def test_data_frames_and_own_folds():
    halves = [(np.arange(150), np.arange(150, 300)), (np.arange(150, 300), np.arange(150))]
    frame = pd.DataFrame(X, columns=list("abcd"))
    values = [
        objective("auc", lambda _: GaussianNB(), rows, Y, cv=halves)(optuna.trial.FixedTrial({})) for rows in (X, frame)
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-12)


def test_labels_are_checked():
    with pytest.raises(ValueError, match="y must be 0/1"):
        objective("auc", logistic, X, Y + 1)


def test_without_optuna_the_extra_is_named(monkeypatch):
    target = objective("auc", lambda _: GaussianNB(), X, Y)
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ModuleNotFoundError, match=r"headrank\[optuna\]"):
        target(None)

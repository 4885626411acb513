"""headrank's measures, stopping rules and objectives in XGBoost's own training."""

import pickle
import sys

import numpy as np
import pytest
from scipy.stats import spearmanr

import headrank as hr
from headrank.integrations.xgboost import early_stopping, metric, objective
from samples import gaussians

xgb = pytest.importorskip("xgboost", reason="XGBoost is not installed")

X, Y = gaussians(300, 2700, 5)
X_VALID, Y_VALID = gaussians(300, 2700, 5, seed=1)
NAMES = ["pauc@0.02:0.1", "p@100", "auc", "fpr@tpr=0.5"]
LOWER = "fpr@tpr=0.5"


def trained(name, n_trees=40, rounds=10, **options):
    history, valid = {}, xgb.DMatrix(X_VALID, Y_VALID)
    booster = xgb.train(
        {"objective": "binary:logistic", "disable_default_eval_metric": 1, "nthread": 1, "eta": 0.1},
        xgb.DMatrix(X, Y),
        n_trees,
        evals=[(xgb.DMatrix(X, Y), "train"), (valid, "valid")],
        custom_metric=metric(name),
        callbacks=[early_stopping(name, rounds=rounds, **options)],
        evals_result=history,
        verbose_eval=False,
    )
    [values] = history["valid"].values()
    return booster, values


@pytest.mark.parametrize("name", NAMES)
def test_the_metric_is_the_measure_in_every_round(name):
    booster, history = trained(name)
    valid = xgb.DMatrix(X_VALID, Y_VALID)
    for n_trees, logged in enumerate(history, start=1):
        scores = booster.predict(valid, iteration_range=(0, n_trees))
        expected = hr.measure(name)(Y_VALID, scores)
        assert metric(name)(scores, valid)[1] == pytest.approx(expected, abs=1e-12)
        assert logged == pytest.approx(expected, abs=1e-6)  # XGBoost logs six decimals


@pytest.mark.parametrize("name", NAMES)
def test_training_stops_at_the_best_round(name):
    booster, history = trained(name)
    assert booster.best_iteration == (np.argmin(history) if name == LOWER else np.argmax(history))
    assert len(set(history)) > 1


def test_options_of_the_callback_are_passed_on():
    booster, history = trained("pauc@0.1", save_best=True, data_name="valid")
    assert booster.num_boosted_rounds() == np.argmax(history) + 1


def test_weights_and_groups_count():
    sizes = np.full(30, 100)
    weights = np.random.default_rng(0).uniform(0.5, 2, Y.size)
    scores = X[:, 0] + X[:, 1]
    measure = hr.measure("pauc@0.2")
    weighted = xgb.DMatrix(X, Y, weight=weights)
    expected = measure(Y, scores, sample_weight=weights)
    assert metric(measure)(scores, weighted) == ("pauc@0.2", pytest.approx(expected, abs=1e-7))
    grouped = xgb.DMatrix(X, Y, group=sizes)
    expected = measure(Y, scores, qid=np.repeat(np.arange(30), sizes))
    assert metric(measure)(scores, grouped) == ("pauc@0.2", pytest.approx(expected, abs=1e-12))
    grouped.set_weight(np.ones(30))
    with pytest.raises(ValueError, match="weights for 30 whole queries"):
        metric(measure)(scores, grouped)


@pytest.mark.parametrize("name", ["pauc@0.02:0.1", LOWER])
def test_the_classifier_takes_metric_and_stop(name):
    callbacks = [early_stopping(name, rounds=10)]
    model = xgb.XGBClassifier(
        n_estimators=40, n_jobs=1, learning_rate=0.1, eval_metric=metric(name), callbacks=callbacks
    )
    model.fit(X, Y, eval_set=[(X_VALID, Y_VALID)], sample_weight_eval_set=[np.ones(Y.size)], verbose=False)
    assert model.best_iteration == trained(name)[0].best_iteration


def grown(n_trees, target=None, **facts):
    params = {"nthread": 1, "lambda": 0, "min_child_weight": 0, "max_depth": 2, "eta": 0.1, "base_score": 0.5}
    if target is None:
        params |= {"objective": "binary:logistic", "base_score": Y.mean()}
    booster = xgb.train(params, xgb.DMatrix(X, Y, **facts), n_trees, obj=target)
    return booster.predict(xgb.DMatrix(X, **facts), output_margin=True)


def test_the_first_tree_of_power_1_is_that_of_the_log_loss():
    ours, theirs = grown(1, objective("push", power=1.0)), grown(1)
    assert ours - ours.mean() == pytest.approx(theirs - theirs.mean(), abs=1e-4)
    assert np.ptp(ours) > 0.1


def test_the_trees_of_power_1_rank_as_the_log_loss():
    theirs = grown(20)
    assert spearmanr(grown(20, objective("push", power=1.0)), theirs).statistic > 0.99
    assert spearmanr(grown(20, objective("push", power=8.0)), theirs).statistic < 0.99


def test_the_classifier_takes_the_objective():
    model = xgb.XGBClassifier(objective=objective("push"), n_estimators=5, n_jobs=1)
    ours = model.fit(X, Y, sample_weight=np.ones(Y.size)).predict(X, output_margin=True)
    booster = xgb.train({"nthread": 1}, xgb.DMatrix(X, Y), 5, obj=objective("push"))
    theirs = booster.predict(xgb.DMatrix(X), output_margin=True)
    assert ours - ours.mean() == pytest.approx(theirs - theirs.mean(), abs=1e-4)


def test_the_smooth_objective_improves_the_measure():
    measure, start, target = hr.measure("pauc@0.1"), grown(5), objective("smooth", measure="pauc@0.1")
    assert measure(Y, grown(20, target, base_margin=start)) > measure(Y, start) + 0.01
    with pytest.raises(ValueError, match="base_margin="):
        grown(1, target)


def test_both_can_be_sent_to_another_process():
    for each in (metric("pauc@0.1"), objective("push")):
        assert pickle.loads(pickle.dumps(each)) == each


def test_rounds_are_checked():
    with pytest.raises(ValueError, match="rounds must be at least 1"):
        early_stopping("auc", rounds=0)


def test_without_xgboost_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    monkeypatch.delitem(sys.modules, "xgboost.callback")
    with pytest.raises(ModuleNotFoundError, match=r"headrank\[xgboost\]"):
        early_stopping("auc", rounds=5)

"""headrank's measures and objectives in LightGBM's own training."""

import pickle

import lightgbm as lgb
import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.base import clone

import headrank as hr
from headrank.integrations.lightgbm import metric, objective
from samples import gaussians

X, Y = gaussians(300, 2700, 5)
X_VALID, Y_VALID = gaussians(300, 2700, 5, seed=1)
QUIET = {"verbosity": -1, "num_threads": 1, "metric": "None"}
NAMES = ["pauc@0.02:0.1", "p@100", "auc", "fpr@tpr=0.5"]
LOWER = "fpr@tpr=0.5"

pytestmark = [
    pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated"),  # 4.6 has no other
    pytest.mark.filterwarnings("ignore:X does not have valid feature names"),  # 4.6 says so of every array
]


def data(**facts):
    return lgb.Dataset(X, Y, params=QUIET, free_raw_data=False, **facts)


def trained(name, n_trees=60, patience=15, **facts):
    train, history = data(), {}
    valid = lgb.Dataset(X_VALID, Y_VALID, reference=train, **facts)
    stop = [lgb.early_stopping(patience, verbose=False)] if patience else []
    callbacks = [*stop, lgb.record_evaluation(history)]
    params = {**QUIET, "objective": "binary"}
    booster = lgb.train(params, train, n_trees, [valid], feval=metric(name), callbacks=callbacks)
    return booster, history["valid_0"][name]


@pytest.mark.parametrize("name", NAMES)
def test_the_metric_is_the_measure_in_every_round(name):
    booster, history = trained(name, 20, patience=0)
    for n_trees, value in enumerate(history, start=1):
        scores = booster.predict(X_VALID, num_iteration=n_trees)
        assert value == pytest.approx(hr.measure(name)(Y_VALID, scores), abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_training_stops_at_the_best_round(name):
    booster, history = trained(name)
    best = np.argmin(history) if name == LOWER else np.argmax(history)
    assert booster.best_iteration == best + 1
    assert len(set(history)) > 1


def test_weights_and_groups_count():
    sizes = np.full(30, 100)
    weights = np.random.default_rng(0).uniform(0.5, 2, Y.size)
    qid = np.repeat(np.arange(30), sizes)
    for facts, options in (
        ({"weight": weights}, {"sample_weight": weights}),
        ({"group": sizes}, {"qid": qid}),
        ({"weight": weights, "group": sizes}, {"sample_weight": weights, "qid": qid}),
    ):
        booster, history = trained("pauc@0.2", 3, **facts)
        expected = hr.measure("pauc@0.2")(Y_VALID, booster.predict(X_VALID, num_iteration=1), **options)
        assert history[0] == pytest.approx(expected, abs=1e-7)  # LightGBM keeps weights in single precision
        assert history[0] != pytest.approx(trained("pauc@0.2", 3)[1][0], abs=1e-6)


@pytest.mark.parametrize("name", ["pauc@0.1", LOWER])
def test_the_classifier_takes_it_as_well(name):
    model = lgb.LGBMClassifier(n_estimators=60, metric="None", verbosity=-1, n_jobs=1)
    stop = lgb.early_stopping(15, verbose=False)
    model.fit(X, Y, eval_set=[(X_VALID, Y_VALID)], eval_metric=metric(name), callbacks=[stop])
    assert model.best_iteration_ == trained(name)[0].best_iteration
    expected = hr.measure(name)(Y_VALID, model.predict_proba(X_VALID)[:, 1])
    assert model.best_score_["valid_0"][name] == pytest.approx(expected, abs=1e-12)


def grown(target, n_trees, **facts):
    params = {**QUIET, "objective": target, "min_sum_hessian_in_leaf": 0.0, "num_leaves": 4}
    return lgb.train(params, data(**facts), n_trees).predict(X, raw_score=True)


def test_the_first_tree_of_power_1_is_that_of_the_log_loss():
    ours, theirs = grown(objective("push", power=1.0), 1), grown("binary", 1)
    assert ours - ours.mean() == pytest.approx(theirs - theirs.mean(), abs=1e-5)
    assert np.ptp(ours) > 0.1


def test_the_trees_of_power_1_rank_as_the_log_loss():
    # The same splits at first; later the optimal intercept, which the log loss of a library lacks, makes a difference.
    theirs = grown("binary", 6)
    assert spearmanr(grown(objective("push", power=1.0), 6), theirs).statistic > 0.999
    assert spearmanr(grown(objective("push", power=8.0), 6), theirs).statistic < 0.999


def test_the_classifier_takes_the_objective():
    model = lgb.LGBMClassifier(objective=objective("push"), n_estimators=5, verbosity=-1, n_jobs=1)
    assert clone(model).get_params()["objective"] == objective("push")
    scores = model.fit(X, Y).predict_proba(X, raw_score=True)
    params = {**QUIET, "objective": objective("push")}
    assert scores == pytest.approx(lgb.train(params, data(), 5).predict(X, raw_score=True), abs=1e-9)


@pytest.mark.parametrize("name", ["pauc@0.1", "mass@0.1"])
def test_the_smooth_objective_improves_the_measure(name):
    measure, start = hr.measure(name), grown("binary", 10)
    target = objective("smooth", measure=name)
    after = start + grown(target, 30, init_score=start)
    gain = measure(Y, after) - measure(Y, start)
    assert (gain if measure.greater_is_better else -gain) > 0.01


def test_the_smooth_objective_needs_a_start():
    with pytest.raises(ValueError, match="init_score="):
        grown(objective("smooth", measure="pauc@0.1"), 1)


def test_a_weight_of_two_is_the_row_twice():
    rng = np.random.default_rng(0)
    y, scores = np.arange(40) < 12, rng.normal(size=40)
    weights = np.where(np.arange(40) % 3, 1.0, 2.0)
    copies = np.repeat(np.arange(40), weights.astype(int))
    for each in (objective("push"), objective("smooth", measure="pauc@0.5")):
        weighted, repeated = each(y, scores, weights)[0], each(y[copies], scores[copies])[0]
        summed = np.bincount(copies, weights=repeated)
        assert weighted / np.abs(weighted).sum() == pytest.approx(summed / np.abs(summed).sum(), abs=1e-9)


def test_rows_of_weight_0_are_ignored():
    y, scores = np.arange(20) < 6, np.arange(20.0) % 7
    weights = (np.arange(20) != 3).astype(float)
    gradient, hessian = objective("smooth", measure="auc")(y, scores, weights)
    assert gradient[3] == 0
    assert np.all(hessian > 0)
    without = objective("smooth", measure="auc")(np.delete(y, 3), np.delete(scores, 3))[0]
    rest = np.delete(gradient, 3)
    assert rest / np.abs(rest).sum() == pytest.approx(without / np.abs(without).sum(), abs=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metric("nonsense"), "unknown measure"),
        (lambda: metric("auc")([0, 1, 2], [1.0, 2.0, 3.0]), "y must be 0/1"),
        (lambda: metric("auc")([1, 1], [1.0, 2.0]), "both classes"),
        (lambda: objective("hinge"), "kind must be one of 'push', 'smooth'"),
        (lambda: objective("smooth"), "pass measure="),
        (lambda: objective("smooth", measure="ks"), "no smooth surrogate"),
        (lambda: objective("push", power=0), "power must be above 0"),
        (lambda: objective("smooth", measure="auc", bandwidth=-1), "bandwidth must be above 0"),
        (lambda: objective("smooth", measure="auc")([1, 1, 0], [1.0, 2.0, 3.0], None, [2, 1]), "at least one query"),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_both_can_be_sent_to_another_process():
    for each in (metric("pauc@0.1"), objective("push"), objective("smooth", measure="pauc@0.1")):
        assert pickle.loads(pickle.dumps(each)) == each

"""headrank's measures in CatBoost's own training."""

import copy
import pickle

import numpy as np
import pytest

import headrank as hr
from headrank.integrations.catboost import Metric
from samples import gaussians

catboost = pytest.importorskip("catboost", reason="CatBoost is not installed")

X, Y = gaussians(300, 2700, 5)
X_VALID, Y_VALID = gaussians(600, 5400, 5, seed=1)
NAMES = ["pauc@0.02:0.1", "p@100", "auc", "fpr@tpr=0.5"]


def trained(name, n_trees=40, **facts):
    model = catboost.CatBoostClassifier(
        iterations=n_trees,
        learning_rate=0.2,
        eval_metric=Metric(name),
        early_stopping_rounds=10,
        use_best_model=False,
        thread_count=2,
        allow_writing_files=False,
        verbose=False,
    )
    return model.fit(X, Y, eval_set=catboost.Pool(X_VALID, Y_VALID, **facts))


@pytest.mark.parametrize("name", NAMES)
def test_the_metric_is_the_measure_in_every_round(name):
    model = trained(name)
    history = model.evals_result_["validation"][name]
    stages = model.staged_predict(X_VALID, prediction_type="RawFormulaVal")
    for value, scores in zip(history, stages, strict=True):
        assert value == pytest.approx(hr.measure(name)(Y_VALID, scores), abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_the_best_round_is_in_the_right_direction(name):
    model = trained(name)
    history = model.evals_result_["validation"][name]
    assert model.get_best_iteration() == (np.argmin(history) if name == "fpr@tpr=0.5" else np.argmax(history))
    assert len(set(history)) > 1


def test_weights_count():
    weights = np.random.default_rng(0).uniform(0.5, 2, Y_VALID.size)
    model = trained("pauc@0.2", 2, weight=weights)
    expected = hr.measure("pauc@0.2")(
        Y_VALID, model.predict(X_VALID, prediction_type="RawFormulaVal"), sample_weight=weights
    )
    assert model.evals_result_["validation"]["pauc@0.2"][-1] == pytest.approx(expected, abs=1e-7)
    assert expected != pytest.approx(trained("pauc@0.2", 2).evals_result_["validation"]["pauc@0.2"][-1], abs=1e-6)


def test_it_can_be_copied_and_sent_to_another_process():
    for again in (pickle.loads(pickle.dumps(Metric("pauc@0.1"))), copy.deepcopy(Metric("pauc@0.1"))):
        assert again.measure == hr.measure("pauc@0.1")
        assert isinstance(again, Metric)
        assert type(again).__name__ == "pauc@0.1"


def test_three_classes_are_refused():
    with pytest.raises(ValueError, match="approxes must be the scores of one class, as CatBoost passes them for two"):
        Metric("auc").evaluate([[1.0, 2.0], [2.0, 1.0], [0.0, 1.0]], [0, 1], None)

"""LinearRanker as an estimator of scikit-learn: its checks, labels, frames, pipelines, searches and routing."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import headrank as hr
from fits import alike
from headrank import LinearRanker
from samples import separated_gaussians


@pytest.mark.filterwarnings("ignore::headrank.exceptions.CollapsedFitWarning")  # many checks fit noise
@parametrize_with_checks([LinearRanker("auc", surrogate="structural", standardize=True)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_fit_leaves_the_constructor_arguments_alone_and_can_be_run_again():
    X, y = separated_gaussians()
    ranker = LinearRanker(hr.PartialAUC(max_fpr=0.3), C=3, standardize=True)
    before = dict(ranker.get_params())
    assert ranker.fit(X, y) is ranker
    assert ranker.get_params() == before
    first = ranker.coef_
    assert alike(ranker.fit(X, y).coef_, first)
    assert ranker.fit(X[:, :2], y).coef_.shape == (2,)
    for copy in (pickle.loads(pickle.dumps(ranker)), clone(ranker).fit(X[:, :2], y)):
        assert alike(copy.decision_function(X[:, :2]), ranker.decision_function(X[:, :2]))


def test_warm_start():
    X, y = separated_gaussians(200, 800, 10)
    ranker = LinearRanker("pauc@0.3", C=100, warm_start=True, standardize=True).fit(X, y)
    cold, objective = ranker.n_iter_, ranker.objective_
    ranker.fit(X, y)
    assert ranker.trace_[0].objective == pytest.approx(objective)
    assert ranker.objective_ <= objective * (1 + 1e-12)
    assert ranker.n_iter_ <= cold


def test_labels_and_predictions():
    X, y = separated_gaussians(40, 160, shift=3.0)
    ranker = LinearRanker("pauc@0.3").fit(X, np.array(["benign", "malignant"])[y])
    assert list(ranker.classes_) == ["benign", "malignant"]
    assert (ranker.predict(X) == "malignant").sum() == 40
    assert ((ranker.decision_function(X) > 0) == (ranker.predict(X) == "malignant")).all()
    expected = hr.PartialAUC(max_fpr=0.3)(y, X @ ranker.coef_)
    assert ranker.score(X, np.array(["benign", "malignant"])[y]) == pytest.approx(expected)
    assert alike(LinearRanker("pauc@0.3").fit(X, 2.0 * y - 1).coef_, ranker.coef_)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames(frame):
    X, y = separated_gaussians()
    names = ["a", "b", "c", "d"]
    table = frame({name: X[:, j] for j, name in enumerate(names)})
    ranker = LinearRanker("pauc@0.3").fit(table, frame({"y": y})["y"])
    assert list(ranker.feature_names_in_) == names
    assert alike(ranker.coef_, LinearRanker("pauc@0.3").fit(X, y).coef_)
    with pytest.raises(ValueError, match="feature names"):
        ranker.predict(table[names[::-1]])


def test_pipelines_searches_and_calibration():
    X, y = separated_gaussians(60, 240)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), LinearRanker("pauc@0.3")), {"linearranker__C": [0.1, 10]}, cv=3
    )
    search.fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert search.best_score_ == max(scores) > 0.6
    fold_measure = hr.PartialAUC(max_fpr=0.3).scorer()(search.best_estimator_, X, y)
    assert search.score(X, y) == pytest.approx(fold_measure)
    calibrated = CalibratedClassifierCV(LinearRanker("pauc@0.3"), ensemble=False).fit(X, y)
    chances = calibrated.predict_proba(X)[:, 1]
    assert hr.AUC()(y, chances) > 0.85
    assert chances.mean() == pytest.approx(0.2, abs=0.03)


def test_query_ids_and_weights_are_routed():
    X, y = separated_gaussians(60, 240)
    qid, weights = np.arange(300) % 12, np.random.default_rng(0).uniform(0.5, 2, 300)
    with config_context(enable_metadata_routing=True):
        ranker = LinearRanker("pauc@0.4", C=5).set_fit_request(qid=True, sample_weight=True)
        ranker = ranker.set_score_request(qid=True, sample_weight=True)
        parameters = {"qid": qid, "sample_weight": weights, "groups": qid}
        result = cross_validate(
            ranker, X, y, cv=GroupKFold(3), params=parameters, return_estimator=True, return_indices=True
        )
        assert make_pipeline(PCA(), ranker).fit(X, y, qid=qid, sample_weight=weights).score(X, y) > 0.5
    for k in range(3):
        train, test = result["indices"]["train"][k], result["indices"]["test"][k]
        alone = LinearRanker("pauc@0.4", C=5).fit(X[train], y[train], weights[train], qid[train])
        assert alike(alone.coef_, result["estimator"][k].coef_)
        measured = hr.measure("pauc@0.4")(y[test], X[test] @ alone.coef_, sample_weight=weights[test], qid=qid[test])
        assert result["test_score"][k] == pytest.approx(measured)

"""Where LightGBM's library cannot be loaded, scikit-learn's histogram boosting stands in, and it is said."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_info

import headrank as hr
from estimators.trees.boosting import boosted, boosted_cv, combined, whole_numbers
from headrank.estimators.combined import families
from headrank.estimators.trees import engine, lightgbm_trees
from headrank.model_io import load, save

WHY = "libgomp.so.1: cannot open shared object file"


@pytest.fixture(autouse=True)
def absent(monkeypatch):
    for module in (engine, families):
        monkeypatch.setattr(module, "why_not", lambda: WHY)


def said():
    return pytest.warns(RuntimeWarning, match=rf"LightGBM could not be loaded \({WHY}\); scikit-learn's histogram")


@pytest.mark.parametrize(("make", "storage"), [(boosted, np.asarray), (boosted_cv, csr_matrix)])
def test_the_stand_in_works_and_says_so(make, storage, tmp_path):
    X, y = whole_numbers()
    X[::7, 2] = np.nan if storage is np.asarray else 0
    with said():
        ranker = make().fit(storage(X), y)
    assert ranker.engine_ == "scikit-learn"
    assert ranker.score(storage(X), y) > 0.4
    assert (ranker.predict(X) == 1).sum() <= 60
    with pytest.raises(NotImplementedError, match="contributions of boosted trees need LightGBM, which could not be"):
        ranker.contributions(X)
    save(ranker, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").decision_function(X), ranker.decision_function(X))


@pytest.mark.parametrize("objective", ["push", "smooth"])
def test_every_objective_is_the_log_loss(objective):
    X, y = whole_numbers()
    with said():
        ranker, plain = (boosted(objective=each).fit(X, y) for each in (objective, "logistic"))
    np.testing.assert_allclose(ranker.decision_function(X), plain.decision_function(X), atol=1e-9)


def test_a_grid_with_another_objective():
    X, y = whole_numbers()
    with said():
        ranker = boosted_cv(grid=[{"objective": "push", "min_samples_leaf": 5}]).fit(X, y)
    assert ranker.best_.objective == "logistic"
    with said():
        ranker.refit(X, y)


def test_stages_end_with_the_scores():
    X, y = whole_numbers()
    with said():
        ranker = boosted().fit(X, y)
    *_, last = stages = list(ranker.staged_decision_function(X, every=3))
    assert len(stages) == 3
    np.testing.assert_allclose(last, ranker.decision_function(X), atol=1e-12)


def test_constraints_categories_and_weights():
    X, y = whole_numbers()
    with said():
        bound = boosted(monotonic_cst=[-1, 0, 0], categorical_features=[1]).fit(X, y, np.arange(200) % 3)
    steps = np.tile(np.median(X, axis=0), (9, 1))
    steps[:, 0] = np.arange(9)
    assert (np.diff(bound.decision_function(steps)) <= 0).all()


def test_a_combination_leaves_forests_out():
    X, y = whole_numbers()
    with said():
        ranker = combined(families=("boosted trees", "linear", "extra trees", "random forest")).fit(X, y)
    assert set(ranker.left_out_) == {"extra trees", "random forest"}
    assert f"Left out: extra trees (forests are scored by LightGBM, which could not be loaded: {WHY})" in ranker.choice_
    assert {part.family for part in ranker.parts_} <= {"boosted trees", "linear"}


def test_forests_alone_cannot_be():
    X, y = whole_numbers()
    with pytest.raises(RuntimeError, match=f"forests are scored by LightGBM, which could not be loaded: {WHY}"):
        combined(families=("extra trees",)).fit(X, y)


def test_a_model_of_lightgbm_cannot_score(monkeypatch):
    X, y = whole_numbers()
    monkeypatch.undo()
    ranker = boosted(random_state=77).fit(X, y)
    lightgbm_trees._BOOSTERS.clear()
    monkeypatch.setattr(lightgbm_trees, "why_not", lambda: WHY)
    with pytest.raises(RuntimeError, match=f"these trees are scored by LightGBM, which could not be loaded: {WHY}"):
        ranker.decision_function(X)


def test_the_reason_is_found(monkeypatch):
    """An error of the import is the reason; its first line is enough."""
    from headrank.estimators.trees.lightgbm_trees import why_not

    why_not.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "lightgbm", None)
    try:
        assert "lightgbm" in why_not()
    finally:
        why_not.cache_clear()
    monkeypatch.undo()
    assert why_not() == ""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert hr.BoostedRanker(n_estimators=2).fit(*whole_numbers()).engine_ == "lightgbm"


def test_threads_do_not_wait_for_each_other_on_few_rows(monkeypatch):
    X, y = whole_numbers()
    seen = set()

    def watched(method):
        def watching(*arguments, **options):
            seen.add(max(each["num_threads"] for each in threadpool_info() if each["user_api"] == "openmp"))
            return method(*arguments, **options)

        return watching

    for name in ("fit", "_raw_predict"):
        method = getattr(HistGradientBoostingClassifier, name)
        monkeypatch.setattr(HistGradientBoostingClassifier, name, watched(method))
    with said():
        boosted_cv(max_estimators=10).fit(X, y).decision_function(X)
    assert seen == {1}


def test_more_categories_than_the_stand_in_takes():
    X, y = whole_numbers()
    X = np.c_[X, np.tile(np.arange(100), 2)]
    X[:, 3] += 100 * (np.arange(200) >= 100) * 2
    many = np.vstack([X] * 2)
    many[200:, 3] += 500
    many_y = np.append(y, y)
    words = "column 3 has 400 categories, but LightGBM could not be loaded, and scikit-learn's trees take at most 255"
    with said(), pytest.raises(ValueError, match=words):
        boosted(categorical_features=[3]).fit(many, many_y)
    frame = pd.DataFrame(many).rename(columns=str).astype({"3": "category"})
    with said():
        ranker = combined("auc", families=("boosted trees", "linear")).fit(frame, many_y)
    assert words in ranker.left_out_["boosted trees"]
    assert [part.family for part in ranker.parts_] == ["linear"]

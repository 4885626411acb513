"""Learning from grades of relevance: admitted where the measure is graded, refused elsewhere, and worth something."""

import numpy as np
import pytest

import headrank as hr


@pytest.fixture(scope="module")
def collection():
    """60 queries of 15 documents; the grade rises with the first feature, and a strong one of no use depends on it."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(60), 15)
    X = rng.normal(size=(900, 4))
    X[:, 3] += 3 * np.repeat(rng.normal(size=60), 15)  # differs between queries only
    merit = X[:, 0] + 0.5 * X[:, 1] ** 2 + rng.normal(size=900)
    return X, np.clip(np.round(merit), 0, 4).astype(int), qid


RANKERS = [
    lambda: hr.LinearRanker("ndcg@5", surrogate="smooth", C=10, standardize=True),
    lambda: hr.LinearRankerCV("ndcg@5", surrogates=("logistic", "smooth"), Cs=(1.0,), bandwidths=(0.3,), cv=3),
    lambda: hr.BoostedRanker("ndcg@5", n_estimators=20, n_jobs=1),
    lambda: hr.BoostedRanker("ndcg@5", n_estimators=20, objective="smooth", n_refining=10, n_jobs=1),
    lambda: hr.BoostedRanker("ndcg@5,gain=exponential", n_estimators=20, objective="lambdarank", n_jobs=1),
    lambda: hr.BoostedRankerCV("ndcg@5", grid=[{"learning_rate": 0.1}], max_estimators=20, cv=3),
]
IDS = ["linear smooth", "linear cv", "log loss", "smooth", "lambdarank", "boosted cv"]


@pytest.mark.parametrize("make", RANKERS, ids=IDS)
def test_grades_are_learned(make, collection):
    X, grades, qid = collection
    ranker = make().fit(X, grades, qid=qid)
    value = ranker.score(X, grades, qid=qid)
    measure = hr.measure(ranker.measure)
    assert value == pytest.approx(measure(grades, ranker.decision_function(X), qid=qid))
    assert value > measure(grades, np.zeros(900), qid=qid) + 0.1
    assert ranker.classes_.tolist() == [0, 1]
    assert set(ranker.predict(X)) == {0, 1}


def test_the_order_of_rows_is_nothing_to_lambdarank(collection):
    X, grades, qid = collection
    order = np.random.default_rng(1).permutation(900)
    one, other = (
        hr.BoostedRanker("ndcg", objective="lambdarank", n_estimators=5, n_jobs=1).fit(X[at], grades[at], qid=qid[at])
        for at in (np.arange(900), order[np.argsort(qid[order], kind="stable")][::1])
    )
    shuffled = hr.BoostedRanker("ndcg", objective="lambdarank", n_estimators=5, n_jobs=1)
    shuffled.fit(X[order], grades[order], qid=qid[order])
    np.testing.assert_allclose(shuffled.decision_function(X), other.decision_function(X), atol=1e-9)
    assert np.corrcoef(one.decision_function(X), other.decision_function(X))[0, 1] > 0.9


def test_what_cannot_be_learned_from_is_refused(collection):
    X, grades, qid = collection
    for ranker in (hr.LinearRanker("ap", surrogate="smooth"), hr.BoostedRanker("auc"), hr.RankerCV("ndcg")):
        with pytest.raises(ValueError, match=r"of graded relevance, choose a grade to reach"):
            ranker.fit(X, grades, qid=qid)
    with pytest.raises(ValueError, match="pass qid"):
        hr.BoostedRanker("ndcg", objective="lambdarank").fit(X, grades)


def test_a_model_of_lambdarank_is_saved(collection, tmp_path):
    X, grades, qid = collection
    ranker = hr.BoostedRanker("ndcg@3", objective="lambdarank", n_estimators=5, n_jobs=1).fit(X, grades, qid=qid)
    hr.save(ranker, tmp_path / "model.headrank")
    again = hr.load(tmp_path / "model.headrank")
    np.testing.assert_array_equal(again.decision_function(X), ranker.decision_function(X))
    assert hr.measure(again.measure) == hr.NDCG(3)

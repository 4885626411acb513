"""Measures of search results: beside trec_eval and scikit-learn, with grades and ties by brute force."""

import os
import sys
from itertools import chain, groupby, permutations, product
from math import log2
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

import headrank as hr
from headrank.exceptions import InvalidSampleError, MissingLabelsWarning, OneClassError
from headrank.measures import ranked_lists

SHARED = {
    "map": "ap",
    "map_cut_5": "ap@5",
    "map_cut_100": "ap@100",
    "ndcg": "ndcg",
    "ndcg_cut_5": "ndcg@5",
    "ndcg_cut_10": "ndcg@10",
    "recip_rank": "mrr",
    "Rprec": "rprec",
    "success_1": "success@1",
    "success_5": "success@5",
    "success_10": "success@10",
    "bpref": "bpref",
}
"""Names in trec_eval, and here."""


def by_trec_eval(grades, scores, qid):
    """Each measure of each query, in order of the query ids."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    judged, run = {}, {}
    for row, (query, grade, score) in enumerate(zip(qid.tolist(), grades.tolist(), scores.tolist(), strict=True)):
        judged.setdefault(str(query), {})[str(row)] = grade
        run.setdefault(str(query), {})[str(row)] = score
    wanted = {"map", "map_cut.5,100", "ndcg", "ndcg_cut.5,10", "recip_rank", "Rprec", "success.1,5,10", "bpref"}
    found = pytrec_eval.RelevanceEvaluator(judged, wanted).evaluate(run)
    return {name: np.array([found[str(query)][name] for query in np.unique(qid)]) for name in SHARED}


def same_as_trec_eval(grades, scores, qid):
    theirs = by_trec_eval(grades, scores, qid)
    has_relevant = np.array([grades[qid == query].any() for query in np.unique(qid)])
    for name, values in theirs.items():
        measure = hr.measure(SHARED[name])
        y = grades if isinstance(measure, hr.NDCG) else grades > 0
        ours = measure.of_queries(measure.check(y, scores, qid=qid))
        np.testing.assert_allclose(ours[has_relevant], values[has_relevant], rtol=0, atol=1e-9, err_msg=name)
        assert np.isnan(ours[~has_relevant]).all()
        mean = measure(y, scores, qid=qid)
        assert mean == pytest.approx(values[has_relevant].mean(), abs=1e-9)
        assert (mean.n_queries, mean.n_left_out) == (has_relevant.sum(), (~has_relevant).sum())
        assert measure(y, scores, qid=qid, empty="zero") == pytest.approx(values.mean(), abs=1e-9)


def test_every_shared_measure_is_that_of_trec_eval():
    rng = np.random.default_rng(0)
    qid = np.sort(rng.integers(100, 300, 3000))
    grades = rng.choice(5, p=[0.6, 0.15, 0.1, 0.1, 0.05], size=3000)
    grades[np.isin(qid, [100, 150, 200])] = 0
    grades[np.isin(qid, [101, 151])] += 1  # nothing but relevant documents
    same_as_trec_eval(np.minimum(grades, 4), rng.permutation(3000).astype(np.float32) / 8, qid)


DATA = Path(os.environ.get("HEADRANK_DATA", "/nowhere"))


@pytest.mark.parametrize("name", ["mq2008", "lightgbm_rank"])
@pytest.mark.skipif(not (DATA / "load.py").exists(), reason="HEADRANK_DATA is not the folder of the shared data")
def test_public_collections_measure_as_trec_eval_does(name, monkeypatch):
    monkeypatch.syspath_prepend(str(DATA))
    sys.modules.pop("load", None)
    from load import load

    X, _, more = load(name)
    X = X.toarray() if hasattr(X, "toarray") else X
    qid, grades = more["qid"], more["rel"].astype(int)
    rng = np.random.default_rng(0)
    # A scorer with no ties: ranks of a weighted sum of the features, exact in single precision.
    scores = np.argsort(np.argsort(np.nan_to_num(X) @ rng.random(X.shape[1]) + 1e-9 * rng.random(len(qid))))
    same_as_trec_eval(grades, scores.astype(float), qid)


@pytest.mark.parametrize("k", [None, 3])
def test_ndcg_is_that_of_scikit_learn_with_ties_too(k):
    rng = np.random.default_rng(1)
    for _ in range(300):
        n = int(rng.integers(2, 30))
        grades, scores = rng.integers(0, 4, n), rng.permutation(n) // int(rng.integers(1, 4))
        if grades.max() > 0:
            assert hr.NDCG(k)(grades, scores) == pytest.approx(ndcg_score([grades], [scores], k=k), abs=1e-12)


def slow_ndcg(rows, k, gain):
    """The mean over all orders of tied rows of the DCG, over that of the best order."""

    def dcg(grades):
        gains = [grade if gain == "linear" else 2**grade - 1 for grade in grades]
        return sum(value / log2(2 + i) for i, value in enumerate(gains[:k]))

    ordered = sorted(rows, key=lambda row: -row[1])
    groups = [[grade for grade, _ in group] for _, group in groupby(ordered, key=lambda row: row[1])]
    orders = [list(chain(*order)) for order in product(*map(permutations, groups))]
    return sum(map(dcg, orders)) / len(orders) / dcg(sorted((grade for grade, _ in rows), reverse=True))


@given(
    rows=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=2, max_size=6),
    k=st.sampled_from([None, 1, 2, 4]),
    gain=st.sampled_from(["linear", "exponential"]),
)
@settings(max_examples=settings.default.max_examples // 2)
def test_graded_rows_equal_the_slow_twin(rows, k, gain):
    grades, scores = zip(*rows, strict=True)
    measure = hr.NDCG(k, gain=gain)
    if max(grades) < 2:
        return
    assert measure(grades, scores) == pytest.approx(slow_ndcg(rows, k, gain), abs=1e-12)
    twice = measure([*grades, *grades], [*scores, *scores])
    assert measure(grades, scores, sample_weight=[2] * len(rows)) == pytest.approx(twice, abs=1e-12)


@pytest.mark.parametrize("name", ["ndcg@3", "ap", "mrr", "bpref"])
@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_of_queries_give_the_values_of_all_at_once(name, weighted, monkeypatch):
    rng = np.random.default_rng(1)
    measure, qid, scores = hr.measure(name), np.sort(rng.integers(0, 40, 300)), rng.integers(0, 9, 300)
    y = rng.integers(0, 4, 300) if measure.graded else rng.random(300) < 0.3
    weights = rng.integers(0, 3, 300).astype(float) if weighted else None
    sample = measure.check(y, scores, weights, qid=qid)
    at_once = measure.of_queries(sample)
    for rows in (1, 7, 100, 299):
        monkeypatch.setattr(ranked_lists, "BLOCK_ROWS", rows)
        np.testing.assert_allclose(measure.of_queries(sample), at_once, rtol=1e-12)


@pytest.mark.parametrize("name", ["auc", "p@2", "ap", "mrr", "rprec", "success@2", "bpref"])
def test_grades_are_refused_by_name_where_two_classes_are_needed(name):
    with pytest.raises(InvalidSampleError, match=rf"^{name} takes two classes: y must be 0/1.*0, 3, 1; .*'ndcg'"):
        hr.measure(name)([0, 3, 1], [1, 2, 3])


@pytest.mark.parametrize("y", [[0, 1.5, 2], [0, -1, 2], [0, 31, 2], ["a", "b", "c"], [0, 2, np.nan]])
def test_what_is_no_grade_is_refused(y):
    with pytest.raises(InvalidSampleError, match=r"y (must be 0/1|contains 1 NaN)"):
        hr.NDCG()(y, [1, 2, 3])
    with pytest.raises(OneClassError):
        hr.NDCG()([0, 0, 0], [1, 2, 3])


def test_grades_beside_missing_ones():
    """A list with None is an array of objects; its grades are numbers all the same."""
    right = hr.measures.NDCG()([0, 2, 1], [4, 2, 1])
    for y in ([0, None, 2, 1], np.array([0, None, 2.0, 1], dtype=object), [0, np.nan, 2, 1]):
        with pytest.warns(MissingLabelsWarning):
            assert hr.measures.NDCG()(y, [4, 3, 2, 1], missing="drop") == right
    assert hr.measures.NDCG()(np.array([0, 2, 1], dtype=object), [4, 2, 1]) == right


def test_names():
    assert str(hr.measure("ndcg@10,gain=exponential")) == "ndcg@10,gain=exponential"
    assert hr.measure("ndcg@gain=exponential") == hr.NDCG(gain="exponential")
    for bad in ("ndcg@x", "ndcg@10,gain=cubic", "ndcg@10,k=2", "success", "mrr@3", "ndcg@0"):
        with pytest.raises(ValueError, match="cannot read the measure"):
            hr.measure(bad)


def test_intervals_over_queries_take_grades():
    rng = np.random.default_rng(2)
    qid, grades = np.repeat(np.arange(300), 8), rng.integers(0, 4, 2400)
    scores = grades + rng.normal(size=2400)
    mean = hr.NDCG(5)(grades, scores, qid=qid)
    for method in ("auto", "bootstrap"):
        interval = hr.interval(grades, scores, measure="ndcg@5", qid=qid, method=method, random_state=0)
        assert interval.estimate == pytest.approx(mean)
        assert interval.low < mean < interval.high


def test_scorers_are_compared_and_selected_by_grades():
    rng = np.random.default_rng(3)
    qid, grades = np.repeat(np.arange(200), 8), rng.integers(0, 4, 1600)
    good, poor = grades + rng.normal(size=1600), grades + 4 * rng.normal(size=1600)
    difference = hr.compare(grades, good, poor, measure="ndcg@5", qid=qid)
    values = [hr.NDCG(5)(grades, scores, qid=qid) for scores in (good, poor)]
    assert difference.estimate == pytest.approx(values[0] - values[1])
    assert difference.low > 0
    assert hr.select({"good": good, "poor": poor}, grades, measure="ndcg@5", qid=qid).picked == "good"

"""Average precision and the precision-recall curve, beside scikit-learn and by hand."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, precision_recall_curve

import headrank as hr
from headrank.exceptions import OneClassError
from headrank.plots.precision_recall import precisions


def untied_samples(n_samples):
    rng = np.random.default_rng(0)
    for _ in range(n_samples):
        n = int(rng.integers(2, 80))
        y = rng.random(n) < rng.uniform(0.05, 0.95)
        y[:2] = True, False
        yield y, rng.permutation(n) + rng.random()


def test_without_ties_ap_is_that_of_scikit_learn():
    for y, scores in untied_samples(300):
        assert hr.AveragePrecision()(y, scores) == pytest.approx(average_precision_score(y, scores), abs=1e-12)


def test_the_curve_is_that_of_scikit_learn():
    for y, scores in untied_samples(300):
        precision, recall, _ = precision_recall_curve(y, scores)
        found, ours = precisions(hr.RocCurve.from_scores(y, scores))
        for at, value in zip(found, ours, strict=True):  # where a positive is found, the highest precision there
            assert value == pytest.approx(precision[np.isclose(recall, at)].max(), abs=1e-12)


def test_with_ties_ap_is_the_mean_over_shuffles_and_scikit_learn_is_not():
    rng = np.random.default_rng(1)
    y, scores = np.repeat([1, 0], [20, 60]), np.repeat([1.0, 2.0, 1.0, 0.0], 20)
    shuffled = [average_precision_score(y, scores + 1e-6 * rng.permutation(80)) for _ in range(500)]
    ours, theirs = hr.AveragePrecision()(y, scores), average_precision_score(y, scores)
    sure = 6 * np.std(shuffled) / np.sqrt(len(shuffled))
    assert abs(np.mean(shuffled) - ours) < sure
    assert abs(np.mean(shuffled) - theirs) > sure


def test_many_tied_rows_far_down_keep_their_digits():
    """A closed form with logarithms against a sum over two million places."""
    n_above, pos, neg = 10_000_000, 1_000_000, 1_000_000
    y = hr.RocCurve(np.array([2.0, 1.0]), np.array([3, pos]), np.array([n_above - 3, neg]), pos + 3, n_above - 3 + neg)
    j = np.arange(1, pos + neg + 1)
    hits = 3 + 1 + (j - 1) * ((pos - 1) / (pos + neg - 1))
    first = hr.AveragePrecision().value(
        hr.RocCurve(np.array([2.0]), np.array([3]), np.array([n_above - 3]), 3, n_above - 3)
    )
    expected = (3 * first + np.sum(0.5 * hits / (n_above + j))) / (pos + 3)
    assert hr.AveragePrecision().value(y) == pytest.approx(expected, rel=1e-12)


def test_prauc_is_the_limit_of_ap_and_ignores_the_scale_of_weights():
    y, scores = [1, 0, 1, 1, 0, 0], [6, 5, 4, 3, 3, 1]
    area = hr.PrecisionRecallArea()(y, scores)
    gaps = [abs(hr.AveragePrecision()(y, scores, sample_weight=np.full(6, w)) - area) for w in (1, 10, 100, 1000)]
    assert all(more > 8 * less for more, less in pairwise(gaps))
    for factor in (1e-6, 0.3, 1e6):
        assert hr.PrecisionRecallArea()(y, scores, sample_weight=np.full(6, factor)) == pytest.approx(area, rel=1e-12)


def test_weights_of_a_count():
    """Two thirds of the positives are above the other row; half of a first row, alone or tied, counts half."""
    y, scores = [1, 0, 1], [3, 2, 1]
    assert hr.AveragePrecision(2)(y, scores, sample_weight=[2, 1, 1]) == pytest.approx(2 / 3)
    assert hr.AveragePrecision(1)([1, 0], [1, 1], sample_weight=[1, 1]) == pytest.approx(0.5)
    assert hr.AveragePrecision(1)([0, 1, 0], [2, 1, 1], sample_weight=[0.5, 0.5, 0.5]) == pytest.approx(0.5 / 1.5)


QID = np.array([5, 5, 5, 2, 2, 9, 9, 7])
Y, SCORES = np.array([0, 1, 1, 0, 0, 1, 1, 0]), np.array([3.0, 2, 1, 1, 2, 1, 1, 4])


def test_queries_count_if_they_have_a_positive():
    """As in trec_eval: the query with nothing but positives counts, the two without any do not, or as 0."""
    mean = hr.AveragePrecision()(Y, SCORES, qid=QID)
    assert (mean.n_queries, mean.n_left_out) == (2, 2)
    assert mean == pytest.approx(((1 / 2 + 2 / 3) / 2 + 1) / 2)
    zero = hr.AveragePrecision()(Y, SCORES, qid=QID, empty="zero")
    assert (zero.n_queries, zero.n_left_out) == (4, 0)
    assert zero == pytest.approx(mean / 2)
    with pytest.raises(ValueError, match="empty must be one of 'omit', 'zero'"):
        hr.AveragePrecision()(Y, SCORES, qid=QID, empty="nan")
    with pytest.raises(OneClassError, match="none of the 4 queries"):
        hr.AveragePrecision()(np.zeros(8, int), SCORES, qid=QID)


@pytest.mark.parametrize("measure", [hr.AveragePrecision(), hr.AveragePrecision(3)], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_all_queries_at_once_are_one_after_another(measure, weighted):
    rng = np.random.default_rng(3)
    qid, y, scores = rng.integers(0, 30, 200), rng.random(200) < 0.3, rng.integers(0, 6, 200)
    weights = rng.integers(0, 3, 200).astype(float) if weighted else None
    values = []
    for query in range(30):
        rows = (qid == query) & ((weights > 0) if weighted else True)
        if y[rows].any() and not y[rows].all():
            values.append(measure(y[rows], scores[rows], sample_weight=None if weights is None else weights[rows]))
        elif y[rows].any():
            values.append(min(1.0, (measure.k or np.inf) / (rows.sum() if weights is None else weights[rows].sum())))
    mean = measure(y, scores, qid=qid, sample_weight=weights)
    assert mean.n_queries == len(values)
    assert mean == pytest.approx(np.mean(values), abs=1e-12)


def test_intervals_of_map_take_the_queries_that_count():
    rng = np.random.default_rng(4)
    qid, y = np.repeat(np.arange(200), 10), rng.random(2000) < 0.2
    scores = rng.normal(size=2000) + y
    mean = hr.AveragePrecision()(y, scores, qid=qid)
    for method in ("auto", "bootstrap"):
        interval = hr.interval(y, scores, measure="ap", qid=qid, method=method, random_state=0)
        assert interval.estimate == pytest.approx(mean)
        assert interval.n_queries == mean.n_queries
        assert interval.low < mean < interval.high

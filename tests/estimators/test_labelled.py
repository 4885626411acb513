"""Labels, weights and queries: checked once, and rows of weight 0 are gone."""

import numpy as np
import pytest

import headrank as hr
from headrank.estimators._labelled import Labelled, threshold_of
from headrank.estimators.cv.fold_rows import FoldRows
from headrank.exceptions import OneClassError
from headrank.labels import Sample

POSITIVE = np.array([True, False, True, False, False])


def test_rows_of_weight_0_are_left_out():
    labelled = Labelled.of(POSITIVE, [1, 0, 2, 3, 1], ["a", "a", "b", "b", "a"])
    assert labelled.present.tolist() == [0, 2, 3, 4]
    assert labelled.positive.tolist() == [True, True, False, False]
    assert labelled.weights.tolist() == [1, 2, 3, 1]
    assert labelled.queries.tolist() == [0, 1, 1, 0]
    assert (labelled.size, labelled.total_weight) == (4, 7.0)


def test_weights_of_one_are_none():
    labelled = Labelled.of(POSITIVE, np.ones(5), None)
    assert labelled.weights is None
    assert labelled.present is None
    assert labelled.total_weight == 5
    assert Labelled.of(POSITIVE, [1, 0, 1, 1, 1], None).weights is None
    assert Labelled.of(POSITIVE, np.full(5, 2.0), None).weights is not None


def test_part_of_the_rows():
    labelled = Labelled.of(POSITIVE, [1, 2, 3, 4, 5], [0, 0, 1, 1, 1]).take(np.array([4, 0]))
    assert labelled.positive.tolist() == [False, True]
    assert labelled.weights.tolist() == [5, 1]
    assert not labelled.has_both_classes()  # not in one query
    assert Labelled(labelled.positive).has_both_classes()


def test_facts_by_class():
    facts = Labelled.of(POSITIVE, [1, 2, 3, 4, 5], [0, 0, 1, 1, 1]).row_facts()
    assert (facts.pos_weights.tolist(), facts.neg_weights.tolist()) == ([1, 3], [2, 4, 5])
    assert (facts.pos_queries.tolist(), facts.neg_queries.tolist()) == ([0, 1], [0, 1, 1])
    assert Labelled(POSITIVE).row_facts().pos_weights is None


def test_what_is_refused():
    with pytest.raises(ValueError, match="sample_weight must have one value per row: X has 5 rows, sample_weight 4"):
        Labelled.of(POSITIVE, np.ones(4), None)
    with pytest.raises(ValueError, match="qid must have one value per row: X has 5 rows, qid 6"):
        Labelled.of(POSITIVE, None, np.ones(6))
    with pytest.raises(OneClassError, match="both classes"):
        Labelled.of(POSITIVE, POSITIVE.astype(float), None)
    with pytest.raises(OneClassError, match="all 2 queries have only one class; check qid"):
        Labelled.of(POSITIVE, None, POSITIVE.astype(int))


@pytest.mark.parametrize("weights", [None, np.ones(5)])
def test_the_threshold_calls_as_many_rows_positive_as_there_are(weights):
    scores = np.array([3.0, 1.0, 2.0, 5.0, 4.0])
    threshold = threshold_of(Sample(POSITIVE, scores, weights, None))
    assert threshold == 3.5


def test_the_threshold_counts_weights():
    scores = np.array([3.0, 1.0, 2.0, 5.0, 4.0])
    assert threshold_of(Sample(POSITIVE, scores, np.array([1.0, 1.0, 1.0, 2.0, 9.0]), None)) == 4.5
    for weights in (None, np.array([3.0, 1.0, 4.0, 1.0, 2.0])):  # a constant score calls no row positive
        assert threshold_of(Sample(POSITIVE, np.full(5, 2.0), weights, None)) == 2.0


def test_the_spread_counts_weights():
    scores, weights = np.array([3.0, 1.0, 2.0, 5.0, 4.0]), np.array([1, 2, 1, 3, 1])
    splits = [(np.array([0, 1]), np.array([2, 3, 4])), (np.array([2, 3, 4]), np.array([0, 1]))]
    folds = FoldRows(Labelled(POSITIVE, weights.astype(float)), splits, hr.AUC())
    assert folds.spread([scores[2:], scores[:2]]) == pytest.approx(scores.repeat(weights).std())
    assert folds.spread([np.zeros(3), np.zeros(2)]) == 1.0


@pytest.mark.parametrize(("measure", "sign"), [("auc", 1), (hr.FPRAtTPR(0.5), -1)])
def test_values_of_folds(measure, sign):
    y, scores = np.array([0, 1, 0, 1, 1, 0, 0, 1]), np.array([1.0, 2.0, 3.0, 4.0, 0.0, 1.0, 2.0, 1.0])
    weights = np.array([1.0, 2.0, 1.0, 1.0, 3.0, 1.0, 2.0, 1.0])
    splits = [(np.arange(4, 8), np.arange(4)), (np.arange(4), np.arange(4, 8))]
    folds = FoldRows(Labelled(y == 1, weights), splits, hr.measure(measure))
    expected = [sign * hr.measure(measure)(y[test], scores[test], sample_weight=weights[test]) for _, test in splits]
    np.testing.assert_allclose(folds.values([scores[:4], scores[4:]]), expected)
    with pytest.raises(ValueError, match="shorter"):
        folds.values([scores[:4]])


def test_weights_that_add_up_to_1_are_shares():
    """Others are numbers of copies."""
    labels = np.arange(400) % 4 == 0
    weights = np.arange(400.0) + 1
    np.testing.assert_allclose(Labelled.of(labels, weights / weights.sum(), None).counts.mean(), 1)
    assert Labelled.of(labels, np.full(400, 1e-9), None).counts is None
    np.testing.assert_array_equal(Labelled.of(labels, weights, None).counts, weights)
    np.testing.assert_array_equal(Labelled.of(labels, weights / 1000, None).counts, weights / 1000)
    assert Labelled.of(labels, None, None).counts is None

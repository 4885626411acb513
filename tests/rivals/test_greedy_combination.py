"""Greedy combination: each angle is the best there is, and nothing falls below the best single column."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import headrank as hr
from headrank.estimators._labelled import Labelled
from headrank.exceptions import CollapsedFitWarning
from headrank.rivals import GreedyCombination
from headrank.rivals.angles import n_pairs, searched, swept
from reference.rivals import best_of_all_angles

MEASURES = ("auc", "pauc@0.3", hr.PartialAUC(min_fpr=0.2, max_fpr=0.6), "p@2", "fpr@tpr=0.5", hr.LocalAUC(0.4))


@st.composite
def two_columns(draw):
    """A few rows with both classes, a score and a column in -3..3, and queries or none."""
    n = draw(st.integers(2, 7))
    positive = np.array([True, False, *draw(st.lists(st.booleans(), min_size=n - 2, max_size=n - 2))])
    score, column = (
        np.array(draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n)), dtype=float) for _ in range(2)
    )
    others = draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))
    return positive, score, column, draw(st.sampled_from([None, np.array([0, 0, *others])]))


def worth_of(measure, labelled):
    measure = hr.measure(measure)
    sign = 1 if measure.greater_is_better else -1
    return lambda scores: sign * float(measure.of_sample(labelled.sample(scores)))


def made_up(seed=0, n=300, n_features=5):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    return rng.normal(size=(n, n_features)) + np.outer(y, np.linspace(1, 0, n_features)), y


@pytest.mark.parametrize("measure", MEASURES, ids=str)
@given(rows=two_columns())
@settings(max_examples=25)
def test_the_sweep_finds_the_best_of_all_angles(measure, rows):
    positive, score, column, queries = rows
    labelled = Labelled(positive, None, queries)
    worth = worth_of(measure, labelled)
    found = swept(score, column, labelled, worth, worth(score))
    best = best_of_all_angles(positive, score, column, worth, queries)
    assert found.worth == pytest.approx(max(best, worth(score)))
    assert worth(found.combined(score, column)) == pytest.approx(found.worth)


@given(rows=two_columns())
@settings(max_examples=40)
def test_pairs_are_counted_within_queries(rows):
    positive, _, _, queries = rows
    ids = np.zeros(positive.size) if queries is None else queries
    pairs = sum(positive[i] and not positive[j] and ids[i] == ids[j] for i in range(len(ids)) for j in range(len(ids)))
    assert n_pairs(Labelled(positive, None, queries)) == pairs


@pytest.mark.parametrize("measure", ["auc", "pauc@0.2"])
def test_the_grid_comes_close_to_the_sweep_and_never_beats_it(measure):
    X, y = made_up(n=80)
    labelled = Labelled(y == 1)
    worth = worth_of(measure, labelled)
    exact = swept(X[:, 0], X[:, 1], labelled, worth, worth(X[:, 0])).worth
    grid = searched(X[:, 0], X[:, 1], worth, worth(X[:, 0]), 101).worth
    assert worth(X[:, 0]) < exact
    assert exact - 0.02 <= grid <= exact + 1e-12


@pytest.mark.parametrize("measure", MEASURES, ids=str)
@pytest.mark.parametrize(("n", "search"), [(60, "exact"), (300, "grid")])
def test_it_never_falls_below_the_best_single_column(measure, n, search):
    X, y = made_up(n=n)
    measure = hr.measure(measure)
    ranker = GreedyCombination(measure).fit(X, y)
    sign = 1 if measure.greater_is_better else -1
    alone = max(sign * measure(y, each) for column in X.T for each in (column, -column))
    assert ranker.search_ == search
    assert sign * ranker.values_[0] == pytest.approx(alone)
    assert np.all(np.diff(sign * ranker.values_) > 0)
    assert ranker.training_measure_ == pytest.approx(measure(y, ranker.decision_function(X)))
    assert np.flatnonzero(ranker.coef_).tolist() == sorted(ranker.order_.tolist())


def test_it_gains_where_columns_complement_each_other():
    X, y = made_up(n=600)
    ranker = GreedyCombination("pauc@0.2").fit(X[::2], y[::2])
    alone = max(hr.measure("pauc@0.2")(y[1::2], column) for column in X[1::2].T)
    assert ranker.score(X[1::2], y[1::2]) > alone + 0.05


def test_a_negated_column_is_as_good():
    X, y = made_up()
    one, other = (GreedyCombination("auc").fit(sign * X, y) for sign in (1, -1))
    assert other.coef_ == pytest.approx(-one.coef_)


def test_units_do_not_matter():
    X, y = made_up()
    one = GreedyCombination("pauc@0.3").fit(X, y)
    other = GreedyCombination("pauc@0.3").fit(X * [1e-6, 1, 1e6, 7, 3] + [5, 0, -1e6, 0, 2], y)
    assert other.training_measure_ == pytest.approx(one.training_measure_)
    assert other.order_.tolist() == one.order_.tolist()


def test_sparse_rows_weights_and_queries():
    X, y = made_up()
    X[np.abs(X) < 0.8] = 0
    weights = np.random.default_rng(1).integers(0, 3, y.size)
    dense = GreedyCombination("pauc@0.3").fit(X, y, sample_weight=weights)
    sparse = GreedyCombination("pauc@0.3").fit(csr_array(X), y, sample_weight=weights)
    repeated = GreedyCombination("pauc@0.3").fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert sparse.coef_ == pytest.approx(dense.coef_)
    assert repeated.training_measure_ == pytest.approx(dense.training_measure_)
    qid = np.arange(y.size) % 6
    ranker = GreedyCombination("pauc@0.3").fit(X, y, qid=qid)
    assert ranker.training_measure_ == pytest.approx(ranker.score(X, y, qid=qid))


def test_only_the_best_columns_are_tried():
    X, y = made_up()
    ranker = GreedyCombination("auc", max_columns=2).fit(X, y)
    alone = [max(hr.measure("auc")(y, each) for each in (column, -column)) for column in X.T]
    assert set(ranker.order_.tolist()) <= set(np.argsort(alone)[-2:].tolist())


def test_constant_columns_teach_nothing():
    with pytest.warns(CollapsedFitWarning, match="no column"):
        ranker = GreedyCombination("auc").fit(np.full((6, 2), 3.0), [0, 1, 0, 1, 0, 1])
    assert ranker.collapsed_
    assert not ranker.coef_.any()
    assert ranker.order_.size == 0

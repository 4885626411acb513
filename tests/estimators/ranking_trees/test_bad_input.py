"""Input that is odd but allowed, input that is refused, and what is said of both."""

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix

import headrank as hr
from estimators.ranking_trees.growing import forest, loose, tree, whole_numbers
from headrank.estimators.ranking_trees.bins import BinnedRows
from headrank.exceptions import CollapsedFitWarning, OneClassError
from samples import gaussians

RANKERS = {"tree": tree, "loose": loose, "forest": forest}


@pytest.fixture(params=list(RANKERS))
def make(request):
    return RANKERS[request.param]


def test_nan_and_infinities_are_values(make):
    """Infinities are the ends of the order, NaN is a value of its own."""
    X, y = gaussians(60, 180, 2)
    X[:, 1] = np.where(y == 1, np.nan, 0)
    X[:30, 0], X[30:60, 0] = np.inf, -np.inf
    ranker = make(max_features=None).fit(X, y)
    scores = ranker.decision_function(X)
    assert np.isfinite(scores).all()
    assert scores[y == 1].min() > scores[y == 0].max()
    large = np.where(np.isinf(X), np.sign(X) * 1e300, X)
    np.testing.assert_array_equal(make(max_features=None).fit(large, y).decision_function(large), scores)


@pytest.mark.parametrize("missing_is_good", [True, False])
def test_missing_values_go_where_they_help(missing_is_good):
    """Some of the low values are missing, and all of these are of one class."""
    X, y = np.arange(60.0)[:, None], np.arange(60) >= 30
    hidden = (y if missing_is_good else ~y) & (np.arange(60) % 2 == 0)
    X[hidden] = np.nan
    ranker = loose(max_cells=2).fit(X, y)
    assert ranker.score(X, y) == 1
    assert ranker.tree_.n_leaves == 2
    assert ranker.better_part() == ("(x0 > 30 or missing)" if missing_is_good else "x0 > 29.5")
    assert ranker.has_missing_.tolist() == [True]


def test_missing_values_that_were_not_seen_go_with_the_majority():
    X, y = np.arange(60.0)[:, None], np.arange(60) >= 20
    ranker = loose(max_cells=2).fit(X, y)
    assert ranker.apply([[np.nan], [40.0], [0.0]]).tolist() == [0, 0, 1]
    assert ranker.better_part() == "x0 > 19.5"


def test_weights_lost_in_rounding():
    """Above the highest of the others there are rows of both classes, whose weights vanish in every sum."""
    X, y = np.arange(60.0)[:, None], np.arange(60) % 2
    weights = np.where(np.arange(60) < 50, 1.0 + np.arange(60) % 7, 1e-30)
    ranker = hr.TreeRanker("auc", min_samples_leaf=2, cv=None).fit(X, y, sample_weight=weights)
    assert np.isfinite(ranker.decision_function(X)).all()


def test_only_missing_or_not_matters():
    X, y = np.full((40, 1), 5.0), np.arange(40) % 2 == 0
    X[y] = np.nan
    ranker = loose().fit(X, y)
    assert ranker.better_part() == "x0 is missing"
    assert loose().fit(X, ~y).better_part() == "x0 is known"
    assert ranker.apply([[np.inf], [np.nan]]).tolist() == [1, 0]


def test_bins():
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=2000), rng.integers(0, 3, 2000), np.full(2000, np.nan)]
    X[:100, 0] = np.nan
    rows = BinnedRows.of(X, None)
    assert rows.sizes.tolist() == [256, 3, 2]
    assert rows.has_missing.tolist() == [True, False, True]
    assert rows.edges[1].tolist() == [0.5, 1.5]
    counts = np.bincount(rows.codes[0], minlength=256)
    assert counts[255] == 100
    assert counts[:255].min() >= 6
    assert counts[:255].max() <= 9
    assert (rows.codes[2] == 1).all()
    order = np.argsort(X[100:, 0])
    assert (np.diff(rows.codes[0, 100:][order].astype(int)) >= 0).all()


def test_neighbouring_floats_and_infinities_have_an_edge_between_them():
    values = np.array([-np.inf, -1e308, 1.0, np.nextafter(1.0, 2.0), 1e308, np.inf])
    rows = BinnedRows.of(values[:, None], None)
    assert rows.codes[0].tolist() == [0, 1, 2, 3, 4, 5]
    X, y = np.repeat(values, 20)[:, None], np.repeat([0, 1, 0, 1, 0, 1], 20)
    assert loose(max_cells=8).fit(X, y).score(X, y) == 1


def test_one_class(make):
    X, y = whole_numbers()
    for labels in (np.zeros(y.size), np.ones(y.size)):
        with pytest.raises(ValueError, match=r"y has only one class, .*; a ranking needs rows of two classes"):
            make().fit(X, labels)
    with pytest.raises(OneClassError, match="all 150 rows are negative and none is positive"):
        make().fit(X, y, sample_weight=(y == 0).astype(float))


def test_too_few_rows_for_a_split():
    X, y = gaussians(5, 25)
    with pytest.warns(
        CollapsedFitWarning, match="30 rows are fewer than the 50 that a split needs; lower min_samples_"
    ):
        ranker = hr.TreeRanker().fit(X, y)
    assert ranker.collapsed_
    assert np.ptp(ranker.decision_function(X)) == 0


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"max_depth": 0}, ValueError, "max_depth must be at least 1, got 0"),
        ({"min_samples_split": 1}, ValueError, "min_samples_split must be at least 2, got 1"),
        ({"min_samples_leaf": 0}, ValueError, "min_samples_leaf must be at least 1, got 0"),
        ({"max_cells": 1}, ValueError, "max_cells must be at least 2, got 1"),
        ({"max_cells": 2.5}, TypeError, "max_cells must be a whole number, got 2.5"),
        ({"max_features": "log2"}, ValueError, "max_features must be 'sqrt', a number or None, got 'log2'"),
        ({"max_features": 0}, ValueError, "max_features must be at least 1, got 0"),
        ({"max_features": 1.5}, ValueError, r"max_features must lie in \(0, 1\], got 1.5"),
        ({"local": "yes"}, TypeError, "local must be True or False, got 'yes'"),
        ({"random_state": -1}, ValueError, "random_state must be None, a whole number"),
        ({"measure": "best"}, ValueError, "unknown measure 'best'"),
    ],
)
def test_parameters_that_are_refused(make, options, error, words):
    with pytest.raises(error, match=words):
        make(**options).fit(*whole_numbers())


def test_parameters_of_one_kind_that_are_refused():
    X, y = whole_numbers()
    for ranker, words in (
        (tree(cv=1), "cv must be at least 2, got 1"),
        (tree(cv="five"), "cv must be an int, a splitter"),
        (forest(aggregate="median"), "aggregate must be one of 'mean', 'product', got 'median'"),
        (forest(n_estimators=0), "n_estimators must be at least 1, got 0"),
        (forest(n_jobs=-2), "n_jobs must be at least -1, got -2"),
    ):
        with pytest.raises(ValueError, match=words):
            ranker.fit(X, y)
    with pytest.raises(ValueError, match="region must be below 1, the number of regions, got 1"):
        _collapsed().better_part(1)


def _collapsed():
    X, y = whole_numbers()
    with pytest.warns(CollapsedFitWarning):
        return tree(cv=None).fit(np.ones_like(X), y)


def test_lengths_that_differ(make):
    X, y = whole_numbers()
    with pytest.raises(ValueError, match="sample_weight must have one value per row: X has 200 rows, sample_weight 7"):
        make().fit(X, y, sample_weight=np.ones(7))
    with pytest.raises(ValueError, match="qid must have one value per row: X has 200 rows, qid 7"):
        make().fit(X, y, qid=np.ones(7))
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3 features"):
        make().fit(X, y).decision_function(X[:, :2])


def test_names_of_features_and_classes():
    X, y = whole_numbers()
    frame = pl.DataFrame({name: X[:, j] for j, name in enumerate(("size", "age", "noise"))})
    ranker = tree("auc", max_cells=2, cv=None).fit(frame, np.array(["no", "yes"])[y])
    assert ranker.better_part() == "size > 4.5"
    assert ranker.better_part(ranker.tree_.left.size - 1) == ""
    assert set(ranker.predict(frame)) == {"no", "yes"}


def test_wide_sparse_rows(make):
    """More features than rows; scoring makes a few rows dense at a time."""
    rng = np.random.default_rng(0)
    X = (rng.random((80, 300)) < 0.05).astype(float)
    y = (np.arange(80) % 4 == 0).astype(int)
    X[:, 17] = y
    ranker = make(max_features=None).fit(csr_matrix(X), y)
    assert ranker.score(csr_matrix(X), y) == 1
    np.testing.assert_array_equal(ranker.decision_function(csr_matrix(X)), ranker.decision_function(X))

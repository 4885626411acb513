"""Column generation: the solver is certified, its row weights are those of the minimum, and trees follow them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

import headrank as hr
from headrank.estimators._labelled import Labelled
from headrank.estimators.ranking_trees.bins import BinnedRows
from headrank.exceptions import CollapsedFitWarning
from headrank.rivals import ColumnGeneration
from headrank.rivals.restricted_master import Generation, TreeSettings, _Cuts, signs
from headrank.solvers import hybrid
from headrank.surrogates import surrogate_for

SURROGATES = ("tight", "structural", "toppush", "tau-fpl", "patmat", "asymmetric")


def made_up(seed=0, n=300):
    """Positives where two columns are both high or both low: no single column shows it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] * X[:, 1] + 0.4 * X[:, 2] + 0.4 * rng.normal(size=n) > 0.8).astype(int)


def generation_of(surrogate="tight", *, weighted=False, queries=False, C=10.0, tol=1e-4, **options):
    X, y = made_up(n=160)
    rng = np.random.default_rng(1)
    labelled = Labelled(
        y == 1, rng.uniform(0.5, 2, y.size) if weighted else None, np.arange(y.size) % 3 if queries else None
    )
    return Generation(
        X,
        BinnedRows.of(X, labelled.weights),
        np.arange(y.size),
        labelled,
        surrogate_for(hr.measure("pauc@0.3"), surrogate, labelled.row_facts()),
        C,
        TreeSettings(max_cells=4, min_samples_leaf=5),
        tol=tol,
        max_iter=1000,
        **{"edge_tol": 1e-3, "max_rounds": 8, **options},
    )


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_every_round_is_certified_and_none_is_worse(surrogate):
    rounds = list(generation_of(surrogate).rounds())
    objectives = np.array([each.solution.objective for each in rounds])
    lower = np.array([each.solution.lower for each in rounds])
    assert len(rounds) == 8
    assert np.all(lower <= objectives)
    assert np.all(objectives - lower <= 1e-4 * np.abs(objectives) + 1e-12)
    assert np.all(np.diff(objectives) <= 1e-9)
    assert objectives[-1] < objectives[0] - 1e-3


@pytest.mark.parametrize("options", [{}, {"weighted": True}, {"queries": True}], ids=str)
def test_the_minimum_is_that_of_a_linear_ranker_on_the_trees(options):
    generation = generation_of(**options)
    *_, last = generation.rounds()
    columns = last.risk.rows.X
    labelled = generation.labelled
    ranker = hr.LinearRanker("pauc@0.3", C=10.0, tol=1e-6).fit(
        columns, labelled.positive, sample_weight=labelled.weights, qid=labelled.queries
    )
    assert last.solution.lower - 1e-9 <= ranker.objective_
    assert ranker.lower_bound_ <= last.solution.objective + 1e-9
    assert np.linalg.norm(last.solution.weights) > 1e-2


@pytest.mark.parametrize("surrogate", ["tight", "structural", "tau-fpl"])
def test_row_weights_are_the_subgradient_of_the_minimum(surrogate):
    """At the minimum of |w|^2 / 2 + C R(w) the columns combined with them are -w / C."""
    generation = generation_of(surrogate, tol=1e-7)
    *_, last = generation.rounds()
    _, row_weights = _Cuts().joined(last.risk.points).combined(last.risk.rows, generation.C)
    columns, weights = last.risk.rows.X, last.solution.weights
    assert columns.T @ row_weights == pytest.approx(-weights / generation.C, abs=1e-3 * np.abs(weights).max())
    assert np.all(row_weights[generation.labelled.positive] <= 0)
    assert np.all(row_weights[~generation.labelled.positive] >= 0)


def test_the_first_edge_counts_rows_of_both_classes_the_same():
    generation = generation_of()
    first = next(generation.rounds())
    better = signs(first.graph, generation.X)[:, 0] > 0
    positive = generation.labelled.positive
    assert first.edge == pytest.approx(2 * (better[positive].mean() - better[~positive].mean()))


def test_edges_are_slopes_of_the_risk():
    """Of the last tree: how much less risk a little of it costs, at the minimum without it."""
    *_, before, last = generation_of(tol=1e-7).rounds()
    step = 1e-4
    weights = np.append(before.solution.weights, 0.0)
    there = weights + step * np.eye(weights.size)[-1]
    fall = last.risk.at(weights).value - last.risk.at(there).value
    assert 0 < fall <= step * last.edge + 1e-6  # a subgradient is below a convex function


def test_rounds_end_at_the_tolerance_of_the_edge():
    every = list(generation_of(max_rounds=12, tol=1e-2).rounds())
    limit = max(each.edge for each in every[5:])
    some = list(generation_of(max_rounds=12, tol=1e-2, edge_tol=limit).rounds())
    assert len(some) < len(every)
    assert all(each.edge > limit for each in some)


def test_only_rows_that_are_kept_are_learned_from():
    X, y = made_up()
    kept = np.arange(0, y.size, 2)
    labelled = Labelled(y[kept] == 1)
    options = {"C": 10.0, "trees": TreeSettings(4, 5), "tol": 1e-3, "edge_tol": 0.0, "max_iter": 100, "max_rounds": 3}
    surrogate = surrogate_for(hr.measure("pauc@0.3"), "tight", labelled.row_facts())
    one = Generation(X, BinnedRows.of(X, None), kept, labelled, surrogate, **options)
    spoiled = X.copy()
    spoiled[1::2] = np.random.default_rng(3).permutation(X[1::2])
    other = Generation(spoiled, BinnedRows.of(X, None), kept, labelled, surrogate, **options)
    for mine, its in zip(one.rounds(), other.rounds(), strict=True):
        assert mine.solution.objective == pytest.approx(its.solution.objective)


def test_it_learns_what_no_single_column_shows():
    X, y = made_up(n=1000)
    ranker = ColumnGeneration("pauc@0.3", Cs=(1.0, 10.0), max_rounds=25, cv=3).fit(X[::2], y[::2])
    line = hr.LinearRanker("pauc@0.3", surrogate="logistic").fit(X[::2], y[::2])
    assert ranker.score(X[1::2], y[1::2]) > line.score(X[1::2], y[1::2]) + 0.3
    assert ranker.cv_values_.shape == (2, 25)
    assert ranker.best_score_ == np.nanmax(ranker.cv_values_)
    assert ranker.edges_.shape == ranker.objectives_.shape == ranker.lower_bounds_.shape == (ranker.n_rounds_,)


def test_an_interrupt_of_the_solver_ends_the_fit(monkeypatch):
    def interrupted(*arguments, **options):
        return replace(hybrid(*arguments, **options), stopped_by=KeyboardInterrupt())

    monkeypatch.setattr("headrank.rivals.restricted_master.hybrid", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ColumnGeneration("pauc@0.3", Cs=[10.0], max_rounds=3, cv=None).fit(*made_up())


def test_missing_values_and_sparse_rows():
    X, y = made_up()
    X[::7, 0] = np.nan
    options = {"Cs": [10.0], "max_rounds": 5, "cv": None}
    one = ColumnGeneration("pauc@0.3", **options).fit(X, y)
    other = ColumnGeneration("pauc@0.3", **options).fit(csr_array(X), y)
    assert one.score(X, y) > 0.3
    assert other.decision_function(csr_array(X)) == pytest.approx(one.decision_function(X))


def test_constant_columns_teach_nothing():
    with pytest.warns(CollapsedFitWarning, match="no tree has a split"):
        ranker = ColumnGeneration("auc", cv=2).fit(np.full((20, 2), 3.0), [0, 1] * 10)
    assert ranker.trees_ is None
    assert ranker.decision_function([[3.0, 3.0]]) == pytest.approx([0.0])


def test_noise_collapses_with_a_warning():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (400, 1)), np.arange(400) % 2
    with pytest.warns(CollapsedFitWarning, match="collapsed"):
        ranker = ColumnGeneration("pauc@0.05", Cs=[1.0], cv=None, max_rounds=5).fit(X, y)
    assert ranker.collapsed_


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"surrogate": "logistic"}, "surrogate must be one with cuts"),
        ({"surrogate": "smooth"}, "surrogate must be one with cuts"),
        ({"surrogate": "best"}, "surrogate must be one of"),
        ({"Cs": [0.0]}, "Cs must be above 0"),
        ({"cv": None}, "exactly one number"),
        ({"edge_tol": -1.0}, "edge_tol must not be negative"),
        ({"max_cells": 1}, "max_cells must be at least 2"),
        ({"measure": "p@5"}, "no convex surrogate|hinge|range"),
    ],
)
def test_wrong_parameters_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ColumnGeneration(**options).fit(*made_up(n=60))

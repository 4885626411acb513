"""The subtree is chosen by rows that were not used to grow."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

import headrank as hr
from estimators.ranking_trees.growing import tree, whole_numbers
from headrank.estimators.ranking_trees.pruning import breaking_points
from headrank.exceptions import CollapsedFitWarning
from samples import gaussians

FOLDS = StratifiedKFold(3)


@pytest.mark.parametrize("name", ["auc", "pauc@0.2", "locauc@0.2", "mass@0.2"])
def test_values_are_those_of_the_rows_left_out(name):
    """Grown on the other folds by hand, pruned with the same penalty, and measured."""
    X, y = whole_numbers(240)  # all values are in every fold, so that bins are the same
    ranker = tree(name, cv=FOLDS).fit(X, y)
    steps, measure = ranker.pruning_.penalties, hr.measure(name)
    sign = 1 if measure.greater_is_better else -1
    assert steps.size > 3
    assert ranker.pruning_.values.shape == (steps.size, 3)
    for k, (train, test) in enumerate(FOLDS.split(X, y)):
        grown = tree(name, cv=None).fit(X[train], y[train]).tree_
        points = breaking_points(grown)
        for i, value in enumerate(ranker.pruning_.values[:, k]):
            penalty = 0 if i == 0 else np.inf if i == steps.size - 1 else np.sqrt(steps[i] * steps[i + 1])
            scores = -grown.pruned(points <= penalty).leaves(X[test])
            assert sign * value == pytest.approx(measure(y[test], scores), abs=1e-12)


def test_the_best_mean_is_chosen_and_the_smallest_tree_that_has_it():
    X, y = gaussians(60, 180, 3)
    ranker = tree("auc").fit(X, y)
    found, means = ranker.pruning_, ranker.pruning_.values.mean(axis=1)
    assert means[found.chosen] == pytest.approx(means.max())
    assert (means[found.chosen + 1 :] < means.max()).all()
    assert ranker.tree_.n_leaves == found.n_leaves[found.chosen]
    assert found.n_leaves[0] == tree("auc", cv=None).fit(X, y).tree_.n_leaves
    assert found.n_leaves[-1] == 1
    assert (np.diff(found.n_leaves) < 0).all()
    assert (np.diff(found.penalties) > 0).all()


@pytest.mark.filterwarnings("ignore:no subtree beats chance")
def test_noise_is_seen_through():
    """A whole tree finds order in noise; on the rows left out there is none, so most of it is pruned."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 5)), rng.random(400) < 0.3
    whole = tree("auc", cv=None).fit(X, y)
    assert whole.score(X, y) > 0.75
    ranker = tree("auc", cv=5).fit(X, y)
    assert ranker.pruning_.values.mean(axis=1).max() < 0.65
    assert ranker.score(X, y) < whole.score(X, y)


def test_pruned_to_nothing():
    """Classes that change places between the folds: every split does harm, a constant score does none."""
    X, y = np.tile([[0.0], [1.0]], (40, 1)), np.tile([0, 1], 40)
    y[40:] = 1 - y[40:]
    y[0] = 1
    folds = [(np.arange(40), np.arange(40, 80)), (np.arange(40, 80), np.arange(40))]
    with pytest.warns(CollapsedFitWarning, match="no subtree beats chance on the folds"):
        ranker = tree("auc", cv=folds).fit(X, y)
    assert ranker.collapsed_
    assert ranker.score(X, y) == 0.5
    assert not (ranker.predict(X) == 1).any()


def test_no_folds_no_pruning():
    X, y = whole_numbers()
    assert tree(cv=None).fit(X, y).pruning_ is None
    with pytest.warns(CollapsedFitWarning):
        assert tree().fit(np.ones_like(X), y).pruning_ is None

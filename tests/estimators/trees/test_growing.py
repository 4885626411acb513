"""The number of trees: against a slow twin that grows each number of trees anew."""

import numpy as np
import pytest

import headrank as hr
from estimators.trees.boosting import boosted_cv, whole_numbers
from headrank.estimators._labelled import Labelled
from headrank.estimators.cv.fold_rows import FoldRows
from headrank.estimators.cv.folds import folds as folds_of
from headrank.estimators.trees import growing
from headrank.estimators.trees.growing import EVERY, _best_of, grown_on
from headrank.estimators.trees.histogram_trees import HistogramRows
from headrank.estimators.trees.lightgbm_trees import LightGBMRows
from headrank.estimators.trees.settings import Settings
from samples import gaussians

SETTINGS = Settings(learning_rate=0.5, max_leaf_nodes=4, min_samples_leaf=5)


def problem(engine, measure="pauc@0.3"):
    X, y = gaussians(50, 150, 3)
    labelled = Labelled(y == 1)
    splits = folds_of(labelled.positive, None, 3)
    rows = engine.of(X, y.astype(float), None, [], 1)
    return X, y, FoldRows(labelled, splits, hr.measure(measure)), [rows.part(train) for train, _ in splits]


def grown(engine, measure="pauc@0.3", **options):
    X, _, folds, parts = problem(engine, measure)
    options = {"derivatives": [None] * 3, "most_trees": 70, "n_jobs": 1} | options
    return grown_on(folds, parts, [X[test] for _, test in folds.splits], SETTINGS, **options)


@pytest.mark.parametrize("measure", ["pauc@0.3", hr.FPRAtTPR(0.5)])
@pytest.mark.parametrize("engine", [LightGBMRows, HistogramRows])
def test_the_best_number_of_trees(engine, measure):
    found = grown(engine, measure, most_trees=40)
    X, y, folds, _ = problem(engine, measure)
    sign = 1 if folds.measure.greater_is_better else -1
    values = []
    for n_trees in range(EVERY, EVERY * len(found.path) + 1, EVERY):
        of_folds = []
        for part, (_, test) in zip(problem(engine)[-1], folds.splits, strict=True):
            anew = part.growing(SETTINGS)
            anew.grow(n_trees)
            of_folds.append(sign * folds.measure(y[test], anew.trees(n_trees).scores(X[test])))
        values.append(of_folds)
    means = np.mean(values, axis=1)
    np.testing.assert_allclose(found.path, means, atol=1e-12)
    smoothed = [means[max(i - 1, 0)] + means[i] + means[min(i + 1, len(means) - 1)] for i in range(len(means))]
    best = int(np.argmax(np.round(smoothed, 12)))
    assert found.n_trees == EVERY * (best + 1)
    assert 1 < len(found.path) <= 4
    np.testing.assert_allclose(found.values, values[best], atol=1e-12)
    for trees, scores, (_, test) in zip(found.trees, found.scores, folds.splits, strict=True):
        assert trees.n_trees == found.n_trees
        np.testing.assert_allclose(trees.scores(X[test]), scores, atol=1e-9)


def test_patience_ends_growing_and_the_best_is_kept(monkeypatch):
    long = grown(LightGBMRows, most_trees=2000)
    assert len(long.path) < 200
    best = long.n_trees // EVERY - 1
    assert len(long.path) - 1 - best == max(growing._LEAST_PATIENCE, np.ceil(growing._PATIENCE * (best + 1)))


def test_the_most_trees_are_a_limit():
    assert len(grown(LightGBMRows, most_trees=20).path) == 2
    assert grown(LightGBMRows, most_trees=20).n_trees <= 20


def test_time_over_ends_growing_after_one_measurement():
    found = grown(LightGBMRows, is_over=lambda: True)
    assert len(found.path) == 1
    assert found.n_trees == EVERY


def test_threads_over_folds_change_nothing():
    one, two = (grown(LightGBMRows, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert [trees.text for trees in one.trees] == [trees.text for trees in two.trees]
    np.testing.assert_array_equal(one.path, two.path)


@pytest.mark.parametrize(
    ("means", "best"),
    [([1.0], 0), ([0.1, 0.2, 0.3], 2), ([0.3, 0.2, 0.1], 0), ([0.1, 0.9, 0.1, 0.5, 0.6, 0.5], 4), ([0.5, 0.5], 0)],
)
def test_the_best_is_the_best_of_its_neighbours_too(means, best):
    """A single peak in a valley is noise; the first of equals is the smallest model."""
    assert _best_of([np.array([mean - 0.1, mean + 0.1]) for mean in means]) == best


def test_threads_are_silent(capfd):
    """LightGBM writes to the file descriptor, by a log level that each thread has for itself."""
    X, y = whole_numbers()
    boosted_cv(n_jobs=2, max_estimators=100).fit(X[:, :1], y)
    heard = capfd.readouterr()
    assert heard.out == heard.err == ""

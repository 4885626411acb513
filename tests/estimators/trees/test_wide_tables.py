"""Many more features than rows: fewer settings, less memory, the same trees."""

import numpy as np
import pytest

from headrank.estimators import BoostedRankerCV
from headrank.estimators.trees import lightgbm_trees
from headrank.estimators.trees.boosted_cv import OF_WIDE
from headrank.estimators.trees.lightgbm_trees import LightGBMRows, is_wide
from headrank.estimators.trees.settings import Settings
from samples import gaussians


@pytest.mark.parametrize(
    ("n_rows", "n_features", "wide"), [(9, 1_999, False), (40, 2_000, True), (41, 2_000, False), (60, 20_000, True)]
)
def test_which_tables_are_wide(n_rows, n_features, wide):
    assert is_wide(n_rows, n_features) is wide


@pytest.mark.parametrize(
    "settings",
    [
        Settings(min_samples_leaf=5, max_features=0.5, subsample=0.8, learning_rate=0.05),
        Settings(min_samples_leaf=5, random_splits=True, l2_regularization=1.0),
        Settings(min_samples_leaf=1),
        Settings(min_samples_leaf=100),
    ],
)
def test_memory_for_leaves_that_cannot_be_is_not_reserved_and_the_trees_are_the_same(settings, monkeypatch):
    X, y = gaussians(13, 27, 2_000, shift=2.0)
    rows = LightGBMRows.of(X, y.astype(float), None, [], 1)
    wide = rows.growing(settings)
    assert wide.booster.params["num_leaves"] == min(31, max(2, 40 // settings.min_samples_leaf))
    monkeypatch.setattr(lightgbm_trees, "is_wide", lambda *_: False)
    plain = rows.growing(settings)
    assert plain.booster.params["num_leaves"] == 31
    for each in (wide, plain):
        each.grow(20)
    assert wide.n_trees == plain.n_trees
    assert wide.trees(20).text == plain.trees(20).text


def test_one_setting_is_tried_and_it_learns():
    X, y = gaussians(15, 25, 2_000, shift=5.0)
    ranker = BoostedRankerCV("auc", max_estimators=40, cv=3).fit(X, y)
    assert [each.candidate.settings for each in ranker.trials_] == [Settings(**OF_WIDE[0])]
    assert ranker.best_score_ > 0.8
    again = BoostedRankerCV("auc", max_estimators=10, cv=3).fit(X[:, :1_000], y)
    assert len({each.candidate for each in again.trials_}) > 1
    assert np.isfinite(again.best_score_)

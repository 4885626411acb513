"""What BoostedRankerCV chooses, keeps, says and refits."""

import numpy as np
import pytest

import headrank as hr
from estimators.trees.boosting import GRID, boosted_cv, whole_numbers
from headrank.estimators.trees import boosted_cv as module
from headrank.estimators.trees.boosted_cv import BoostedAverage
from samples import gaussians


@pytest.fixture(scope="module")
def folds():
    rows = np.arange(200)
    return [(rows[rows % 3 != k], rows[rows % 3 == k]) for k in range(3)]


@pytest.mark.parametrize("measure", ["pauc@0.3", hr.FPRAtTPR(0.5)])
def test_scores_out_of_fold_are_those_of_the_trees_of_the_fold(measure, folds):
    X, y = gaussians()
    ranker = boosted_cv(measure, cv=folds).fit(X, y)
    for k, ((_, test), scores) in enumerate(zip(folds, ranker.out_of_fold_, strict=True)):
        expected = sum(member.trees[k].scores(X[test]) / member.spread for member in ranker.members_)
        np.testing.assert_allclose(scores, expected, atol=1e-9)
    values = [ranker.measure_(y[test], scores) for (_, test), scores in zip(folds, ranker.out_of_fold_, strict=True)]
    assert ranker.best_score_ == pytest.approx(np.mean(values))
    expected = ranker.intercept_
    for member in ranker.members_:
        *of_folds, of_all = (trees.scores(X) for trees in member.trees)
        expected = expected + (np.mean(of_folds, axis=0) + of_all) / 2 / member.spread
    np.testing.assert_allclose(ranker.decision_function(X), expected, atol=1e-9)
    assert ranker.choice_.startswith(f"Selected {ranker.best_} for {ranker.measure_}: mean {ranker.best_score_:.4g} ")


def test_tied_settings_are_averaged_and_others_are_not():
    """Two that grow the same trees, and one that can grow none."""
    X, y = gaussians(80, 320, shift=2.0)
    tied = boosted_cv(grid=[GRID[0], {**GRID[0], "l2_regularization": 1e-15}]).fit(X, y)
    assert isinstance(tied.best_, BoostedAverage)
    assert tied.choice_.count("These settings are tied.") == 1
    assert len(tied.members_) == 2
    blind = {"min_samples_leaf": 10**6}
    alone = boosted_cv(grid=[GRID[0], blind]).fit(X, y)
    assert str(alone.best_).endswith("trees (4 leaves of at least 5 rows, learning rate 0.1)")
    assert len(alone.members_) == 1
    assert "The best other candidate, 10 trees (31 leaves of at least 1000000 rows" in alone.choice_


@pytest.mark.parametrize("n_settings", [1, 2])
def test_scores_have_the_scale_of_those_out_of_fold(n_settings):
    X, y = gaussians(200, 800, shift=2.0)
    grid = [{"max_leaf_nodes": 4, "min_samples_leaf": 5 + i} for i in range(n_settings)]
    ranker = boosted_cv(grid=grid).fit(X[::2], y[::2])
    assert len(ranker.members_) == n_settings
    new, held_out = ranker.decision_function(X[1::2]) - ranker.intercept_, np.concatenate(ranker.out_of_fold_)
    assert new.std() == pytest.approx(held_out.std(), rel=0.2)
    assert np.mean(ranker.predict(X[1::2]) == 1) == pytest.approx(0.2, abs=0.08)


def test_what_was_selected_is_grown_on_all_rows_too():
    X, y = gaussians(80, 320)
    ranker = boosted_cv(grid=[{"objective": "push", "min_samples_leaf": 5}], cv=4, max_estimators=100).fit(X, y)
    (member,) = ranker.members_
    n_trees = round(ranker.best_.n_trees * 4 / 3)  # the folds have three quarters of the rows
    assert member.trees[-1].n_trees == n_trees
    alone = hr.BoostedRanker(objective="push", n_estimators=n_trees, **vars(ranker.best_.settings)).fit(X, y)
    np.testing.assert_allclose(member.trees[-1].scores(X), alone.trees_[0].scores(X), atol=1e-9)
    assert ranker.grown_on_ == "Its trees were grown on 400 rows and, for half of the score, on 4 folds of them."
    few = [(np.arange(i, 400, 8), np.arange(i + 1, 400, 8)) for i in (0, 3)]
    ranker = boosted_cv(grid=[{"min_samples_leaf": 5}], cv=few, max_estimators=100).fit(X, y)
    assert ranker.members_[0].trees[-1].n_trees == min(2 * ranker.best_.n_trees, 100)  # not 8 times as many


def test_trees_of_the_folds_alone_score_if_no_time_is_left():
    X, y = gaussians()
    ranker = boosted_cv(grid=GRID[:1], max_seconds=1e-6).fit(X, y)
    (member,) = ranker.members_
    assert len(member.trees) == 3
    assert ranker.grown_on_ == "Its trees are those of the 3 folds of 200 rows."
    mean = np.mean([trees.scores(X) for trees in member.trees], axis=0)
    np.testing.assert_allclose(ranker.decision_function(X), mean + ranker.intercept_, atol=1e-9)


def test_results_as_a_table():
    X, y = gaussians()
    ranker = boosted_cv(grid=[*GRID, {"objective": "push", "power": 2, "min_samples_leaf": 5}]).fit(X, y)
    table = ranker.cv_results_
    assert table.height == 3 * len(ranker.trials_)
    assert set(table["surrogate"]) - {"average"} == {"logistic", "push"}
    assert "push with power 2" in " ".join(table["candidate"])
    assert table["pauc@0.3"].mean() > 0.15


def test_refit_grows_the_chosen_trees_on_all_rows():
    X, y = gaussians(80, 320)
    ranker = boosted_cv(grid=[*GRID, {"objective": "push", "min_samples_leaf": 5}]).fit(X[::2], y[::2])
    candidates = getattr(ranker.best_, "members", (ranker.best_,))
    best, choice = ranker.best_, ranker.choice_
    assert ranker.refit(X, y) is ranker
    assert (ranker.best_, ranker.choice_) == (best, choice)
    for member, candidate in zip(ranker.members_, candidates, strict=True):
        (trees,) = member.trees
        assert trees.n_trees == candidate.n_trees
    expected = hr.BoostedRanker(
        objective=candidates[0].objective,
        n_estimators=candidates[0].n_trees,
        **vars(candidates[0].settings),
    )
    scores = ranker.members_[0].trees[0].scores(X)
    np.testing.assert_allclose(scores, expected.fit(X, y).trees_[0].scores(X), atol=1e-9)
    assert (ranker.predict(X) == 1).sum() == 80


def test_many_values_are_tried_with_fewer_settings(monkeypatch):
    X, y = whole_numbers()
    ranker = boosted_cv(grid=None)
    assert len({str(trial.candidate) for trial in ranker.fit(X, y).trials_}) >= 5
    monkeypatch.setattr(module, "_MANY_NUMBERS", X.size)
    assert sum(not isinstance(trial.candidate, BoostedAverage) for trial in ranker.fit(X, y).trials_) == 3
    assert {len(member.trees) for member in ranker.members_} == {1}  # those of the folds would take longer to score
    assert ranker.grown_on_ == "Its trees were grown on 200 rows."


def test_a_limit_of_time_tries_one_setting():
    X, y = whole_numbers()
    ranker = boosted_cv(max_seconds=1e-6, max_estimators=1000).fit(X, y)
    (trial,) = ranker.trials_
    assert trial.candidate.n_trees == 10
    assert np.ptp(ranker.decision_function(X)) > 0


def test_progress_is_told():
    X, y = whole_numbers()
    told = []
    boosted_cv(verbose=lambda *numbers: told.append(numbers)).fit(X, y)
    assert told == [(0, 2), (1, 2), (2, 2)]


def test_a_number_of_first_rows_is_a_share_of_each_fold():
    X, y = whole_numbers()
    ranker = boosted_cv(hr.PrecisionAt(20)).fit(X, y)
    assert ranker.measure_ == hr.PrecisionAt(0.1)
    assert ranker.measure == hr.PrecisionAt(20)

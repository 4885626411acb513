"""The number of rounds is the one that is best on the folds."""

import numpy as np
import pytest

import headrank as hr
from headrank.estimators._labelled import Labelled
from headrank.estimators.cv.fold_rows import FoldRows
from headrank.rivals.staged_choice import staged_choice

Y = np.arange(40) % 2


def folds_for(measure):
    labelled = Labelled(Y == 1)
    return FoldRows.of(hr.measure(measure), labelled, 4, Y, Y, None, None, random_state=0)


@pytest.mark.parametrize("measure", ["auc", "fpr@tpr=0.5"])
def test_the_best_round_of_the_best_setting(measure):
    def run(setting, train, test):
        assert not set(train) & set(test)
        assert train.size + test.size == Y.size
        for stage in range(5):
            right = Y[test] if (setting, stage) in [(2.0, 3), (2.0, 4)] else np.zeros(test.size)
            yield right.astype(float)

    choice = staged_choice(folds_for(measure), (1.0, 2.0), run, max_rounds=8, n_jobs=None)
    assert (choice.setting, choice.n_rounds) == (2.0, 4)
    assert choice.values.shape == (2, 8, 4)
    means = choice.mean_values(hr.measure(measure))
    assert np.all(means[1, 3:5] == (1 if measure == "auc" else 0))
    assert np.isnan(means[:, 5:]).all()  # all runs have ended
    assert means[0, 0] == pytest.approx(0.5)


def test_a_run_that_ends_early_keeps_its_last_scores():
    def run(setting, train, test):
        yield from [Y[test].astype(float)] * (2 if 0 in test else 4)

    choice = staged_choice(folds_for("auc"), (1.0,), run, max_rounds=9, n_jobs=None)
    assert choice.mean_values(hr.measure("auc"))[0, :4].tolist() == [1, 1, 1, 1]
    assert choice.n_rounds == 1


def test_a_run_without_rounds_is_worth_chance():
    choice = staged_choice(folds_for("auc"), (1.0,), lambda *_: iter(()), max_rounds=3, n_jobs=None)
    assert (choice.n_rounds, choice.values[0, 0].tolist()) == (1, [0.5] * 4)


def test_a_setting_that_no_longer_rises_is_given_up():
    made = []

    def run(setting, train, test):
        for stage in range(1000):
            made.append(stage)
            yield (Y[test] if stage == 50 else np.zeros(test.size)).astype(float)

    choice = staged_choice(folds_for("auc"), (1.0,), run, max_rounds=1000, n_jobs=None)
    assert (choice.n_rounds, max(made)) == (1, 20)

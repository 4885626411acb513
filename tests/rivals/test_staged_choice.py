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
    assert np.all(means[1, 3:] == (1 if measure == "auc" else 0))  # a run that has ended keeps its last scores
    assert means[0, 0] == pytest.approx(0.5)

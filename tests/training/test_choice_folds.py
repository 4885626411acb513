"""The folds of the choice: whole groups, forward in time, given; each with both classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrank.exceptions import InvalidSampleError
from headrank.training.choice_folds import forward_folds, given_folds, group_folds, time_blocks
from reference import splits as reference


@given(st.integers(0, 8), st.integers(0, 8), st.integers(0, 8), st.integers(0, 20))
def test_every_fold_of_groups_has_both_classes_if_there_are_as_many_groups(n_pure_pos, n_mixed, n_pure_neg, seed):
    rng = np.random.default_rng(seed)
    kinds = rng.permutation([0] * n_pure_pos + [1] * n_mixed + [2] * n_pure_neg)
    groups = np.repeat(np.arange(kinds.size), rng.integers(2, 6, kinds.size))
    first = np.diff(groups, prepend=-1) > 0
    y = (kinds[groups] == 0) | ((kinds[groups] == 1) & first) if groups.size else np.zeros(0, bool)
    if min(n_pure_pos, n_pure_neg) + n_mixed < 5:
        if groups.size:
            with pytest.raises(InvalidSampleError, match="at least 5 groups with"):
                group_folds(y, groups, random_state=seed)
        return
    folds = group_folds(y, groups, random_state=seed)
    parts = folds.splits(y)
    assert len(parts) == 5
    for learn, predict in parts:
        assert not np.intersect1d(groups[learn], groups[predict]).size
        assert learn.size + predict.size == y.size
    assert np.array_equal(np.sort(np.concatenate([predict for _, predict in parts])), np.arange(y.size))


@given(st.integers(2, 60), st.integers(1, 30), st.integers(2, 7), st.integers(0, 50))
def test_blocks_of_time_equal_the_slow_ones(n, n_times, n_blocks, seed):
    rng = np.random.default_rng(seed)
    times, y, counted = rng.integers(0, n_times, n), rng.random(n) < 0.4, rng.random(n) < 0.8
    if not ((y & counted).any() and (~y & counted).any()):
        return
    blocks = time_blocks(times, y, counted, n_blocks)
    assert np.array_equal(blocks, reference.time_blocks(times, y, counted, n_blocks))
    for k in range(blocks.max() + 1):
        assert (y & counted & (blocks == k)).any()
        assert (~y & counted & (blocks == k)).any()
    assert blocks.max() < n_blocks
    order = np.argsort(times, kind="stable")
    assert np.all(np.diff(blocks[order]) >= 0)
    assert all(np.unique(blocks[times == time]).size == 1 for time in np.unique(times))


def test_forward_folds_learn_from_the_past_only():
    rng = np.random.default_rng(0)
    times, y = rng.integers(0, 50, 300), rng.random(300) < 0.3
    folds = forward_folds(y, times)
    parts = folds.splits(y)
    assert len(parts) == 5
    assert folds.words == "5 folds forward in time"
    for learn, predict in parts:
        assert times[learn].max() < times[predict].min()
    sizes = [learn.size for learn, _ in parts]
    assert sizes == sorted(sizes)


def test_with_groups_known_ones_are_not_predicted():
    rng = np.random.default_rng(0)
    times = np.arange(600)
    groups = times // 20 + rng.integers(0, 5, 600)
    y = rng.random(600) < 0.3
    for learn, predict in forward_folds(y, times, groups=groups).splits(y):
        assert predict.size
        assert not np.intersect1d(groups[learn], groups[predict]).size
    with pytest.raises(InvalidSampleError, match=r"groups that do not occur before.*omit --group"):
        forward_folds(y, times, groups=times % 7)


def test_some_rows_keep_their_folds():
    rng = np.random.default_rng(0)
    groups, y = rng.integers(0, 40, 400), rng.random(400) < 0.5
    folds = group_folds(y, groups, random_state=0)
    some = np.sort(rng.choice(400, 200, replace=False))
    for (_, predict), (_, of_all) in zip(folds.splits(y, rows=some), folds.splits(y), strict=True):
        assert np.array_equal(some[predict], np.intersect1d(some, of_all))


def test_too_few_times_to_choose_by():
    y = np.arange(40) % 2 == 0
    with pytest.raises(InvalidSampleError, match="at least 3 periods"):
        forward_folds(y, np.repeat([2020, 2021], 20))


def test_given_folds_are_the_values_of_the_column():
    y = np.arange(60) % 2 == 0
    values = np.repeat(["a", "b", "c"], 20)
    parts = given_folds(y, values).splits(y)
    assert [predict.tolist() for _, predict in parts] == [list(range(k, k + 20)) for k in (0, 20, 40)]


@pytest.mark.parametrize(
    ("y", "values", "groups", "said"),
    [
        ([1, 0, 1, 0], ["a"] * 4, None, "only one fold, a"),
        ([1, 0, 1, 0, 1, 1], [1, 1, 2, 2, 3, 3], None, "no rows of both classes in fold 3"),
        ([1, 0, 1, 0], [1, 1, 2, 2], [0, 1, 1, 0], "rows of one group must have the same fold"),
    ],
)
def test_folds_that_cannot_be_used_say_why(y, values, groups, said):
    groups = None if groups is None else np.array(groups)
    with pytest.raises(InvalidSampleError, match=said):
        given_folds(np.array(y, dtype=bool), np.array(values), groups=groups)

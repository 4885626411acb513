"""Whole groups on either side, and one row of each that is measured."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from headrank.exceptions import InvalidSampleError
from headrank.training.holdout import Split
from headrank.training.holdout_groups import one_row_each, split_groups, without_known


@st.composite
def grouped(draw):
    """Rows of groups of any size, at least eight of each class, in any order."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=20, max_size=50))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    groups = np.repeat(np.arange(len(sizes)), sizes)
    y = rng.random(groups.size) < 0.5
    y[np.isin(groups, np.arange(8))] = True
    y[np.isin(groups, np.arange(8, 16))] = False
    order = rng.permutation(groups.size)
    return y[order], groups[order]


@given(grouped(), st.booleans(), st.integers(0, 3))
def test_one_row_of_each_group_is_drawn(rows, by_class, seed):
    y, groups = rows
    chosen = one_row_each(y, groups, by_class=by_class, random_state=seed)
    assert np.array_equal(groups[chosen], np.arange(groups.max() + 1))
    assert np.array_equal(chosen, one_row_each(y, groups, by_class=by_class, random_state=seed))


@given(grouped(), st.booleans(), st.integers(0, 3))
def test_groups_stay_whole_and_the_measured_rows_are_one_per_group(rows, by_class, seed):
    y, groups = rows
    try:
        parts = split_groups(y, groups, by_class=by_class, random_state=seed)
    except InvalidSampleError:
        assert not by_class  # all groups are equally likely, so one class may be short
        return
    assert np.array_equal(np.sort(np.concatenate([parts.train, parts.holdout])), np.arange(y.size))
    assert not np.intersect1d(groups[parts.train], groups[parts.holdout]).size
    assert np.array_equal(np.sort(groups[parts.measured_rows]), np.unique(groups[parts.holdout]))
    assert np.all(np.diff(parts.measured) > 0)
    drawn = y[one_row_each(y, groups, by_class=by_class, random_state=seed)]
    if not by_class:
        assert parts.measured_rows.size == round(0.3 * drawn.size)
        return
    assert np.count_nonzero(y[parts.measured_rows]) == round(0.3 * np.count_nonzero(drawn))
    assert np.count_nonzero(~y[parts.measured_rows]) == round(0.3 * np.count_nonzero(~drawn))


@pytest.mark.parametrize(("by_class", "expected"), [(True, 1 / 2), (False, 1 / 10)])
def test_the_class_is_drawn_first_or_all_rows_are_equally_likely(by_class, expected):
    n_groups = 4000
    groups = np.repeat(np.arange(n_groups), 10)
    y = np.arange(groups.size) % 10 == 3
    chosen = one_row_each(y, groups, by_class=by_class, random_state=1)
    n_pos = int(np.count_nonzero(y[chosen]))
    assert binom.ppf(1e-6, n_groups, expected) <= n_pos <= binom.ppf(1 - 1e-6, n_groups, expected)
    places = np.bincount(chosen[~y[chosen]] % 10, minlength=10)
    each = (n_groups - n_pos) / 9
    assert places[3] == 0
    assert np.abs(np.delete(places, 3) - each).max() <= 6 * each**0.5


def test_groups_that_occur_in_training_leave_a_given_holdout():
    groups = np.array([0, 0, 1, 1, 1, 2, 3, 3])
    y = np.array([1, 0, 1, 0, 1, 0, 1, 1], dtype=bool)
    parts = without_known(Split(np.arange(3), np.arange(3, 8)), groups, y, by_class=True, random_state=0)
    assert parts.holdout.tolist() == [5, 6, 7]
    assert parts.n_known == 2
    assert sorted(groups[parts.measured_rows]) == [2, 3]


def test_a_holdout_of_known_groups_only_is_refused():
    with pytest.raises(
        InvalidSampleError, match=r"all groups of the 2 holdout rows also occur in training.*omit --group"
    ):
        without_known(
            Split(np.arange(2), np.arange(2, 4)),
            np.array([0, 1, 0, 1]),
            np.ones(4, bool),
            by_class=True,
            random_state=0,
        )


def test_too_few_groups_are_refused_with_how_many_are_needed():
    groups = np.repeat(np.arange(30), 4)
    with pytest.raises(InvalidSampleError, match="5 groups whose drawn row is positive for training"):
        split_groups(groups < 3, groups, by_class=True)

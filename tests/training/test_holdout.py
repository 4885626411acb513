"""The split: disjoint, complete, in proportion, the same every time, and whole queries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, hypergeom

from headrank.exceptions import InvalidSampleError
from headrank.training.holdout import split, subsample, usual_share


@given(st.integers(10, 60), st.integers(10, 200), st.sampled_from([0.2, 0.3, 0.5]), st.integers(0, 5))
def test_both_classes_are_split_in_proportion(n_pos, n_neg, share, seed):
    y = np.random.default_rng(seed).permutation(np.arange(n_pos + n_neg) < n_pos)
    parts = split(y, holdout=share, random_state=seed)
    assert np.array_equal(np.sort(np.concatenate([parts.train, parts.holdout])), np.arange(y.size))
    assert np.all(np.diff(parts.train) > 0)
    assert np.all(np.diff(parts.holdout) > 0)
    assert np.count_nonzero(y[parts.holdout]) == round(share * n_pos)
    assert np.count_nonzero(~y[parts.holdout]) == round(share * n_neg)


def test_regardless_of_class_all_sets_of_rows_are_equally_likely():
    y = np.arange(80) < 40
    found = [split(y, by_class=False, holdout=0.5, random_state=seed) for seed in range(2000)]
    assert all(parts.holdout.size == parts.train.size == 40 for parts in found)
    counts = np.array([np.count_nonzero(y[parts.holdout]) for parts in found])
    expected = hypergeom(80, 40, 40).pmf(np.arange(41))
    seen = np.bincount(counts, minlength=41)
    for n, share in zip(seen, expected, strict=True):
        assert binom.ppf(1e-7, 2000, share) <= n <= binom.ppf(1 - 1e-7, 2000, share)
    held = np.bincount(np.concatenate([parts.holdout for parts in found]), minlength=80)
    assert binom.ppf(1e-7, 2000, 0.5) <= held.min() <= held.max() <= binom.ppf(1 - 1e-7, 2000, 0.5)


def test_a_random_holdout_that_misses_a_class_is_refused():
    y = np.arange(400) < 7
    drawn = [y[np.random.default_rng(seed).choice(400, size=120, replace=False)].sum() for seed in range(20)]
    fine, short = drawn.index(2), next(seed for seed, n in enumerate(drawn) if n != 2)
    assert np.count_nonzero(y[split(y, by_class=False, random_state=fine).holdout]) == 2
    with pytest.raises(
        InvalidSampleError, match=r"for training and 2 for the holdout.*another share or another random"
    ):
        split(y, by_class=False, random_state=short)


def queries_of(seed, n_mixed, n_pure):
    rng = np.random.default_rng(seed)
    queries = np.repeat(np.arange(n_mixed + n_pure), 4)
    y = np.zeros(queries.size, dtype=bool)
    y[4 * np.arange(n_mixed)] = True  # then the pure ones are all negative, but for the last, which is all positive
    if n_pure:
        y[-4:] = True
    order = rng.permutation(y.size)
    return y[order], queries[order]


@given(st.integers(8, 40), st.integers(0, 20), st.integers(0, 5))
def test_queries_stay_whole_and_those_with_both_classes_are_on_both_sides(n_mixed, n_pure, seed):
    y, queries = queries_of(seed, n_mixed, n_pure)
    parts = split(y, queries, random_state=seed)
    train, held = np.unique(queries[parts.train]), np.unique(queries[parts.holdout])
    assert not np.intersect1d(train, held).size
    assert parts.train.size + parts.holdout.size == y.size
    assert np.count_nonzero(held < n_mixed) == round(0.3 * n_mixed)
    assert np.count_nonzero(held >= n_mixed) == round(0.3 * n_pure)


def test_the_same_number_gives_the_same_rows_and_another_gives_others():
    y = np.arange(200) < 40
    first, again, other = split(y, random_state=3), split(y, random_state=3), split(y, random_state=4)
    assert np.array_equal(first.holdout, again.holdout)
    assert not np.array_equal(first.holdout, other.holdout)


def test_a_subsample_keeps_the_share_of_positives_or_whole_queries():
    y = np.arange(20_000) % 4 == 0
    few = subsample(y, None, 2000)
    assert (few.size, np.count_nonzero(y[few])) == (2000, 500)
    assert np.all(np.diff(few) > 0)
    assert np.array_equal(subsample(y, None, 20_000), np.arange(20_000))
    y, queries = queries_of(0, 600, 200)
    few = subsample(y, queries, 1600)
    assert few.size == 1600
    assert np.isin(queries, queries[few]).sum() == 1600


@pytest.mark.parametrize("rarer", [True, False])
def test_a_subsample_grows_where_it_would_hold_too_few_to_choose_by(rarer):
    y = (np.arange(20_000) % 50 == 0) == rarer  # 400 of the rarer class
    few = subsample(y, None, 1000)
    assert np.count_nonzero(y[few] == rarer) == 200
    assert few.size == 10_000
    rare = (np.arange(20_000) % 500 == 0) == rarer
    assert subsample(rare, None, 1000).size == 20_000
    y, queries = queries_of(0, 250, 100)
    assert np.unique(queries[subsample(y, queries, 100)]).size == 200 + 80
    y, queries = queries_of(0, 20, 1000)
    assert subsample(y, queries, 100).size == y.size


@pytest.mark.parametrize(
    ("n_pos", "n_neg", "share", "said"),
    [
        (
            3,
            100,
            0.3,
            "positive rows for training and 2 for the holdout, but the table has 3: a holdout of 0.3 gives 2 and",
        ),
        (100, 6, 0.3, "negative rows .* the table has 6: .* gives 4 and 2; use at least 7"),
        (50, 100, 0.01, "positive rows .* gives 50 and 0; use at least 150"),
    ],
)
def test_too_few_rows_are_refused_with_numbers_and_remedy(n_pos, n_neg, share, said):
    with pytest.raises(InvalidSampleError, match=said):
        split(np.arange(n_pos + n_neg) < n_pos, holdout=share)


def test_as_many_rows_as_the_message_asks_for_will_do():
    parts = split(np.arange(7 + 100) < 7)
    assert parts.train.size + parts.holdout.size == 107


def test_too_few_queries_with_both_classes_are_refused():
    y, queries = queries_of(0, 4, 30)
    with pytest.raises(
        InvalidSampleError, match=r"queries with both positive and negative rows .* leave the queries out"
    ):
        split(y, queries)


@pytest.mark.parametrize("share", [0, 1, 1.5, -0.1])
def test_the_share_must_be_one(share):
    with pytest.raises(ValueError, match="holdout must lie strictly between 0 and 1"):
        split(np.arange(100) < 50, holdout=share)


@pytest.mark.parametrize(
    ("n", "n_pos", "head", "share"),
    [
        (10_000_000, 100_000, 0.01, 0.3),
        (50_000_000, 500_000, 0.01, 0.06),
        (50_000_000, 49_500_000, 0.01, 0.06),
        (50_000_000, 100_000, 0.01, 0.1),  # few positives
        (50_000_000, 500_000, 0.001, 0.2),  # a narrow head
        (50_000_000, 500, 0.01, 0.3),
        (50_000_000, 0, 0.01, 0.3),  # refused when it is split
    ],
)
def test_less_is_held_out_of_very_many_rows_if_it_is_enough(n, n_pos, head, share):
    assert usual_share(n_pos, n - n_pos, head) == pytest.approx(share)

"""Times in every spelling, and the latest rows as the holdout."""

from datetime import date, datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrank.exceptions import InvalidSampleError
from headrank.training.holdout_time import check_times, printed_time, split_latest, times_of


@given(st.integers(30, 200), st.integers(2, 40), st.sampled_from([0.1, 0.3, 0.5]), st.integers(0, 9))
def test_the_latest_rows_are_held_out_and_equal_times_stay_together(n, n_times, share, seed):
    rng = np.random.default_rng(seed)
    times, y = rng.integers(0, n_times, n), rng.random(n) < 0.5
    try:
        parts = split_latest(y, times, holdout=share)
    except InvalidSampleError:
        return
    assert times[parts.train].max() < times[parts.holdout].min()
    assert parts.train.size + parts.holdout.size == n
    cuts = [np.count_nonzero(times >= first) / n for first in np.unique(times)[1:]]
    assert abs(parts.holdout.size / n - share) <= min(abs(cut - share) for cut in cuts) + 1e-12


@pytest.mark.parametrize(
    ("values", "printed"),
    [
        (["2024-02-29", "2024-03-01"], "2024-02-29"),
        (["2024-02-29 17:30", "2024-03-01 00:00"], "2024-02-29 17:30"),
        ([date(2024, 2, 29), date(2024, 3, 1)], "2024-02-29"),
        ([datetime(2024, 2, 29, 8, 15), datetime(2024, 3, 1)], "2024-02-29 08:15"),
        ([2023, 2024], "2023"),
        (["2023.5", "2024.25"], "2023.5"),
    ],
)
def test_times_are_read_in_every_spelling(values, printed):
    times = times_of(pl.Series("t", values), "column 't'")
    assert times[0] < times[1]
    assert printed_time(times[0]) == printed


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["2024-02-29", "last week"], "'last week'"),
        (["29.02.2024", "01.03.2024"], "expected dates like 2024-02-29"),
        (["2024-02-29", None], "1 missing times in 2 rows"),
        (["2024-02-29", "2024-02-29"], "all 2 rows have the same time, 2024-02-29"),
        ([True, False], "cannot be read as times"),
    ],
)
def test_times_that_cannot_be_used_say_why(values, said):
    with pytest.raises(InvalidSampleError, match=said):
        times_of(pl.Series("t", values), "column 't'")


@pytest.mark.parametrize(
    "times", [["a", "b"], [[1, 2]], [1.0, np.nan], np.array(["2024-01-01", "NaT"], "datetime64[D]")]
)
def test_arrays_of_times_are_checked(times):
    with pytest.raises(InvalidSampleError, match="times"):
        check_times(times)


def test_a_period_without_positives_is_refused_with_its_start():
    y = np.arange(100) < 30
    with pytest.raises(InvalidSampleError, match="0 from then on, the latest 30 %"):
        split_latest(y, np.arange(100))


def test_queries_are_not_divided_by_time():
    y, queries = np.arange(80) % 2 == 0, np.repeat(np.arange(20), 4)
    parts = split_latest(y, queries // 2, queries)
    assert not np.intersect1d(queries[parts.train], queries[parts.holdout]).size
    with pytest.raises(InvalidSampleError, match="rows of one query must have the same times"):
        split_latest(y, np.arange(80), queries)

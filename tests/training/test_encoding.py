"""TableEncoder: as skrub encodes each column, at no cost per column of numbers."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrank.exceptions import InvalidSampleError
from headrank.training import encoding
from headrank.training.columns import columns_of, conformed
from headrank.training.encoding import TableEncoder
from reference.table_features import vectorized
from training.tables import messy_frame


def conforming(frame):
    return conformed(frame, columns_of(frame))


def assert_as_skrub(train, rows, **options):
    expected, names = vectorized(train, rows, **options)
    encoder = TableEncoder().fit(train)
    assert encoder.get_feature_names_out().tolist() == [name.replace("_None", " is missing") for name in names]
    # The embedding of text goes through BLAS, the rest is exact.
    np.testing.assert_allclose(encoder.transform(rows), expected, rtol=1e-6, atol=1e-6)
    exact = [not name.startswith("street") for name in names]
    assert np.array_equal(encoder.transform(rows)[:, exact], expected[:, exact], equal_nan=True)


@pytest.mark.parametrize("seed", range(3))
def test_every_kind_of_column_is_encoded_as_by_skrub(seed):
    rng = np.random.default_rng(seed)
    table = conforming(messy_frame(rng, rng.random(240) < 0.3))
    assert_as_skrub(table[:160], table[160:])


def test_large_numbers_that_are_close_together_are_encoded_as_by_skrub():
    seconds = 1_700_000_000 + np.random.default_rng(0).permutation(90).astype(float)
    table = pl.DataFrame({"x": np.arange(90.0), "seconds": seconds, "gaps": [None, -3e10, -3e10 + 1] * 30})
    assert_as_skrub(table[:60], table[60:], far_from_zero=["seconds", "gaps"])


NUMBERS = st.one_of(
    st.none(), st.booleans().map(float), st.integers(-3, 3).map(float), st.sampled_from([1e-30, 1e9, 3e38])
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(NUMBERS, min_size=6, max_size=6), min_size=1, max_size=5), st.integers(1, 20))
def test_numbers_are_encoded_as_by_skrub(columns, at_a_time):
    table = pl.DataFrame({f"c{j}": pl.Series(values, dtype=pl.Float64) for j, values in enumerate(columns)})
    table = table.with_columns(always=pl.Series([0.0, 1.0] * 3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "_NUMBERS_AT_A_TIME", at_a_time)
        encoder = TableEncoder().fit(table)
        far = [table.columns[j] for j, center in zip(encoder.numbers_, encoder.centers_, strict=True) if center]
        assert_as_skrub(table, table[::-1], far_from_zero=far)


@pytest.mark.parametrize("word", ["none", "None", "?", "N/A", "n/a", "NULL", "..."])
def test_words_stay_categories_whatever_they_mean_elsewhere(word):
    table = pl.DataFrame({"relapse": [word, "yes", None, " "] * 5})
    encoder = TableEncoder().fit(table)
    assert set(encoder.names_) == {f"relapse_{word}", "relapse_yes", "relapse is missing"}


def test_a_value_never_seen_is_encoded_as_zeros():
    encoder = TableEncoder().fit(pl.DataFrame({"a": ["x", "y"], "b": [0.0, 1.0]}))
    assert encoder.transform(pl.DataFrame({"a": ["z", None], "b": [2.0, None]}))[:, :2].tolist() == [[0, 0], [0, 0]]


def test_columns_in_another_order_are_refused():
    encoder = TableEncoder().fit(pl.DataFrame({"a": [0.0, 1.0], "b": [2.0, 3.0]}))
    with pytest.raises(InvalidSampleError, match="in the same order"):
        encoder.transform(pl.DataFrame({"b": [0.0], "a": [1.0]}))

"""The k-th largest value over blocks is the k-th of the sorted values, whatever they are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuts import borders, cut
from headrank.rows import selection

FLOATS = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e308, 1.0, np.nextafter(1.0, 2.0)]),
)


def map_values(function, *each, same):
    return [function(*values, *same) for values in zip(*each, strict=True)]


@pytest.mark.parametrize("few", [0, 3, 100_000])
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(FLOATS, st.booleans()), min_size=1, max_size=40), st.data())
def test_it_is_the_kth_of_the_sorted_values(few, rows, data):
    values, marked = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    marked[data.draw(st.integers(0, len(rows) - 1))] = False
    expected = np.sort(values[~marked])[::-1]
    k = data.draw(st.integers(1, expected.size))
    at = data.draw(borders(len(rows)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "_FEW", few)
        assert selection.kth_largest(map_values, cut(values, at), cut(marked, at), k) == expected[k - 1]


@settings(max_examples=60, deadline=None)
@given(st.lists(FLOATS, min_size=2, max_size=40), st.data())
def test_the_next_is_that_after_it(values, data):
    ordered, k = np.sort(values)[::-1], data.draw(st.integers(1, len(values) - 1))
    parts = cut(np.array(values), data.draw(borders(len(values))))
    assert selection.next_largest(map_values, parts, ordered[k - 1], k) == ordered[k]

"""Cuts of rows into blocks."""

from itertools import pairwise

from hypothesis import strategies as st


@st.composite
def borders(draw, n):
    """Where to cut n rows: any number of blocks, empty ones and blocks of one row included."""
    return [0, *sorted(draw(st.lists(st.integers(0, n), max_size=6))), n]


def cut(values, at):
    return [values[i:j] for i, j in pairwise(at)]

"""What the laws are tried on: small rankings full of ties, weights that are multiplicities, awkward rates."""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

# Decimals whose products with a whole number round to the wrong side of one (0.29 * 100), thirds, ends.
RATES = (0.05, 0.07, 0.1, 0.28, 0.29, 0.3, 0.333, 0.5, 0.55, 0.57, 0.667, 0.7, 0.9, 0.99, 1.0)
# Ranges: from 0, from within, with one negative or less, up to 1.
RANGES = (
    (0.0, 0.05),
    (0.0, 0.29),
    (0.0, 1.0),
    (0.1, 0.3),
    (0.29, 0.3),
    (0.333, 0.334),
    (0.05, 0.7),
    (0.5, 0.55),
    (0.55, 1.0),
    (0.999, 1.0),
)

rates = st.sampled_from(RATES)
ranges = st.sampled_from(RANGES)


class Ranking(NamedTuple):
    """A sample as arrays; ``weights`` are whole multiplicities, or None."""

    y: np.ndarray
    scores: np.ndarray
    weights: np.ndarray | None = None

    def repeated(self) -> "Ranking":
        """Write the multiplicities out as rows."""
        if self.weights is None:
            return self
        return Ranking(np.repeat(self.y, self.weights), np.repeat(self.scores, self.weights))


@st.composite
def small_rankings(draw: st.DrawFn, min_rows: int = 2, max_rows: int = 8, weighted: bool = False) -> Ranking:
    """A few rows with both classes and scores in -3..3, so that ties abound.

    With weights, each row stands for 0, 1 or 2 rows, and both classes are there after the zeros have gone.
    """
    n = draw(st.integers(min_rows, max_rows))
    labels = draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))
    where = draw(st.permutations(range(n)))
    y = np.array([0, 1, *labels])[where]
    scores = np.array(draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n)), dtype=float)
    if not weighted:
        return Ranking(y, scores)
    weights = draw(st.lists(st.integers(1, 2), min_size=2, max_size=2))
    weights += draw(st.lists(st.integers(0, 2), min_size=n - 2, max_size=n - 2))
    return Ranking(y, scores, np.array(weights)[where])


def weighted_rankings(max_rows: int = 7) -> st.SearchStrategy[Ranking]:
    """Small rankings with multiplicities."""
    return small_rankings(max_rows=max_rows, weighted=True)


@st.composite
def fractional_rankings(draw: st.DrawFn) -> Ranking:
    """Rankings whose weights are tenths or thirds of a row, which floating point cannot add up exactly."""
    ranking = draw(small_rankings(min_rows=5, max_rows=14))
    n = len(ranking.y)
    scores = ranking.scores if draw(st.booleans()) else np.arange(n, dtype=float)
    tenths = draw(st.just([1] * n) | st.lists(st.integers(1, 3), min_size=n, max_size=n))
    return Ranking(ranking.y, scores, np.array(tenths) / draw(st.sampled_from([10, 3])))


def any_rankings() -> st.SearchStrategy[Ranking]:
    """Small rankings, with weights or without."""
    return small_rankings() | weighted_rankings()


@st.composite
def untied_rankings(draw: st.DrawFn, max_rows: int = 8) -> Ranking:
    """Small rankings in which no two scores are equal."""
    y = draw(small_rankings(max_rows=max_rows)).y
    return Ranking(y, np.array(draw(st.permutations(range(len(y)))), dtype=float))

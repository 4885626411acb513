"""Counting with a soft edge: against all pairs, and with an edge so narrow that it is almost none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrank.surrogates.soft_counts import Crowd, soft_step
from reference import smooth as slow


@given(st.floats(-3, 3), st.sampled_from([0.1, 1.0, 2.5]))
def test_the_soft_step_is_the_integral_of_a_triangle(d, h):
    value, slope = soft_step(np.array([d]), h)
    rising, twice, falling = (max(d + shift, 0) ** 2 for shift in (h, 0, -h))
    assert value[0] == pytest.approx((rising - 2 * twice + falling) / (2 * h**2), rel=1e-9, abs=1e-9)
    assert value[0] == pytest.approx(slow.soft_step(d, h), rel=1e-12, abs=1e-12)
    assert slope[0] == pytest.approx(max(1 - abs(d) / h, 0) / h, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("reach", [1e-8, 1e-5, 0.003, 0.1, 1.0])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("tails", [False, True])
def test_a_crowd_of_thousands(reach, grouped, tails):
    """Sums of squares lose no digits that matter: against all pairs, with and without rows far out."""
    rng = np.random.default_rng(0)
    values, weights = (rng.standard_t(3, 4000) if tails else rng.normal(size=4000)), rng.uniform(0, 2, 4000)
    points = np.concatenate([rng.normal(size=300), values[:300]])
    queries, of_points = (rng.integers(0, 5, size) for size in (4000, 600))
    if not grouped:
        queries[:], of_points[:] = 0, 0
    order = np.lexsort((values, queries))
    crowd = Crowd(values[order], weights[order], reach, queries[order] if grouped else None, 5)
    count, slope = crowd.below(points, of_points if grouped else None)
    value, rise = soft_step(points[:, None] - values, reach)
    together = weights * (of_points[:, None] == queries)
    np.testing.assert_allclose(count, (value * together).sum(axis=1), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(slope * reach, (rise * together).sum(axis=1) * reach, rtol=1e-9, atol=1e-9)


@given(
    quarters=st.lists(st.integers(-50, 50), min_size=1, max_size=30),
    reach=st.sampled_from([2.0**-30, 2.0**-3, 1.0, 1e-7, 1e-10]),
    centre=st.sampled_from([0, 1000, -1000, 10**5 + 1]),
)
def test_at_and_beside_the_borders_of_the_cells(quarters, reach, centre):
    """Points that lie a quarter of the reach apart, so on every border there is, and one float beside it."""
    on = np.sort(np.array(quarters) / 4 + centre) * reach
    values = np.sort(np.concatenate([on, np.nextafter(on, -np.inf), np.nextafter(on, np.inf)]))
    far = np.concatenate([values, [-1000.0 * reach, 1e6 * reach]])  # with these, there is more than one cell
    values, weights = np.sort(far), np.linspace(0.5, 2, far.size)
    count, slope = Crowd(values, weights, reach).below(values)
    value, rise = soft_step(values[:, None] - values, reach)
    np.testing.assert_allclose(count, value @ weights, rtol=0, atol=1e-9)
    np.testing.assert_allclose(slope * reach, rise @ weights * reach, rtol=0, atol=1e-9)

"""What is left out cannot be seen; what is drawn is the curve."""

import numpy as np
import pytest

from headrank.curve import RocCurve
from headrank.plots.polyline import CELL, Window, clip, first_false_positive, thin, visible

# thin() proves this bound in its docstring.
LARGEST_ERROR = CELL / np.sqrt(8) + 1e-12


def random_curve(n: int, separation: float, *, seed: int = 0, ties: float | None = None) -> RocCurve:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.5
    scores = rng.normal(size=n) + separation * y
    return RocCurve.from_scores(y, scores if ties is None else np.round(scores / ties))


def distances(points, line):
    """Distance of each point to the piece of the line that is as far along, right plus up; both in axis units."""
    (x, y), (u, v) = points, line
    piece = np.clip(np.searchsorted(u + v, x + y), 1, u.size - 1)
    start, end = np.stack([u, v])[:, piece - 1], np.stack([u, v])[:, piece]
    along, to_point = end - start, np.stack([x, y]) - start
    length = np.maximum((along**2).sum(axis=0), 1e-300)
    share = np.clip((along * to_point).sum(axis=0) / length, 0, 1)
    return np.hypot(*(to_point - share * along))


def in_axis_units(line, window):
    return window.across(line[0]), line[1] / window.top


@pytest.mark.parametrize("separation", [0.0, 2.0])
@pytest.mark.parametrize("window", [Window(0, 1, 1), Window(0, 0.01, 0.3), Window(1e-6, 1, 1, log=True)])
def test_a_million_vertices_look_the_same_as_the_few_that_are_drawn(window, separation):
    curve = random_curve(1_000_000, separation)
    full = clip((curve.fpr, curve.tpr), window.left, window.right)
    drawn = visible(curve, window)
    assert full[0].size > 2_000
    assert drawn[0].size < 4_500
    assert distances(in_axis_units(full, window), in_axis_units(drawn, window)).max() <= LARGEST_ERROR
    assert distances(in_axis_units(drawn, window), in_axis_units(full, window)).max() <= LARGEST_ERROR


def test_the_bound_is_not_idle():
    window = Window(0, 1, 1)
    full = clip((np.sort(np.random.default_rng(0).random(100_000)), np.linspace(0, 1, 100_000)), 0, 1)
    drawn = thin(full, window, cell=0.1)
    error = distances(in_axis_units(full, window), in_axis_units(drawn, window)).max()
    assert 1e-4 < error <= 0.1 / np.sqrt(8)


def test_vertices_on_a_straight_line_are_left_out():
    fpr, tpr = visible(RocCurve.from_scores([1, 1, 1, 0, 0, 0, 1], [7, 6, 5, 4, 3, 2, 1]), Window(0, 1, 1))
    assert fpr.tolist() == [0, 0, 1, 1]
    assert tpr.tolist() == [0, 0.75, 0.75, 1]
    fpr, tpr = visible(RocCurve.from_scores([1, 0] * 5, np.repeat(np.arange(5), 2)), Window(0, 1, 1))
    assert fpr.tolist() == tpr.tolist() == [0, 1]


def test_a_tie_is_curved_on_a_logarithmic_axis():
    window = Window(1e-5, 1, 1, log=True)
    fpr, tpr = visible(RocCurve.from_scores([1, 0] * 50_000, np.zeros(100_000)), window)
    assert fpr[0] == 1e-5
    assert fpr[-1] == 1
    np.testing.assert_allclose(tpr, fpr)
    # Halfway between two of the vertices, the chord is off by less than the error that thinning may make.
    middle = np.exp((np.log(fpr[1:]) + np.log(fpr[:-1])) / 2)
    assert np.abs((tpr[1:] + tpr[:-1]) / 2 - middle).max() < LARGEST_ERROR


def test_coarse_ties_stay_exact_on_both_axes():
    curve = random_curve(1_000, 1.0, ties=0.5)
    for window in (Window(0, 1, 1), Window(1e-3, 1, 1, log=True)):
        fpr, tpr = visible(curve, window)
        assert distances((fpr, tpr), (curve.fpr, curve.tpr)).max() < 1e-12
        assert set(curve.tpr[curve.fpr > window.left]) <= set(tpr)


def test_a_range_is_cut_out_with_what_rises_at_its_ends():
    line = np.array([0.0, 0.0, 0.2, 0.2, 1.0]), np.array([0.0, 0.3, 0.3, 0.6, 1.0])
    for (low, high), (x, y) in {
        (0.0, 0.2): ([0, 0, 0.2, 0.2], [0, 0.3, 0.3, 0.6]),
        (0.1, 0.2): ([0.1, 0.2, 0.2], [0.3, 0.3, 0.6]),
        (0.2, 0.6): ([0.2, 0.2, 0.6], [0.3, 0.6, 0.8]),
        (0.3, 0.4): ([0.3, 0.4], [0.65, 0.7]),
    }.items():
        inside = clip(line, low, high)
        np.testing.assert_allclose(inside[0], x)
        np.testing.assert_allclose(inside[1], y)
    assert clip((line[0] / 2, line[1]), 0.6, 0.8)[0].size == 0


def test_a_head_is_drawn_as_far_as_it_is_known():
    curve = random_curve(1_000, 1.0)
    head = curve.head(n_neg=100)
    fpr, tpr = visible(head, Window(0, 0.8, 1))
    assert (fpr[-1], tpr[-1]) == (head.fpr[-1], head.tpr[-1])
    assert visible(head, Window(0, 1, 1), min_fpr=0.9)[0].size == 0


def test_the_first_false_positive_is_one_negative_or_the_lightest():
    assert first_false_positive(RocCurve.from_scores([1, 0, 0], [1, 1, 1])) == 0.5
    weights = [0.1, 0.1, 0.3]
    assert first_false_positive(RocCurve.from_scores([1, 0, 0], [3, 2, 1], weights)) == pytest.approx(0.25)

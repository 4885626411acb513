"""Boosting of splines: the functions are splines, the slopes are slopes, and the objective never falls."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import headrank as hr
from headrank.estimators._labelled import Labelled
from headrank.exceptions import CollapsedFitWarning
from headrank.rivals import PartialAUCBoost
from headrank.rivals.ascent import Ascent
from headrank.rivals.shapes import Shapes
from headrank.surrogates import surrogate_for
from reference.boosting import Boosting, boosted
from reference.rivals import natural_spline, roughness


def made_up(seed=0, n=300):
    """Rows that are positive where the first column is far from 0; the second has four values, the third none of it."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 4, n), rng.normal(size=n)])
    y = (np.abs(X[:, 0]) + 0.3 * X[:, 1] + 0.5 * rng.normal(size=n) > 1.6).astype(int)
    return X, y


def ascent_of(penalty, *, weighted=False, queries=False, learning_rate=0.5):
    X, y = made_up(n=120)
    rng = np.random.default_rng(2)
    labelled = Labelled(
        y == 1, rng.uniform(0.5, 2, y.size) if weighted else None, np.arange(y.size) % 3 if queries else None
    )
    shapes = [Shapes.for_column(column, 6) for column in X.T]
    functions = np.concatenate([each.of(column) for each, column in zip(shapes, X.T, strict=True)])
    surrogate = surrogate_for(hr.measure("pauc@0.3"), "smooth", labelled.row_facts(), bandwidth=0.4)
    return Ascent(functions, shapes, labelled, surrogate, penalty, learning_rate, 0.1 * rng.normal(size=y.size))


@given(gaps=st.lists(st.integers(1, 9), min_size=2, max_size=7), seed=st.integers(0, 99))
@settings(max_examples=40)
def test_the_functions_are_natural_splines(gaps, seed):
    knots = -3.0 + np.cumsum([0, *gaps])
    shapes = Shapes(knots, steps=False)
    weights = np.random.default_rng(seed).normal(size=shapes.size)
    at = np.linspace(knots[0] - 5, knots[-1] + 5, 60)
    values = weights @ shapes.of(knots)
    assert weights @ shapes.of(at) == pytest.approx(natural_spline(knots, values, at), rel=1e-6, abs=1e-8)
    assert weights @ shapes.roughness() @ weights == pytest.approx(roughness(knots, values), rel=1e-4, abs=1e-9)


def test_with_the_constant_they_span_all_natural_splines():
    knots = np.array([0.0, 1.0, 1.5, 4.0, 9.0])
    at_knots = np.vstack([np.ones(5), Shapes(knots, steps=False).of(knots)])
    assert np.linalg.matrix_rank(at_knots) == 5


def test_far_values_are_on_lines():
    shapes = Shapes(np.linspace(0, 1, 10), steps=False)
    at = shapes.of(np.array([1e12, 2e12, 3e12]))
    assert at[:, 2] - at[:, 1] == pytest.approx(at[:, 1] - at[:, 0], rel=1e-9)


def test_columns_of_few_values_have_steps():
    shapes = Shapes.for_column(np.array([0.0, 1.0, 1.0, 5.0]), 4)
    assert shapes.steps
    assert shapes.knots.tolist() == [0.5, 3.0]
    assert shapes.of(np.array([0.0, 1.0, 5.0])).tolist() == [[0, 1, 1], [0, 0, 1]]
    assert Shapes.for_column(np.ones(5), 4).size == 0


@pytest.mark.parametrize("options", [{}, {"weighted": True}, {"queries": True}], ids=str)
@pytest.mark.parametrize("penalty", [0.0, 1e-3])
def test_slopes_match_differences(penalty, options):
    ascent = ascent_of(penalty, **options)
    here = ascent._start()
    for _ in range(4):
        here = ascent._round(here)
    step = 1e-5
    slopes = ascent._slopes(here)
    for number, slope in enumerate(slopes):
        up, down = (ascent._along(here, number, ascent._column(number), sign * step).objective for sign in (1, -1))
        assert slope == pytest.approx((up - down) / (2 * step), rel=1e-3, abs=1e-4 * np.abs(slopes).max())


def test_the_objective_is_the_smooth_measure_minus_the_roughness():
    ascent = ascent_of(1e-3, weighted=True)
    *_, stage = islice(ascent.stages(), 10)
    scores = stage.weights @ ascent.functions
    shares = ascent.labelled.weights / ascent.labelled.weights.sum()
    assert shares @ (scores - shares @ scores) ** 2 == pytest.approx(1)
    noisy = scores + ascent.noise
    positive = ascent.labelled.positive
    risk = ascent.surrogate(noisy[positive], noisy[~positive]).risk
    rough, start = 0.0, 0
    for shapes in ascent.shapes:
        weights = stage.weights[start : start + shapes.size]
        start += shapes.size
        if not shapes.steps:
            rough += roughness(shapes.knots, weights @ shapes.of(shapes.knots))
    assert stage.objective == pytest.approx(-risk - 1e-3 * rough, rel=1e-3)
    assert rough > 0


@pytest.mark.parametrize(
    ("penalty", "learning_rate", "name"), [(0.0, 0.5, "pauc@0.5"), (1e-3, 1.0, "pauc@0.3"), (0.0, 1.0, "auc")]
)
@pytest.mark.parametrize("seed", [0, 4, 6])
def test_rounds_equal_brute_force_on_tiny_problems(seed, penalty, learning_rate, name):
    """Of all functions the steepest is moved, by the step that differences of the slow objective give."""
    rng, n = np.random.default_rng(seed), 12
    y = (np.arange(n) % 3 == 0).astype(int)
    X = np.column_stack([rng.integers(-9, 10, n) + y / 4, rng.integers(0, 3, n) + y, rng.integers(0, 2, n)])
    shapes = [Shapes.for_column(column, 4) for column in X.T]
    functions = np.concatenate([each.of(column) for each, column in zip(shapes, X.T, strict=True)])
    starts = np.flatnonzero(np.concatenate([(np.arange(each.size) == 0) | each.steps for each in shapes]))
    labelled, noise, measure = Labelled(y == 1, None, None), 0.1 * rng.normal(size=n), hr.measure(name)
    surrogate = surrogate_for(measure, "smooth", labelled.row_facts(), bandwidth=0.4)

    def rough(weights):
        if not penalty:
            return 0.0
        spline = shapes[0]
        return penalty * roughness(spline.knots, np.array(weights[: spline.size]) @ spline.of(spline.knots))

    assert [each.steps for each in shapes] == [False, True, True]
    ascent = Ascent(functions, shapes, labelled, surrogate, penalty, learning_rate, noise)
    slow = Boosting(y.tolist(), functions.tolist(), starts, noise.tolist(), measure, 0.4, learning_rate, rough)
    found, expected = (list(islice(each, 5)) for each in (ascent.stages(), boosted(slow)))
    assert len(found) == len(expected) > 1
    for stage, weights in zip(found, expected, strict=True):
        assert stage.weights == pytest.approx(weights, rel=1e-4, abs=1e-5)
        assert stage.objective == pytest.approx(slow.objective(weights), rel=1e-6)


@pytest.mark.parametrize("options", [{}, {"weighted": True}, {"queries": True}, {"learning_rate": 1.0}], ids=str)
@pytest.mark.parametrize("penalty", [0.0, 1e-4, 1.0])
def test_every_round_raises_the_objective(penalty, options):
    objectives = [stage.objective for stage in islice(ascent_of(penalty, **options).stages(), 40)]
    assert len(objectives) > 5
    assert np.all(np.diff(objectives) > 0)


def test_a_large_penalty_makes_lines():
    X, y = made_up()
    stiff, loose = (
        PartialAUCBoost("pauc@0.3", penalties=[penalty], max_rounds=60, cv=None).fit(X, y) for penalty in (1e3, 0.0)
    )
    assert stiff.score(X, y) < loose.score(X, y) - 0.1

    def bend(ranker):
        at = np.column_stack([np.linspace(-1.5, 1.5, 51), np.zeros(51), np.zeros(51)])
        return np.abs(np.diff(ranker.decision_function(at), 2)).max()

    assert bend(stiff) < 0.02 * bend(loose)


def test_it_learns_what_no_line_can():
    X, y = made_up(n=800)
    ranker = PartialAUCBoost("pauc@0.3", penalties=(0.0, 1e-4), max_rounds=40, cv=3).fit(X[::2], y[::2])
    line = hr.LinearRanker("pauc@0.3", surrogate="logistic").fit(X[::2], y[::2])
    assert ranker.score(X[1::2], y[1::2]) > line.score(X[1::2], y[1::2]) + 0.2
    assert ranker.cv_values_.shape == (2, 40)
    assert ranker.best_score_ == np.nanmax(ranker.cv_values_)
    assert ranker.n_rounds_ == np.nanargmax(ranker.cv_values_[ranker.penalties.index(ranker.penalty_)]) + 1


def test_columns_of_two_values_are_no_trap(monkeypatch):
    """Tied rows count as half in order, so that without noise no other column seems to help."""
    rng = np.random.default_rng(5)
    X = (rng.random((600, 20)) < 0.3).astype(float)
    y = (X[:, :6].sum(axis=1) + 0.5 * rng.normal(size=600) > 3.2).astype(int)
    ranker = PartialAUCBoost("pauc@0.1", penalties=[0.0], max_rounds=40, cv=None).fit(X[::2], y[::2])
    assert set(range(6)) <= set(ranker.columns_.tolist())
    assert ranker.score(X[1::2], y[1::2]) > 0.35
    monkeypatch.setattr("headrank.rivals.partial_auc_boost._NOISE", 0.0)
    trapped = PartialAUCBoost("pauc@0.1", penalties=[0.0], max_rounds=40, cv=None).fit(X[::2], y[::2])
    assert trapped.score(X[1::2], y[1::2]) < 0.2


def test_sparse_rows_are_the_same_rows():
    X, y = made_up()
    X[np.abs(X) < 0.5] = 0
    one, other = (PartialAUCBoost("auc", penalties=[1e-5], max_rounds=9, cv=None).fit(Z, y) for Z in (X, csr_array(X)))
    assert other.decision_function(csr_array(X)) == pytest.approx(one.decision_function(X))


def test_constant_columns_teach_nothing():
    with pytest.warns(CollapsedFitWarning, match="no better than at random"):
        ranker = PartialAUCBoost("auc", cv=2).fit(np.full((8, 2), 3.0), [0, 1] * 4)
    assert ranker.n_rounds_ == 0
    assert ranker.objectives_.size == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalties": [-1.0]}, "penalties must not be negative"),
        ({"penalties": []}, "at least one number"),
        ({"cv": None}, "exactly one number, as cv=None chooses none, got 3"),
        ({"n_knots": 2}, "n_knots must be at least 3"),
        ({"learning_rate": 2.0}, "learning_rate must lie in"),
        ({"measure": "ks"}, "no smooth surrogate"),
    ],
)
def test_wrong_parameters_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        PartialAUCBoost(**options).fit(*made_up(n=60))

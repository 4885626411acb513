"""With scores that stay with their blocks, risks are those in memory, and so are fits up to their gap."""

import gc

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import headrank as hr
from cuts import borders, cut
from headrank.estimators import _held_scores, _risks
from headrank.estimators._fitting import posed
from headrank.estimators._head_risk import HeadRisk, SmoothHeadRisk, StructuralRisk
from headrank.estimators._pair_risk import PairRisk
from headrank.estimators._sum_risk import SumRisk
from headrank.exceptions import CollapsedFitWarning
from headrank.rows import block_scores, pool

RNG = np.random.default_rng(0)
N, D = 80, 4
X = RNG.integers(-2, 3, (N, D)).astype(float)
Y = (X @ [1.0, -1.0, 0.5, 0.0] + RNG.normal(size=N) > 1).astype(int)


@pytest.fixture(autouse=True)
def _many_rows(monkeypatch):
    monkeypatch.setattr(_risks, "MOST_GATHERED", 10)


def evened(coef, scores, n_head):
    """The coefficients in memory, with those of negatives tied at the border of the head shared evenly."""
    neg = np.flatnonzero(Y == 0)
    border = np.sort(scores[neg])[-n_head]
    tied = neg[scores[neg] == border]
    coef = coef.copy()
    coef[tied] = coef[tied].mean()
    return coef


@pytest.mark.parametrize(
    ("measure", "surrogate", "kind"),
    [
        ("pauc@0.2", "tight", HeadRisk),
        ("pauc@0.07", "tight", HeadRisk),
        ("pauc@0.2", "structural", StructuralRisk),
        ("pauc@0.07:0.31", "structural", StructuralRisk),
    ],
)
@settings(max_examples=30, deadline=None)
@given(
    borders(N),
    st.lists(st.lists(st.integers(-2, 2), min_size=D, max_size=D), min_size=1, max_size=3),
    st.integers(-2, 2),
    st.booleans(),
)
def test_risk_gradient_and_slope_are_those_in_memory(measure, surrogate, kind, at, several, step, standardize):
    ranker = hr.LinearRanker(measure, surrogate=surrogate, standardize=standardize)
    one = posed(ranker, X, Y).risk
    other = posed(ranker, hr.Blocks.from_arrays(cut(X, at), cut(Y, at)), None).risk
    assert type(other) is kind
    assert not isinstance(one, HeadRisk)
    n_head = other.surrogate.n_reached(int((Y == 0).sum()))
    for weights in several:
        w = np.array(weights, dtype=float) * other.scale
        here, there = one.at(w), other.at(w)
        assert there.value == pytest.approx(here.value, rel=1e-9)
        if standardize:  # products are then not exact, and rows may not tie
            continue
        assert there.offset == pytest.approx(here.offset, rel=1e-9)
        coef = evened(here.coef, here.scores, n_head)
        np.testing.assert_allclose(other.subgradients([there]), [one.rows.combine(coef)], atol=1e-9)
        ray, beside = one.ray(here, np.ones(D)), other.ray(there, np.ones(D))
        here, there = ray.at(step), beside.at(step)
        assert there.value == pytest.approx(here.value, rel=1e-9)
        assert beside.slope(there) == pytest.approx(evened(here.coef, here.scores, n_head) @ ray.change, abs=1e-9)


@pytest.mark.parametrize("measure", ["pauc@0.2", "pauc@0.1:0.3", "tpauc@fpr=0.2,tpr=0.5"])
@settings(max_examples=20, deadline=None)
@given(borders(N), st.lists(st.integers(-2, 2), min_size=D, max_size=D).filter(any), st.floats(-2, 2))
def test_the_smooth_risk_is_that_in_memory(measure, at, weights, step):
    ranker = hr.LinearRanker(measure, surrogate="smooth")
    rows = X + 0.1 * np.random.default_rng(1).normal(size=X.shape)  # without ties, of which any share is a derivative
    one = posed(ranker, rows, Y).risk
    other = posed(ranker, hr.Blocks.from_arrays(cut(rows, at), cut(Y, at)), None).risk
    assert isinstance(other, SmoothHeadRisk)
    here, there = one.at(np.array(weights, dtype=float)), other.at(np.array(weights, dtype=float))
    ray, beside = one.ray(here, np.arange(1.0, D + 1)), other.ray(there, np.arange(1.0, D + 1))
    for mine, others in ((here, there), (ray.at(step), beside.at(step))):
        assert others.value == pytest.approx(mine.value, rel=1e-9)
        np.testing.assert_allclose(other.subgradients([others]), one.subgradients([mine]), atol=1e-9)
        assert beside.slope(others) == pytest.approx(ray.slope(mine), abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(borders(N), st.lists(st.integers(-2, 2), min_size=D, max_size=D), st.floats(-2, 2))
def test_the_hinge_of_all_pairs_is_that_in_memory(at, weights, step):
    rows = X + 0.1 * np.random.default_rng(1).normal(size=X.shape)  # no pair is exactly at its kink
    one = posed(hr.LinearRanker("auc"), rows, Y).risk
    other = posed(hr.LinearRanker("auc"), hr.Blocks.from_arrays(cut(rows, at), cut(Y, at)), None).risk
    assert isinstance(other, PairRisk)
    here, there = one.at(np.array(weights, dtype=float)), other.at(np.array(weights, dtype=float))
    ray, beside = one.ray(here, np.arange(1.0, D + 1)), other.ray(there, np.arange(1.0, D + 1))
    for mine, others in ((here, there), (ray.at(step), beside.at(step))):
        assert others.value == pytest.approx(mine.value, rel=1e-9)
        assert others.offset == pytest.approx(mine.offset, rel=1e-9)
        np.testing.assert_allclose(other.subgradients([others]), one.subgradients([mine]), atol=1e-9)
        assert beside.slope(others) == pytest.approx(ray.slope(mine), abs=1e-9)


@pytest.mark.parametrize("surrogate", ["logistic", "svc"])
@settings(max_examples=20, deadline=None)
@given(
    borders(N),
    st.lists(st.integers(-2, 2), min_size=D, max_size=D),
    st.integers(-2, 2),
    st.booleans(),
    st.sampled_from([0.0, 50.0]),
)
def test_sums_over_rows_are_those_in_memory(surrogate, at, weights, step, standardize, far):
    ranker = hr.LinearRanker("auc", surrogate=surrogate, standardize=standardize)
    rows = X + far  # all scores move by the same number
    one = posed(ranker, rows, Y).risk
    other = posed(ranker, hr.Blocks.from_arrays(cut(rows, at), cut(Y, at)), None).risk
    assert isinstance(other, SumRisk)
    w = weights * np.array([0.31, 0.47, 0.59, 0.73])  # no row is exactly at the kink of the hinge
    here, there = one.at(w), other.at(w)
    ray, beside = one.ray(here, w + 0.11), other.ray(there, w + 0.11)
    for mine, others in ((here, there), (ray.at(step), beside.at(step))):
        assert others.value == pytest.approx(mine.value, rel=1e-7)
        np.testing.assert_allclose(other.subgradients([others]), one.subgradients([mine]), rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(other.hessian(others), one.hessian(mine), rtol=1e-6, atol=1e-5)
        assert beside.slope(others) == pytest.approx(ray.slope(mine), rel=1e-6, abs=1e-6)
    assert beside.extent() == pytest.approx(ray.extent(), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("measure", ["auc", "pauc@0.1", "tpr@fpr=0.02", "p@10", "locauc@0.1"])
@settings(max_examples=20, deadline=None)
@given(borders(N), st.lists(st.integers(-2, 2), min_size=D, max_size=D))
def test_measure_and_threshold_are_those_in_memory(measure, at, weights):
    blocks = hr.Blocks.from_arrays(cut(X, at), cut(Y, at))
    risk = posed(hr.LinearRanker("auc", surrogate="logistic"), blocks, None).risk
    point, scores = risk.at(np.array(weights, dtype=float)), (X / risk.scale) @ weights
    assert risk.measured(point.scores, hr.measure(measure)) == pytest.approx(hr.measure(measure)(Y, scores), abs=1e-12)
    below, above = np.sort(scores)[::-1][[Y.sum(), Y.sum() - 1]]
    assert point.scores.threshold() == pytest.approx((below + above) / 2, abs=1e-12)


def test_scores_on_disk_are_removed_and_change_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(pool, "_WORTH_FILES", 0)
    for number, part in enumerate(pl.DataFrame(X).with_columns(fraud=pl.Series(Y)).iter_slices(30)):
        part.write_parquet(tmp_path / f"{number}.parquet")
    (tmp_path / "copies").mkdir()
    written, write, ranker = [], pool.ValuesOnDisk.of, hr.LinearRanker("pauc@0.2", C=10)
    monkeypatch.setattr(pool.ValuesOnDisk, "of", lambda *given: written.append(given[0]) or write(*given))
    expected = ranker.fit(hr.Blocks.from_parquet(tmp_path, target="fraud")).coef_
    blocks = hr.Blocks.from_parquet(tmp_path, target="fraud", memory=0, folder=tmp_path / "copies")
    np.testing.assert_array_equal(ranker.fit(blocks).coef_, expected)
    assert written
    assert all(values.any() for values in written)  # the scores of w = 0 need no file
    gc.collect()
    assert len([*tmp_path.glob("copies/*/*")]) == blocks.n_blocks  # those of the features
    del blocks
    gc.collect()
    assert not [*tmp_path.glob("copies/*")]


def test_few_scores_stay_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(pool.ValuesOnDisk, "of", lambda *_: pytest.fail("written to a file"))
    pl.DataFrame(X).with_columns(fraud=pl.Series(Y)).write_parquet(tmp_path / "rows.parquet")
    blocks = hr.Blocks.from_parquet(tmp_path, target="fraud", memory=0, folder=tmp_path, rows_per_block=30)
    assert hr.LinearRanker("pauc@0.2", C=10).fit(blocks).gap_ < 1e-2


@pytest.mark.parametrize("at_floor", [0.0, 0.5])
@pytest.mark.parametrize("tilt", [0.0, 0.1])
@given(st.lists(st.tuples(st.integers(-2, 2), st.booleans()), max_size=20), st.integers(-2, 2))
def test_the_slope_is_the_sum_over_all_rows(at_floor, tilt, rows, floor):
    scores, marked = np.array([row[0] for row in rows], dtype=float), np.array([row[1] for row in rows], dtype=bool)
    of_marked, of_above = np.arange(1.0, marked.sum() + 1), np.arange(1.0, ((scores > floor) & ~marked).sum() + 1)
    coef = block_scores.HeadCoef(floor, of_marked, of_above, at_floor, tilt)
    head = block_scores.head_scores(scores, marked, floor, 20)
    assert (head.marked.size, head.above.size, head.n_above) == (of_marked.size, of_above.size, of_above.size)
    change, total, left = np.arange(5.0, 5.0 + scores.size), 0.0, (iter(of_marked), iter(of_above))
    for score, is_marked, moves in zip(scores, marked, change, strict=True):
        total += moves * tilt * score
        if is_marked or score > floor:
            total += moves * next(left[0 if is_marked else 1])
        elif score == floor:
            total += moves * at_floor
    assert block_scores.dot_head(scores, marked, change, coef) == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize("form", [np.ascontiguousarray, np.asfortranarray, sparse.csr_array])
def test_rows_are_copied_only_if_they_are_few_and_each_is_in_one_piece(form, monkeypatch):
    monkeypatch.setattr(block_scores, "_FEW", 0.3)
    sizes, n_with, combined = [], [], block_scores.combined
    monkeypatch.setattr(block_scores, "combined", lambda *given: sizes.append(given[0].n_rows) or combined(*given))
    risk = posed(hr.LinearRanker("pauc@0.01"), hr.Blocks.from_arrays([form(X)], [Y]), None).risk
    for weights, most in ((np.array([0.31, -0.47, 0.59, 0.73]), 0.3 * N), (np.zeros(D), N)):  # at 0, all are tied
        point = risk.at(weights)
        coef = point.coef[0].of_rows(X @ weights, Y == 1)
        np.testing.assert_allclose(risk.subgradients([point]), [coef @ X], atol=1e-9)
        n_with.append(np.count_nonzero(coef))
        assert n_with[-1] <= most
    assert n_with[-1] == N
    assert sizes == [N if form is np.asfortranarray else n_with[0], N]


def test_a_sample_without_negatives_is_made_good(monkeypatch):
    """Every second row is positive, and every second row is sampled."""
    monkeypatch.setattr(_held_scores, "_SAMPLED", N // 4)
    labels = np.arange(N) % 2 == 0
    ranker, rows = hr.LinearRanker("pauc@0.2", C=10), X + 2.0 * labels[:, None]
    expected = ranker.fit(rows, labels).objective_
    assert ranker.fit(hr.Blocks.from_arrays([rows], [labels])).objective_ == pytest.approx(expected, rel=ranker.tol)


@pytest.mark.parametrize("outside", [-1, 1])
def test_a_bad_guess_of_the_floor_is_made_good(outside, monkeypatch):
    """A sample of the wrong rows: all above the head, or all far below it."""
    sampled = []

    def misleading(scores, marked, stride):
        sampled.append(stride)
        return np.full(3, outside * 1e6)

    monkeypatch.setattr(_held_scores, "every", misleading)
    blocks = hr.Blocks.from_arrays(cut(X, [0, 30, N]), cut(Y, [0, 30, N]))
    weights = np.array([0.3, -0.2, 0.7, 0.1])
    ranker = hr.LinearRanker("pauc@0.2")
    expected = posed(ranker, X, Y).risk.at(weights).value
    assert posed(ranker, blocks, None).risk.at(weights).value == pytest.approx(expected, rel=1e-9)
    assert sampled


def test_only_the_head_travels():
    rows = RNG.normal(size=(2000, 3))
    y = (RNG.random(2000) < 0.05).astype(int)
    blocks = hr.Blocks.from_arrays(cut(rows, [0, 700, 2000]), cut(y, [0, 700, 2000]))
    risk = posed(hr.LinearRanker("pauc@0.02"), blocks, None).risk
    n_head = risk.surrogate.n_reached(int((y == 0).sum()))
    for weights in (np.zeros(3), np.ones(3), np.array([1.0, 1.0, 1.01])):
        point = risk.at(weights)
        assert sum(part.marked.size for part in point.coef) == y.sum()
        assert sum(part.above.size for part in point.coef) <= 4 * n_head


@pytest.mark.parametrize("surrogate", ["tight", "structural", "smooth", "logistic"])
def test_fits_reach_the_same_minimum(surrogate, tmp_path):
    rows = RNG.normal(size=(600, 5))
    y = (2 * rows[:, 0] + RNG.normal(size=600) > 2.5).astype(int)
    for number, (part, labels) in enumerate(zip(cut(rows, [0, 200, 600]), cut(y, [0, 200, 600]), strict=True)):
        pl.DataFrame(part).with_columns(fraud=labels).write_parquet(tmp_path / f"{number}.parquet")
    one = hr.LinearRanker("pauc@0.1", surrogate=surrogate, C=10, tol=1e-5).fit(rows, y)
    blocks = hr.Blocks.from_parquet(tmp_path, target="fraud")
    other = hr.LinearRanker("pauc@0.1", surrogate=surrogate, C=10, tol=1e-5).fit(blocks)
    assert other.objective_ == pytest.approx(one.objective_, rel=2e-5)
    assert np.abs(other.coef_).max() > 0.1
    assert np.linalg.norm(other.coef_ - one.coef_) <= 2 * np.sqrt(2e-5 * one.objective_)
    assert other.training_measure_ == pytest.approx(one.training_measure_, abs=0.01)


def test_a_fit_that_collapses_says_so():
    rows = RNG.normal(size=(200, 2))
    blocks = hr.Blocks.from_arrays([rows[:50], rows[50:]], [np.arange(50) % 2, np.arange(150) % 2])
    with pytest.warns(CollapsedFitWarning, match="collapsed"):
        assert hr.LinearRanker("pauc@0.05").fit(blocks).collapsed_

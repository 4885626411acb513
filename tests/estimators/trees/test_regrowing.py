"""Trees grown on all rows of blocks: those of the same rows in memory, for any cut; their number; the memory limit."""

from copy import deepcopy
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

import headrank as hr
from cuts import borders, cut
from headrank.estimators.cv import block_sample
from headrank.estimators.trees import block_reader, lightgbm_trees, regrowing
from headrank.estimators.trees.block_reader import BlockReader
from headrank.estimators.trees.lightgbm_trees import LightGBMRows, bytes_for
from headrank.estimators.trees.settings import Settings
from headrank.rows.block import Block
from headrank.rows.pool import LocalPool

RNG = np.random.default_rng(0)
N = 1500
X = RNG.normal(size=(N, 4)).astype(np.float32)
Y = (2 * X[:, 0] + X[:, 1] + RNG.normal(size=N) > 2).astype(int)
X[:, 3] = RNG.integers(0, 5, N)
X[RNG.random(N) < 0.05, 2] = np.nan
AT = [0, 500, 500, 501, N]
WEIGHTS = RNG.integers(0, 3, N).astype(float)
QID = np.repeat(np.arange(N // 15), 15)
GRID = ({"max_leaf_nodes": 4}, {"max_leaf_nodes": 8, "subsample": 0.8, "max_features": 0.7})
STORAGES = {"float32": X, "float64": X.astype(np.float64), "CSR": csr_array(X)}


def blocks_of(rows=X, at=AT, **beside):
    given = {name: cut(values, at) for name, values in beside.items()}
    return hr.Blocks.from_arrays(cut(rows, at), cut(Y, at), **given)


def grown(rows):
    growing = rows.growing(Settings(max_leaf_nodes=6, subsample=0.8), random_state=3)
    growing.grow(10)
    return growing.trees(10).text


@pytest.fixture(autouse=True)
def _small_samples(monkeypatch):
    monkeypatch.setattr(block_sample, "_ENOUGH", 60)
    monkeypatch.setattr(regrowing, "_LEAST", 4)


@pytest.fixture(scope="module")
def chosen():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_sample, "_ENOUGH", 60)
        return hr.BoostedRankerCV("pauc@0.2", grid=GRID, max_estimators=60, cv=3).fit(blocks_of())


@settings(max_examples=8)
@given(at=borders(N), storage=st.sampled_from(list(STORAGES)), n_for_bins=st.sampled_from([200, 200_000]))
def test_bins_and_trees_are_those_in_memory_for_any_cut(at, storage, n_for_bins):
    rows, y = STORAGES[storage], Y.astype(float)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(lightgbm_trees._ALWAYS, "bin_construct_sample_cnt", n_for_bins)
        patch.setattr(lightgbm_trees, "_MOST_FOR_BINS", n_for_bins)
        in_memory = LightGBMRows.of(rows, y, WEIGHTS + 1, [3], 1)
        in_blocks = LightGBMRows.of_blocks(BlockReader(blocks_of(rows, at)), y, WEIGHTS + 1, [3], 1)
        assert grown(in_blocks) == grown(in_memory)
        kept = np.flatnonzero(WEIGHTS)
        in_memory = LightGBMRows.of(rows[kept], y[kept], None, [], 1)
        in_blocks = LightGBMRows.of_blocks(BlockReader(blocks_of(rows, at), kept), y[kept], None, [], 1)
        assert grown(in_blocks) == grown(in_memory)


def test_blocks_are_loaded_one_after_the_other_in_two_passes():
    loaded = []

    def load(number):
        loaded.append(number)
        return Block(X[number * 300 : number * 300 + 300], Y[number * 300 : number * 300 + 300])

    pool = LocalPool(tuple(partial(load, number) for number in range(5)))
    blocks = hr.Blocks(pool, n_features=4, dtype=np.float32)
    reader = BlockReader(blocks)
    loaded.clear()
    LightGBMRows.of_blocks(reader, Y.astype(float), None, [], 1)
    assert loaded == [*range(5), *range(5)]


def test_a_reader_reads_rows_across_batches(monkeypatch):
    monkeypatch.setattr(block_reader, "_BATCH_VALUES", 12)
    many = np.arange(90.0).reshape(-1, 3)
    kept = np.flatnonzero(np.arange(len(many)) % 3)
    reader = BlockReader(hr.Blocks.from_arrays([many[:7], many[7:]]), kept)
    assert reader.batch_rows == 4
    assert sum(reader.sizes) == kept.size
    assert_array_equal([reader.row(1, at) for at in (0, 11, 1, 4)], many[kept[kept >= 7]][[0, 11, 1, 4]])
    assert_array_equal(reader.rows(0, slice(1, 3)), many[kept[1:3]])


@pytest.mark.parametrize(
    "beside", [{}, {"sample_weight": WEIGHTS}, {"qid": QID}, {"sample_weight": WEIGHTS, "qid": QID}]
)
@pytest.mark.parametrize("storage", ["float32", "CSR"])
def test_a_refit_is_that_in_memory(chosen, storage, beside):
    rows = STORAGES[storage]
    here = deepcopy(chosen).refit(rows, Y, **beside)
    there = deepcopy(chosen).refit(blocks_of(rows, [0, 1, 700, N], **beside))
    assert there.grown_on_ == here.grown_on_
    assert "selected on" in here.grown_on_
    assert_array_equal(there.decision_function(rows), here.decision_function(rows))
    assert there.intercept_ == here.intercept_
    assert len(here.members_[0].trees) == 1
    assert [member.spread for member in here.members_] == [member.spread for member in chosen.members_]


def test_a_fit_over_blocks_selects_on_a_sample_and_grows_on_all_rows(chosen):
    assert sum(map(len, chosen.out_of_fold_)) < N / 2
    assert "Its trees were grown on" in chosen.grown_on_
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regrowing, "_LEAST", 1000)  # as it was in the fixture
        again = deepcopy(chosen).refit(X, Y)
    assert chosen.grown_on_ == again.grown_on_ == f"Its trees were grown on {N:,} rows."
    assert_array_equal(again.decision_function(X), chosen.decision_function(blocks_of()))
    assert abs(np.mean(chosen.predict(X)) - Y.mean()) < 0.01


def test_the_push_is_grown_over_blocks():
    grid = [{"objective": "push", "power": 2.0, "max_leaf_nodes": 4}]
    ranker = hr.BoostedRankerCV("pauc@0.2", grid=grid, max_estimators=20, cv=2).fit(blocks_of())
    assert_array_equal(deepcopy(ranker).refit(X, Y).decision_function(X), ranker.decision_function(X))


def test_trees_are_counted_on_rows_that_they_have_not_seen(chosen, monkeypatch):
    """With labels that are noise on the rows kept aside, few trees are as good as many; without, more are better."""
    aside = regrowing._kept_aside
    seen = []

    def kept(labelled, n_features, random_state):
        is_aside = aside(labelled, n_features, random_state)
        seen.append(is_aside)
        return is_aside

    monkeypatch.setattr(regrowing, "_kept_aside", kept)
    ranker = deepcopy(chosen).refit(X, Y)
    changed = Y.copy()
    changed[seen[0]] = 1 - changed[seen[0]]
    opposite = deepcopy(chosen).refit(X, changed)
    assert_array_equal(seen[0], seen[1])
    assert 0.07 < seen[0].mean() < 0.13
    n_trees = [sum(member.trees[0].n_trees for member in each.members_) for each in (ranker, opposite)]
    assert n_trees[1] < n_trees[0]


def test_whole_queries_are_kept_aside():
    from headrank.estimators._labelled import Labelled

    is_aside = regrowing._kept_aside(Labelled.of(Y > 0, None, QID), 4, 0)
    sizes = np.bincount(QID[is_aside], minlength=QID.max() + 1)
    assert set(sizes) == {0, 15}


def test_the_memory_limit(chosen):
    needed = bytes_for(N, 4)
    kept = deepcopy(chosen).refit(blocks_of(), memory=needed - 1)
    assert kept.members_ is not chosen.members_
    assert_array_equal(kept.decision_function(X), chosen.decision_function(X))
    assert kept.grown_on_.startswith("Its trees are those of the sample: on all 1,500 rows, they would take 0.000")
    assert "Its trees were grown on" in deepcopy(chosen).refit(blocks_of(), memory=needed).grown_on_
    with pytest.raises(TypeError, match="memory must be a number"):
        chosen.refit(blocks_of(), memory="2GB")


def test_without_lightgbm_trees_stay_those_of_the_sample(chosen, monkeypatch):
    monkeypatch.setattr(regrowing, "why_not", lambda: "no libgomp")
    kept = deepcopy(chosen).refit(blocks_of())
    assert kept.grown_on_ == (
        "Its trees are those of the sample: LightGBM, which reads blocks, could not be loaded (no libgomp)."
    )


def test_codes_of_categories_are_checked_in_all_blocks():
    ranker = hr.BoostedRankerCV("pauc@0.2", grid=GRID[:1], categorical_features=[3], max_estimators=20, cv=2)
    ranker.fit(blocks_of())
    assert_array_equal(
        deepcopy(ranker).refit(X, Y).decision_function(X), ranker.refit(blocks_of()).decision_function(X)
    )
    wrong = X.copy()
    wrong[-1, 3] = 0.5
    with pytest.raises(ValueError, match=r"feature 3 has 0\.5"):
        ranker.refit(blocks_of(wrong))


def test_a_combination_grows_boosted_trees_on_all_rows_and_keeps_its_forests(monkeypatch):
    monkeypatch.setattr("headrank.estimators.trees.boosted_cv.GRID", GRID)
    names = list("abcd")
    blocks = hr.Blocks.from_arrays(cut(X, AT), cut(Y, AT), feature_names=names)
    ranker = hr.RankerCV("pauc@0.2", families=("boosted trees", "extra trees"), cv=2).fit(blocks)
    before = {part.family: part for part in deepcopy(ranker).parts_}
    assert "boosted trees" in before
    assert "Its trees were grown on" in ranker.grown_on_
    ranker.refit(blocks, memory=1e4)
    assert "those of the sample" in ranker.grown_on_
    here = deepcopy(ranker).refit(X, Y)
    there = ranker.refit(blocks)
    assert_array_equal(there.decision_function(blocks), here.decision_function(X))
    for part in there.parts_:
        assert part.factor == before[part.family].factor
        if part.family != "boosted trees":
            assert_array_equal(part.scorer.decision_function(X), before[part.family].scorer.decision_function(X))

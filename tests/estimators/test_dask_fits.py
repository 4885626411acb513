"""A fit on a Dask cluster of processes is the fit in memory, also if a worker is killed in the middle of it."""

import asyncio
import gc
import os
import signal
from functools import partial
from operator import add

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from scipy import sparse
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning

import headrank as hr
import headrank.rows.dask
from cuts import cut
from headrank.estimators import _risks
from headrank.estimators.combined import linear_part
from headrank.estimators.cv import block_sample
from headrank.rows.block import Block, scores_of
from headrank.rows.dask import DaskPool, LoadedPool, _block_of
from platforms import posix_signals

RNG = np.random.default_rng(0)
N = 400
X = RNG.normal(size=(N, 4))
Y = (3 * X[:, 0] + RNG.normal(size=N) > 3).astype(int)
WEIGHTS = RNG.integers(0, 3, N).astype(float)
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(fraud=Y, w=WEIGHTS)


@pytest.fixture(scope="module")
def client():
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50)
    client = Client(cluster)
    yield client
    client.close()
    cluster.close()


def n_rows_of(block):
    return block.n_rows


def assert_same_fit(one, other):
    assert other.objective_ == pytest.approx(one.objective_, rel=1e-9)
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-6, atol=1e-6 * np.abs(one.coef_).max())
    assert other.training_measure_ == pytest.approx(one.training_measure_, rel=1e-9)


@pytest.mark.parametrize(
    ("measure", "surrogate", "n_bytes"), [("pauc@0.2", "tight", 0), ("auc", "logistic", 1_000_000)]
)
def test_data_frames(client, measure, surrogate, n_bytes, monkeypatch):
    monkeypatch.setattr(headrank.rows.dask, "_GROUPED", n_bytes)  # one task per partition, or for several of them
    ddf = dd.from_pandas(FRAME, npartitions=3)
    ranker = hr.LinearRanker(measure, surrogate=surrogate).fit(ddf[list("abcd")], ddf["fraud"], sample_weight=ddf["w"])
    assert list(ranker.feature_names_in_) == list("abcd")
    frame = FRAME[list("abcd")]
    assert_same_fit(hr.LinearRanker(measure, surrogate=surrogate).fit(frame, Y, sample_weight=WEIGHTS), ranker)
    assert ranker.decision_function(ddf[list("abcd")]) == pytest.approx(ranker.decision_function(frame))
    assert ranker.score(ddf[list("abcd")], ddf["fraud"]) == pytest.approx(ranker.score(frame, Y))


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix, lambda part: pd.DataFrame(part, columns=list("abcd"))])
def test_lists_of_futures(client, kind):
    rows = client.map(kind, [X[:150], X[150:]], pure=False)
    blocks = hr.Blocks.from_dask(rows, client.map(np.asarray, [Y[:150], Y[150:]], pure=False))
    assert blocks.feature_names == (("a", "b", "c", "d") if blocks.dense and kind is not np.asarray else None)
    assert blocks.dense == (kind is not csr_matrix)
    ranker = hr.LinearRanker("pauc@0.2", standardize=True).fit(blocks)
    assert_same_fit(hr.LinearRanker("pauc@0.2", standardize=True).fit(X, Y), ranker)


def test_a_choice_of_families_and_its_curve(client, monkeypatch):
    monkeypatch.setattr(linear_part, "_surrogates_for", lambda _: ("logistic",))
    monkeypatch.setattr(block_sample, "_ENOUGH", 20)
    ddf = dd.from_pandas(FRAME, npartitions=3)
    features = ddf[list("abcd")]
    there = hr.RankerCV("pauc@0.2", families=("linear",), cv=2).fit(features, ddf["fraud"])
    local = hr.Blocks.from_arrays([X[:250], X[250:]], [Y[:250], Y[250:]], feature_names=list("abcd"))
    here = hr.RankerCV("pauc@0.2", families=("linear",), cv=2).fit(local)
    assert sum(map(len, there.out_of_fold_)) < N
    scores = here.decision_function(local)
    np.testing.assert_allclose(there.decision_function(features), scores, atol=1e-4 * np.abs(scores).max())
    head = hr.block_curve(hr.Blocks.from_dask(features, ddf["fraud"]), there, measure="pauc@0.2")
    assert hr.measure("pauc@0.2").value(head) == pytest.approx(here.score(local), abs=1e-3)


def test_trees_are_grown_on_all_rows(client, monkeypatch):
    monkeypatch.setattr(block_sample, "_ENOUGH", 20)
    rows, labels = da.from_array(X, chunks=((100, 0, 300), 4)), da.from_array(Y, chunks=((100, 0, 300),))
    options = {"grid": [{"max_leaf_nodes": 4}], "max_estimators": 20, "cv": 2}
    there = hr.BoostedRankerCV("pauc@0.2", **options).fit(rows, labels)
    here = hr.BoostedRankerCV("pauc@0.2", **options).fit(hr.Blocks.from_arrays([X], [Y]))
    assert there.grown_on_ == here.grown_on_ == "Its trees were grown on 400 rows."
    assert sum(map(len, there.out_of_fold_)) < N
    np.testing.assert_allclose(there.decision_function(X), here.decision_function(X), rtol=1e-9)
    loaders = [partial(Block, X[:3]), partial(Block, X[3:5])]
    np.testing.assert_array_equal(LoadedPool(client, loaders).load(1).X, X[3:5])


def test_arrays_in_several_columns_of_chunks(client):
    rows, labels = da.from_array(X, chunks=(150, 2)), da.from_array(Y, chunks=150)
    assert_same_fit(hr.LinearRanker("auc").fit(X, Y), hr.LinearRanker("auc").fit(rows, labels))


@pytest.mark.parametrize("cut_alike", [True, False])
def test_measures_and_guarantees_take_dask_arrays_and_series(client, monkeypatch, cut_alike):
    scores, others = X[:, 0], X[:, 0] + X[:, 1]
    monkeypatch.setattr(headrank.rows.dask, "_GROUPED", 0)
    gathered, gather = [], DaskPool._gather

    def counted(pool, handles):
        gathered.append(len(handles))
        return gather(pool, handles)

    monkeypatch.setattr(DaskPool, "_gather", counted)
    for dask in (
        lambda v, n: da.from_array(v, chunks=N // n + 1),
        lambda v, n: dd.from_pandas(pd.Series(v), npartitions=n),
    ):
        y, s, t = dask(Y, 3), dask(scores, 3 if cut_alike else 2), dask(others, 3)
        for name in ("pauc@0.05", "ap"):
            assert hr.measure(name)(y, s) == pytest.approx(hr.measure(name)(Y, scores), rel=1e-12)
        assert str(hr.interval(y, s, measure="pauc@0.2")) == str(hr.interval(Y, scores, measure="pauc@0.2"))
        assert str(hr.threshold_at(y, s, max_fpr=0.2)) == str(hr.threshold_at(Y, scores, max_fpr=0.2))
        assert str(hr.compare(y, s, t)) == str(hr.compare(Y, scores, others))
        curves = hr.RocCurve.from_scores(y, s), hr.RocCurve.from_scores(Y, scores)
        assert hr.band(curves[0]).lower_at(0.2) == hr.band(curves[1]).lower_at(0.2)
    # Label counts of three partitions, then one curve, merged on the workers; columns that are cut otherwise are read.
    assert gathered == ([3, 1] * 8 if cut_alike else [])


def test_blocks_of_scores_on_workers(client):
    ddf = dd.from_pandas(FRAME, npartitions=3)
    one, two = (hr.Blocks.from_dask(ddf[names], ddf["fraud"]) for names in (["a"], ["a", "b"]))
    assert str(hr.interval(one, measure="pauc@0.2")) == str(hr.interval(Y, X[:, 0], measure="pauc@0.2"))
    assert hr.threshold_at(one, top=0.2) == hr.threshold_at(Y, X[:, 0], top=0.2)
    assert hr.band(one).lower_at(0.2) == hr.band(hr.RocCurve.from_scores(Y, X[:, 0])).lower_at(0.2)
    assert str(hr.compare(two, method="delong")) == str(hr.compare(Y, X[:, 0], X[:, 1], method="delong"))


def test_only_the_head_travels(client, monkeypatch):
    monkeypatch.setattr(_risks, "MOST_GATHERED", 10)
    blocks = hr.Blocks.from_dask(da.from_array(X, chunks=(150, 4)), da.from_array(Y, chunks=150))
    ranker = hr.LinearRanker("pauc@0.2", tol=1e-5).fit(blocks)
    assert ranker.objective_ == pytest.approx(hr.LinearRanker("pauc@0.2", tol=1e-5).fit(X, Y).objective_, rel=2e-5)


@posix_signals
def test_a_worker_killed_in_the_middle_of_a_fit(client, monkeypatch):
    """The blocks of the lost worker are computed again, and the fit goes on as if nothing had happened."""
    start, calls = DaskPool.start, []

    def start_and_kill(pool, function, *each, **same):
        handles = start(pool, function, *each, **same)
        calls.append(function)
        if len(calls) == 4:
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        return handles

    monkeypatch.setattr(DaskPool, "start", start_and_kill)
    blocks = hr.Blocks.from_dask(da.from_array(X, chunks=(100, 4)), da.from_array(Y, chunks=100))
    ranker = hr.LinearRanker("pauc@0.2", tol=1e-6).fit(blocks)
    assert len(calls) > 8
    assert_same_fit(hr.LinearRanker("pauc@0.2", tol=1e-6).fit(X, Y), ranker)


def test_no_graph_is_built_for_an_evaluation(client):
    blocks = hr.Blocks.from_dask(da.from_array(X, chunks=(100, 4)), da.from_array(Y, chunks=100))
    futures = blocks._pool.groups
    blocks.scores(np.ones(4))
    assert all(future.status == "finished" for future in futures)
    assert blocks._pool.groups is futures


@pytest.mark.parametrize(("n_bytes", "sizes"), [(0, [1] * 5), (5000, [3, 1, 1]), (10**6, [5])])
def test_small_neighbours_on_a_worker_share_a_task(client, monkeypatch, n_bytes, sizes):
    monkeypatch.setattr(headrank.rows.dask, "_GROUPED", n_bytes)
    worker, cuts = next(iter(client.scheduler_info()["workers"])), [0, 100, 140, 150, 160, N]  # 32 bytes per row
    rows, labels = (client.map(np.asarray, cut(of, cuts), workers=worker, pure=False) for of in (X, Y))
    blocks = hr.Blocks.from_dask(rows, labels)
    assert blocks._pool.sizes == sizes
    np.testing.assert_array_equal(blocks.y, Y)
    np.testing.assert_allclose(blocks.scores(np.ones(4)), X.sum(axis=1))
    np.testing.assert_allclose(blocks.combine(Y), Y @ X)
    np.testing.assert_array_equal(blocks.load(3).X, X[150:160])
    kept = blocks.keep(scores_of, same=(np.ones(4),))
    assert sum(blocks.map_values(np.dot, kept, blocks.cut(Y))) == pytest.approx(X.sum(axis=1) @ Y)
    assert blocks.reduce(n_rows_of, add) == N


def test_arrays_that_start_at_any_byte_are_aligned():
    """As those that a worker cuts out of a message; products of them would take three times as long."""
    shifted = np.frombuffer(b"0" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    assert not shifted.flags.aligned
    assert _block_of(shifted, Y, None, None, "float64", 0).X.flags.aligned


@pytest.mark.parametrize(
    ("arguments", "kind", "says"),
    [
        (lambda: (dd.from_pandas(FRAME.assign(t="x"), npartitions=2),), ValueError, "column 't' is .*, not a number"),
        (
            lambda: (da.from_array(X, chunks=(100, 4)), da.from_array(Y, chunks=200)),
            ValueError,
            "y has 2 partitions, X",
        ),
        (
            lambda: (da.from_array(X, chunks=(100, 4)), Y),
            TypeError,
            "y must be a Dask collection or a list",
        ),
        (lambda: (da.from_array(Y, chunks=100),), ValueError, "X must have rows and columns"),
    ],
)
def test_refusals(client, arguments, kind, says):
    with pytest.raises(kind, match=says):
        hr.Blocks.from_dask(*arguments())


def test_missing_whole_numbers_are_refused_by_name(client):
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": pd.array([1, None], dtype="Int64")})
    with pytest.raises(ValueError, match="column 'b' of partition 0 has 1 missing or infinite values"):
        _ = hr.Blocks.from_dask(dd.from_pandas(frame, npartitions=1)).ends()


def test_sparse_chunks(client):
    rows = da.from_array(X, chunks=(150, 4)).map_blocks(sparse.csr_matrix)
    blocks = hr.Blocks.from_dask(rows, da.from_array(Y, chunks=150))
    assert (blocks.take(np.arange(100, 200)).toarray() == X[100:200]).all()
    assert_same_fit(hr.LinearRanker("auc").fit(sparse.csr_array(X), Y), hr.LinearRanker("auc").fit(blocks))


def test_large_coefficients_are_sent_without_a_warning(client):
    n = 1_500_000  # 12 MB; Dask warns above 10 MB
    blocks = hr.Blocks.from_dask(da.ones((n, 1), chunks=(n, 1)))
    assert blocks.combine(np.ones(n)) == [n]


def test_partitions_of_other_lengths(client):
    blocks = hr.Blocks.from_dask(da.from_array(X, chunks=(200, 4)), da.from_array(Y, chunks=((100, 300),)))
    with pytest.raises(ValueError, match=r"y has [13]00 values for the 200 rows of partition [01]"):
        _ = blocks.y


def test_a_cluster_that_goes_away():
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50)
    client = Client(cluster, set_as_default=False)
    blocks = hr.Blocks.from_dask(da.from_array(X, chunks=(200, 4)), da.from_array(Y, chunks=200), client=client)
    blocks.scores(np.ones(4))
    client.close()
    cluster.close()
    with pytest.raises(ConnectionError, match="the Dask cluster went away"):
        blocks.scores(np.ones(4))


def test_a_cluster_that_goes_away_in_the_middle_of_a_fit(monkeypatch):
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50)
    client = Client(cluster, set_as_default=False)
    blocks = hr.Blocks.from_dask(da.from_array(X, chunks=(200, 4)), da.from_array(Y, chunks=200), client=client)
    collect, calls = DaskPool.collect, []

    def collect_and_close(pool, handles):
        calls.append(handles)
        if len(calls) == 8:
            client.close()
            cluster.close()
        return collect(pool, handles)

    monkeypatch.setattr(DaskPool, "collect", collect_and_close)
    ranker = hr.LinearRanker("pauc@0.2", C=10, tol=1e-6)
    with pytest.raises(ConnectionError, match="the Dask cluster went away") as stopped:
        ranker.fit(blocks)
    assert "coef_ has the best weights so far" in stopped.value.__notes__[0]
    assert ranker.score(X, Y) > 0.8


def test_an_interrupt_leaves_no_task_behind(client, monkeypatch):
    blocks = hr.Blocks.from_dask(da.from_array(X, chunks=(100, 4)), da.from_array(Y, chunks=100), client=client)
    collect, calls = DaskPool.collect, []

    def collect_and_stop(pool, handles):
        calls.append(handles[0].task.key)
        if len(calls) == 8:
            raise KeyboardInterrupt
        return collect(pool, handles)

    monkeypatch.setattr(DaskPool, "collect", collect_and_stop)
    with pytest.warns(ConvergenceWarning, match="interrupted.*kept the best weights so far"):
        ranker = hr.LinearRanker("pauc@0.2", C=10, tol=1e-6).fit(blocks)
    assert ranker.score(X, Y) > 0.8
    gc.collect()
    client.sync(asyncio.sleep, 0)  # releases are queued before this
    assert calls[7] not in client.futures
    assert {future.key for future in blocks._pool.groups} <= set(client.futures)


def test_no_client(monkeypatch):
    def none():
        raise ValueError("No global client found and no address provided")

    monkeypatch.setattr("distributed.get_client", none)
    with pytest.raises(ValueError, match="no client is connected; start one"):
        hr.Blocks.from_dask(da.from_array(X, chunks=(200, 4)))
    y, scores = (da.from_array(values, chunks=200) for values in (Y, X[:, 0]))
    assert hr.measure("auc")(y, scores) == hr.measure("auc")(Y, X[:, 0])  # gathered

"""A fit that is stopped keeps the best weights so far, and leaves nothing behind."""

import tempfile
import threading

import numpy as np
import polars as pl
import pytest
from sklearn.exceptions import ConvergenceWarning

import headrank as hr
from headrank.estimators import _risks
from headrank.estimators.cv import block_sample
from headrank.rows.pool import LocalPool
from waiting import threads_end

RNG = np.random.default_rng(0)
N = 300
X = RNG.normal(size=(N, 4))
Y = (2 * X[:, 0] + RNG.normal(size=N) > 1.5).astype(int)
FRAME = pl.DataFrame(X)
SURROGATES = [("pauc@0.2", "tight"), ("auc", "logistic"), ("pauc@0.2", "smooth")]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Three files; everything temporary goes to a folder beside them."""
    for number, part in enumerate(FRAME.with_columns(fraud=pl.Series(Y)).iter_slices(100)):
        part.write_parquet(tmp_path / f"{number}.parquet")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path


def call_at(monkeypatch, number, action):
    """Perform an action when a block is loaded for the time of this number."""
    load, calls = LocalPool.load, []

    def counting(pool, block):
        calls.append(block)
        if len(calls) == number:
            action()
        return load(pool, block)

    monkeypatch.setattr(LocalPool, "load", counting)
    return calls


def n_loads(folder, monkeypatch, ranker):
    """How many blocks a whole fit loads."""
    with monkeypatch.context() as patched:
        calls = call_at(patched, -1, None)
        ranker.fit(hr.Blocks.from_parquet(folder, target="fraud"))
    return len(calls)


def late(folder, monkeypatch, ranker):
    """The number of a load in the middle of the last search of a fit: some blocks of a pass are done, others not."""
    return n_loads(folder, monkeypatch, ranker) * 3 // 4 // 3 * 3 + 2


def raised(error):
    raise error


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(("measure", "surrogate"), SURROGATES)
def test_an_interrupt_keeps_the_best_weights_and_leaves_no_thread_or_file(
    measure, surrogate, n_jobs, folder, monkeypatch
):
    ranker = hr.LinearRanker(measure, surrogate=surrogate, C=10, tol=1e-6)
    number = late(folder, monkeypatch, ranker)
    blocks = hr.Blocks.from_parquet(folder, target="fraud", n_jobs=n_jobs)
    before = threading.active_count()
    call_at(monkeypatch, number, lambda: raised(KeyboardInterrupt()))
    with pytest.warns(ConvergenceWarning, match="interrupted.*kept the best weights so far"):
        ranker.fit(blocks)
    assert not list((folder / "temporary").iterdir())
    assert ranker.score(FRAME, Y) > 0.7
    del blocks  # threads may wait for the next pass as long as it exists
    assert threads_end(before)


@pytest.mark.parametrize("only_head", [False, True])
@pytest.mark.parametrize(("measure", "surrogate"), SURROGATES)
def test_files_that_vanish_end_the_fit_and_the_next_one_starts_from_its_weights(
    measure, surrogate, only_head, folder, monkeypatch
):
    if only_head:
        monkeypatch.setattr(_risks, "MOST_GATHERED", 10)
    ranker = hr.LinearRanker(measure, surrogate=surrogate, C=10, tol=1e-6)
    objective = ranker.fit(X, Y).objective_
    number = late(folder, monkeypatch, ranker)
    blocks = hr.Blocks.from_parquet(folder, target="fraud", memory=0)
    gone, held = folder / "1.parquet", (folder / "1.parquet").read_bytes()
    with monkeypatch.context() as patched:
        call_at(patched, number, gone.unlink)
        with pytest.raises(FileNotFoundError, match=r"1\.parquet") as stopped:
            ranker.fit(blocks)
    assert "coef_ has the best weights so far" in stopped.value.__notes__[0]
    assert ranker.objective_ >= objective * (1 - 1e-5)
    assert len(ranker.trace_) == ranker.n_iter_
    assert not hasattr(ranker, "training_measure_")
    assert (ranker.intercept_ == 0) == only_head
    assert ranker.score(FRAME, Y) > 0.7
    gone.write_bytes(held)
    ranker.set_params(warm_start=True).fit(hr.Blocks.from_parquet(folder, target="fraud"))
    assert ranker.objective_ == pytest.approx(objective, rel=1e-3 if surrogate == "smooth" else 1e-5)
    assert hasattr(ranker, "training_measure_")


def test_files_that_vanish_before_the_search(folder):
    blocks = hr.Blocks.from_parquet(folder, target="fraud", memory=0)
    _ = blocks.y
    (folder / "0.parquet").unlink()
    ranker = hr.LinearRanker("pauc@0.2")
    with pytest.raises(FileNotFoundError):
        ranker.fit(blocks)
    assert not hasattr(ranker, "coef_")


def test_a_selection_survives_the_loss_of_the_rows(folder, monkeypatch):
    """`refit` goes on with what was selected on the sample."""
    monkeypatch.setattr(block_sample, "_ENOUGH", 20)
    ranker = hr.LinearRankerCV("pauc@0.2", surrogates=("tight",), Cs=(1.0, 10.0), cv=3)
    number = n_loads(folder, monkeypatch, ranker) - 4
    coef = ranker.coef_
    ranker = hr.LinearRankerCV(**ranker.get_params())
    with monkeypatch.context() as patched:
        call_at(patched, number, lambda: raised(ConnectionError("gone")))
        with pytest.raises(ConnectionError, match="gone"):
            ranker.fit(hr.Blocks.from_parquet(folder, target="fraud", n_jobs=1))
    ranker.refit(hr.Blocks.from_parquet(folder, target="fraud"))
    # Both fits are certified to a gap of 1e-3, from other starts.
    assert ranker.coef_ @ coef > 0.99 * np.linalg.norm(ranker.coef_) * np.linalg.norm(coef)

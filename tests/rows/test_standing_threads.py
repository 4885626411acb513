"""Threads stay for the next pass over blocks, but not beyond the blocks, an interrupt or a fork."""

import multiprocessing
import threading
import time

import numpy as np
import pytest

from headrank import Blocks
from waiting import threads_end

X = np.random.default_rng(0).normal(size=(60, 3))


def test_threads_stay_for_the_next_pass_and_end_with_the_blocks():
    before = threading.active_count()
    blocks = Blocks.from_arrays([X] * 8, n_jobs=2)
    derived = blocks.mapped(lambda block: block, n_features=3, dtype=X.dtype)
    met = {thread for each in (blocks, derived, blocks) for thread in each.map(lambda _: threading.current_thread())}
    assert 1 <= len(met) <= 2
    assert threading.main_thread() not in met
    del blocks, derived
    assert threads_end(before)


def test_after_an_interrupt_nothing_goes_on_and_no_thread_is_left():
    begun, ended = [], []

    def stop(block):
        begun.append(block)
        if len(begun) == 1:
            raise KeyboardInterrupt
        time.sleep(0.05)
        ended.append(block)

    before = threading.active_count()
    blocks = Blocks.from_arrays([X] * 8, n_jobs=2)
    with pytest.raises(KeyboardInterrupt):
        blocks.map(stop)
    assert len(begun) == len(ended) + 1 < 8
    assert threading.active_count() == before
    assert blocks.n_rows == 8 * 60  # with new threads


def _sum_in_a_fork(blocks, pipe):
    pipe.send(blocks.combine(np.ones(blocks.n_rows)).sum())


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    blocks = Blocks.from_arrays([X] * 4, n_jobs=2)
    expected = blocks.combine(np.ones(blocks.n_rows)).sum()
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=_sum_in_a_fork, args=(blocks, there))
    process.start()
    try:
        assert here.poll(60)
        assert here.recv() == expected
    finally:
        process.kill()
        process.join()

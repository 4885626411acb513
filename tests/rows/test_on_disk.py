"""Files read past the system's cache: memory that is used again, short reads, forked processes."""

import os
import warnings

import numpy as np
import pytest

from headrank.rows import on_disk


@pytest.fixture
def file(tmp_path):
    """Three pages and a bit, on a file system that can be read past the cache."""
    path = tmp_path / "a.npy"
    path.write_bytes(np.random.default_rng(0).bytes(3 * 4096 + 100))
    if on_disk._read_past_cache(path, []) is None:
        pytest.skip("this system cannot read past its cache")
    return path


def test_a_buffer_is_used_again_if_it_is_large_enough(file):
    expected, buffers = file.read_bytes(), []
    first = on_disk._read_past_cache(file, buffers)
    assert first[: len(expected)] == expected
    buffers.append(first)
    file.write_bytes(expected[::-1])
    assert on_disk._read_past_cache(file, buffers) is first
    assert first[: len(expected)] == expected[::-1]
    assert buffers == []
    small = on_disk._large_enough(1, [])
    assert on_disk._read_past_cache(file, [small]) is not small


def test_a_file_may_come_in_parts(file, monkeypatch):
    sizes, read = [], os.readv

    def in_parts(descriptor, views):
        sizes.append(read(descriptor, [views[0][:4096]]))
        return sizes[-1]

    monkeypatch.setattr(on_disk.os, "readv", in_parts)
    assert on_disk._read_past_cache(file, [])[: 3 * 4096 + 100] == file.read_bytes()
    assert sizes == [4096] * 3 + [100]


def test_a_forked_process_has_memory_of_its_own(file):
    buffer = on_disk._read_past_cache(file, [])
    before = buffer[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking beside threads; this child does next to nothing
        child = os.fork()
    if not child:
        buffer[0] = before ^ 255
        os._exit(0)
    os.waitpid(child, 0)
    assert buffer[0] == before

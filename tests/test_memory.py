"""Sizes of memory: as typed, and as the system tells."""

import pytest

from headrank import _memory
from headrank._memory import free_memory, size_of


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [("4GB", 4e9), ("500 mb", 5e8), ("2e9", 2e9), (".5TB", 5e11), ("1KiB", 1024), ("0", 0), ("7b", 7)],
)
def test_sizes(text, n_bytes):
    assert size_of(text) == n_bytes


@pytest.mark.parametrize("text", ["", "GB", "4 GBs", "-1GB", "nan", "1 2", "4XB", "inf"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ValueError, match="expected a number of bytes such as 4GB"):
        size_of(text)


def test_free_memory_is_what_is_left_within_all_limits(tmp_path, monkeypatch):
    facts = tmp_path / "meminfo"
    facts.write_text("MemTotal: 8000 kB\nMemAvailable: 3000 kB\n")
    assert _memory._available(facts) == 3000 * 1024
    assert _memory._available(tmp_path / "absent") is None
    assert _memory._left_in_container(tmp_path) is None
    (tmp_path / "memory.current").write_text("400\n")
    (tmp_path / "memory.stat").write_text("anon 300\ninactive_file 50\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert _memory._left_in_container(tmp_path) is None
    (tmp_path / "memory.max").write_text("1000\n")
    assert _memory._left_in_container(tmp_path) == 650
    (tmp_path / "memory.max").write_text("100\n")
    assert _memory._left_in_container(tmp_path) == 0
    assert free_memory() > 1e6
    monkeypatch.setattr(_memory.sys, "platform", "linux")
    monkeypatch.setattr(_memory, "_available", lambda _: 5.0)
    monkeypatch.setattr(_memory, "_left_in_container", lambda _: 3.0)
    assert free_memory() == 3.0

"""What a test needs of the system; elsewhere it is skipped, and says so."""

import os
from pathlib import Path

import pytest

POSIX = os.name == "posix"

posix_signals = pytest.mark.skipif(not POSIX, reason="needs POSIX signals")
file_size_limits = pytest.mark.skipif(not POSIX, reason="needs limits on the size of files (setrlimit)")
named_pipes = pytest.mark.skipif(not POSIX, reason="needs named pipes (mkfifo)")
symbolic_links = pytest.mark.skipif(not POSIX, reason="needs symbolic links, which Windows grants to few users")
posix_paths = pytest.mark.skipif(not POSIX, reason="needs POSIX paths and permissions")
proc = pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
dev_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")

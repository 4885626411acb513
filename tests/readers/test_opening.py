"""Files that are not there, and what importing the readers costs."""

import subprocess
import sys
from functools import partial

import pytest

from headrank.readers import read_columns, read_svmlight, read_table
from headrank.readers.blocks import svmlight_blocks, table_blocks

READERS = {
    "svmlight": read_svmlight,
    "table": partial(read_table, target="y"),
    "columns": partial(read_columns, names=["y"]),
    "blocks": lambda path: list(table_blocks(path, {"y": "number"})),
    "svmlight blocks": lambda path: list(svmlight_blocks(path)),
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_missing_files_and_folders(tmp_path, read):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*absent\.csv; check the path"):
        read(tmp_path / "absent.csv")
    with pytest.raises(IsADirectoryError, match="is a folder; expected a file"):
        read(tmp_path)


def test_importing_the_readers_loads_nothing_heavy():
    code = "import sys, headrank.readers; print({'polars', 'scipy', 'sklearn'} & {name for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"

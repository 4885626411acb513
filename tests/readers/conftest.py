"""What the tests of the readers share."""

import pytest


@pytest.fixture
def write(tmp_path):
    def write_to(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_to

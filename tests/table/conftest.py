"""What the tests of tables share."""

import pytest


@pytest.fixture
def file(tmp_path):
    """Write a file of bytes or text and give its path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write

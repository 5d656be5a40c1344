"""Fixtures for the tests of the table package."""

import pytest


@pytest.fixture
def file(tmp_path):
    """A function that writes a file of bytes or text and returns its path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write

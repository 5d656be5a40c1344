"""The store of a command is opened, and closed at the end."""

from pathlib import Path

import pytest

from eddi.cli.open_store import find_workshop, open_store
from eddi.store.base import StoreError
from eddi.store.upgrade import upgrade


def test_a_store_that_does_not_exist_is_not_created(tmp_path: Path) -> None:
    with pytest.raises(StoreError), open_store(f"sqlite:///{tmp_path}/none.db"):
        pass
    assert not (tmp_path / "none.db").exists()


def test_a_store_can_be_read(tmp_path: Path) -> None:
    upgrade(f"sqlite:///{tmp_path}/answers.db")
    with open_store(f"sqlite:///{tmp_path}/answers.db") as store:
        assert store.count() == (0, 0)


def test_the_workshop_is_next_to_a_store_in_a_file(tmp_path: Path) -> None:
    assert find_workshop(f"sqlite:///{tmp_path}/answers.db") == tmp_path / "workshop"

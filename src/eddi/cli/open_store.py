"""The store that a command of `eddi store` works on, and its workshop."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eddi.store.factory import require_sql_packages

if TYPE_CHECKING:
    from eddi.store.sql import SqlStore

StoreUrl = Annotated[
    str,
    typer.Argument(
        metavar="URL",
        help="sqlite:///answers.db or postgresql://user@host/database. "
        "Keep the password in PGPASSWORD or ~/.pgpass.",
    ),
]
WorkshopOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="The folder of tables, jobs and models. Default: as `eddi serve` chooses it.",
    ),
]


@contextmanager
def open_store(url: str) -> Iterator["SqlStore"]:
    """Open the store at ``url``, which must exist, and close it at the end."""
    require_sql_packages()
    from eddi.store.sql import SqlStore

    store = SqlStore(url, create=False)
    try:
        yield store
    finally:
        store.close()


def find_workshop(url: str) -> Path | None:
    """Return the folder of the workshop that `eddi serve` uses with this store."""
    from eddi.cli.serve import read_settings

    return read_settings(store=url).workshop_folder

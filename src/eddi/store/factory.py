"""Open a store by its address."""

from importlib.util import find_spec

from eddi.errors import MissingExtraError
from eddi.store.base import Store, StoreUrlError
from eddi.store.memory import MemoryStore

KINDS = "memory:, sqlite:///answers.db, or postgresql://user@host/database"


def open_store(url: str, *, create: bool = True) -> Store:
    """The store at ``url``: ``memory:``, ``sqlite:///file`` or ``postgresql://user@host/database``.

    A password is best left to ``~/.pgpass`` or ``PGPASSWORD``, which the driver reads by itself.

    Args:
        url: where it is.
        create: make a SQLite file that is not there; else that is an error.

    Raises:
        StoreUrlError: the address cannot be understood.
        MissingExtraError: a package for this kind of store is not installed.
        StoreUnreachableError: the database does not answer.
        StoreNotFoundError: there is no such file, and none is to be made.
        StoreSchemaError: its tables are of another version.
    """
    kind = url.partition(":")[0]
    if url in ("memory:", "memory://"):
        return MemoryStore()
    if kind.partition("+")[0] not in ("sqlite", "postgresql", "postgres") or kind == url:
        # The rest may hold a password: it is not repeated.
        raise StoreUrlError(f"a store cannot be opened by {kind!r}... Give one of {KINDS}.")
    need_sql()
    from eddi.store.sql import SqlStore

    return SqlStore(url, create=create)


def need_sql() -> None:
    """Say how to install what a store in a database needs, if it is not there.

    Raises:
        MissingExtraError: it is not there.
    """
    for package in ("sqlalchemy", "alembic"):
        if find_spec(package) is None:
            raise MissingExtraError(
                f"a store in a database needs {package}, which is not installed. "
                "Install it: pip install 'eddi-ml[web]'"
            )

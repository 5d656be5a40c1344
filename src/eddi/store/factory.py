"""Open a store by its URL."""

from importlib.util import find_spec

from eddi.errors import MissingExtraError
from eddi.store.base import Store, StoreUrlError
from eddi.store.memory import MemoryStore

EXAMPLES = "memory:, sqlite:///answers.db or postgresql://user@host/database"


def open_store(url: str, *, create: bool = True) -> Store:
    """Open the store at ``url``.

    Args:
        url: ``memory:``, ``sqlite:///file`` or ``postgresql://user@host/database``. Keep the password
            in ``~/.pgpass`` or ``PGPASSWORD``; the PostgreSQL driver reads both.
        create: create a SQLite file that does not exist, instead of raising an error.

    Raises:
        StoreUrlError: the URL is invalid.
        MissingExtraError: a package for this kind of store is not installed.
        StoreUnreachableError: the database server does not respond.
        StoreNotFoundError: the SQLite file does not exist and ``create`` is False.
        StoreSchemaError: the tables are missing, older or newer.
    """
    scheme = url.partition(":")[0]
    if url in ("memory:", "memory://"):
        return MemoryStore()
    if scheme.partition("+")[0] not in ("sqlite", "postgresql", "postgres") or scheme == url:
        # The rest of the URL may contain a password, so the message does not repeat it.
        raise StoreUrlError(f"a store URL cannot start with {scheme!r}. Use {EXAMPLES}.")
    require_sql_packages()
    from eddi.store.sql import SqlStore

    return SqlStore(url, create=create)


def require_sql_packages() -> None:
    """Check that the packages for database stores are installed.

    Raises:
        MissingExtraError: a package is not installed.
    """
    for package in ("sqlalchemy", "alembic"):
        if find_spec(package) is None:
            raise MissingExtraError(
                f"a database store needs the package {package}, which is not installed. "
                "Install it: pip install 'eddi-ml[web]'"
            )

"""The address of a database: understood, checked, and shown without its password."""

from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from eddi.store.base import StoreUrlError

SQLITE, POSTGRESQL = "sqlite", "postgresql"
DRIVERS = {SQLITE: "sqlite+pysqlite", POSTGRESQL: "postgresql+psycopg"}
HARMLESS = ("host", "port", "sslmode")  # options that say where, and no secret
EXAMPLES = "sqlite:///answers.db or postgresql://user@host/database"


def parsed(url: str) -> URL:
    """The address in parts, with the driver we use. Nothing of it is repeated where it is wrong.

    Raises:
        StoreUrlError: it is not the address of a database we know.
    """
    try:
        parts = make_url(url)
    except (ArgumentError, ValueError):  # its words may hold the password
        raise StoreUrlError(f"this is not the address of a store. Write it as {EXAMPLES}.") from None
    name = parts.drivername.partition("+")[0]
    kind = POSTGRESQL if name == "postgres" else name  # as the driver itself allows
    if kind not in DRIVERS:
        raise StoreUrlError(f"no store of kind {kind!r} is known. Give {EXAMPLES}.")
    parts = parts.set(drivername=DRIVERS[kind])
    return _checked_file(parts) if kind == SQLITE else _checked_server(parts)


def _checked_file(url: URL) -> URL:
    if url.host or url.query or not url.database or url.database == ":memory:":
        raise StoreUrlError(
            "a store in SQLite needs a file: sqlite:///answers.db (three strokes) here, "
            "sqlite:////var/lib/answers.db (four) anywhere. Use memory: for one that is not kept."
        )
    folder = Path(url.database).parent
    if not folder.is_dir():
        raise StoreUrlError(
            f"cannot keep a store in {url.database!r}: there is no such folder. Make it first."
        )
    if Path(url.database).is_dir():
        raise StoreUrlError(f"{url.database!r} is a folder. Name a file in it.")
    return url


def _checked_server(url: URL) -> URL:
    if "@" in (url.host or ""):
        raise StoreUrlError(
            "the user or the password in this address holds an '@'. Write it as %40; "
            "other special characters likewise, as in web addresses."
        )
    return url


def shown(url: URL) -> str:
    """The address for messages: without the password, and without options that may hold one."""
    kind = url.drivername.partition("+")[0]
    query = {name: value for name, value in url.query.items() if name in HARMLESS}
    plain = URL.create(kind, url.username, None, url.host, url.port, url.database, query)
    return plain.render_as_string()

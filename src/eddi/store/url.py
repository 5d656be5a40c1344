"""Database URLs: parsing, validation, and display without the password."""

from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from eddi.store.base import StoreUrlError

SQLITE, POSTGRESQL = "sqlite", "postgresql"
DRIVERS = {SQLITE: "sqlite+pysqlite", POSTGRESQL: "postgresql+psycopg"}
NON_SECRET_OPTIONS = ("host", "port", "sslmode")
EXAMPLES = "sqlite:///answers.db or postgresql://user@host/database"


def parse_url(url: str) -> URL:
    """Parse and validate the URL of a database and select its driver.

    Error messages do not repeat the URL because it may contain a password.

    Raises:
        StoreUrlError: the URL is invalid or names an unsupported database.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # their messages may contain the password
        raise StoreUrlError(f"this is not a valid store URL. Use {EXAMPLES}.") from None
    name = parsed.drivername.partition("+")[0]
    kind = POSTGRESQL if name == "postgres" else name  # libpq accepts both spellings
    if kind not in DRIVERS:
        raise StoreUrlError(f"stores of kind {kind!r} are not supported. Use {EXAMPLES}.")
    parsed = parsed.set(drivername=DRIVERS[kind])
    if kind == SQLITE:
        _check_sqlite(parsed)
    else:
        _check_postgresql(parsed)
    return parsed


def _check_sqlite(url: URL) -> None:
    if url.host or url.query or not url.database or url.database == ":memory:":
        raise StoreUrlError(
            "a SQLite store needs a file. Use sqlite:///answers.db (three slashes) for a relative path, "
            "sqlite:////var/lib/answers.db (four slashes) for an absolute path, or memory: for a store "
            "that is not saved."
        )
    path = Path(url.database)
    if not path.parent.is_dir():
        raise StoreUrlError(
            f"cannot create a store at {url.database!r}: there is no such folder. Create it first."
        )
    if path.is_dir():
        raise StoreUrlError(f"{url.database!r} is a folder. Name a file in it.")


def _check_postgresql(url: URL) -> None:
    if "@" in (url.host or ""):
        raise StoreUrlError(
            "the user name or password in this URL contains '@'. Write it as %40, and percent-encode "
            "other special characters as well."
        )


def redact_url(url: URL) -> str:
    """Return the URL for messages, without the password and without options that may contain one."""
    kind = url.drivername.partition("+")[0]
    query = {name: value for name, value in url.query.items() if name in NON_SECRET_OPTIONS}
    redacted = URL.create(kind, url.username, None, url.host, url.port, url.database, query)
    return redacted.render_as_string()

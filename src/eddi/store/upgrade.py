"""Create the tables of a store or migrate them to the current revision."""

from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from eddi.store.base import StoreNotFoundError, StoreSchemaError
from eddi.store.connection import (
    create_private_file,
    open_engine,
    read_transaction,
    write_transaction,
)
from eddi.store.tables import REVISIONS, VERSION_TABLE
from eddi.store.url import SQLITE, parse_url, redact_url

ADVISORY_LOCK_ID = 0x_EDD1  # identifies our lock among those of other programs in the same database


def upgrade(url: str) -> tuple[str | None, str]:
    """Upgrade the store at ``url`` and return its previous and current revision.

    The previous revision is None if there were no tables. Stored events are kept. Several processes
    may upgrade the same store at once.

    Raises:
        StoreSchemaError: a newer version of eddi created the store.
    """
    engine = open_engine(parse_url(url))
    try:
        ensure_file(engine)
        return migrate(engine)
    finally:
        engine.dispose()


def ensure_file(engine: Engine, *, create: bool = True) -> None:
    """Create the file of a SQLite store, readable only by its owner, if it does not exist.

    Raises:
        StoreNotFoundError: the file does not exist and ``create`` is False.
    """
    if engine.dialect.name != SQLITE:
        return
    path = Path(str(engine.url.database))
    if create:
        create_private_file(path)
    elif not path.exists():
        raise StoreNotFoundError(f"there is no store at {str(path)!r}. Check the path.")


def migrate(engine: Engine) -> tuple[str | None, str]:
    """Migrate the tables in one transaction and return the previous and current revision."""
    with write_transaction(engine) as connection:
        if engine.dialect.name != SQLITE:  # on SQLite the transaction itself is the lock
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": ADVISORY_LOCK_ID})
        previous = read_revision(connection)
        if previous != REVISIONS[-1]:
            _reject_newer(previous, redact_url(engine.url))
            _run_migrations(connection)
    return previous, REVISIONS[-1]


def _run_migrations(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    folder = str(Path(__file__).with_name("migrations"))
    config.set_main_option("script_location", folder.replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, REVISIONS[-1])


def read_revision(connection: Connection) -> str | None:
    """Return the revision of the tables, or None if there are no tables."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    result = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}"))  # noqa: S608  # a constant
    return result.scalar_one_or_none()


def prepare_tables(engine: Engine, *, create: bool) -> None:
    """Check that the tables have the current revision, and create them in a new SQLite file.

    Raises:
        StoreSchemaError: the tables are missing, older or newer.
        StoreNotFoundError: the SQLite file does not exist and ``create`` is False.
    """
    url = redact_url(engine.url)
    ensure_file(engine, create=create)
    with read_transaction(engine) as connection:
        revision = read_revision(connection)
        is_empty = revision is None and not inspect(connection).get_table_names()
    if revision == REVISIONS[-1]:
        return
    if is_empty and create and engine.dialect.name == SQLITE:
        migrate(engine)
        return
    _reject_newer(revision, url)
    state = "has no eddi tables" if revision is None else f"has tables of revision {revision}"
    raise StoreSchemaError(
        f"the store {url} {state}; this version of eddi needs revision {REVISIONS[-1]}. "
        f"Back up existing data, then run: eddi store upgrade {url}"
    )


def _reject_newer(revision: str | None, url: str) -> None:
    if revision is not None and revision not in REVISIONS:
        raise StoreSchemaError(
            f"the store {url} has tables of revision {revision}, created by a newer version of eddi. "
            f"This version supports {', '.join(REVISIONS)}. Upgrade: pip install --upgrade eddi-ml"
        )

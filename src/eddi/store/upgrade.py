"""Bring the tables of a store up to this version of eddi, or say what is in the way."""

from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from eddi.store.base import StoreNotFoundError, StoreSchemaError
from eddi.store.connection import connect, make_private, reading, writing
from eddi.store.tables import REVISIONS, VERSION_TABLE
from eddi.store.url import SQLITE, parsed, shown

LOCK = 0x_EDD1  # names our lock among those of other programs in the same PostgreSQL


def upgrade(url: str) -> tuple[str | None, str]:
    """Bring the store at ``url`` up to date; the revision it had (None: no tables) and has now.

    What is kept stays. Several processes may do this at once.

    Raises:
        StoreSchemaError: the store was made by a newer version of eddi.
    """
    engine = connect(parsed(url))
    try:
        make_file(engine)
        return migrate(engine)
    finally:
        engine.dispose()


def make_file(engine: Engine, *, create: bool = True) -> None:
    """A new SQLite file is for its owner alone; or there must be one already."""
    if engine.dialect.name != SQLITE:
        return
    path = Path(str(engine.url.database))
    if create:
        make_private(path)
    elif not path.exists():
        raise StoreNotFoundError(f"there is no store {str(path)!r}. Check the address.")


def migrate(engine: Engine) -> tuple[str | None, str]:
    """Migrate in one transaction, of which everybody else sees nothing or all."""
    with writing(engine) as connection:
        if engine.dialect.name != SQLITE:  # there the transaction itself is the lock
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        before = revision(connection)
        if before != REVISIONS[-1]:
            _refuse_newer(before, shown(engine.url))
            _run(connection)
    return before, REVISIONS[-1]


def _run(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    folder = str(Path(__file__).with_name("migrations"))
    config.set_main_option("script_location", folder.replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, REVISIONS[-1])


def revision(connection: Connection) -> str | None:
    """Which revision the tables are of; None where there are none."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}"))  # noqa: S608  # a constant
    return found.scalar_one_or_none()


def make_ready(engine: Engine, *, create: bool) -> None:
    """Check that the tables are of this version; make them in a SQLite file that is new.

    Raises:
        StoreSchemaError: they are older, newer, or not there.
        StoreNotFoundError: there is no file, and none is to be made.
    """
    where = shown(engine.url)
    make_file(engine, create=create)
    with reading(engine) as connection:
        found = revision(connection)
        is_new = found is None and not inspect(connection).get_table_names()
    if found == REVISIONS[-1]:
        return
    if is_new and create and engine.dialect.name == SQLITE:
        migrate(engine)
        return
    _refuse_newer(found, where)
    what = "has no tables of eddi yet" if found is None else f"has tables of revision {found}"
    raise StoreSchemaError(
        f"the store {where} {what}; this version of eddi needs revision {REVISIONS[-1]}. "
        f"Make a backup if there is something in it, then run: eddi store upgrade {where}"
    )


def _refuse_newer(found: str | None, where: str) -> None:
    if found is not None and found not in REVISIONS:
        raise StoreSchemaError(
            f"the store {where} has tables of revision {found}, made by a newer version of eddi; this "
            f"one knows {', '.join(REVISIONS)}. Install the newer one: pip install --upgrade eddi-ml"
        )

"""Alembic entry point: migrate in the connection and transaction that `eddi.store.upgrade` holds."""

from alembic import context

from eddi.store.tables import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    transactional_ddl=True,
)
context.run_migrations()

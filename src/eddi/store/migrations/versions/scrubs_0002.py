"""Create the queue of streams whose erased facts may still be in the files of the database."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "eddi_scrubs",
        sa.Column("stream", _NAME, primary_key=True),
        sa.Column("at", sa.Text, nullable=False),
    )

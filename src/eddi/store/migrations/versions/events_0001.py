"""Create the tables of events and of stream heads."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the two tables."""
    op.create_table(
        "eddi_heads",
        sa.Column("stream", _NAME, primary_key=True),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
        sa.Column("forgotten", sa.Boolean, nullable=False),
    )
    op.create_table(
        "eddi_events",
        sa.Column("stream", _NAME, sa.ForeignKey("eddi_heads.stream"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("facts", sa.Text),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("before", sa.Text, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("salt", sa.Text, nullable=False),
    )

"""The current tables of a store. The package `migrations` creates and upgrades them."""

from sqlalchemy import Boolean, Column, ForeignKey, Integer, MetaData, Table, Text

REVISIONS = ("0001", "0002")  # oldest first; this version of eddi reads and writes the last one
VERSION_TABLE = "eddi_version"  # not alembic's default name: other programs may share the database

metadata = MetaData()
# Sort by code point everywhere. PostgreSQL would otherwise sort by the rules of a language.
_NAME = Text().with_variant(Text(collation="C"), "postgresql")

heads = Table(
    "eddi_heads",
    metadata,
    Column("stream", _NAME, primary_key=True),
    Column("number", Integer, nullable=False),
    Column("hash", Text, nullable=False),
    Column("forgotten", Boolean, nullable=False),
)
events = Table(
    "eddi_events",
    metadata,
    Column("stream", _NAME, ForeignKey(heads.c.stream), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("facts", Text),  # canonical JSON, exactly as hashed; null once forgotten
    Column("at", Text, nullable=False),
    Column("before", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("salt", Text, nullable=False),
)
scrubs = Table(  # streams whose facts were erased, but may still be in the files of the database
    "eddi_scrubs",
    metadata,
    Column("stream", _NAME, primary_key=True),
    Column("at", Text, nullable=False),  # when the facts were erased
)

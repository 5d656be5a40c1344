"""Append-only event stores: in memory, in SQLite or in PostgreSQL."""

from eddi.store.base import (
    FORGOTTEN,
    Event,
    FactsError,
    Fault,
    Store,
    StoreBusyError,
    StoreConflict,
    StoreError,
    StoreNotFoundError,
    StoreSchemaError,
    StoreUnreachableError,
    StoreUrlError,
    StreamForgottenError,
    StreamNotFoundError,
)
from eddi.store.factory import open_store
from eddi.store.memory import MemoryStore

__all__ = [
    "FORGOTTEN",
    "Event",
    "FactsError",
    "Fault",
    "MemoryStore",
    "Store",
    "StoreBusyError",
    "StoreConflict",
    "StoreError",
    "StoreNotFoundError",
    "StoreSchemaError",
    "StoreUnreachableError",
    "StoreUrlError",
    "StreamForgottenError",
    "StreamNotFoundError",
    "open_store",
]

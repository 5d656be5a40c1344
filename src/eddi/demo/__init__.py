"""The table of `eddi demo`: adults without diagnosed diabetes, and the questions to ask them."""

from eddi.demo.adults import SCHEMA_FILE, TABLE_FILE, load_schema, load_table, split_table

__all__ = ["SCHEMA_FILE", "TABLE_FILE", "load_schema", "load_table", "split_table"]

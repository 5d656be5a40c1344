"""Adults of the survey NHANES 2015-2016: whether their blood sugar is raised, and what may indicate it.

PROVENANCE.md in this folder describes the table.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa

from eddi.table import formats
from eddi.table.schema import Schema

TABLE_FILE = Path(__file__).with_name("adults.csv.gz")
SCHEMA_FILE = Path(__file__).with_name("adults.toml")
HELD_OUT_SHARE = 0.2  # of the rows


def load_table() -> pa.Table:
    """Return the table, one row per person; missing values are null."""
    return formats.read(TABLE_FILE)


def load_schema() -> Schema:
    """Return the schema: the questions with their texts, costs and prerequisites."""
    return Schema.from_toml(SCHEMA_FILE)


def split_table(table: pa.Table, seed: int = 0) -> tuple[pa.Table, pa.Table]:
    """Return training rows and held-out rows, drawn at random."""
    order = np.random.default_rng(seed).permutation(table.num_rows)
    n_held_out = round(HELD_OUT_SHARE * table.num_rows)
    return table.take(np.sort(order[n_held_out:])), table.take(np.sort(order[:n_held_out]))

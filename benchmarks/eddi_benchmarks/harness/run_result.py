"""The result of one run, stored as a JSON file.

The JSON object has the keys ``run``, ``settings``, ``figures`` (the measurements) and ``circumstances``
(the provenance).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eddi_benchmarks.harness.files import read_json, write_json

Settings = Mapping[str, Any]
"""The settings of a run as JSON values: texts, numbers, booleans, and lists of them."""
Measurements = dict[str, Any]
"""What one run measured, as JSON values."""


@dataclass(frozen=True)
class RunResult:
    """A finished run.

    Args:
        run: name of the run.
        settings: its settings.
        measurements: what it measured.
        provenance: data (SHA-256 by dataset), commit, versions, machine, device, seed, seconds, ...
        folder: folder of the run's own files; not stored.
    """

    run: str
    settings: dict[str, Any]
    measurements: Measurements
    provenance: dict[str, Any]
    folder: Path | None = None


def read_result(folder: Path, run: str, settings: dict[str, Any]) -> RunResult | None:
    """Read the result of ``run``, or return None if it is not finished with these ``settings``."""
    document = read_json(folder / f"{run}.json")
    if document is None or document.get("settings") != settings:
        return None
    measurements, provenance = document.get("figures"), document.get("circumstances")
    if not (isinstance(measurements, dict) and isinstance(provenance, dict)):
        return None
    return RunResult(run, settings, measurements, provenance, folder / run)


def write_result(folder: Path, result: RunResult) -> None:
    """Store ``result`` in ``folder``, completely or not at all."""
    document = {
        "run": result.run,
        "settings": result.settings,
        "figures": result.measurements,
        "circumstances": result.provenance,
    }
    write_json(folder / f"{result.run}.json", document)


def to_json_values(values: Any) -> Any:
    """Convert arrays and nested values for JSON: six significant digits, None for NaN and infinity."""
    if isinstance(values, dict):
        return {name: to_json_values(value) for name, value in values.items()}
    if isinstance(values, list | tuple | np.ndarray):
        return [to_json_values(value) for value in values]
    if isinstance(values, float | np.floating):
        return float(f"{float(values):.6g}") if math.isfinite(values) else None
    return values

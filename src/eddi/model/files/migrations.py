"""Migrations of model files: each converts the data of one format to the next.

Format 5 is the first released one. To change the format, increase FORMAT_VERSION, add a function to
MIGRATIONS, and add a golden file of the old format to the tests.
"""

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor

OLDEST_VERSION = 5
FORMAT_VERSION = 6


@dataclass(frozen=True)
class ModelData:
    """The content of a model file: its metadata (model.json) and weights by name."""

    metadata: dict[str, Any]
    weights: dict[str, Tensor]


def migrate(data: ModelData, version: int) -> ModelData:
    """Convert data of a format from OLDEST_VERSION on to the present format."""
    for old_version in range(version, FORMAT_VERSION):
        data = MIGRATIONS[old_version](data)
    return data


def _migrate_5(data: ModelData) -> ModelData:
    """Format 6 renames weights, adds factors, and describes a certificate's strategy by its settings."""
    weights = {_rename_weight(name): weight for name, weight in data.weights.items()}
    certificates = [
        {**certificate, "strategy": _parse_strategy(certificate["strategy"])}
        for certificate in data.metadata.get("certificates", [])
    ]
    recipe = {**data.metadata["recipe"], "factors": 0}
    return ModelData({**data.metadata, "recipe": recipe, "certificates": certificates}, weights)


RENAMED_WEIGHTS = {  # last part of the name, format 5 to 6
    "dial": "calibration_params",
    "outside": "tail_mass",
    "edges": "group_edges",
    "own": "offset_embedding",
    "log_spread": "log_scale",
}


def _rename_weight(name: str) -> str:
    prefix, dot, last = name.rpartition(".")
    return prefix + dot + RENAMED_WEIGHTS.get(last, last)


def _parse_strategy(text: str) -> dict[str, Any]:
    """The settings of a strategy from its repr, such as ``Information(reward=None, n_draws=50)``."""
    settings: dict[str, Any] = _parse_call(ast.parse(text, mode="eval").body)
    return settings


def _parse_call(node: ast.expr) -> Any:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.args:
        return ast.literal_eval(node)
    settings = {str(keyword.arg): _parse_call(keyword.value) for keyword in node.keywords}
    return {"type": node.func.id, **settings}


MIGRATIONS: dict[int, Callable[[ModelData], ModelData]] = {5: _migrate_5}

"""Migrations of model files: each converts the data of one format to the next.

Format 5 is the first released one. To change the format, increase FORMAT_VERSION, add a function to
MIGRATIONS, and add a golden file of the old format to the tests.
"""

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

OLDEST_VERSION = 5
FORMAT_VERSION = 12


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
    """Format 6 renames weights, and describes a certificate's strategy by its settings."""
    weights = {_rename_weight(name): weight for name, weight in data.weights.items()}
    old_certificates = data.metadata.get("certificates", [])
    certificates = [new for old in old_certificates if (new := _migrate_certificate(old)) is not None]
    return ModelData({**data.metadata, "certificates": certificates}, weights)


def _migrate_6(data: ModelData) -> ModelData:
    """Format 7 has recipes with a set encoder, precision-weighted factors and cross-validation."""
    new_settings = {"set_encoder": "pnp", "factors": 0, "folds": 0}
    recipe = {**data.metadata.get("recipe", {}), **new_settings}
    return ModelData({**data.metadata, "recipe": recipe}, data.weights)


def _migrate_7(data: ModelData) -> ModelData:
    """Format 8 has the spread of values in each bin; without it, answers are the bins' means."""
    atoms = "marginals.atoms."
    if (values := data.weights.get(f"{atoms}values")) is None:
        return data
    return ModelData(data.metadata, {**data.weights, f"{atoms}spread": torch.zeros_like(values)})


def _migrate_8(data: ModelData) -> ModelData:
    """Format 9 has logits of the factor model with a gain; before, predictions did not contain them."""
    bias = data.weights.get("marginals.layer.bias")
    if bias is None or not any(".factors." in name for name in data.weights):
        return data
    new = ("marginals.discriminant_gain", "marginals.log_shares")
    zeros = {name: torch.zeros_like(bias) for name in new}
    return ModelData(data.metadata, {**data.weights, **zeros})


def _migrate_9(data: ModelData) -> ModelData:
    """Format 10 mixes quantities, too: the gain of the discriminant is the share of the factor model."""
    weights = dict(data.weights)
    if (gain := weights.pop("marginals.discriminant_gain", None)) is not None:
        weights["marginals.factor_share"] = gain
    return ModelData(data.metadata, weights)


def _migrate_10(data: ModelData) -> ModelData:
    """Format 11 has variables that predictions of a target ignore; before, all were used.

    Exploration has no schedule any more: settings with one are replaced by the present default.
    """
    schema = dict(data.metadata.get("schema", {}))
    exploration = schema.get("exploration")
    if isinstance(exploration, dict) and "half_after" in exploration:
        old = ("half_after", "share")
        schema["exploration"] = {key: value for key, value in exploration.items() if key not in old}
    return ModelData({**data.metadata, "schema": schema, "ignored_variables": {}}, data.weights)


def _migrate_11(data: ModelData) -> ModelData:
    """Format 12 has regressions of levels on the factors; before, predictions did not contain them."""
    share = data.weights.get("marginals.factor_share")
    if share is None:
        return data
    loadings = data.weights["marginals.layer.weight"].new_zeros((len(share), _count_factors(data)))
    new = {
        "marginals.level_regressions.mixing_weight": torch.zeros_like(share),
        "marginals.level_regressions.constants": torch.zeros_like(share),
        "marginals.level_regressions.loadings": loadings,
    }
    return ModelData(data.metadata, {**data.weights, **new})


def _count_factors(data: ModelData) -> int:
    """K, from the loadings of all inputs of all variables and their precisions."""
    factors = "set_encoder.factors."
    n_loadings = data.weights[f"{factors}flat_loadings"].numel()
    return n_loadings // data.weights[f"{factors}log_precision"].numel()


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


def _migrate_certificate(certificate: dict[str, Any]) -> dict[str, Any] | None:
    """The certificate with the settings of its strategy; None if its strategy cannot be identified.

    Format 5 has the strategy's repr, such as ``Information(reward=None, n_draws=50)``. The default repr
    of a class contains a memory address instead, so no strategy ever matches such a certificate.
    """
    try:
        settings = _parse_node(ast.parse(certificate["strategy"], mode="eval").body)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    return {**certificate, "strategy": settings} if isinstance(settings, dict) else None


def _parse_node(node: ast.expr) -> Any:
    """The value of a literal, or the type and settings of a call with keyword arguments."""
    if isinstance(node, ast.Tuple | ast.List):
        return [_parse_node(item) for item in node.elts]
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.args:
        return ast.literal_eval(node)
    settings = {str(keyword.arg): _parse_node(keyword.value) for keyword in node.keywords}
    return {"type": node.func.id, **settings}


MIGRATIONS: dict[int, Callable[[ModelData], ModelData]] = {
    5: _migrate_5,
    6: _migrate_6,
    7: _migrate_7,
    8: _migrate_8,
    9: _migrate_9,
    10: _migrate_10,
    11: _migrate_11,
}

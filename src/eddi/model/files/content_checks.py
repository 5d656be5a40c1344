"""Checks of what a model file contains: types, sizes, and finite numbers.

Checksums protect a file from damage, not from somebody who writes another one. These checks reject such a
file before anything is built from it, or before it predicts.
"""

import json
import math
import types
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import torch
from torch import Tensor

from eddi.model.fitted import FittedModel
from eddi.model.inference.summary import summarise
from eddi.model.network.network import Network
from eddi.model.prediction import Prediction
from eddi.model.recipe import Recipe
from eddi.table.coding import Coding
from eddi.table.evidence import Evidence
from eddi.table.schema import Schema

MAX_SIZE = 100_000  # of a part of the network; the largest that is known to be useful has about 1,000
MAX_LAYERS = 100
SIZES = ("latent", "identity", "offset", "knots", "term", "factors", "folds")  # of a recipe; 0 or more
MAX_UNIT = 1e100  # of shifts and scales: values in the table's own units stay finite
MAX_LOGARITHM = 300.0  # of counts: the exponential of twice this is finite
MAX_WEIGHT = 1e12
TYPICAL_RANGE = 3.0  # of coded values, if the training range is not known


def parse_json(content: bytes) -> dict[str, Any]:
    """Return the object in a JSON file. It has no NaN; only the schema may have infinite numbers."""
    document = json.loads(content, parse_constant=_parse_constant)
    if not isinstance(document, dict):
        raise TypeError("model.json must be an object.")
    for section, value in document.items():
        if section != "schema":
            _check_finite(section, value)
    return document


def _parse_constant(name: str) -> float:
    if name == "NaN":
        raise ValueError("model.json contains NaN.")
    return float(name)


def _check_finite(section: str, value: Any) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{section} contains a number that is not finite.")
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            _check_finite(section, item)


def check_types(instance: Any) -> None:
    """Raise an error if a field of a dataclass has a value of another type than declared."""
    for name, hint in get_type_hints(type(instance)).items():
        if not _has_type(getattr(instance, name), hint):
            raise TypeError(f"{name} of {type(instance).__name__} must be {hint}.")


def _has_type(value: Any, hint: Any) -> bool:
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(_has_type(value, arg) for arg in args)
    if origin is Literal:
        return value in args
    if origin is tuple and args[-1] is not ...:
        return isinstance(value, tuple) and len(value) == len(args) and all(map(_has_type, value, args))
    if origin in (tuple, list):
        return isinstance(value, origin) and all(_has_type(item, args[0]) for item in value)
    if origin is not None and issubclass(origin, Mapping):
        pairs = value.items() if isinstance(value, Mapping) else [(None, None)]
        return all(_has_type(key, args[0]) and _has_type(item, args[1]) for key, item in pairs)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, hint) and not (hint is int and isinstance(value, bool))


def check_recipe(recipe: Recipe) -> None:
    """Raise an error if a setting has the wrong type, or describes a network of an absurd size."""
    check_types(recipe)
    settings = asdict(recipe)
    sizes = [(name, settings[name], name == "latent") for name in SIZES]
    for name, size, lowest in [*sizes, *(("hidden", width, 1) for width in recipe.hidden)]:
        if not lowest <= size <= MAX_SIZE:
            raise ValueError(
                f"{name} of the recipe must be {int(lowest)} to {MAX_SIZE:,}, got {str(size)[:20]}."
            )
    if not 1 <= (n_layers := len(recipe.hidden)) <= MAX_LAYERS:
        raise ValueError(f"the recipe must have 1 to {MAX_LAYERS} hidden layers, got {n_layers:,}.")


def check_coding(coding: Coding, schema: Schema) -> None:
    """Raise an error if the coding does not have one finite, usable entry per variable."""
    n_variables = len(schema.variables)
    for name in ("shift", "scale", "logarithmic", "low", "high"):
        values = getattr(coding, name)
        if values is not None and values.shape != (n_variables,):
            raise ValueError(
                f"{name} of the coding has shape {values.shape}, expected ({n_variables},)."
            )
    is_usable = (np.abs(coding.shift) <= MAX_UNIT) & (coding.scale > 0)
    is_usable &= (coding.scale <= MAX_UNIT) & (1 / coding.scale.clip(1e-300) <= MAX_UNIT)
    is_small = (np.abs(coding.shift) <= MAX_LOGARITHM) & (coding.scale <= MAX_LOGARITHM)
    if not (is_usable & (is_small | ~coding.logarithmic)).all():
        raise ValueError(
            "the coding has a shift or scale that is not finite, not positive, or too large."
        )
    if coding.low is not None and coding.high is not None and not (coding.low <= coding.high).all():
        raise ValueError("the training range of the coding has a low end above its high end.")


def check_weights(weights: Mapping[str, Tensor], network: Network) -> None:
    """Raise an error if the weights do not fit a new network, or are not finite.

    A buffer may be infinite where that of a new network is, such as the ends of the outermost bins.
    """
    expected = network.state_dict()
    if missing := sorted(expected.keys() ^ weights.keys()):
        raise ValueError(f"the weights {_list_names(missing)} are missing or unknown.")
    for name, tensor in weights.items():
        new = expected[name]
        if tensor.shape != new.shape or tensor.dtype != new.dtype:
            raise ValueError(
                f"the weights {name[:80]!r} have shape {tuple(tensor.shape)} and type {tensor.dtype}, "
                f"expected {tuple(new.shape)} and {new.dtype}."
            )
        if tensor.isnan().any():
            raise ValueError(f"the weights {name!r} contain a value that is not a number.")
        is_bounded = tensor.abs() <= MAX_WEIGHT
        if not (is_bounded | tensor.isposinf()).all() if new.isinf().any() else not is_bounded.all():
            raise ValueError(f"the weights {name!r} contain an infinite or very large value.")


def _list_names(names: Sequence[str]) -> str:
    return ", ".join(repr(name[:80]) for name in names[:3])


def check_counts(model: FittedModel) -> None:
    """Raise an error if there is not one number of answers per variable, or none at all."""
    n_answers, n_variables = model.training.n_answers, len(model.schema.variables)
    if len(n_answers) not in (0, n_variables) or min(n_answers, default=0) < 0:
        raise ValueError(f"n_answers must be {n_variables} numbers of 0 or more.")


def check_names(model: FittedModel) -> None:
    """Raise an error if something in the file is about a variable that the schema lacks."""
    certified = [name for certificate in model.certificates.values() for name in certificate.target]
    for name in (*certified, *model.quality):
        if name not in model.schema.names:
            raise ValueError(f"the file describes results for {name[:80]!r}, which is not a variable.")
    for target, ignored in model.ignored_variables.items():
        has_marginals = target in model.target and model.network.marginals is not None
        for name in ignored:
            if not has_marginals or name not in model.schema.names or name in model.target:
                raise ValueError(f"predictions of {target[:80]!r} cannot ignore {str(name)[:80]!r}.")


def check_predictions(model: FittedModel) -> None:
    """Raise an error if predictions from typical values are not finite."""
    with torch.inference_mode(), np.errstate(all="ignore"):
        distributions = model.predictive_distributions(_make_trial_rows(model.coding))
        predictions = summarise(distributions, model.schema, model.coding, model.schema.names)
    for name, prediction in predictions.items():
        if not _is_finite(prediction):
            raise ValueError(f"predictions of {name[:80]!r} are not finite.")


def _make_trial_rows(coding: Coding) -> Evidence:
    """Rows without values, and with the lowest, middle and highest ones, complete and in part."""
    n_variables = len(coding.shift)
    ends = [coding.low, coding.high]
    limits = [np.full(n_variables, -TYPICAL_RANGE), np.full(n_variables, TYPICAL_RANGE)]
    low, high = (
        np.where(np.isfinite(end), end, limit) if end is not None else limit
        for end, limit in zip(ends, limits, strict=True)
    )
    rows = np.stack([low, (low + high) / 2, high])
    is_odd = np.arange(n_variables) % 2 == 1
    values = np.concatenate(
        [rows[:1], rows, np.where(is_odd, rows, np.nan), np.where(is_odd, np.nan, rows)]
    )
    values[0] = np.nan
    return Evidence.of(values)


def _is_finite(prediction: Prediction) -> bool:
    if prediction.probabilities is not None:
        return bool(np.isfinite(prediction.probabilities).all())
    numbers = (prediction.mean, prediction.sd, prediction.interval)
    return all(bool(np.isfinite(number).all()) for number in numbers)

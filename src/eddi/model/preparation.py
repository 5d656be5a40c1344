"""What `PartialVAE.fit` does before the first step: check, code, and build."""

import hashlib

import numpy as np
import torch
from numpy.typing import NDArray

from eddi.errors import TableError, TrainingError
from eddi.model.likelihood import Form
from eddi.model.network import Network
from eddi.model.recipe import Recipe, check_set_encoder
from eddi.table.coding import Coding
from eddi.table.evidence import Evidence
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable


def build(schema: Schema, coding: Coding, set_encoder: str, recipe: Recipe, *, seed: int) -> Network:
    """A fresh network for a schema's variables as this recipe sees them."""
    scales = zip(schema.variables, coding.shift, coding.scale, strict=True)
    forms = [_form(v, shift, scale, as_number=recipe.scaling == "unit") for v, shift, scale in scales]
    with torch.random.fork_rng(devices=[]):  # torch initialises layers from its global generator
        torch.manual_seed(seed)
        return Network(forms, check_set_encoder(set_encoder), recipe)


def _form(variable: Variable, shift: float, scale: float, *, as_number: bool) -> Form:
    if as_number and variable.kind is not Kind.BINARY:
        return Form(Kind.REAL, variable.n_levels, float(shift), float(scale))
    return Form(variable.kind, variable.n_levels, float(shift), float(scale))


def find_device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:
        raise TrainingError(
            f"the device {name!r} is not to be had here ({str(error).splitlines()[0]}). "
            'Use device="auto" or device="cpu".'
        ) from error
    return torch.device(name)


def check_numbers(schema: Schema, numbers: NDArray[np.float64]) -> None:
    if len(numbers) < 2:
        rows = "one row" if len(numbers) else "no rows"
        raise TableError(
            f"n_samples={len(numbers)}: a table of {rows} shows no variation to learn from. "
            "Give at least two rows, better hundreds."
        )
    known = ~np.isnan(numbers)
    if not known.any():
        raise TableError("every cell of the table is missing; there is nothing to learn from.")
    empty = [schema.names[d] for d in np.flatnonzero(known.sum(0) == 0)]
    if empty:
        raise TableError(
            f"no value of {', '.join(map(repr, empty[:5]))} was ever observed. "
            "Set the variable aside in the schema."
        )


def fingerprint(schema: Schema, evidence: Evidence) -> str:
    """What the training table was, in 64 letters: its schema and every coded cell."""
    digest = hashlib.sha256(schema.to_toml().encode())
    digest.update(evidence.values.tobytes())
    digest.update(np.packbits(evidence.observed).tobytes())
    return digest.hexdigest()

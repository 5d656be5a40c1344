"""ONNX export, for interviews without Python: in a browser or on a phone.

The code is additive, so three parts suffice: the term of an answer (``term``), the posterior of a code
(``posterior``) and the decoder (``decoder``). With marginal predictions there is a fourth, from the code
to the variables without z (``direct``). ``interview.json`` has the schema, the coding, and the code of a
row without any observed value. The terms of variables that are ignored for a target (their positions) must
not be added to the code from which it is predicted.
"""

import copy
import json
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from eddi.errors import MissingExtraError, ModelFileError
from eddi.model.base import ModelSource, NetworkModel, require_network
from eddi.model.network.factors.inverses import invert_by_elimination
from eddi.model.network.heads import Heads
from eddi.model.network.network import Network

TOLERANCE = 1e-5  # between ONNX Runtime and PyTorch, relative and absolute
N_CHECKED = 5  # rows of the check; different from the number used for tracing
METADATA = "interview.json"


@dataclass(frozen=True)
class Part:
    """One file: a module with its inputs, outputs and an example to trace it with."""

    name: str
    module: nn.Module
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    example: tuple[Tensor, ...]  # [rows, ...]


def export_onnx(model: ModelSource, folder: Path) -> list[Path]:
    """Write the parts of ``model`` to ``folder``, and check each against PyTorch.

    Raises:
        MissingExtraError: onnx, onnxscript or onnxruntime is not installed.
        ModelFileError: the output of a part differs by more than `TOLERANCE`.
    """
    _require_onnx()
    fitted = require_network(model.fitted(), "an export")
    folder.mkdir(parents=True, exist_ok=True)
    network = copy.deepcopy(fitted.network).cpu().requires_grad_(False)
    if network.set_encoder.factors is not None:
        network.set_encoder.factors.invert = invert_by_elimination
    files = []
    for part in _parts(network, _Example(network, 3)):
        path = folder / f"{part.name}.onnx"
        _write(part, path)
        files.append(path)
    for part in _parts(network, _Example(network, N_CHECKED)):
        _check(part, folder / f"{part.name}.onnx")
    (folder / METADATA).write_text(
        json.dumps(_metadata(fitted, network), indent=1, allow_nan=False) + "\n", encoding="utf-8"
    )
    return [*files, folder / METADATA]


class _Example:
    """Example inputs of the parts, for some rows."""

    def __init__(self, network: Network, n_rows: int) -> None:
        random = torch.Generator().manual_seed(n_rows)
        self.z = torch.randn((n_rows, network.latent), generator=random)
        self.variables = torch.arange(n_rows) % len(network.specs)
        n_levels = torch.tensor([max(1, spec.n_levels) for spec in network.specs])[self.variables]
        quantity = torch.tensor([not spec.kind.is_discrete for spec in network.specs])[self.variables]
        drawn = torch.randn(n_rows, generator=random)
        self.answers = torch.where(quantity, drawn, (drawn.abs() * n_levels).floor() % n_levels)
        everything = torch.ones((n_rows, len(network.specs)))
        values = torch.zeros_like(everything)
        values[torch.arange(n_rows), self.variables] = self.answers
        self.code = network.code(values, everything)


def _parts(network: Network, example: _Example) -> Iterator[Part]:
    moments = ("value_mean", "value_variance")
    yield Part(
        "term", _Term(network), ("values", "variables"), ("terms",), (example.answers, example.variables)
    )
    yield Part("posterior", _Posterior(network), ("code",), ("z_mean", "z_log_var"), (example.code,))
    yield Part("decoder", _Decoder(network), ("z",), (*moments, *_level_names(network)), (example.z,))
    if network.marginals is not None:
        names = (*moments, *_level_names(network.marginals))
        yield Part("direct", _MarginalHeads(network), ("code",), names, (example.code,))


class _Term(nn.Module):
    """The terms of answers [n] to variables [n], each [n, width]."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        weights = network.set_encoder.encoder_weights()
        self.term_table, self.factors = weights.term_table, weights.factors

    def forward(self, values: Tensor, variables: Tensor) -> Tensor:
        terms = self.term_table.term(values, variables)
        if self.factors is None:
            return terms
        return torch.cat([terms, self.factors.term(values, variables)], dim=-1)


class _Posterior(nn.Module):
    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, code: Tensor) -> tuple[Tensor, Tensor]:
        posterior = self.network.posterior(code)
        return posterior.mean, posterior.log_var


class _Decoder(nn.Module):
    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, z: Tensor) -> tuple[Tensor, ...]:
        return _describe(self.network, self.network.decode(z))


class _MarginalHeads(nn.Module):
    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

        marginals = network.marginals
        assert marginals is not None  # noqa: S101  # exported only with marginal heads
        factors = network.set_encoder.encoder_weights().factors
        self.marginals = marginals
        factor_head = marginals.factor_head(factors, range(len(marginals.specs)))
        self.factor_head = None if factor_head is None else factor_head.prepare()
        self.weights = marginals.output_weights()

    def forward(self, code: Tensor) -> tuple[Tensor, ...]:
        features = self.network.features(code)
        outputs = F.linear(features.inputs, *self.weights)
        if self.factor_head is not None:
            outputs = self.factor_head.add_to(outputs, features.factors)
        return _describe(self.marginals, outputs)


def _describe(heads: Heads, outputs: Tensor) -> tuple[Tensor, ...]:
    """Mean and variance of all variables, and the probabilities of levels, kind by kind."""
    probabilities = [
        head.likelihood.probabilities(outputs[..., head.outputs])
        for head in heads.heads()
        if head.likelihood.has_levels
    ]
    return (*heads.moments(outputs), *probabilities)


def _level_names(heads: Heads) -> tuple[str, ...]:
    return tuple(f"chances_{kind}" for kind, _ in _level_heads(heads))


def _level_heads(heads: Heads) -> list[tuple[str, list[int]]]:
    """The kinds with level probabilities, each with the positions of its variables."""
    kinds = zip(heads.extents, heads.heads(), strict=True)
    return [
        (kind, head.variables.tolist()) for (kind, _, _), head in kinds if head.likelihood.has_levels
    ]


def _metadata(model: NetworkModel, network: Network) -> dict[str, Any]:
    zeros = torch.zeros((1, len(network.specs)))
    parts = _parts(network, _Example(network, 1))
    likelihoods: dict[str, Heads] = {"decoder": network}
    if network.marginals is not None:
        likelihoods["direct"] = network.marginals
    return {
        "format": "eddi-onnx",
        "format_version": 1,
        "schema": model.schema.to_document(),
        "target": list(model.target),
        "ignored_variables": {
            name: model.find_ignored([model.schema.position(name)]) for name in model.target
        },
        "coding": model.coding.to_document(),
        "latent": network.latent,
        "code_of_nothing": network.code(zeros, zeros)[0].tolist(),
        "parts": {part.name: {"inputs": part.inputs, "outputs": part.outputs} for part in parts},
        "chances": {
            name: {f"chances_{kind}": places for kind, places in _level_heads(heads)}
            for name, heads in likelihoods.items()
        },
    }


def _require_onnx() -> None:
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
        import onnxscript  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            f"an export needs a package that is not installed ({error.name}). "
            "Install it with: pip install 'eddi-ml[onnx]'"
        ) from None


def _write(part: Part, path: Path) -> None:
    rows = torch.export.Dim("rows")
    with _quiet():
        program = torch.onnx.export(
            part.module.eval(),
            part.example,
            dynamo=True,
            input_names=part.inputs,
            output_names=part.outputs,
            dynamic_shapes=tuple({0: rows} for _ in part.inputs),
            verbose=False,
        )
        assert program is not None  # noqa: S101  # dynamo exports return a program
        program.save(str(path), external_data=False)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the exporter's messages for its developers."""
    level = logging.getLogger("torch.onnx").level
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.getLogger("torch.onnx").setLevel(logging.ERROR)
        try:
            yield
        finally:
            logging.getLogger("torch.onnx").setLevel(level)


def run_part(path: Path, inputs: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
    """The outputs of an exported part in ONNX Runtime."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors only
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_inputs()]
    return list(session.run(None, dict(zip(names, inputs, strict=True))))


def _check(part: Part, path: Path) -> None:
    with torch.no_grad():
        result = part.module(*part.example)
    expected = [result] if isinstance(result, Tensor) else list(result)
    actual = run_part(path, [tensor.numpy() for tensor in part.example])
    for name, ours, theirs in zip(part.outputs, expected, actual, strict=True):
        if not np.allclose(ours.numpy(), theirs, rtol=TOLERANCE, atol=TOLERANCE):
            most = float(np.abs(ours.numpy() - theirs).max())
            raise ModelFileError(
                f"{name} of {path.name!r} differs from PyTorch's by {most:.2g}. "
                "Do not use this export; please report the versions of torch, onnx and onnxruntime."
            )

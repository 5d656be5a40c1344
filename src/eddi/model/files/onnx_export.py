"""The network as ONNX files, for an interview where there is no Python: a browser, a phone.

A code is additive, so three parts suffice: what an answer adds to the code (``term``), what the code
says of z (``posterior``), and what z says of the variables (``decoder``); and where the model has direct
beliefs, what the code says of the variables without z (``direct``). ``interview.json`` says the rest:
the schema, the coding, and the code of knowing nothing.
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
from torch import Tensor, nn

from eddi.errors import MissingExtraError, ModelFileError
from eddi.model.network.heads import Heads
from eddi.model.network.likelihood import LevelLikelihood
from eddi.model.network.network import Network
from eddi.model.partial_vae import PartialVAE

TOLERANCE = 1e-5  # between what ONNX Runtime and PyTorch compute, relative and absolute
N_CHECKED = 5  # rows of the check; not the number the export is traced with
FACTS = "interview.json"


@dataclass(frozen=True)
class Part:
    """One file: a module with its inputs, outputs and an example to trace it with."""

    name: str
    module: nn.Module
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    example: tuple[Tensor, ...]  # [rows, ...]


def export_onnx(model: PartialVAE, folder: Path) -> list[Path]:
    """Write the parts of ``model`` to ``folder``, each checked to compute what PyTorch does.

    Raises:
        MissingExtraError: onnx, onnxscript or onnxruntime is not installed.
        ModelFileError: a part computes something else, to more than `TOLERANCE`.
    """
    _need_onnx()
    folder.mkdir(parents=True, exist_ok=True)
    network = copy.deepcopy(model.network_).cpu().requires_grad_(False)
    files = []
    for part in _parts(network, _Example(network, 3)):
        path = folder / f"{part.name}.onnx"
        _write(part, path)
        files.append(path)
    for part in _parts(network, _Example(network, N_CHECKED)):
        _check(part, folder / f"{part.name}.onnx")
    (folder / FACTS).write_text(json.dumps(_facts(model, network), indent=1, allow_nan=False) + "\n")
    return [*files, folder / FACTS]


class _Example:
    """Numbers like those that parts are given, for some rows."""

    def __init__(self, network: Network, n_rows: int) -> None:
        random = torch.Generator().manual_seed(n_rows)
        self.z = torch.randn((n_rows, network.latent), generator=random)
        self.variables = torch.arange(n_rows) % len(network.specs)
        n_levels = torch.tensor([max(1, spec.n_levels) for spec in network.specs])[self.variables]
        quantity = torch.tensor([not spec.kind.has_levels for spec in network.specs])[self.variables]
        drawn = torch.randn(n_rows, generator=random)
        self.answers = torch.where(quantity, drawn, (drawn.abs() * n_levels).floor() % n_levels)
        everything = torch.ones((n_rows, len(network.specs)))
        values = torch.zeros_like(everything)
        values[torch.arange(n_rows), self.variables] = self.answers
        self.code = network.code(values, everything)


def _parts(network: Network, example: _Example) -> Iterator[Part]:
    beliefs = ("value_mean", "value_variance")
    yield Part(
        "term", _Term(network), ("values", "variables"), ("terms",), (example.answers, example.variables)
    )
    yield Part("posterior", _Posterior(network), ("code",), ("z_mean", "z_log_var"), (example.code,))
    yield Part("decoder", _Decoder(network), ("z",), (*beliefs, *_level_names(network)), (example.z,))
    if network.marginals is not None:
        names = (*beliefs, *_level_names(network.marginals))
        yield Part("direct", _Direct(network), ("code",), names, (example.code,))


class _Term(nn.Module):
    """What answers [n] to variables [n] add to the code [n, width]."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.pieces = network.set_encoder.lines().pieces

    def forward(self, values: Tensor, variables: Tensor) -> Tensor:
        return self.pieces.term(values, variables)


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
        return _described(self.network, self.network.decode(z))


class _Direct(nn.Module):
    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, code: Tensor) -> tuple[Tensor, ...]:
        marginals = self.network.marginals
        assert marginals is not None  # noqa: S101  # asked for only where they are
        return _described(marginals, marginals(self.network.hidden(code)))


def _described(heads: Heads, outputs: Tensor) -> tuple[Tensor, ...]:
    """Mean and variance of all variables, and the chances of levels, a kind after the other."""
    chances = [
        head.likelihood.probabilities(outputs[..., head.outputs])
        for head in heads.heads()
        if isinstance(head.likelihood, LevelLikelihood)
    ]
    return (*heads.moments(outputs), *chances)


def _level_names(heads: Heads) -> tuple[str, ...]:
    return tuple(f"chances_{kind}" for kind, _ in _level_heads(heads))


def _level_heads(heads: Heads) -> list[tuple[str, list[int]]]:
    """The kinds whose levels have chances, each with the positions of its variables."""
    kinds = zip(heads.extents, heads.heads(), strict=True)
    return [
        (kind, head.variables.tolist())
        for (kind, _, _), head in kinds
        if isinstance(head.likelihood, LevelLikelihood)
    ]


def _facts(model: PartialVAE, network: Network) -> dict[str, Any]:
    nothing = torch.zeros((1, len(network.specs)))
    parts = _parts(network, _Example(network, 1))
    likelihoods: dict[str, Heads] = {"decoder": network}
    if network.marginals is not None:
        likelihoods["direct"] = network.marginals
    return {
        "format": "eddi-onnx",
        "format_version": 1,
        "schema": model.schema_.to_document(),
        "target": list(model.target_),
        "coding": {
            "shift": model.coding_.shift.tolist(),
            "scale": model.coding_.scale.tolist(),
            "logarithmic": model.coding_.logarithmic.tolist(),
        },
        "latent": network.latent,
        "code_of_nothing": network.code(nothing, nothing)[0].tolist(),
        "parts": {part.name: {"inputs": part.inputs, "outputs": part.outputs} for part in parts},
        "chances": {
            name: {f"chances_{kind}": places for kind, places in _level_heads(heads)}
            for name, heads in likelihoods.items()
        },
    }


def _need_onnx() -> None:
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
        assert program is not None  # noqa: S101  # as dynamo exports promise
        program.save(str(path), external_data=False)


@contextmanager
def _quiet() -> Iterator[None]:
    """PyTorch's exporter tells its developers a good deal."""
    level = logging.getLogger("torch.onnx").level
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.getLogger("torch.onnx").setLevel(logging.ERROR)
        try:
            yield
        finally:
            logging.getLogger("torch.onnx").setLevel(level)


def run_part(path: Path, inputs: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
    """What ONNX Runtime makes of the inputs of an exported part."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors only
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_inputs()]
    return list(session.run(None, dict(zip(names, inputs, strict=True))))


def _check(part: Part, path: Path) -> None:
    with torch.no_grad():
        said = part.module(*part.example)
    ours = [said] if isinstance(said, Tensor) else list(said)
    theirs = run_part(path, [each.numpy() for each in part.example])
    for name, one, other in zip(part.outputs, ours, theirs, strict=True):
        if not np.allclose(one.numpy(), other, rtol=TOLERANCE, atol=TOLERANCE):
            most = float(np.abs(one.numpy() - other).max())
            raise ModelFileError(
                f"{name} of {path.name!r} differs from PyTorch's by {most:.2g}. "
                "Do not use this export; tell us the versions of torch, onnx and onnxruntime."
            )

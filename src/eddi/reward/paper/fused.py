"""The information reward of many rows on a GPU: the same as `latent.information`, in fused kernels.

Eager PyTorch writes every activation of every answer to memory and reads it back. Here one kernel takes
an answer from its value to its divergence in registers (`kernel.py`). It serves models whose variables
are all numbers, with the encoders PN and PNP and a tail of two hidden layers that fits a multiprocessor.
All others stay with `latent`, which is the reference.
"""

import importlib.util
from dataclasses import dataclass
from functools import lru_cache
from shutil import which

import torch
from torch import Tensor
from torch.utils.weak import WeakIdKeyDictionary

from eddi.model.base import Model
from eddi.model.inference.frozen import Settled
from eddi.model.network.network import Network
from eddi.reward.candidates import Same, edges
from eddi.table.evidence import Evidence

HOPPER = (9, 0)  # older ones may lack the shared memory
COMPILERS = ("cc", "gcc", "clang")  # Triton builds what launches a kernel with one of these
LEAST = 16  # a tensor core's smallest side
CHUNK = 64  # hidden units in registers at once
CONSTANTS = 2  # units that are always 1: by them a layer adds its bias, in two parts
MAX_WIDTH, MAX_HIDDEN, MAX_INNER, MAX_LATENT = 64, 2 * CHUNK, 64, 32  # what fits into registers
ROWS = 64  # of a block: what a group of four warps multiplies at once
OF_GROUP = {"num_warps": 4, "num_stages": 2, "maxnreg": 168}
GROUPS = 3  # that a multiprocessor's registers hold at once
PARTS = 8  # programs that may share the draws of one block, so that few rows too keep a GPU busy
IN_LINE = 1_024  # rows that a program looks through at once for those that a question is open for
MAX_NUMBERS = 2**27  # held at once for a chunk of rows: 512 MB


@dataclass(frozen=True)
class Packed:
    """A tail, and the terms that enter it, as the kernels want them: sides are powers of two."""

    slope: Tensor  # [variables, WIDTH]
    offset: Tensor  # [variables, WIDTH]
    first: Tensor  # [2, WIDTH, HIDDEN] in float16: the weights, and what is left of them
    second: Tensor  # [HIDDEN, INNER] in float16
    last: Tensor  # [INNER, OUT] in float16; mean and log variance of a latent number side by side
    width: int  # of the code

    @classmethod
    def of(cls, network: Network, settled: Settled) -> "Packed | None":
        """The network for the kernels; None where they do not serve it."""
        curved = network.set_encoder.splines is not None
        if network.has_levels or curved or not settled.lines.bends or len(settled.tail) != 2:
            return None
        (into, into_bias), (onward, onward_bias) = settled.tail
        n_hidden, width = into.shape
        sizes = (width + 1, n_hidden + CONSTANTS, len(onward) + CONSTANTS, network.latent)
        most = (MAX_WIDTH, MAX_HIDDEN, MAX_INNER, MAX_LATENT)
        if any(size > limit for size, limit in zip(sizes, most, strict=True)):
            return None
        wide, hidden, inner, latent = map(_side, sizes)
        first = _padded(torch.cat([into.T, into_bias[None]]), wide, hidden)
        first[width, n_hidden : n_hidden + CONSTANTS] = 1.0
        second = _padded(_with_bias(onward, onward_bias), hidden, inner)
        second[n_hidden, len(onward) : len(onward) + CONSTANTS] = 1.0
        beside = torch.arange(2 * network.latent, device=into.device).view(2, -1).T.flatten()
        out = _with_bias(settled.belief[0][beside], settled.belief[1][beside, 0])
        lines, n = settled.lines, len(settled.lines.slope)
        return cls(
            slope=_padded(lines.slope, n, wide),
            offset=_padded(lines.offset, n, wide),
            first=torch.stack([first.half(), _rest(first)]),
            second=second.half(),
            last=_padded(out, inner, 2 * latent).half(),
            width=width,
        )

    def sizes(self) -> dict[str, int]:
        """The sides, as the kernels name them."""
        hidden, inner = self.second.shape
        return {
            "ROWS": ROWS,
            "WIDTH": self.slope.shape[1],
            "CHUNK": min(hidden, CHUNK),
            "N_CHUNKS": max(1, hidden // CHUNK),
            "INNER": inner,
            "OUT": self.last.shape[1],
        }


def _side(n: int) -> int:
    """The next power of two that a tensor core takes."""
    return max(LEAST, 1 << (n - 1).bit_length())


def _padded(matrix: Tensor, n_rows: int, n_columns: int) -> Tensor:
    """The matrix in the corner of a larger one of zeros."""
    padded = matrix.new_zeros((n_rows, n_columns))
    padded[: matrix.shape[0], : matrix.shape[1]] = matrix
    return padded


def _rest(numbers: Tensor) -> Tensor:
    """What float16 leaves of numbers, in float16."""
    return (numbers - numbers.half().float()).half()


def _with_bias(weight: Tensor, bias: Tensor) -> Tensor:
    """Weights [before, after], below them the two parts of the bias."""
    return torch.cat([weight.T, bias[None], _rest(bias)[None].float()])


_kept: WeakIdKeyDictionary = WeakIdKeyDictionary()


def packed(model: Model) -> Packed | None:
    """The model for the kernels, packed once; None where it is to be asked in plain PyTorch."""
    settled = getattr(model, "settled_", None)
    if not isinstance(settled, Settled) or not _can_run(settled.device):
        return None
    if settled not in _kept:
        _kept[settled] = Packed.of(model.network_, settled)  # type: ignore[attr-defined]
    found: Packed | None = _kept[settled]
    return found


@lru_cache(8)
def _can_run(device: torch.device) -> bool:
    """Whether the kernels run there: a GPU like those they were written for, Triton and its compiler."""
    if device.type != "cuda" or torch.cuda.get_device_capability(device) < HOPPER:
        return False
    return importlib.util.find_spec("triton") is not None and any(map(which, COMPILERS))


@dataclass(frozen=True)
class Asked:
    """Which questions may be asked and which variables they show, where the kernels run."""

    places: Tensor  # [questions] among the schema's
    starts: Tensor  # [questions + 1] into variables
    variables: Tensor
    shows: Tensor  # [variables, questions] 1 where a question shows a variable
    target: Tensor
    whole: Tensor  # [2] from where to where in target: all of it
    first_target: int
    one_target: bool
    single: bool  # whether every question shows one variable

    @classmethod
    def of(cls, model: Model, target: list[int], device: torch.device) -> "Asked":
        return _asked(Same(model.schema_), tuple(target), device)


@lru_cache(16)
def _asked(key: Same, target: tuple[int, ...], device: torch.device) -> Asked:
    question, variable, single = edges(key.schema, target)
    places, n_each = torch.unique(torch.from_numpy(question), return_counts=True)
    shows = torch.zeros((len(key.schema.variables), len(key.schema.questions)))
    shows[variable, question] = 1.0
    starts = torch.cat([n_each.new_zeros(1), n_each.cumsum(0)]).int()
    return Asked(
        places=places.to(device),
        starts=starts.to(device),
        variables=torch.from_numpy(variable).int().to(device),
        shows=shows[:, places].to(device),
        target=torch.tensor(target, dtype=torch.int32, device=device),
        whole=torch.tensor([0, len(target)], dtype=torch.int32, device=device),
        first_target=target[0],
        one_target=len(target) == 1,
        single=single,
    )


def information(
    model: Model, pack: Packed, evidence: Evidence, target: list[int], *, n_draws: int, seed: int
) -> Tensor | None:
    """Nats each question's answer is expected to tell about the target [rows, questions].

    None where an activation was too large for float16: then nothing here can be believed.
    """
    device, n_variables = pack.slope.device, evidence.n_variables
    asked = Asked.of(model, target, device)
    rewards = torch.zeros((len(evidence), len(model.schema_.questions)), device=device)
    n_terms = (1 if asked.single else len(asked.places)) + 1
    a_row = (n_draws + 1) * (n_variables + n_terms * pack.slope.shape[1] + pack.last.shape[1])
    at_once = max(1, MAX_NUMBERS // a_row)
    for start in range(0, len(evidence) if len(asked.places) else 0, at_once):
        chunk = evidence[start : start + at_once]
        with torch.inference_mode():
            code = model.code(chunk)
            values = model.draw(model.posterior(code), n_draws, seed=seed)
            unseen = 1.0 - torch.from_numpy(chunk.observed).to(device, torch.float32)
            rewards[start : start + at_once, asked.places] = gains(pack, asked, code, values, unseen)
    return rewards if bool(rewards.isfinite().all()) else None


def gains(pack: Packed, asked: Asked, code: Tensor, values: Tensor, unseen: Tensor) -> Tensor:
    """The rewards of the questions asked [rows, questions].

    Args:
        pack: the model.
        asked: the questions and the target.
        code: of what is known [rows, width].
        values: joint draws [draws, rows, variables].
        unseen: 1 where a row does not show a variable [rows, variables].
    """
    from eddi.reward.paper import kernels

    n_draws, n_rows, n_variables = values.shape
    sizes, n_questions = pack.sizes(), len(asked.places)
    n_programs, n_blocks = _programs(code.device), -(-n_rows // ROWS)
    lines, layers = (pack.slope, pack.offset), (pack.first, pack.second, pack.last)
    codes = code.new_empty((n_draws + 1, n_rows, sizes["WIDTH"]))
    beliefs = code.new_empty((n_draws + 1, n_rows, sizes["OUT"]))
    known_each = -(-(n_draws + 1) * n_blocks // n_programs)
    told = values if asked.one_target else _terms(pack, asked.whole, asked.target, values, unseen)
    kernels.tell[(n_blocks, -(-(n_draws + 1) // known_each))](
        *(values, told, *lines, asked.target, *layers, code, codes, beliefs),
        *(n_rows, n_draws + 1, n_variables, pack.width, known_each),
        **sizes, SINGLE=asked.one_target, **OF_GROUP,
    )  # fmt: skip
    order, n_open = _open_rows(asked, unseen)
    heard = values if asked.single else _terms(pack, asked.starts, asked.variables, values, unseen)
    rewards = code.new_zeros((PARTS, n_questions, n_rows))
    kernels.gain[(n_programs,)](
        *(values, heard, *lines, asked.variables, order, n_open, *layers, codes, beliefs, rewards),
        *(n_rows, n_questions, n_draws, n_variables, -(-n_draws // (PARTS - 1))),
        **sizes, SINGLE=asked.single, QUESTIONS=_side(n_questions), **OF_GROUP,
    )  # fmt: skip
    return rewards.sum(0).T


@lru_cache(8)
def _programs(device: torch.device) -> int:
    if device.type != "cuda":
        return GROUPS  # Triton's interpreter, which takes one after the other
    return GROUPS * torch.cuda.get_device_properties(device).multi_processor_count


def _terms(pack: Packed, starts: Tensor, variables: Tensor, values: Tensor, unseen: Tensor) -> Tensor:
    """What draws of several variables add to the code together [draws, questions, rows, WIDTH]."""
    from eddi.reward.paper import kernels

    n_draws, n_rows, n_variables = values.shape
    width, n_questions = pack.slope.shape[1], len(starts) - 1
    terms = values.new_empty((n_draws, n_questions, n_rows, width))
    kernels.hear[(-(-n_rows // ROWS), n_questions, n_draws)](
        *(values, unseen, pack.slope, pack.offset, starts, variables, terms, n_rows, n_variables),
        ROWS=ROWS, WIDTH=width,
    )  # fmt: skip
    return terms


def _open_rows(asked: Asked, unseen: Tensor) -> tuple[Tensor, Tensor]:
    """For each question the rows it is open for, first in order [questions, rows], and how many."""
    from eddi.reward.paper import kernels

    n_rows, n_variables = unseen.shape
    n_questions = len(asked.places)
    # Of a row that shows all of the target nothing is left to tell.
    wanted = unseen[:, asked.first_target :] if asked.one_target else unseen[:, asked.target].amax(1)
    order = torch.empty((n_questions, n_rows), dtype=torch.int32, device=unseen.device)
    n_open = torch.empty(n_questions, dtype=torch.int32, device=unseen.device)
    kernels.line_up[(n_questions,)](
        *(unseen, wanted, asked.starts, asked.variables, order, n_open),
        *(n_rows, n_variables, wanted.stride(0)),
        AT_ONCE=IN_LINE,
    )
    return order, n_open

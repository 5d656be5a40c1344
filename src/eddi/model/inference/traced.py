"""Functions of tensors that run without Python between their operations.

A decision about one person is a few hundred small operations, and Python takes longer between two of them
than most of them take. A trace records the operations of one call; later calls only repeat them. What a
function computes is still written once.

`torch.jit` is deprecated, but its successors take seconds per model and need a compiler. A function that
cannot be traced, or whose trace gives other results in its first calls, is called as it is.

Torch's static runtime executes a trace with less time per operation than its interpreter, because it plans
memory once. It is not part of torch's public interface: where it is missing, the interpreter is used. Unlike
the interpreter, it keeps Python's global lock for the half millisecond that a decision takes.
"""

import logging
import warnings
from collections.abc import Callable
from threading import Lock
from typing import Any

import torch
from torch import Tensor, nn

from eddi.model.threads import single_thread

logger = logging.getLogger(__name__)

_jit: Any = torch.jit  # most of it has no types
_torch_c: Any = torch._C

N_PLAIN_CALLS = 100  # before a function is traced: a trace takes as long as some hundred calls
N_CHECKED_CALLS = 10  # of a trace, whose results are compared with those of the function


def is_tracing() -> bool:
    """Whether a function is being traced, so that no branch may depend on the values of tensors."""
    return bool(_jit.is_tracing())


class _Module(nn.Module):
    """A function as a module: only modules can be frozen, which computes constant parts once."""

    def __init__(self, function: Callable[..., tuple[Tensor, ...]]) -> None:
        super().__init__()
        self._function = function
        self.eval()

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        return self._function(*inputs)


def _compile(program: Any) -> Callable[..., tuple[Tensor, ...]]:
    """A frozen program as a function: the static runtime where there is one, else the interpreter."""
    _torch_c._jit_pass_cse(program.graph)  # common subexpressions are computed once
    try:
        return _torch_c._jit_to_static_module(program._c)  # type: ignore[no-any-return]
    except Exception as error:  # it may be missing, or not support the program
        logger.debug("no static runtime: %s", error)

    def interpret(*inputs: Tensor) -> tuple[Tensor, ...]:
        with _jit.optimized_execution(False):  # optimisation would take longer than it saves
            result: tuple[Tensor, ...] = program(*inputs)
        return result

    return interpret


class TracedFunction:
    """A function that is traced after some calls.

    Args:
        function: from tensors to tensors, in inference mode. Its operations must not depend on the values
            of tensors, though their sizes may.
        n_plain_calls: number of calls before it is traced.
    """

    def __init__(
        self, function: Callable[..., tuple[Tensor, ...]], *, n_plain_calls: int = N_PLAIN_CALLS
    ) -> None:
        self._function = function
        self._n_plain_calls = n_plain_calls
        self._n_checks = N_CHECKED_CALLS
        self._program: Any = None
        self._lock = Lock()  # held while tracing, and while the program runs

    def __call__(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """The result of the function, computed by one thread."""
        if torch.get_num_threads() == 1:  # without a context, which takes as long as some operations
            return self._call(inputs)
        with single_thread():
            return self._call(inputs)

    def _call(self, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        program = self._program  # another thread may give it up
        if program is not None and self._n_checks <= 0:
            return self._run(program, inputs)
        result = self._function(*inputs)
        if program is not None:
            self._check(program, inputs, result)
        elif self._n_plain_calls > 0:
            self._n_plain_calls -= 1
        elif self._n_checks > 0 and self._lock.acquire(blocking=False):
            try:
                self._trace(inputs)
            finally:
                self._lock.release()
        return result

    @property
    def is_traced(self) -> bool:
        """Whether calls run without Python."""
        return self._program is not None and self._n_checks <= 0

    def _run(self, program: Any, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        with self._lock:  # the static runtime has one set of intermediate results
            result: tuple[Tensor, ...] = program(*inputs)
        return result

    def _trace(self, inputs: tuple[Tensor, ...]) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about branches that depend on sizes, which are checked
                program = _jit.trace(_Module(self._function), inputs, check_trace=False)
                self._program = _compile(_jit.freeze(program, optimize_numerics=False))
        except Exception as error:  # torch.jit may end on any of its own errors
            self._give_up(str(error))

    def _check(self, program: Any, inputs: tuple[Tensor, ...], expected: tuple[Tensor, ...]) -> None:
        """Compare one result of the trace with that of the function."""
        try:
            pairs = zip(self._run(program, inputs), expected, strict=True)
            is_equal = all(torch.allclose(a, b, equal_nan=True) for a, b in pairs)
        except Exception as error:  # torch.jit may end on any of its own errors
            self._give_up(str(error))
            return
        if not is_equal:
            self._give_up("it gives other results")
        elif self._program is not None:
            self._n_checks -= 1

    def _give_up(self, reason: str) -> None:
        logger.info("one row is computed in plain PyTorch, since a trace is not possible: %s", reason)
        self._program, self._n_checks = None, 0

"""The number of threads of small computations."""

from collections.abc import Iterator

import pytest
import torch

from eddi.model.inference.traced import TracedFunction
from eddi.model.threads import single_thread


@pytest.fixture
def two_threads() -> Iterator[None]:
    n_threads = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(n_threads)


@pytest.mark.usefixtures("two_threads")
def test_small_computations_use_one_thread() -> None:
    with single_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2


@pytest.mark.usefixtures("two_threads")
def test_large_computations_keep_their_threads() -> None:
    with single_thread(is_small=False):
        assert torch.get_num_threads() == 2


@pytest.mark.usefixtures("two_threads")
def test_the_threads_are_restored_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), single_thread():
        raise ZeroDivisionError
    assert torch.get_num_threads() == 2


@pytest.mark.usefixtures("two_threads")
def test_functions_of_a_single_row_use_one_thread() -> None:
    seen = []

    def compute(x: torch.Tensor) -> tuple[torch.Tensor]:
        seen.append(torch.get_num_threads())
        return (x + 1,)

    TracedFunction(compute)(torch.zeros(1))
    assert seen == [1]
    assert torch.get_num_threads() == 2

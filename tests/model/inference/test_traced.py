"""Functions that are traced after some calls, with the same results."""

from concurrent.futures import ThreadPoolExecutor

import torch

from eddi.model.inference.traced import N_CHECKED_CALLS, TracedFunction


def select_positive(numbers):
    """The positive numbers, doubled: their count depends on the values."""
    return (numbers.index_select(0, (numbers > 0).nonzero()[:, 0]) * 2, numbers.sum())


def branch_on_values(numbers):
    return (numbers if numbers.sum() > 0 else -numbers,)


def call(traced, n_calls, sign=1.0):
    for number in range(n_calls):
        traced(sign * torch.arange(-2.0, 3.0 + number))


def test_a_function_is_traced_after_the_given_number_of_calls():
    traced = TracedFunction(select_positive, n_plain_calls=3)
    call(traced, 3)
    assert not traced.is_traced
    call(traced, 1 + N_CHECKED_CALLS)
    assert traced.is_traced


def test_a_trace_gives_the_results_of_the_function_for_other_sizes():
    traced = TracedFunction(select_positive, n_plain_calls=0)
    call(traced, 1 + N_CHECKED_CALLS)
    numbers = torch.randn(100, generator=torch.Generator().manual_seed(0))
    for result, expected in zip(traced(numbers), select_positive(numbers), strict=True):
        assert result.equal(expected)


def test_a_trace_runs_without_the_static_runtime(monkeypatch):
    monkeypatch.delattr(torch._C, "_jit_to_static_module", raising=False)
    traced = TracedFunction(select_positive, n_plain_calls=0)
    call(traced, 1 + N_CHECKED_CALLS)
    assert traced.is_traced
    assert traced(torch.arange(-1.0, 3.0))[0].equal(torch.tensor([2.0, 4.0]))


def test_threads_may_share_a_trace():
    traced = TracedFunction(select_positive, n_plain_calls=0)
    call(traced, 1 + N_CHECKED_CALLS)
    inputs = [torch.arange(-2.0, 3.0 + number) for number in range(200)]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(traced, inputs))
    for result, numbers in zip(results, inputs, strict=True):
        assert result[0].equal(select_positive(numbers)[0])


def test_a_trace_with_other_results_is_not_used():
    traced = TracedFunction(branch_on_values, n_plain_calls=0)
    call(traced, 1)
    call(traced, 1, sign=-1.0)
    call(traced, 2 * N_CHECKED_CALLS)
    assert not traced.is_traced
    assert traced(-torch.ones(2))[0].equal(torch.ones(2))


def test_a_function_that_cannot_be_traced_is_called_as_it_is():
    traced = TracedFunction(lambda x: ("text", x), n_plain_calls=0)
    call(traced, 3)
    assert not traced.is_traced
    assert traced(torch.ones(1))[0] == "text"

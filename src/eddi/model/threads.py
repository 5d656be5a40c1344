"""How many threads torch uses for small computations."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def single_thread(is_small: bool = True) -> Iterator[None]:
    """Let torch use one thread inside this context, if the computations in it are small.

    Threads of small operations wait for each other longer than they compute. On a busy machine, where one
    of them may not run at all for a while, they take many times as long as a single thread.

    A Python thread that uses torch for the first time meanwhile starts with one thread, too. Processes that
    compute in several threads should set the number themselves.
    """
    n_threads = torch.get_num_threads()
    if is_small and n_threads > 1:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if is_small and n_threads > 1:
            torch.set_num_threads(n_threads)

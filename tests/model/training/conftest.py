"""Training in which a round has few steps, for tests of what happens between rounds."""

from collections.abc import Callable, Iterator

import pytest

from eddi.model.training import batched_training, batches, loop
from eddi.model.training.folds import cross_validation


def shorten_rounds(set_attribute: Callable[[object, str, int], None]) -> None:
    """Give a round 10 steps instead of 100."""
    for module in (batches, loop, cross_validation, batched_training):
        set_attribute(module, "ROUND_STEPS", 10)


@pytest.fixture(scope="module")
def short_rounds() -> Iterator[None]:
    """A round has 10 steps."""
    with pytest.MonkeyPatch.context() as patch:
        shorten_rounds(patch.setattr)
        yield

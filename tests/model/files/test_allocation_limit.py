"""No more numbers are created than a limit allows, and the error comes before the memory is taken."""

import pytest
import torch

from eddi.model.files.allocation_limit import AllocationLimit

FAR_TOO_MANY = 10**13  # forty terabytes: creating them would fail in another way


@pytest.mark.parametrize(
    "create",
    [
        lambda: torch.zeros(FAR_TOO_MANY),
        lambda: torch.zeros((FAR_TOO_MANY // 10, 10)),
        lambda: torch.full((FAR_TOO_MANY, 1), 1.0),
    ],
    ids=["number", "shape", "full"],
)
def test_a_tensor_beyond_the_limit_is_refused_before_it_exists(create):
    with pytest.raises(ValueError, match="more than 1,000 numbers"), AllocationLimit(1_000):
        create()


def test_the_numbers_of_all_tensors_count():
    with AllocationLimit(1_000):
        torch.zeros(400)
        torch.zeros(400)
        with pytest.raises(ValueError, match="more than 1,000 numbers"):
            torch.zeros(400)


def test_tensors_within_the_limit_are_created():
    with AllocationLimit(1_000):
        assert torch.zeros(30, 30).shape == (30, 30)


def test_the_values_of_a_tensor_are_not_taken_for_its_shape():
    with AllocationLimit(1_000):
        assert torch.tensor(list(range(1, 60))).sum() == 1770

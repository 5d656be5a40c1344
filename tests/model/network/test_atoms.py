"""Atoms: their values, their learned probabilities, and how neighbours are merged."""

import numpy as np
import pytest
import torch

from eddi.model.network.atoms import N_ATOMS, Atoms, merge_atoms


def place_atoms(column: list[float]) -> Atoms:
    """Atoms at the values of one column."""
    torch.manual_seed(0)
    atoms = Atoms(1, 3)
    values = np.array(column, np.float32)[:, None]
    atoms.init_from_data(values, np.ones_like(values, dtype=bool))
    return atoms


def count_atoms(atoms: Atoms) -> int:
    """The number of atoms with a probability above 0."""
    return int((atoms.log_probabilities(torch.zeros(1, 3)).exp() > 0).sum())


def test_atoms_are_the_means_of_bins_of_equal_weight() -> None:
    atoms = place_atoms([float(n) for n in range(16)])
    assert atoms.values[0].tolist() == [0.5 + 2 * n for n in range(N_ATOMS)]
    assert atoms.upper[0].tolist() == [1.5 + 2 * n for n in range(N_ATOMS - 1)]


def test_a_value_shared_by_many_rows_has_an_atom_of_its_own() -> None:
    atoms = place_atoms([0.0] * 900 + [float(n) for n in range(1, 101)])
    assert atoms.values[0, 0] == 0
    assert atoms.upper[0, 0] == 0.5
    assert count_atoms(atoms) == N_ATOMS  # the other values share the remaining ones
    middle = place_atoms([-5.0, -4.0, -3.0, *([0.0] * 50), *(float(n) for n in range(1, 40))])
    assert 0 in middle.values[0].tolist()


def test_the_spread_of_a_bin_is_the_standard_deviation_of_its_values() -> None:
    atoms = place_atoms([0.0] * 8 + [float(n) for n in range(1, 15)])
    assert atoms.spread[0, 0] == 0
    assert atoms.spread[0, 1:].tolist() == pytest.approx([0.5] * (N_ATOMS - 1))


@pytest.mark.parametrize("column", [[2.0], [2.0, 2.0], [1.0, 2.0, 4.0, 4.0]])
def test_few_different_values_are_atoms_themselves_and_padding_has_probability_zero(
    column: list[float],
) -> None:
    atoms, values = place_atoms(column), sorted(set(column))
    assert atoms.values[0, : len(values)].tolist() == values
    probabilities = atoms.log_probabilities(torch.randn(5, 3)).exp()[:, 0]
    assert (probabilities[:, len(values) :] == 0).all()
    assert probabilities.sum(-1).tolist() == pytest.approx([1.0] * 5)


def test_the_training_score_is_the_log_probability_of_the_bin_of_a_value() -> None:
    atoms = place_atoms([1.0, 2.0, 4.0])
    with torch.no_grad():
        atoms.layer.weight.zero_()
        atoms.layer.bias.copy_(torch.log(torch.tensor([0.5, 0.3, 0.2] + [1.0] * (N_ATOMS - 3))))
    values = torch.tensor([[-9.0], [1.0], [1.4], [1.6], [3.1], [99.0]])
    found = atoms.training_score(torch.zeros(6, 3), values).exp()[:, 0]
    assert found.tolist() == pytest.approx([0.5, 0.5, 0.5, 0.3, 0.2, 0.2])


def test_a_column_without_observed_values_has_one_atom() -> None:
    atoms = Atoms(1, 3)
    atoms.init_from_data(np.zeros((4, 1), np.float32), np.zeros((4, 1), bool))
    assert count_atoms(atoms) == 1


@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_merging_preserves_the_total_probability_and_the_mean(n: int) -> None:
    torch.manual_seed(0)
    values = torch.randn(4, N_ATOMS).sort(-1).values
    probabilities = torch.rand(7, 4, N_ATOMS).softmax(-1)
    merged_values, merged = merge_atoms(values, probabilities, n)
    assert merged_values.shape == merged.shape == (7, 4, n)
    torch.testing.assert_close(merged.sum(-1), torch.ones(7, 4))
    torch.testing.assert_close(
        (merged_values * merged).sum(-1), (values * probabilities).sum(-1), atol=1e-5, rtol=1e-4
    )


def test_a_group_without_probability_has_a_finite_value() -> None:
    values, probabilities = merge_atoms(torch.tensor([[1.0, 2.0]]), torch.tensor([[[1.0, 0.0]]]), 2)
    assert torch.isfinite(values).all()
    assert probabilities.sum() == 1

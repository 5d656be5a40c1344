"""Atoms: values that stand for all, chances that are learned, groups that keep the mean."""

import numpy as np
import pytest
import torch

from eddi.model.network.atoms import N_ATOMS, Atoms, grouped


def standing(column: list[float]) -> Atoms:
    torch.manual_seed(0)
    atoms = Atoms(1, 3)
    values = np.array(column, np.float32)[:, None]
    atoms.init_from_data(values, np.ones_like(values, dtype=bool))
    return atoms


def n_atoms(atoms: Atoms) -> int:
    return int((atoms.log_chances(torch.zeros(1, 3)).exp() > 0).sum())


def test_atoms_are_means_of_bins_of_equal_weight() -> None:
    atoms = standing([float(n) for n in range(16)])
    assert atoms.values[0].tolist() == [0.5 + 2 * n for n in range(N_ATOMS)]
    assert atoms.upper[0].tolist() == [1.5 + 2 * n for n in range(N_ATOMS - 1)]


def test_a_value_that_many_share_has_an_atom_of_its_own() -> None:
    atoms = standing([0.0] * 900 + [float(n) for n in range(1, 101)])
    assert atoms.values[0, 0] == 0
    assert atoms.upper[0, 0] == 0.5
    assert n_atoms(atoms) == N_ATOMS  # the others share the rest
    middle = standing([-5.0, -4.0, -3.0, *([0.0] * 50), *(float(n) for n in range(1, 40))])
    assert 0 in middle.values[0].tolist()


@pytest.mark.parametrize("column", [[2.0], [2.0, 2.0], [1.0, 2.0, 4.0, 4.0]])
def test_few_values_are_atoms_themselves_and_the_rest_have_no_chance(column: list[float]) -> None:
    atoms, values = standing(column), sorted(set(column))
    assert atoms.values[0, : len(values)].tolist() == values
    chances = atoms.log_chances(torch.randn(5, 3)).exp()[:, 0]
    assert (chances[:, len(values) :] == 0).all()
    assert chances.sum(-1).tolist() == pytest.approx([1.0] * 5)


def test_a_value_falls_to_its_own_bin() -> None:
    atoms = standing([1.0, 2.0, 4.0])
    with torch.no_grad():
        atoms.layer.weight.zero_()
        atoms.layer.bias.copy_(torch.log(torch.tensor([0.5, 0.3, 0.2] + [1.0] * (N_ATOMS - 3))))
    values = torch.tensor([[-9.0], [1.0], [1.4], [1.6], [3.1], [99.0]])
    found = atoms.training_score(torch.zeros(6, 3), values).exp()[:, 0]
    assert found.tolist() == pytest.approx([0.5, 0.5, 0.5, 0.3, 0.2, 0.2])


def test_an_unseen_column_has_one_atom() -> None:
    atoms = Atoms(1, 3)
    atoms.init_from_data(np.zeros((4, 1), np.float32), np.zeros((4, 1), bool))
    assert n_atoms(atoms) == 1


@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_groups_keep_chance_and_mean(n: int) -> None:
    torch.manual_seed(0)
    values = torch.randn(4, N_ATOMS).sort(-1).values
    chances = torch.rand(7, 4, N_ATOMS).softmax(-1)
    grouped_values, grouped_chances = grouped(values, chances, n)
    assert grouped_values.shape == grouped_chances.shape == (7, 4, n)
    torch.testing.assert_close(grouped_chances.sum(-1), torch.ones(7, 4))
    torch.testing.assert_close(
        (grouped_values * grouped_chances).sum(-1), (values * chances).sum(-1), atol=1e-5, rtol=1e-4
    )


def test_a_group_without_chance_stays_a_number() -> None:
    values, chances = grouped(torch.tensor([[1.0, 2.0]]), torch.tensor([[[1.0, 0.0]]]), 2)
    assert torch.isfinite(values).all()
    assert chances.sum() == 1

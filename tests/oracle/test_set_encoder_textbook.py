"""Each set encoder is its textbook form, and its code is additive."""

from itertools import product

import pytest
import torch

from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.set_encoder import SetEncoder
from eddi.table.variable import Kind

ENCODERS = ("zi", "zi-m", "pn", "pnp")
FORMS = (
    VariableSpec(Kind.REAL),
    VariableSpec(Kind.CATEGORY, 3),
    VariableSpec(Kind.ORDINAL, 5),
    VariableSpec(Kind.BINARY, 2),
    VariableSpec(Kind.COUNT),
    VariableSpec(Kind.CATEGORY, 4),
)
MIXED = torch.tensor(
    [[0.7, 2.0, 3.0, 1.0, -0.4, 0.0], [-1.3, 0.0, 0.0, 0.0, 2.2, 3.0]], dtype=torch.float64
)
NUMBERS = (
    VariableSpec(Kind.REAL),
    VariableSpec(Kind.REAL),
    VariableSpec(Kind.BINARY, 2),
)  # all kinds the paper has
SUBSETS = torch.tensor(list(product([0.0, 1.0], repeat=len(FORMS))), dtype=torch.float64)


def encoder(name, specs=FORMS):
    torch.manual_seed(3)
    made = SetEncoder(specs, name, width=7, identity=4).double()
    with torch.no_grad():
        for weights in made.parameters():
            weights.normal_()
    return made


def slots(row, seen):
    """A row as the textbook writes it: (slot, number) of every observed variable."""
    first, found = 0, []
    for form, value, here in zip(FORMS, row.tolist(), seen.tolist(), strict=True):
        if form.kind is Kind.CATEGORY:
            entry, width = (first + int(value), 1.0), form.n_levels
        else:
            unit = form.n_levels - 1 if form.kind is Kind.ORDINAL else 1
            entry, width = (first, value / unit), 1
        if here:
            found.append(entry)
        first += width
    return found


def textbook(made, row, seen):
    """The code of one row, written as the paper does and as slowly as possible."""
    n_slots = sum(form.n_levels if form.kind is Kind.CATEGORY else 1 for form in FORMS)
    filled = torch.zeros(n_slots, dtype=torch.float64)
    mask = torch.zeros(n_slots, dtype=torch.float64)
    for slot, number in slots(row, seen):
        filled[slot], mask[slot] = number, 1.0
    if made.name == "zi":
        return torch.nn.functional.linear(filled, made.slope.T, made.base)
    if made.name == "zi-m":
        both = torch.cat([made.slope, made.offset])
        return torch.nn.functional.linear(torch.cat([filled, mask]), both.T, made.base)
    total = torch.zeros(made.width, dtype=torch.float64)
    for slot, number in slots(row, seen):
        identity = made.identity[slot]
        x = torch.tensor([number], dtype=torch.float64)
        s = torch.cat([identity, x]) if made.name == "pn" else identity * x
        total = total + torch.relu(made.layer(s))
    return total


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("row", [0, 1])
def test_the_code_is_the_textbooks_for_every_subset(name, row):
    made = encoder(name)
    values = MIXED[row].expand(len(SUBSETS), -1) * SUBSETS
    expected = torch.stack([textbook(made, MIXED[row], seen) for seen in SUBSETS])
    assert torch.allclose(made(values, SUBSETS), expected, atol=1e-10)


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("row", [0, 1])
def test_base_and_terms_add_up_to_the_code_for_every_subset(name, row):
    made = encoder(name)
    terms = made.term(MIXED[row], torch.arange(len(FORMS)))  # [variables, width]
    full = made(MIXED[row].expand(len(SUBSETS), -1) * SUBSETS, SUBSETS)
    assert torch.allclose(made.base + SUBSETS @ terms, full, atol=1e-10)


@pytest.mark.parametrize("name", ENCODERS)
def test_an_answer_adds_its_term_whichever_was_already_known(name):
    made = encoder(name)
    for variable in range(len(FORMS)):
        without = SUBSETS[SUBSETS[:, variable] == 0]
        after = without.clone()
        after[:, variable] = 1
        before_code = made(MIXED[0] * without, without)
        added = made(MIXED[0] * after, after) - before_code
        term = made.term(MIXED[0, [variable]], torch.tensor([variable]))
        assert torch.allclose(added, term.expand_as(added), atol=1e-10)


@pytest.mark.parametrize("name", ENCODERS)
def test_terms_are_the_same_for_any_leading_shape_and_order(name):
    made = encoder(name)
    order = torch.tensor([4, 1, 5])
    tiled = MIXED[:, order].expand(3, 2, 3)
    alone = made.term(MIXED[1, [5]], torch.tensor([5]))
    assert torch.allclose(made.term(tiled, order)[2, 1, 2], alone[0])


@pytest.mark.parametrize("name", ENCODERS)
def test_the_paths_for_one_kind_only_agree_with_terms(name):
    made = encoder(name, NUMBERS)
    values = torch.tensor([[0.5, -2.0, 1.0]], dtype=torch.float64)
    everything = torch.ones(1, 3, dtype=torch.float64)
    summed = made.base + made.term(values, torch.arange(3)).sum(1)
    assert torch.allclose(made(values, everything), summed, atol=1e-10)

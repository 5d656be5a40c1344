"""Each set encoder computes the formula of the paper, and its code is additive."""

from itertools import product

import pytest
import torch

from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.set_encoder import SetEncoder
from eddi.table.variable import Kind

ENCODERS = ("zi", "zi-m", "pn", "pnp")
SPECS = (
    VariableSpec(Kind.REAL),
    VariableSpec(Kind.CATEGORY, 3),
    VariableSpec(Kind.ORDINAL, 5),
    VariableSpec(Kind.BINARY, 2),
    VariableSpec(Kind.COUNT),
    VariableSpec(Kind.CATEGORY, 4),
)
ROWS = torch.tensor(
    [[0.7, 2.0, 3.0, 1.0, -0.4, 0.0], [-1.3, 0.0, 0.0, 0.0, 2.2, 3.0]], dtype=torch.float64
)
NUMERIC_SPECS = (VariableSpec(Kind.REAL), VariableSpec(Kind.REAL), VariableSpec(Kind.BINARY, 2))
SUBSETS = torch.tensor(list(product([0.0, 1.0], repeat=len(SPECS))), dtype=torch.float64)  # masks


def build_encoder(name, specs=SPECS):
    torch.manual_seed(3)
    encoder = SetEncoder(specs, name, width=7, identity=4).double()
    with torch.no_grad():
        for weights in encoder.parameters():
            weights.normal_()
    return encoder


def slots(row, observed):
    """The slot and the number of every observed variable; a level is a slot with the number 1."""
    first, pairs = 0, []
    for spec, value, is_observed in zip(SPECS, row.tolist(), observed.tolist(), strict=True):
        if spec.kind is Kind.CATEGORY:
            pair, n_slots = (first + int(value), 1.0), spec.n_levels
        else:
            unit = spec.n_levels - 1 if spec.kind is Kind.ORDINAL else 1
            pair, n_slots = (first, value / unit), 1
        if is_observed:
            pairs.append(pair)
        first += n_slots
    return pairs


def textbook_code(encoder, row, observed):
    """The code of one row, written as in the paper."""
    n_slots = sum(spec.n_levels if spec.kind is Kind.CATEGORY else 1 for spec in SPECS)
    filled = torch.zeros(n_slots, dtype=torch.float64)
    mask = torch.zeros(n_slots, dtype=torch.float64)
    for slot, number in slots(row, observed):
        filled[slot], mask[slot] = number, 1.0
    if encoder.name == "zi":
        return torch.nn.functional.linear(filled, encoder.slope.T, encoder.base)
    if encoder.name == "zi-m":
        weights = torch.cat([encoder.slope, encoder.offset])
        return torch.nn.functional.linear(torch.cat([filled, mask]), weights.T, encoder.base)
    total = torch.zeros(encoder.width, dtype=torch.float64)
    for slot, number in slots(row, observed):
        identity = encoder.identity[slot]
        x = torch.tensor([number], dtype=torch.float64)
        s = torch.cat([identity, x]) if encoder.name == "pn" else identity * x
        total = total + torch.relu(encoder.layer(s))
    return total


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("row", [0, 1])
def test_the_code_of_every_subset_is_that_of_the_textbook(name, row):
    encoder = build_encoder(name)
    values = ROWS[row].expand(len(SUBSETS), -1) * SUBSETS
    expected = torch.stack([textbook_code(encoder, ROWS[row], observed) for observed in SUBSETS])
    assert torch.allclose(encoder(values, SUBSETS), expected, atol=1e-10)


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("row", [0, 1])
def test_the_base_and_the_terms_of_every_subset_add_up_to_its_code(name, row):
    encoder = build_encoder(name)
    terms = encoder.term(ROWS[row], torch.arange(len(SPECS)))  # [variables, width]
    codes = encoder(ROWS[row].expand(len(SUBSETS), -1) * SUBSETS, SUBSETS)
    assert torch.allclose(encoder.base + SUBSETS @ terms, codes, atol=1e-10)


@pytest.mark.parametrize("name", ENCODERS)
def test_an_answer_adds_the_same_term_to_every_subset(name):
    encoder = build_encoder(name)
    for variable in range(len(SPECS)):
        before = SUBSETS[SUBSETS[:, variable] == 0]
        after = before.clone()
        after[:, variable] = 1
        difference = encoder(ROWS[0] * after, after) - encoder(ROWS[0] * before, before)
        term = encoder.term(ROWS[0, [variable]], torch.tensor([variable]))
        assert torch.allclose(difference, term.expand_as(difference), atol=1e-10)


@pytest.mark.parametrize("name", ENCODERS)
def test_terms_do_not_depend_on_leading_shape_and_order(name):
    encoder = build_encoder(name)
    order = torch.tensor([4, 1, 5])
    repeated = ROWS[:, order].expand(3, 2, 3)
    single = encoder.term(ROWS[1, [5]], torch.tensor([5]))
    assert torch.allclose(encoder.term(repeated, order)[2, 1, 2], single[0])


@pytest.mark.parametrize("name", ENCODERS)
def test_a_table_of_numbers_alone_has_an_additive_code(name):
    encoder = build_encoder(name, NUMERIC_SPECS)
    values = torch.tensor([[0.5, -2.0, 1.0]], dtype=torch.float64)
    observed = torch.ones(1, 3, dtype=torch.float64)
    expected = encoder.base + encoder.term(values, torch.arange(3)).sum(1)
    assert torch.allclose(encoder(values, observed), expected, atol=1e-10)

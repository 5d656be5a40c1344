"""Direct beliefs about some variables are those about all of them, looked at in part."""

import pytest
import torch

from eddi.table.evidence import Evidence


@pytest.fixture
def hidden(model, people):
    rows = model.evidence(people(6, seed=2))
    with torch.inference_mode():
        return model.direct_.hidden(model.settled_.entered(model.code(rows)))


def test_what_is_told_of_some_is_what_is_told_of_all(model, hidden):
    marginals = model.network_.marginals
    for variable in range(len(marginals.specs)):
        told = model.direct_.told([variable])
        wanted = marginals.rows_of([variable])
        torch.testing.assert_close(told(hidden), marginals(hidden)[:, wanted])


def test_a_belief_does_not_differ_from_itself(model, hidden):
    told = model.direct_.told(range(len(model.schema_.variables)))
    same = told.kl_each(told(hidden), told(hidden))
    assert same.shape == (6, len(model.schema_.variables))
    assert same.abs().max() < 1e-5
    assert (told.kl(told(hidden)[:1], told(hidden)[1:2]) > 0).all()


def test_what_is_asked_for_again_is_kept(model):
    assert model.direct_.told([0, 2]) is model.direct_.told((0, 2))
    assert model.direct_.possible(4) is model.direct_.possible(4)


def test_the_chances_of_every_variable_add_up(model):
    possible = model.direct_.possible()
    nothing = Evidence.empty(1, len(model.schema_.variables))
    with torch.inference_mode():
        chances = possible(model.settled_.hidden(model.code(nothing))).chances
    assert float(chances.sum()) == pytest.approx(len(model.schema_.variables), rel=1e-5)

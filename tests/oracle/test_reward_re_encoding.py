"""Adding terms to codes gives what re-encoding all, question by question and draw by draw, gives."""

import numpy as np
import pytest
import torch

from eddi.reward.paper.latent_information import information
from eddi.reward.paper.options import MAX_LEVELS
from eddi.table.evidence import Evidence

N_DRAWS = 6
SEED = 4


class Drawn:
    """A model that keeps the chances of its levels to itself, so that every answer is drawn."""

    def __init__(self, model):
        self.model, self.schema_ = model, model.schema_
        self.code, self.term, self.posterior, self.draw = (
            model.code,
            model.term,
            model.posterior,
            model.draw,
        )

    def chances(self, *_, **__):
        return {}

    alone_ = None
    direct_ = None


def encoded(model, row, told):
    """q(z | x_O and what was told), from scratch."""
    values, observed = row.values.copy(), row.observed.copy()
    for variable, value in told.items():
        values[0, variable], observed[0, variable] = value, True
    return model.posterior(model.code(Evidence(values, observed)))


def options(variables, drawn, chances):
    """Each way these variables may be told in one draw, with its probability."""
    if len(variables) == 1 and variables[0] in chances:
        return [({variables[0]: level}, float(p)) for level, p in enumerate(chances[variables[0]])]
    return [({variable: drawn[variable] for variable in variables}, 1.0)]


def by_loop(model, row, target, asked):
    """The reward of revealing ``asked``, as a first programme would compute it."""
    open_target = [place for place in target if not row.observed[0, place]]
    asked = [place for place in asked if not row.observed[0, place]]
    if not asked or not open_target or set(asked) & set(target):
        return 0.0
    now = encoded(model, row, {})
    draws = model.draw(now, N_DRAWS, seed=SEED)[:, 0].numpy()
    chances = model.chances(now, N_DRAWS, seed=SEED)
    few = {place: chance for place, chance in chances.items() if chance.shape[-1] <= MAX_LEVELS}
    total = 0.0
    for draw, drawn in enumerate(draws):
        here = {place: chance[draw, 0].tolist() for place, chance in few.items()}
        for answer, p_answer in options(asked, drawn, here):
            total += p_answer * float(encoded(model, row, answer).kl(now))
            for told, p_told in options(open_target, drawn, here if len(target) == 1 else {}):
                both = encoded(model, row, {**told, **answer}).kl(encoded(model, row, told))
                total -= p_answer * p_told * float(both)
    return total / N_DRAWS


@pytest.fixture(scope="module")
def rows(model, people):
    hidden = np.random.default_rng(0).random((3, 8)) < [[1.0], [0.5], [0.6]]
    return model.evidence(people(3, 9)).hide(hidden)


@pytest.mark.parametrize("set_encoder", ["zi", "zi-m", "pn", "pnp"])
@pytest.mark.parametrize("target", [["weight"], ["smoker"], ["pain", "age", "town"]])
@pytest.mark.parametrize("kept", [Drawn, lambda model: model], ids=["drawn", "summed"])
def test_incremental_codes_give_the_rewards_of_full_re_encoding(
    people_model, rows, set_encoder, target, kept
):
    model = kept(people_model(set_encoder))
    schema = model.schema_
    found = information(model, rows, target, n_draws=N_DRAWS, seed=SEED)
    expected = [
        [
            by_loop(model, rows[[place]], schema.positions(target), schema.positions(question.reveals))
            for question in schema.questions
        ]
        for place in range(len(rows))
    ]
    assert (found != 0).any()
    torch.testing.assert_close(found, torch.tensor(expected), rtol=1e-5, atol=1e-5)

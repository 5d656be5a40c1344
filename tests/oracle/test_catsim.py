"""Item banks against catsim, an independent implementation of computerised adaptive testing."""

import numpy as np
import pytest

import eddi
from eddi.model.item_bank import Item, ItemBank, Trait
from eddi.strategy import FisherInformation
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable

irt = pytest.importorskip("catsim.irt", reason="catsim is not installed")

N_ITEMS = 40


@pytest.fixture(scope="module")
def parameters():
    """Discrimination, difficulty, and no guessing, as catsim arranges them [items, 4]."""
    random = np.random.default_rng(0)
    a, b = random.uniform(0.8, 2.5, N_ITEMS), random.normal(0, 1.2, N_ITEMS)
    return np.stack([a, b, np.zeros(N_ITEMS), np.ones(N_ITEMS)], axis=1)


@pytest.fixture(scope="module")
def bank(parameters):
    names = [f"item {number}" for number in range(N_ITEMS)]
    # A wide population, so that the posterior mode is the maximum of the likelihood, as in catsim.
    trait = Trait("skill", sd=1.0, report_mean=0.0, report_sd=1.0)
    items = tuple(Item(n, a, (b,), "skill") for n, (a, b) in zip(names, parameters[:, :2], strict=True))
    variables = [Variable(name, Kind.BINARY, ("0", "1")) for name in names]
    questions = (*(Question(name, (name,)) for name in names), Question("skill", ("skill",), never=True))
    schema = Schema((*variables, Variable("skill", Kind.REAL)), questions, ("skill",))
    return ItemBank(schema, items, (trait,))


def test_probabilities_and_information_of_items_are_those_of_catsim(bank, parameters):
    for theta in (-2.0, -0.3, 0.0, 1.4):
        ours = [item.probabilities(np.array(theta))[1] for item in bank.items]
        np.testing.assert_allclose(ours, irt.icc_hpc(theta, parameters), rtol=1e-9)
        information = [float(item.fisher_information(np.array(theta))) for item in bank.items]
        np.testing.assert_allclose(information, irt.inf_hpc(theta, parameters), rtol=1e-6)


def test_the_next_item_is_the_one_that_catsim_selects_at_the_same_estimate(bank, parameters):
    from catsim.item_bank import ItemBank as CatsimBank
    from catsim.selection import MaxInfoSelector

    selector, random = MaxInfoSelector(), np.random.default_rng(1)
    interview = eddi.Interview(bank, "skill", strategy=FisherInformation())
    administered: list[int] = []
    catsim_bank = CatsimBank(parameters)
    for _ in range(15):
        question = interview.ask()
        theta = float(interview.predict().mean)
        expected = selector.select(
            item_bank=catsim_bank, administered_items=list(administered), est_theta=theta
        )
        assert question.name == f"item {expected}"
        administered.append(int(expected))
        interview.tell(question, str(int(random.random() < 0.6)))


def test_the_estimate_is_that_of_catsim_where_the_prior_does_not_matter(bank, parameters):
    from catsim.estimation import NumericalSearchEstimator
    from catsim.item_bank import ItemBank as CatsimBank

    random = np.random.default_rng(2)
    answers = random.random(N_ITEMS) < irt.icc_hpc(0.6, parameters)
    estimate = NumericalSearchEstimator().estimate(
        item_bank=CatsimBank(parameters),
        administered_items=list(range(N_ITEMS)),
        response_vector=answers.tolist(),
        est_theta=0.0,
    )
    evidence = bank.coding.encode(np.append(answers.astype(float), np.nan)[None])
    grid = bank.traits[0].grid
    log_likelihood = np.log(bank.trait_weights(evidence)[0, 0]) - bank.traits[0].log_prior
    best = int(log_likelihood.argmax())
    coefficients = np.polyfit(grid[best - 1 : best + 2], log_likelihood[best - 1 : best + 2], 2)
    assert -coefficients[1] / (2 * coefficients[0]) == pytest.approx(estimate, abs=0.005)

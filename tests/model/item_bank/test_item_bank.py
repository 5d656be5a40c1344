"""An item bank is a model: posteriors, rewards and interviews, against quadrature and closed forms."""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.special import xlogy
from scipy.stats import norm

import eddi
from eddi.errors import StrategyError
from eddi.interview.interview import answers_to_evidence
from eddi.strategy import Explore, Information, Lookahead
from eddi.table.evidence import Evidence

ANSWERS = {"sad": "3", "cry": "1"}
LEVELS = {"sad": 2, "cry": 1}  # positions of these answers


def interview_with(bank, answers, **options):
    interview = eddi.Interview(bank, "mood", **options)
    for name, value in answers.items():
        interview.tell(name, value)
    return interview


def posterior_integral(bank, function, levels=LEVELS):
    """The expectation of a function of the trait given answers, by adaptive quadrature."""
    items = {item.name: item for item in bank.items}

    def density(theta):
        likelihood = [items[name].probabilities(theta)[level] for name, level in levels.items()]
        return norm.pdf(theta) * np.prod(likelihood)

    total = quad(density, -8, 8)[0]
    return quad(lambda theta: function(theta) * density(theta), -8, 8)[0] / total


def test_the_posterior_mean_and_sd_of_a_trait_equal_those_by_quadrature(bank):
    prediction = interview_with(bank, ANSWERS).predict()
    mean = posterior_integral(bank, lambda theta: theta)
    variance = posterior_integral(bank, lambda theta: (theta - mean) ** 2)
    assert prediction.mean == pytest.approx(50 + 10 * mean, abs=1e-6)
    assert prediction.sd == pytest.approx(10 * np.sqrt(variance), abs=1e-6)


def test_ninety_percent_of_the_posterior_lies_in_the_interval(bank):
    low, high = (interview_with(bank, ANSWERS).predict().interval - 50) / 10
    for end, mass in ((low, 0.05), (high, 0.95)):
        below = posterior_integral(bank, lambda theta, end=end: float(theta <= end))
        assert below == pytest.approx(mass, abs=2e-3)


def test_an_item_that_was_not_asked_is_predicted_from_the_posterior(bank):
    predicted = interview_with(bank, ANSWERS).predict("hope").probabilities
    item = next(item for item in bank.items if item.name == "hope")
    expected = [
        posterior_integral(bank, lambda theta, k=k: item.probabilities(theta)[k]) for k in range(4)
    ]
    np.testing.assert_allclose(predicted, expected, atol=1e-6)


def test_the_reward_is_the_mutual_information_of_answer_and_trait(bank):
    item = next(item for item in bank.items if item.name == "hope")
    predicted = np.array(
        [posterior_integral(bank, lambda theta, k=k: item.probabilities(theta)[k]) for k in range(4)]
    )

    def entropy(probabilities):
        return -xlogy(probabilities, probabilities).sum()

    conditional = posterior_integral(bank, lambda theta: entropy(item.probabilities(theta)))
    reward = interview_with(bank, ANSWERS).rewards()["hope"]
    assert reward == pytest.approx(entropy(predicted) - conditional, abs=1e-6)


def test_the_reward_equals_the_expected_divergence_of_the_posterior(bank):
    before = interview_with(bank, ANSWERS)
    evidence = before.evidence()
    weights = bank.trait_weights(evidence)[0, 0]
    expected = 0.0
    for level, probability in enumerate(before.predict("hope").probabilities):
        after = interview_with(bank, {**ANSWERS, "hope": str(level + 1)})
        posterior = bank.trait_weights(after.evidence())[0, 0]
        expected += probability * (posterior * np.log(posterior / weights)).sum()
    assert before.rewards()["hope"] == pytest.approx(expected, abs=1e-9)


def test_items_of_another_trait_carry_no_information(bank):
    assert interview_with(bank, ANSWERS).rewards()["sleep"] == 0.0


def test_information_about_an_item_is_that_of_its_joint_distribution(bank):
    interview = eddi.Interview(bank, "cry")
    drawn = bank.draw_tables(Evidence.empty(20_000, 7), 1, seed=0)[0]
    joint = np.zeros((2, 4))
    np.add.at(joint, (drawn[:, 2].astype(int), drawn[:, 0].astype(int)), 1 / len(drawn))
    independent = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
    expected = xlogy(joint, joint / independent).sum()
    assert interview.rewards()["sad"] == pytest.approx(expected, abs=0.01)
    assert "cry" not in interview.rewards()


def test_an_interview_asks_until_the_standard_error_is_small_and_never_asks_the_trait(bank):
    interview = eddi.Interview(bank, "mood", stop=eddi.Stop(sd_below=6))
    asked = []
    while (question := interview.ask()) is not None:
        asked.append(question.name)
        interview.tell(question, interview.model.schema[question.name].levels[1])
    assert interview.predict().sd < 6
    assert asked[0] == "hope"
    assert set(asked) <= {"sad", "hope", "cry"}


def test_a_trait_that_is_known_needs_no_item(bank):
    interview = eddi.Interview(bank, ["mood", "rest"])
    known = answers_to_evidence(bank, [interview.record.answers])
    known = known.reveal(bank.coding.encode(np.array([[np.nan] * 5 + [62.0, np.nan]])))
    rewards = bank.mutual_information(known, ("mood", "rest"))[0].tolist()
    assert rewards[:3] == [0, 0, 0]
    assert min(rewards[3:5]) > 0
    assert bank.predict_evidence(known, ["mood"])["mood"][0].mean == pytest.approx(62)


def test_simulated_answers_recover_the_trait_that_they_were_drawn_from(bank):
    numbers = bank.draw_tables(Evidence.empty(400, 7), 1, seed=1)[0]
    table = pd.DataFrame(bank.schema_answers(numbers), columns=bank.schema.names)
    curves = eddi.simulate(bank, table, "mood")
    assert curves.rmse[0] == pytest.approx(10, rel=0.1)
    assert curves.rmse[-1] < 6
    assert 0.87 < curves.coverage[-1] < 0.93


def test_a_strategy_that_needs_a_network_says_so(bank):
    with pytest.raises(StrategyError, match="Lookahead needs a model that was fitted to a table"):
        eddi.Interview(bank, "mood", strategy=Lookahead()).ask()


def test_an_item_bank_survives_its_file(bank, tmp_path):
    bank.save(tmp_path / "bank.eddi")
    loaded = eddi.load(tmp_path / "bank.eddi")
    assert loaded.to_document() == bank.to_document()
    assert repr(loaded) == "<ItemBank: 5 items, target mood, rest>"


def test_rows_in_a_batch_have_the_rewards_that_they_have_alone(bank):
    evidence = bank.coding.encode(bank.draw_tables(Evidence.empty(6, 7), 1, seed=2)[0])
    evidence = evidence.hide([5, 6]).hide(np.random.default_rng(0).random(evidence.observed.shape) < 0.5)
    together = bank.mutual_information(evidence, ("mood", "rest"))
    alone = [bank.mutual_information(evidence[[row]], ("mood", "rest"))[0] for row in range(6)]
    np.testing.assert_allclose(together, np.stack(alone), atol=1e-12)


def test_an_item_bank_explores_with_the_share_alone(bank):
    strategy = Explore(Information(), share=0.1, sharpness=1.0)
    step = interview_with(bank, ANSWERS, strategy=strategy).next_step()
    best = interview_with(bank, ANSWERS).ask().name
    n_open = len(step.propensities)
    assert step.propensities[best] == pytest.approx(0.9 + 0.1 / n_open)

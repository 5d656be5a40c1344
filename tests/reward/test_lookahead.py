"""What an answer opens, against going through all pairs of answers by hand."""

import copy
import dataclasses

import numpy as np
import pandas as pd
import pytest
import torch

from eddi import PartialVAE, Question, Schema, Variable
from eddi.model.recipe import DEFAULT
from eddi.reward.lookahead import Ahead
from eddi.reward.mutual_information import Care, information
from eddi.table.evidence import Evidence

RECIPE = dataclasses.replace(DEFAULT, hidden=(64, 64), term=32, identity=16, offset=16)
NAMES = ("left", "right", "hint", "noise", "differ")
WITHOUT_DOUBT = Ahead(n_candidates=9, doubt=0.0, care=Care(n_points=2, n_draws=16))


def bits(n_rows, seed):
    """Whether two fair bits differ, a weak hint at it, and a bit that has nothing to do with it."""
    random = np.random.default_rng(seed)
    left, right, noise = random.integers(2, size=(3, n_rows))
    differ = left ^ right
    hint = np.where(random.random(n_rows) < 0.65, differ, 1 - differ)
    columns = (left, right, hint, noise, differ)
    return pd.DataFrame(dict(zip(NAMES, columns, strict=True)))


SCHEMA = Schema(tuple(Variable(name, "binary", levels=(0, 1)) for name in NAMES))


def fit(schema):
    model = PartialVAE(schema, "differ", recipe=RECIPE, max_steps=500, random_state=0)
    return model.fit(bits(2000, 0))


@pytest.fixture(scope="module")
def xor():
    return fit(SCHEMA)


def chances_of(model, known, name):
    """By what the model itself says, answers given by name."""
    values, observed = np.zeros((1, 5), np.float32), np.zeros((1, 5), bool)
    for each, value in known.items():
        values[0, NAMES.index(each)], observed[0, NAMES.index(each)] = value, True
    return model.predict_evidence(Evidence(values, observed), [name])[name].probabilities[0]


def reward(model, known, question):
    before = chances_of(model, known, "differ")
    total = 0.0
    for answer, chance in enumerate(chances_of(model, known, question)):
        after = chances_of(model, {**known, question: answer}, "differ")
        total += chance * (after * np.log(after / before)).sum()
    return total


def opened_by_hand(model, known, question):
    others = [name for name in NAMES[:-1] if name not in known and name != question]
    best_other = max(reward(model, known, other) for other in others)
    best_after = sum(
        chance * max(reward(model, {**known, question: answer}, other) for other in others)
        for answer, chance in enumerate(chances_of(model, known, question))
    )
    return best_after - best_other


def evidence_of(known):
    numbers = [known.get(name, np.nan) for name in NAMES]
    return Evidence.of([numbers])


@pytest.mark.parametrize("known", [{}, {"noise": 1}, {"hint": 0}])
def test_what_is_opened_is_what_all_pairs_of_answers_say(xor, known):
    (found,) = WITHOUT_DOUBT.opened(xor, evidence_of(known), ["differ"])
    for place, name in enumerate(NAMES[:-1]):
        if name not in known:
            expected = max(0.0, opened_by_hand(xor, known, name))
            assert float(found[place]) == pytest.approx(expected, rel=1e-3, abs=1e-4), name


def test_half_of_an_exclusive_or_opens_the_other_half(xor):
    nothing = Evidence.empty(1, 5)
    (rewards,) = information(xor, nothing, ["differ"], n_draws=1, seed=0)
    (opened,) = WITHOUT_DOUBT.opened(xor, nothing, ["differ"])
    assert (rewards[:2] < 0.02).all()
    assert (opened[:2] > 0.4).all()
    assert (opened[2:] < 0.05).all()


def test_what_is_known_and_the_target_open_nothing(xor):
    (opened,) = WITHOUT_DOUBT.opened(xor, evidence_of({"left": 1, "noise": 0}), ["differ"])
    assert opened[[0, 3, 4]].tolist() == [0, 0, 0]


def test_doubt_takes_its_share_of_what_greedy_would_have(xor):
    nothing = Evidence.empty(1, 5)
    (freely,) = WITHOUT_DOUBT.opened(xor, nothing, ["differ"])
    (doubted,) = dataclasses.replace(WITHOUT_DOUBT, doubt=0.5).opened(xor, nothing, ["differ"])
    first = max(NAMES[:-1], key=lambda name: reward(xor, {}, name))
    after = [
        chance * max(reward(xor, {first: answer}, name) for name in NAMES[:-1] if name != first)
        for answer, chance in enumerate(chances_of(xor, {}, first))
    ]
    expected = float(freely[0]) - 0.5 * (reward(xor, {}, first) + sum(after))
    assert first == "hint"
    assert float(doubted[0]) == pytest.approx(expected, rel=1e-3)


def test_a_question_of_several_variables_opens_too():
    model = fit(SCHEMA.with_question("first", reveals=["left", "noise"]))
    names = [question.name for question in model.schema_.questions]
    nothing = Evidence.empty(1, 5)
    (opened,) = WITHOUT_DOUBT.opened(model, nothing, ["differ"])
    # The answer of "right" opens the question that reveals "left" among others, and the other way round.
    assert float(opened[names.index("first")]) == pytest.approx(
        float(opened[names.index("right")]), rel=0.15
    )
    assert opened[names.index("first")] > 0.4


def test_rows_in_a_batch_and_alone_are_alike(xor):
    seen = Evidence.of([[left, np.nan, hint, np.nan, np.nan] for left in (0, 1) for hint in (0, 1)] * 20)
    ahead = dataclasses.replace(WITHOUT_DOUBT, n_candidates=2)
    together = ahead.opened(xor, seen, ["differ"])
    for row in (0, 1, 3, 79):
        alone = ahead.opened(xor, seen[row : row + 1], ["differ"])
        torch.testing.assert_close(together[row], alone[0], rtol=1e-3, atol=1e-5)


def test_what_is_never_asked_is_not_opened(xor):
    other = copy.copy(xor)
    never = Question("right", ("right",), never=True)
    other.schema_ = dataclasses.replace(SCHEMA, explicit_questions=(never,))
    (opened,) = WITHOUT_DOUBT.opened(other, Evidence.empty(1, 5), ["differ"])
    names = [question.name for question in other.schema_.questions]
    assert opened[names.index("left")] < 0.05
    assert opened[names.index("right")] > 0.4  # it may be volunteered


def test_only_candidates_are_looked_behind(xor):
    nothing = Evidence.empty(1, 5)
    (one,) = dataclasses.replace(WITHOUT_DOUBT, n_candidates=1).opened(xor, nothing, ["differ"])
    (all_,) = WITHOUT_DOUBT.opened(xor, nothing, ["differ"])
    assert one[:2].tolist() == [0, 0]  # the hint tells more at once
    assert (all_[:2] > 0).all()


@pytest.fixture(scope="module")
def product():
    """Whether the product of two quantities is above 0, and a third that has nothing to do with it."""
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(2000, 3)), columns=["a", "b", "c"])
    table["above"] = (table.a * table.b > 0).astype(int)
    return PartialVAE(target="above", recipe=RECIPE, max_steps=500, random_state=0).fit(table)


def test_what_few_answers_claim_is_what_all_answers_say(product):
    seen = product.evidence(
        pd.DataFrame({"a": [np.nan, 1.2], "b": np.nan, "c": [0.1, np.nan]}), optional=["above"]
    )
    glance = Ahead(doubt=0.0).opened(product, seen, ["above"])
    all_answers = Ahead(doubt=0.0, care=Care(n_draws=8)).opened(product, seen, ["above"])
    claimed = glance > 0
    assert claimed[0, 0]
    torch.testing.assert_close(glance[claimed], all_answers[claimed], rtol=1e-4, atol=1e-5)


def test_no_rows_are_no_rows(xor):
    assert WITHOUT_DOUBT.opened(xor, Evidence.empty(0, 5), ["differ"]).shape == (0, 5)

"""Beliefs about values and relations, as a schema states them."""

import pytest

from eddi.errors import SchemaError
from eddi.table import schema_file
from eddi.table.beliefs.statements import Belief, Relation
from eddi.table.schema import Schema

TEXT = """\
[variables]
age = { kind = "real", low = 18, high = 90 }
smoking = { kind = "binary", levels = ["no", "yes"] }
town = { kind = "category", levels = ["Aber", "Bala", "Corris"] }
risk = { kind = "ordinal", levels = ["low", "medium", "high"] }

[beliefs]
age = { typical = 45, spread = 15.5 }
smoking = { shares = [0.8, 0.2] }

[[relations]]
of = "smoking"
to = "risk"
effect = "raises"
strength = "strong"
[[relations]]
of = "age"
to = "risk"
effect = "lowers"
strength = "weak"
"""
VARIABLES = TEXT[: TEXT.index("[beliefs]")]


def test_beliefs_and_relations_are_read():
    schema = Schema.from_toml(TEXT)
    assert schema.beliefs == (Belief("age", 45, 15.5), Belief("smoking", shares=(0.8, 0.2)))
    assert schema.relations == (
        Relation("smoking", "risk", "raises", "strong"),
        Relation("age", "risk", "lowers", "weak"),
    )


def test_beliefs_and_relations_are_written_back_unchanged():
    written = schema_file.write(Schema.from_toml(TEXT))
    assert TEXT[TEXT.index("[beliefs]") : TEXT.index("[[relations]]")] in written
    assert TEXT[TEXT.index("[[relations]]") :] in written
    assert Schema.from_toml(written) == Schema.from_toml(TEXT)
    assert Schema.from_document(Schema.from_toml(TEXT).to_document()) == Schema.from_toml(TEXT)


def test_a_variable_that_is_set_aside_takes_its_beliefs_with_it():
    schema = Schema.from_toml(TEXT).without("smoking")
    assert [belief.variable for belief in schema.beliefs] == ["age"]
    assert [relation.of for relation in schema.relations] == ["age"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[beliefs]\nheight = { typical = 1 }",
            "there is a belief about 'height', which is not a variable",
        ),
        ("[beliefs]\nage = 45", r"the belief about 'age' must be a table such as \{ typical = 45"),
        ("[beliefs]\nage = { typcal = 45 }", "unknown key 'typcal'. Did you mean 'typical'"),
        ("[beliefs]\nage = { typical = 'old' }", "'age': typical must be a number, got 'old'"),
        ("[beliefs]\nage = { typical = inf }", "'age': typical must be a number, got inf"),
        ("[beliefs]\nage = { typical = 12 }", r"12 is outside the range of the variable \(18 to 90\)"),
        ("[beliefs]\nage = { spread = 0 }", "spread must be above 0, got 0"),
        ("[beliefs]\nage = { shares = [1] }", "has shares, but the variable is real and has no levels"),
        (
            "[beliefs]\nsmoking = { typical = 1 }",
            "but the variable is binary. State the share of each level",
        ),
        ("[beliefs]\nsmoking = { shares = [1] }", "has 1 shares for 2 levels"),
        ("[beliefs]\nsmoking = { shares = [0.8, 0.4] }", "shares add up to 1.2. They must add up to 1"),
        ("[beliefs]\nsmoking = { shares = [1.5, -0.5] }", "has a negative share"),
        ("[beliefs]\nsmoking = { shares = 'half' }", "shares must be a list such as"),
        ("[[relations]]\nof = 'smoking'", "a relation has no 'to'. Expected"),
        ("[[relations]]\nof = 'smoking'\nto = 'rsk'", "there is a relation of 'rsk', which is not"),
        ("[[relations]]\nof = 'age'\nto = 'age'", "a relation of 'age' to itself says nothing"),
        ("[[relations]]\nof = 'town'\nto = 'risk'", "needs an order, and 'town' is a category"),
        (
            "[[relations]]\nof = 'age'\nto = 'risk'\neffect = 'raise'",
            "effect must be one of raises, lowers, got 'raise'. Did you mean 'raises'",
        ),
        (
            "[[relations]]\nof = 'age'\nto = 'risk'\nstrength = 'huge'",
            "strength must be one of weak, moderate, strong, got 'huge'",
        ),
        (
            "[[relations]]\nof = 'age'\nto = 'risk'\n[[relations]]\nof = 'risk'\nto = 'age'",
            "the relation of 'risk' to 'age' is stated twice",
        ),
        ("[[relations]]\nfrom = 'age'", "a relation has the unknown key 'from'"),
        ("[relations]\nof = 'age'", r"relations must be sections headed \[\[relations\]\]"),
    ],
)
def test_a_belief_that_is_not_valid_is_explained(text, message):
    with pytest.raises(SchemaError, match=message):
        Schema.from_toml(VARIABLES + text)


def test_the_number_of_relations_is_bounded():
    relations = "".join(f"[[relations]]\nof = 'age'\nto = 'risk'\n# {n}\n" for n in range(1_001))
    with pytest.raises(SchemaError, match="there are 1,001 relations; at most 1,000 are used"):
        Schema.from_toml(VARIABLES + relations)

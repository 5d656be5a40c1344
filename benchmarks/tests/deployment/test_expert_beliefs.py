"""What an expert states about the tables of the cold-start suite."""

import eddi
from eddi_benchmarks.deployment.expert_beliefs import EXPERT_BELIEFS, PHQ9, PHQ_ITEMS
from eddi_benchmarks.harness.suite import Suite


def make_phq_schema():
    items = [eddi.Variable(name, "ordinal", levels=(0, 1, 2, 3)) for name in PHQ_ITEMS]
    return eddi.Schema((*items, eddi.Variable("depression_ge10", "binary", levels=(0, 1))))


def test_every_table_of_the_suite_has_beliefs():
    assert {run.settings["dataset"] for run in Suite.load("cold-start").runs} == set(EXPERT_BELIEFS)


def test_beliefs_become_a_part_of_the_schema():
    schema = PHQ9.add_to(make_phq_schema())
    assert len(schema.relations) == 9 + 36  # items to the target, and pairs of items
    assert schema.beliefs == PHQ9.beliefs


def test_a_model_without_data_predicts_from_the_beliefs():
    schema = PHQ9.add_to(make_phq_schema())
    model = eddi.PartialVAE(schema, "depression_ge10", max_steps=50, random_state=0).fit(None)

    def predict(level):
        interview = eddi.Interview(model, "depression_ge10")
        for item in PHQ_ITEMS:
            interview.tell(item, level)
        return interview.predict().probabilities[1]

    assert predict(3) > 0.5 > predict(0)

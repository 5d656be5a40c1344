"""The table, schema and split of `eddi demo`."""

import numpy as np

from eddi.cli.demo_study import MEASUREMENTS, TARGET, build_schema, load_study, split_rows


def test_training_rows_and_held_out_rows_are_disjoint() -> None:
    columns = load_study()
    training, held_out = split_rows(columns, seed=1)
    assert len(training["age"]) + len(held_out["age"]) == 442
    all_targets = np.concatenate([training[TARGET], held_out[TARGET]])
    assert sorted(all_targets) == sorted(columns[TARGET])
    assert not np.isnan(held_out["age"]).any()
    assert 0.05 < np.isnan(training["age"]).mean() < 0.15


def test_the_split_depends_on_the_seed_alone() -> None:
    columns = load_study()
    first, second, other = (split_rows(columns, seed=seed)[1] for seed in (1, 1, 2))
    assert (first[TARGET] == second[TARGET]).all()
    assert not (first[TARGET] == other[TARGET]).all()


def test_every_measurement_is_a_variable_with_a_question_and_a_cost() -> None:
    schema = build_schema()
    assert schema.names == (*load_study(),)
    assert schema.targets == (TARGET,)
    asked = {question.name: (question.text, question.cost) for question in schema.questions}
    for measurement in MEASUREMENTS:
        assert asked[measurement.name] == (measurement.text, measurement.cost)

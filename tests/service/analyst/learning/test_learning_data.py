"""Stored interviews and tables become training rows; held-out interviews compare models."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddi.errors import TableError
from eddi.service.analyst.learning.learning_data import (
    compare_with_current,
    log_interviews,
    prepare_data,
    publish_candidate,
    to_table,
)
from eddi.service.analyst.learning.stored_interviews import read_interviews
from eddi.service.analyst.workshop import Workshop
from eddi.store.factory import open_store
from eddi.table import columns


@pytest.fixture(scope="module")
def opened(interviewed_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The workshop, the current questionnaire and its interviews."""
    folder = shutil.copytree(interviewed_folder, tmp_path_factory.mktemp("learning") / "copy")
    store = open_store(f"sqlite:///{folder}/answers.db")
    workshop = Workshop(store, folder / "workshop")
    current = workshop.catalogue.load(workshop.publisher.get("people"))
    yield workshop, current, read_interviews(store, workshop.catalogue, "people")
    store.close()


def test_each_interview_is_either_a_training_row_or_held_out(opened: Any, people_schema: Any) -> None:
    data = prepare_data(people_schema, opened[2])
    assert data.n_interviews + len(data.logged) == 60
    assert data.rows.num_rows == data.n_interviews
    n_values = sum(data.rows.num_rows - column.null_count for column in data.rows.columns)
    assert n_values == 3 * data.n_interviews  # two answers and the outcome


def test_a_held_out_interview_without_an_outcome_is_not_trained_on(
    opened: Any, people_schema: Any
) -> None:
    pending = [replace(interview, outcome={}) for interview in opened[2]]
    data = prepare_data(people_schema, pending)
    assert data.n_interviews == prepare_data(people_schema, opened[2]).n_interviews < 60
    assert len(data.logged) == 0


def test_rows_of_tables_come_first(opened: Any, people: Any, people_schema: Any) -> None:
    table = pa.Table.from_pandas(people(20, seed=3))
    rows = prepare_data(people_schema, opened[2], [table]).rows
    np.testing.assert_allclose(
        columns.table_to_numbers(rows.slice(0, 20), people_schema),
        columns.table_to_numbers(table, people_schema),
    )


def test_the_same_store_gives_the_same_rows(opened: Any, people_schema: Any) -> None:
    first, second = (prepare_data(people_schema, opened[2]).rows for _ in range(2))
    assert first.equals(second)


def test_too_few_rows_are_refused(opened: Any, people_schema: Any) -> None:
    with pytest.raises(TableError, match="at least 10 are needed"):
        prepare_data(people_schema, opened[2][:5])


def test_numbers_are_the_same_after_a_table(people_schema: Any, people: Any) -> None:
    numbers = columns.table_to_numbers(pa.Table.from_pandas(people(30, seed=4)), people_schema)
    np.testing.assert_allclose(
        columns.table_to_numbers(to_table(people_schema, numbers), people_schema), numbers
    )


def test_interviews_of_one_version_have_one_policy(opened: Any, people_schema: Any) -> None:
    logged = log_interviews(people_schema, opened[2])
    assert len(logged.policies) == 1
    assert logged.policies[0].exploration is not None


def test_a_candidate_is_compared_with_the_current_version(opened: Any, people_schema: Any) -> None:
    _, current, interviews = opened
    comparison = compare_with_current(
        current.model, current, log_interviews(people_schema, interviews[:25])
    )
    assert comparison is not None
    assert comparison.error_difference.value == 0
    assert not comparison.is_better
    assert comparison.to_document()["is_better"] is False


def test_without_outcomes_there_is_no_comparison(opened: Any, people_schema: Any) -> None:
    _, current, _ = opened
    assert compare_with_current(current.model, current, log_interviews(people_schema, [])) is None


def test_a_candidate_is_published_with_the_rules_of_the_current_version(opened: Any) -> None:
    workshop, current, _ = opened
    item = workshop.publisher.get("people")
    published = publish_candidate(workshop.catalogue, item, current, current.model_sha256, by="analyst")
    assert published.current.number == item.current.number + 1
    assert published.current.rules == item.current.rules
    assert published.current.strategy == item.current.strategy


def test_interviews_have_known_probabilities_and_rows_of_tables_do_not(
    opened: Any, people: Any, people_schema: Any
) -> None:
    table = pa.Table.from_pandas(people(20, seed=3))
    data = prepare_data(people_schema, opened[2], [table])
    weights = data.question_weights
    assert not weights.is_known[:20].any()
    assert weights.is_known[20:].sum() == data.n_interviews
    assert ((weights.bits[20:] > 0).sum(1) == 2).all()  # two answers; nobody asks for the outcome
    assert weights.by_subset[20:].std() > 0

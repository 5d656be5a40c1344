"""What a model keeps about its training."""

from eddi.model.training.checkpoint import Progress
from eddi.model.training.summary import TrainingSummary


def test_a_summary_describes_a_table_with_column_names_and_no_warnings():
    summary = TrainingSummary(("age",), 3, "fingerprint", list[Progress]())
    assert (summary.has_column_names, summary.has_single_target, summary.warnings) == (True, False, ())


def test_answers_and_rows_of_beliefs_are_counted():
    summary = TrainingSummary(("age", "risk"), 3, "", [], n_prior_rows=20, n_answers=(1, 3))
    assert summary.count_answers(2).tolist() == [21, 23]


def test_all_rows_count_if_the_numbers_of_answers_are_not_known():
    assert TrainingSummary(("age", "risk"), 3, "", []).count_answers(2).tolist() == [3, 3]

"""What a model keeps about its training."""

from eddi.model.training.checkpoint import Progress
from eddi.model.training.summary import TrainingSummary


def test_a_summary_describes_a_table_with_column_names_and_no_warnings():
    summary = TrainingSummary(("age",), 3, "fingerprint", list[Progress]())
    assert (summary.has_column_names, summary.has_single_target, summary.warnings) == (True, False, ())

"""What a model learns from: stored interviews and tables as rows, and interviews that are held out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from eddi.errors import TableError
from eddi.evaluate.off_policy.estimates import OffPolicyComparison, compare_rules
from eddi.evaluate.off_policy.logged_interviews import LoggedInterviews
from eddi.evaluate.off_policy.question_weights import compute_question_weights
from eddi.interview.risk_control import resolve_rules
from eddi.interview.rules import InterviewRules
from eddi.model.fitted import FittedModel
from eddi.model.training.question_weights import QuestionWeights
from eddi.service.analyst.learning.stored_interviews import StoredInterview
from eddi.service.analyst.models.catalogue import PublishedCatalogue
from eddi.service.analyst.models.published_questionnaire import PublishedQuestionnaire
from eddi.service.interviews.questionnaire import Questionnaire, stop_to_document
from eddi.strategy.names import make_strategy
from eddi.table import columns, fill
from eddi.table.schema import Schema

MIN_ROWS = 10  # for training


@dataclass(frozen=True, eq=False)
class LearningData:
    """Training rows and held-out interviews.

    Args:
        rows: given tables, then one row per interview: its answers and, if known, its outcome.
        n_interviews: interviews among the rows.
        question_weights: of the rows, from the probabilities of their questions.
        logged: held-out interviews, which are not among the rows.
    """

    rows: pa.Table
    n_interviews: int
    question_weights: QuestionWeights
    logged: LoggedInterviews


def prepare_data(
    schema: Schema, interviews: Sequence[StoredInterview], tables: Sequence[pa.Table] = ()
) -> LearningData:
    """Turn stored interviews and tables into training rows and held-out interviews.

    Raises:
        TableError: there are too few rows to learn from.
    """
    training = [interview for interview in interviews if not interview.is_held_out]
    held_out = [interview for interview in interviews if interview.is_comparable]
    answered = [interview for interview in training if interview.record.answered_variables()]
    training_log = log_interviews(schema, answered)
    numbers = [columns.table_to_numbers(table, schema) for table in tables]
    n_table_rows = sum(map(len, numbers))
    rows = np.concatenate([*numbers, training_log.numbers])
    if len(rows) < MIN_ROWS:
        raise TableError(
            f"there are {len(rows)} rows to learn from; at least {MIN_ROWS} are needed. Collect more "
            "interviews, or give a table."
        )
    unknown = QuestionWeights.unknown(n_table_rows, len(schema.variables))
    weights = QuestionWeights.concatenate([unknown, compute_question_weights(training_log)])
    return LearningData(to_table(schema, rows), len(answered), weights, log_interviews(schema, held_out))


def log_interviews(schema: Schema, interviews: Sequence[StoredInterview]) -> LoggedInterviews:
    """Stored interviews with their probabilities, as off-policy estimates need them."""
    logged = LoggedInterviews.from_records(
        schema,
        [interview.record for interview in interviews],
        [interview.outcome for interview in interviews],
        [interview.propensities for interview in interviews],
    )
    policies: list[InterviewRules] = []
    for interview in interviews:
        if interview.rules not in policies:
            policies.append(interview.rules)
    numbers = np.array([policies.index(interview.rules) for interview in interviews], dtype=np.int64)
    return replace(logged, policies=tuple(policies), policy_of_row=numbers)


def to_table(schema: Schema, numbers: NDArray[np.float64]) -> pa.Table:
    """A table with these numbers; NaN is an empty cell."""
    names = list(dict.fromkeys(variable.column for variable in schema.variables))
    empty = pa.table({name: pa.nulls(len(numbers)) for name in names})
    return fill.fill_missing(empty, schema, numbers)


def compare_with_current(
    candidate: FittedModel, current: Questionnaire, logged: LoggedInterviews
) -> OffPolicyComparison | None:
    """Compare a candidate with the current version.

    None if there are several targets, or no held-out interview has an outcome.
    """
    target = current.target
    has_outcome = ~np.isnan(logged.numbers[:, logged.schema.positions(target)]).any(1)
    if len(target) != 1 or not has_outcome.any():
        return None
    strategy = make_strategy(current.strategy_name, candidate, target)
    new = replace(current, model=candidate, strategy=strategy)
    rules, current_rules = (
        resolve_rules(item.model, target, strategy=item.constrained_strategy, stop=item.stop)
        for item in (new, current)
    )
    return compare_rules(rules, current_rules, logged)


def publish_candidate(
    catalogue: PublishedCatalogue,
    item: PublishedQuestionnaire,
    current: Questionnaire,
    digest: str,
    *,
    by: str,
) -> PublishedQuestionnaire:
    """Publish a candidate with the target, strategy and stopping rule of the current version."""
    return catalogue.publish(
        item.name,
        digest,
        current.target,
        strategy=current.strategy_name,
        rules=stop_to_document(current.stop),
        by=by,
    )

"""The certificate of a model that was trained in the workshop: which error rates can be guaranteed."""

from contextlib import suppress
from typing import TYPE_CHECKING

from eddi.errors import TableError, TargetError

if TYPE_CHECKING:  # the process of a job starts quickly
    import pyarrow as pa

    from eddi.model.fitted import FittedModel


def certify_held_out(model: "FittedModel", rows: "pa.Table") -> None:
    """Certify a model on the rows that training did not use, so that it can be published with a risk.

    Only targets with levels are certified: for a quantity, the tolerated error is not known yet.
    """
    from eddi.interview.risk_control import MAX_QUESTIONS, certify

    has_levels = all(model.schema[name].kind.has_levels for name in model.target)
    if not has_levels or len(model.schema.questions) > MAX_QUESTIONS:
        return
    with suppress(TableError, TargetError):  # no held-out row has a value of the target
        certify(model, rows, model.target)

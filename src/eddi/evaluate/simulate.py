"""Play the interview for all held-out rows at once."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from eddi.errors import TargetError
from eddi.evaluate.curves import Curves
from eddi.model.partial_vae import PartialVAE
from eddi.strategy.base import Strategy
from eddi.strategy.information import Information
from eddi.table.evidence import Evidence
from eddi.table.schema import Schema


def simulate(
    model: PartialVAE,
    table: Any,
    target: str | None = None,
    *,
    strategy: Strategy | None = None,
    max_steps: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Curves:
    """Interview every row of ``table``, answering from the row itself, and follow the prediction.

    A question whose answer the row lacks is never asked.
    """
    strategy = strategy or Information()
    schema = model.schema_
    names = schema.target_names(target if target is not None else model.target_)
    if len(names) != 1:
        raise TargetError(f"a simulation follows one target, got {list(names) or 'none'}.")
    truth = model.evidence(table)
    reveals = _reveals(schema, names)
    n_steps = int((reveals.any(1)).sum()) if max_steps is None else max_steps
    seen = Evidence.nothing(len(truth), truth.n_variables)
    errors, log_probs, order = [], [], []
    for step in range(n_steps + 1):
        error, log_prob = _measure(model, seen, truth, names)
        errors.append(error)
        log_probs.append(log_prob)
        if on_progress:
            on_progress(step, n_steps)
        if step < n_steps:
            scores = strategy.score(model, seen, names).cpu().numpy()
            chosen = choose(scores, _open(seen, truth, reveals))
            seen = seen.reveal(truth.hide(~reveals[chosen]))
            order.append(chosen)
    return Curves(
        np.stack(errors, axis=1),
        np.stack(log_probs, axis=1),
        np.stack(order, axis=1) if order else np.zeros((len(truth), 0), np.int64),
        tuple(question.name for question in schema.questions),
    )


def choose(scores: NDArray[np.floating], open_: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The best open question of each row, -1 where none is open."""
    best = np.where(open_, scores, -np.inf).argmax(1)
    return np.where(open_.any(1), best, -1)


def _reveals(schema: Schema, target: Sequence[str]) -> NDArray[np.bool_]:
    """Which question reveals which variable; nothing for those that touch the target.

    One row more than there are questions: the last, which -1 picks, reveals nothing.
    """
    reveals = np.zeros((len(schema.questions) + 1, len(schema.variables)), dtype=bool)
    for row, question in enumerate(schema.questions):
        if not set(question.reveals) & set(target):
            reveals[row, schema.positions(question.reveals)] = True
    return reveals


def _open(seen: Evidence, truth: Evidence, reveals: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Questions that would show this row's reader something new [rows, questions]."""
    news = truth.observed & ~seen.observed  # [rows, variables]
    return np.asarray((news.astype(np.float32) @ reveals[:-1].T.astype(np.float32)) > 0)


def _measure(
    model: PartialVAE, seen: Evidence, truth: Evidence, names: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    position = model.schema_.position(names[0])
    known = truth.observed[:, position]
    actual = model.coding_.decode(truth.values)[:, position]
    with torch.no_grad():
        mean = model.predict_evidence(seen, names)[names[0]].mean
        log_prob = model.log_prob(seen, truth)[:, position]
    return np.where(known, mean - actual, np.nan), np.where(known, log_prob, np.nan)

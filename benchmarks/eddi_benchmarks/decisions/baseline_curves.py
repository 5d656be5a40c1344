"""The curves of a baseline from the outputs of its predictor."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from eddi.evaluate.curves import Curves, Numbers
from eddi.model.prediction import COVERAGE
from eddi.table.evidence import Evidence
from eddi_benchmarks.decisions.table_encoder import TableEncoder


def make_curves(
    encoder: TableEncoder,
    evidence: Evidence,
    *,
    asked: NDArray[np.int64],
    outputs: Numbers,
    error_sd: Numbers,
) -> Curves:
    """Curves of interviews in the units of the table.

    Args:
        encoder: of the table.
        evidence: the rows with all answers and the target.
        asked: position in the encoder's questions [rows, steps]; -1 if none was asked.
        outputs: logits of the levels, or the standardised mean [rows, steps + 1, outputs].
        error_sd: standard deviation of the error of a real-valued target, standardised; it has a shape
            that broadcasts to [rows, steps + 1].
    """
    problem = encoder.problem
    order = np.append(encoder.questions, -1)[asked]  # -1 stays -1
    costs = np.append(problem.schema.costs, 0.0)[order]
    target = problem.schema[problem.target]
    truth = encoder.coding.decode(evidence.values)[:, problem.schema.position(target.name)]
    if problem.is_class:
        classes = encoder.truth(evidence).astype(np.int64)
        predictions = class_predictions(special.log_softmax(outputs, axis=-1), classes)
    else:
        predictions = _real_predictions(encoder, evidence, outputs[..., 0], error_sd)
    return Curves(
        target=target.name,
        questions=tuple(question.name for question in problem.schema.questions),
        levels=target.levels,
        truth=np.rint(truth) if problem.is_class else truth,
        order=order,
        spent=np.pad(costs.cumsum(1), ((0, 0), (1, 0))),
        **predictions,
    )


def _real_predictions(
    encoder: TableEncoder, evidence: Evidence, mean: Numbers, error_sd: Numbers
) -> dict[str, Any]:
    """The fields of `Curves` from standardised means [rows, steps + 1]."""
    position = encoder.problem.schema.position(encoder.problem.target)
    shift, scale = encoder.coding.shift[position], encoder.coding.scale[position]
    errors = encoder.truth(evidence)[:, None] - mean  # [rows, steps + 1]
    quantile = stats.norm.cdf(errors / error_sd)
    tail = (1 - COVERAGE) / 2
    return {
        "mean": mean * scale + shift,
        "draw_squares": np.square(errors * scale),
        "log_prob": stats.norm.logpdf(errors, scale=error_sd) - math.log(scale),
        "rank": quantile,
        "covered": (quantile >= tail) & (quantile <= 1 - tail),
    }


def class_predictions(log_probabilities: Numbers, truth: NDArray[np.int64]) -> dict[str, Any]:
    """The fields of `Curves` from log probabilities [rows, steps + 1, levels]."""
    probabilities, n_levels = np.exp(log_probabilities), log_probabilities.shape[-1]
    brier = np.square(probabilities - np.eye(n_levels)[truth][:, None]).sum(-1) / 2
    mean = probabilities[..., 1] if n_levels == 2 else np.full(brier.shape, np.nan)
    log_prob = np.take_along_axis(log_probabilities, truth[:, None, None], axis=-1)[..., 0]
    return {
        "mean": mean,
        "draw_squares": brier,
        "log_prob": log_prob,
        "probabilities": probabilities,
    }

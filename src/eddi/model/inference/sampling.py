"""Joint draws of missing values by the chain rule.

p(x_U | x_O) = p(x_a | x_O) p(x_b | x_O, x_a) ...: marginal predictions of one variable given any others
make a joint draw. Each drawn value is added to the evidence, and its term to the code.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from eddi.model.inference.marginal_predictor import MarginalPredictor

MAX_STEPS = 64  # of the chain; in wider tables, several variables are drawn per step, as if independent


def sample_missing(
    predictor: MarginalPredictor,
    values: Tensor,
    observed: Tensor,
    level: Tensor,
    *,
    ignored: Mapping[int, Sequence[int]] | None = None,
) -> Tensor:
    """Draw complete rows [draws, rows, variables] in coded values.

    Args:
        predictor: the marginal predictions.
        values: coded [rows, variables], zero where unobserved.
        observed: 0/1 [rows, variables].
        level: uniform numbers [draws, rows, variables]; each is the cumulative probability at which its
            value is drawn. They also determine the order in which variables are drawn.
        ignored: variables that are not used to draw a variable, by variable. Such variables come last.
    """
    ignored = ignored or {}
    frozen = predictor.frozen
    code = frozen.code(values, observed).expand(len(level), -1, -1)
    complete = values.expand_as(level).clone()
    missing = 1 - observed
    order = level[0].sum(0).argsort()
    order = order[[place for place, variable in enumerate(order.tolist()) if variable not in ignored]]
    for step in torch.chunk(order, MAX_STEPS):
        head = predictor.target_head(step.tolist())
        drawn = head.heads.quantile(head(frozen.features(code)), level[..., step])
        complete[..., step] = torch.where(missing[:, step] > 0, drawn, complete[..., step])
        terms = frozen.term(drawn, step) * missing[:, step, None]  # [draws, rows, n, width]
        code = code + terms.sum(-2)
    known = torch.ones_like(observed)
    known[:, list(ignored)] = observed[:, list(ignored)]
    for variable, others in ignored.items():
        used = known.clone()
        used[:, list(others)] = 0
        head = predictor.target_head([variable])
        own_code = frozen.code(
            (complete * used).flatten(0, 1), used.expand_as(complete).flatten(0, 1)
        ).view(*level.shape[:2], -1)
        drawn = head.heads.quantile(head(frozen.features(own_code)), level[..., [variable]])[..., 0]
        complete[..., variable] = torch.where(missing[:, variable] > 0, drawn, complete[..., variable])
        known[:, variable] = 1
    return complete

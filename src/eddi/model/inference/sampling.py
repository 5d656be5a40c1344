"""Rows completed by chance, one variable after the other.

p(x_U | x_O) = p(x_a | x_O) p(x_b | x_O, x_a) ...: beliefs about single variables, given any others, make
a joint draw by the chain rule. What was drawn joins what is seen, and its term the code.
"""

import torch
from torch import Tensor

from eddi.model.inference.marginal_predictor import Direct

MOST_STEPS = 64  # of the chain; variables of a wide table are drawn some at a time, as if independent


def completed(direct: Direct, values: Tensor, observed: Tensor, level: Tensor) -> Tensor:
    """Coded rows without holes [draws, rows, variables].

    Args:
        direct: the beliefs.
        values: coded [rows, variables], zero where unseen.
        observed: 0/1 [rows, variables].
        level: uniform numbers [draws, rows, variables] that say where in its belief each value falls;
            the order of the variables is theirs too.
    """
    settled = direct.settled
    entered = settled.entered(settled.code(values, observed)).expand(len(level), -1, -1)
    whole = values.expand_as(level).clone()
    missing = 1 - observed
    order = level[0].sum(0).argsort()
    for some in torch.chunk(order, MOST_STEPS):
        told = direct.told(some.tolist())
        drawn = told.heads.quantile(told(direct.hidden(entered)), level[..., some])
        whole[..., some] = torch.where(missing[:, some] > 0, drawn, whole[..., some])
        terms = settled.term(drawn, some) * missing[:, some, None]  # [draws, rows, n, width]
        entered = entered + settled.added(terms.sum(-2))
    return whole

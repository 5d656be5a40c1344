"""Selection of variables: which ones predictions of a target ignore, in a small table.

With fifty rows, even an answer that has nothing to do with the target moves its prediction, so that every
further answer adds error. The folds of a cross-validation tell which variables do: their networks predict
the target of held-out rows from random subsets of the answers, once with the variable and once without
it. A variable whose answers do not make these predictions better is ignored.

The network itself is not changed: other variables are still predicted from all of them.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from eddi.model.training.level_regressions import HeldOutRows
from eddi.model.training.validation import entry_scores

MAX_SELECTION_ROWS = 150  # complete rows; with 200 and more, ignoring variables made no difference
MIN_GAIN = 0.5  # of a used variable, in standard errors; chosen on tables of 50 and 100 rows
MIN_ROWS = 10  # with a value; with fewer, a variable is not judged


@torch.no_grad()
def find_ignored_variables(
    held_out: Sequence[HeldOutRows], target: int, candidates: Sequence[int]
) -> list[int]:
    """The candidates that predictions of the target should ignore; never all of them.

    Variables are judged one by one. Together they are ignored only if that makes predictions better: of
    several copies of a variable, each one is dispensable, but not all.

    Args:
        held_out: of each fold.
        target: position of the target.
        candidates: positions of the variables that may be ignored; at least one.
    """
    gains = torch.cat([_gains(rows, target, candidates) for rows in held_out])  # [rows, candidates]
    n_rows = (~gains.isnan()).sum(0)
    mean = gains.nanmean(0)
    variance = (gains - mean).square().nansum(0) / (n_rows - 1).clamp(min=1)
    score = mean / (variance / n_rows.clamp(min=1)).sqrt().clamp(min=1e-12)  # in standard errors
    is_ignored = (n_rows >= MIN_ROWS) & (score < MIN_GAIN)
    if bool(is_ignored.all()):
        is_ignored[score.argmax()] = False
    ignored = [place for place, flag in zip(candidates, is_ignored.tolist(), strict=True) if flag]
    is_better = _mean_score(held_out, target, ignored) > _mean_score(held_out, target, [])
    return ignored if is_better else []


def _mean_score(held_out: Sequence[HeldOutRows], target: int, ignored: Sequence[int]) -> float:
    """The mean score of predictions of the target of held-out rows, without some variables."""
    scores = []
    for rows in held_out:
        observed = rows.batch.observed.clone()
        observed[:, list(ignored)] = 0
        score = entry_scores(rows.network, replace(rows.batch, observed=observed))[:, target]
        scores.append(score[rows.batch.weights[:, target] > 0])
    return float(torch.cat(scores).mean())


def _gains(rows: HeldOutRows, target: int, candidates: Sequence[int]) -> Tensor:
    """How much better the target of each row is predicted with each candidate [rows, candidates].

    NaN where the row has no value of the target or of the candidate.
    """
    network, batch = rows.network, rows.batch
    is_known = batch.weights > 0
    before = entry_scores(network, batch)[:, target]
    gains = []
    for variable in candidates:
        observed = batch.observed.clone()
        observed[:, variable] = (is_known[:, variable] & (observed[:, variable] == 0)).float()  # flipped
        change = entry_scores(network, replace(batch, observed=observed))[:, target] - before
        gain = torch.where(batch.observed[:, variable] > 0, -change, change)
        gains.append(torch.where(is_known[:, variable] & is_known[:, target], gain, torch.nan))
    return torch.stack(gains, dim=1).view(-1, rows.n_rows, len(candidates)).mean(0)

"""The default reward: mutual information of an answer and the target.

R(i, x_O) = sum over answers a of p(x_i = a | x_O) KL[p(x_phi | x_i = a, x_O) || m(x_phi)]
m(x_phi)  = sum over answers a of p(x_i = a | x_O) p(x_phi | x_i = a, x_O)

(Lindley 1956), with the marginal predictions of the model. It is never negative. It has no Monte Carlo
error, because answers are enumerated, except those of questions that reveal several variables at once,
which are drawn.

In a joint distribution, the mixture m is the present prediction p(x_phi | x_O), by the law of total
probability. Learned marginal predictions fulfil this only approximately. The divergence from the present
prediction would count the difference as information:

R(i, x_O) = sum over a of p(x_i = a | x_O) KL[p(x_phi | x_i = a, x_O) || p(x_phi | x_O)]
            - KL[m(x_phi) || p(x_phi | x_O)]

which is how it is computed. The mixture of predictions of a real variable is taken to be normal, with the
same moments. That of a count is taken to be the present prediction, and so is that of answers that are
drawn: the mean of few draws also differs from it by chance.

If the target has up to four levels and the model has factors, the reward of most questions is the mean of
this estimate and the one from predictions of the answer given the target (`reverse_information`). The two
estimates have different errors.
"""

import weakref
from collections.abc import Sequence

import torch
from torch import Tensor

from eddi.model.base import NetworkModel
from eddi.model.inference.frozen import Encoding
from eddi.model.inference.traced import TracedFunction
from eddi.reward.candidates import RevealedVariables
from eddi.reward.fused.captured_rewards import CapturedRewards
from eddi.reward.reverse_information import average_with_reverse
from eddi.reward.reward_context import BATCH_ANSWERS, EnumerationSettings, RewardContext
from eddi.table.evidence import Evidence

# Of a target. With the ten levels of digits, the mean of both estimates has 13 and 19% more error on rows
# held out within the training rows (two splits).
MAX_REVERSE_LEVELS = 4
MAX_MIXTURE_CELLS = 2**25  # rows, questions and levels of mixtures at once: 130 MB


def mutual_information(
    model: NetworkModel, evidence: Evidence, target: Sequence[str], *, n_draws: int, seed: int
) -> Tensor:
    """Expected information of each question's answer about the target, in nats [rows, questions].

    The model must have marginal predictions. The reward is 0 for a question that would reveal nothing
    new, and for one that reveals a target. The information about several targets is added up.
    """
    positions = model.schema.positions(dict.fromkeys(target))
    settings = EnumerationSettings(n_draws=n_draws, seed=seed)
    is_first = len(evidence) == 1 and not evidence.observed.any()
    total: Tensor | None = None
    groups = _group_targets(model, positions)
    for group in groups:
        if is_first:
            rewards = first_rewards(model, group, settings).clone()
        else:
            rewards = _rewards(model, evidence, group, settings)
        total = rewards if total is None else total + rewards
    if total is None:
        return torch.zeros((len(evidence), len(model.schema.questions)))
    if len(groups) > 1:  # the target of one group is a question to another
        is_target = torch.from_numpy(model.schema.reveals_mask[:, positions].any(axis=1))
        total[:, is_target.to(total.device)] = 0
    return total


def _group_targets(model: NetworkModel, target: Sequence[int]) -> list[list[int]]:
    """Targets in groups that ignore the same variables, and of which all or none have a reverse estimate."""
    groups = []
    for group in model.group_by_ignored(target):
        by_support: dict[bool, list[int]] = {False: [], True: []}
        for place in group:
            by_support[_supports_reverse(model, [place])].append(place)
        groups += [part for part in by_support.values() if part]
    return groups


def _supports_reverse(model: NetworkModel, target: Sequence[int]) -> bool:
    """Whether there is a reverse estimate of the information about all of these targets."""
    variables = [model.schema.variables[place] for place in target]
    if not all(v.kind.has_levels and v.n_levels <= MAX_REVERSE_LEVELS for v in variables):
        return False
    return model.frozen.factors is not None


def first_rewards(model: NetworkModel, target: Sequence[int], settings: EnumerationSettings) -> Tensor:
    """The rewards before the first answer [1, questions], the same for everybody: cached."""
    return model.cache.get(
        ("first_rewards", tuple(target), settings),
        lambda: _rewards(model, empty_row(model), list(target), settings),
    )


def empty_row(model: NetworkModel) -> Evidence:
    """One row without any observed value."""
    return Evidence.empty(1, len(model.schema.variables))


def _rewards(
    model: NetworkModel, evidence: Evidence, target: list[int], settings: EnumerationSettings
) -> Tensor:
    evidence = model.relevant_evidence(evidence, target)
    n_levels = sum(max(1, model.schema.variables[place].n_levels) for place in target)
    n_rows = max(1, MAX_MIXTURE_CELLS // (n_levels * max(1, len(model.schema.questions))))
    if len(evidence) > n_rows:
        parts = (evidence[start : start + n_rows] for start in range(0, len(evidence), n_rows))
        return torch.cat([_rewards(model, part, target, settings) for part in parts])
    with torch.inference_mode():
        if len(evidence) == 1 and (own := _row_rewards(model, evidence, target, settings)) is not None:
            return own
        captured = _find_captured(model, target, settings)
        rewards = captured(model, evidence) if captured is not None and len(evidence) else None
        has_reverse = _supports_reverse(model, target)
        if rewards is not None and not has_reverse:
            return rewards
        context = RewardContext.from_evidence(model, evidence, target)
        rewards = context.rewards(settings) if rewards is None else rewards
        if not has_reverse:
            return rewards
        return average_with_reverse(context, rewards, context.find_enumerated(), settings)


def _row_rewards(
    model: NetworkModel, evidence: Evidence, target: list[int], settings: EnumerationSettings
) -> Tensor | None:
    """The rewards of a single row by a traced function; None if that is not possible."""
    traced = model.cache.get(
        ("row_rewards", tuple(target), settings.n_points),
        lambda: _trace_rewards(model, target, settings),
    )
    if traced is None or any(evidence.observed[0, place] for place in target):
        return None
    is_open = ~evidence.observed[:, RevealedVariables.from_model(model, target).variable]
    if not is_open.any():
        return torch.zeros((1, len(model.schema.questions)))
    rewards, *encoding = traced(torch.from_numpy(is_open), *model.inputs(evidence))
    model.frozen.encodings.remember(evidence, Encoding.from_tensors(encoding))  # for predictions
    return rewards


def _trace_rewards(
    model: NetworkModel, target: list[int], settings: EnumerationSettings
) -> TracedFunction | None:
    """A traced function of the open pairs and the inputs of a row whose target is not observed.

    It returns the rewards, and the encoding on the way to them. None on a GPU, and if answers are drawn or
    take more than one batch.
    """
    revealed, predictor = RevealedVariables.from_model(model, target), model.marginal_predictor
    if predictor is None or predictor.frozen.device.type != "cpu" or not revealed.is_single:
        return None
    support = predictor.answer_support(settings.n_points)
    if support.count[revealed.variable].sum() > BATCH_ANSWERS:
        return None
    own_model = weakref.proxy(model)  # its cache keeps the function, which must not keep the model
    has_reverse = _supports_reverse(model, target)

    def compute(is_open: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
        encoding = own_model.frozen.encode(own_model.frozen.code(*inputs))
        context = RewardContext.unobserved(own_model, encoding, target)
        rewards = context.enumerated_rewards(is_open, settings)
        if has_reverse:
            rewards = average_with_reverse(context, rewards, is_open, settings)
        return (rewards, *encoding.tensors())

    return TracedFunction(compute)


def _find_captured(
    model: NetworkModel, target: list[int], settings: EnumerationSettings
) -> CapturedRewards | None:
    """The rewards as a captured graph, on a GPU that supports it."""
    predictor = model.marginal_predictor
    if predictor is None or predictor.frozen.device.type == "cpu":
        return None
    return model.cache.get(
        ("captured_rewards", tuple(target), settings.n_points),
        lambda: CapturedRewards.from_model(model, target, n_points=settings.n_points),
    )

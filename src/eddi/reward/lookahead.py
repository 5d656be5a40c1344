"""Lookahead: how much an answer is expected to improve the best question after it.

G(i, x_O) = sum over answers a of p(x_i = a | x_O) max over j of R(j, x_O and x_i = a)
            - max over j other than i of R(j, x_O)

where R is the reward from predictions of the target after each answer (`RewardContext.rewards`). It is not
averaged with the reverse estimate, which would need further passes for every first answer.

R(i) + G(i) + max over j other than i of R(j) is the value of two questions, the second chosen in the light
of the first answer (Heckerman, Horvitz and Middleton 1993). A question that carries no information about the
target by itself, but determines what to ask next, has all of its value in G. If answers are independent, G
is 0; if one repeats the other, it is negative.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi.model.base import NetworkModel
from eddi.model.network.atoms import N_ATOMS
from eddi.reward.candidate_answers import CandidateAnswers
from eddi.reward.mutual_information import empty_row, mutual_information
from eddi.reward.reward_context import EnumerationSettings, RewardContext
from eddi.table.evidence import Evidence

COARSE = EnumerationSettings(n_points=2, n_draws=8)  # a low and a high answer: enough to find candidates
BATCH_FIRST_ANSWERS = 512  # first answers per pass: each becomes a row with all its second questions


@dataclass(frozen=True)
class TwoStepLookahead:
    """Looks one question further after the most promising questions.

    Args:
        n_candidates: number of questions per row whose gain is computed: half of them those with the
            highest reward, half those with the most information about all other variables. The gain of
            the other questions is taken to be 0.
        min_gain: share of the information of the greedy question and the best one after it that is
            subtracted from every gain. The best of many questions is in part the most overestimated one.
        settings: how coarsely answers are enumerated to find candidates with a gain. Their gain is then
            computed again with all answers: the mean of several answers need not be a possible answer.
        n_first_draws: number of draws of a first answer that reveals several variables at once.
    """

    n_candidates: int = 12
    min_gain: float = 0.5
    settings: EnumerationSettings = COARSE
    n_first_draws: int = COARSE.n_draws

    def gain(self, model: NetworkModel, evidence: Evidence, target: Sequence[str]) -> Tensor:
        """Expected improvement of the best next question, in nats [rows, questions].

        The share `min_gain` is subtracted, and the result is never below 0. The model must have marginal
        predictions.
        """
        positions = model.schema.positions(dict.fromkeys(target))
        evidence = model.relevant_evidence(evidence, positions)
        with torch.inference_mode():
            gain = self._gain_in_batches(model, evidence, positions, self.settings)
            has_gain = gain > 0
            rows = has_gain.any(1).nonzero()[:, 0]
            if len(rows) and self.settings.n_points < N_ATOMS:
                all_answers = replace(self.settings, n_points=N_ATOMS)
                subset = evidence[rows.cpu().numpy()]
                gain[rows] = self._gain_in_batches(
                    model, subset, positions, all_answers, candidates=has_gain[rows]
                )
        return gain

    def _gain_in_batches(
        self,
        model: NetworkModel,
        evidence: Evidence,
        target: list[int],
        settings: EnumerationSettings,
        *,
        candidates: Tensor | None = None,
    ) -> Tensor:
        """The gain of ``candidates`` [rows, questions], or of those chosen here if None."""
        n_rows = max(1, BATCH_FIRST_ANSWERS // (self.n_candidates * settings.n_points))
        parts = []
        for start in range(0, max(len(evidence), 1), n_rows):
            batch = slice(start, start + n_rows)
            context = RewardContext.from_evidence(model, evidence[batch], target)
            chosen = None if candidates is None else candidates[batch]
            parts.append(self._gain(context, settings, chosen))
        return torch.cat(parts)

    def _gain(
        self, context: RewardContext, settings: EnumerationSettings, candidates: Tensor | None
    ) -> Tensor:
        askable = _unconditional_questions(context.model).to(context.first_layer.device)
        rewards = context.rewards(settings) * askable  # [rows, questions]
        best_other = _best_other_reward(rewards)
        greedy = rewards.argmax(1, keepdim=True)
        if candidates is None:
            candidates = self._choose_candidates(context, rewards, settings)
        evaluated = candidates.scatter(1, greedy, True)
        best_after = best_other.masked_fill(evaluated, 0.0)
        for answers in context.candidate_answers(replace(settings, n_draws=self.n_first_draws)):
            subset = answers.where(evaluated[answers.rows, answers.questions])
            if len(subset.rows):
                observed = _observed_after(context, subset)
                rewards_after = context.after(subset, observed).rewards(settings) * askable
                subset.add_expectation(rewards_after.amax(1), best_after)
        greedy_value = (rewards + best_after).gather(1, greedy)  # nats of two greedy questions
        gain = (best_after - best_other - self.min_gain * greedy_value).clamp_min(0)
        return gain * candidates

    def _choose_candidates(
        self, context: RewardContext, rewards: Tensor, settings: EnumerationSettings
    ) -> Tensor:
        """The questions of each row whose gain is computed [rows, questions]."""
        n = self.n_candidates
        if n >= rewards.shape[1]:
            return torch.ones_like(rewards, dtype=torch.bool)
        chosen = torch.zeros_like(rewards, dtype=torch.bool)
        influence = information_about_others(context, settings)
        for scores, n_best in ((rewards, n - n // 2), (influence, n // 2)):
            # Questions that are already chosen do not count again, so that there are always n.
            best = scores.masked_fill(chosen, -torch.inf).topk(n_best, dim=1).indices
            chosen.scatter_(1, best, True)
        return chosen


FIRST_QUESTION = TwoStepLookahead(min_gain=0.3, n_first_draws=64)
"""For the first question, which is the same for everybody. It is computed once, so it may take more draws,
and it is one chance of an error instead of one at every question. docs/results/lookahead.md has the gains
behind this share."""


def first_question_gain(model: NetworkModel, target: Sequence[str]) -> Tensor:
    """The lookahead gain of every question before the first answer [questions]: cached."""
    return model.cache.get(
        ("first_question_gain", tuple(target)),
        lambda: FIRST_QUESTION.gain(model, empty_row(model), target)[0],
    )


MAX_LATER_QUESTIONS = (
    20  # besides the target; with more, looking ahead at later questions takes too long
)
ALMOST_NO_REWARD = 0.1  # as a share of the highest reward, or of the question's own gain
OVERLOOKED = replace(FIRST_QUESTION, min_gain=0.2)
"""For questions that a greedy choice would overlook. Less is subtracted than for asking them first, since a
wrong decision only makes later questions slower."""


def overlooks_question(model: NetworkModel, target: Sequence[str]) -> bool:
    """Whether some question has a lookahead gain before the first answer, but almost no reward: cached.

    A greedy choice would ask such a question late. False if there are more than MAX_LATER_QUESTIONS.
    """

    def find() -> bool:
        reveals_target = model.schema.reveals_mask[:, model.schema.positions(target)].any(1)
        if np.sum(~reveals_target) > MAX_LATER_QUESTIONS:
            return False
        nothing = empty_row(model)
        gain = OVERLOOKED.gain(model, nothing, target)[0]
        if not gain.any():
            return False
        rewards = mutual_information(model, nothing, target, n_draws=EnumerationSettings.n_draws, seed=0)
        askable = _unconditional_questions(model).to(gain.device)
        enough = ALMOST_NO_REWARD * torch.maximum(gain, (rewards[0] * askable).max())
        return bool(((gain * askable > 0) & (rewards[0] < enough)).any())

    return model.cache.get(("overlooks_question", tuple(target)), find)


def interview_gain(model: NetworkModel, evidence: Evidence, target: Sequence[str]) -> Tensor:
    """The lookahead gain of every question at any point of an interview [rows, questions].

    It takes several times as long as the reward. So later questions have one only if a greedy choice would
    overlook a question, and if there are at most MAX_LATER_QUESTIONS.
    """
    gain = first_question_gain(model, target).repeat(len(evidence), 1)
    later = np.flatnonzero(evidence.observed.any(1))
    if not len(later):
        return gain
    if overlooks_question(model, target):
        gain[later] = TwoStepLookahead().gain(model, evidence[later], target)
    else:
        gain[later] = 0.0
    return gain


def information_about_others(context: RewardContext, settings: EnumerationSettings) -> Tensor:
    """Expected divergence of the predictions of all unobserved variables but the target, summed.

    It only selects candidates. Unlike the reward, it does not subtract the divergence of the mixture.
    """
    total = context.first_layer.new_zeros(
        (len(context.first_layer), len(context.model.schema.questions))
    )
    others = [place for place in range(context.observed.shape[1]) if place not in context.target]
    if not others:
        return total
    head = context.predictor.target_head(others)
    columns = np.array(others)[head.order.cpu().numpy()]
    before = head(context.features)
    for answers in context.candidate_answers(settings):
        after = head(context.features_after(answers))
        nats = head.kl_by_variable(after, answers.gather_rows(before))  # [answers, others]
        unobserved = torch.from_numpy(~_observed_after(context, answers)[:, columns])
        answers.add_expectation((nats * unobserved.to(nats.device)).sum(-1), total)
    return total


def _best_other_reward(rewards: Tensor) -> Tensor:
    """The largest reward of the row's other questions [rows, questions]."""
    top = torch.cat([rewards, torch.zeros_like(rewards[:, :1])], dim=1).topk(2, dim=1)
    best = top.values[:, :1].repeat(1, rewards.shape[1] + 1)
    return best.scatter(1, top.indices[:, :1], top.values[:, 1:])[:, :-1]


def _observed_after(context: RewardContext, answers: CandidateAnswers) -> NDArray[np.bool_]:
    """The observed variables after each answer [answers, variables]."""
    rows, questions = answers.rows.cpu().numpy(), answers.questions.cpu().numpy()
    return np.asarray(context.observed[rows] | context.model.schema.reveals_mask[questions])


def _unconditional_questions(model: NetworkModel) -> Tensor:
    """1 for each question that may be asked of anybody [questions], else 0."""
    questions = model.schema.questions
    return torch.tensor([0.0 if q.never or q.requires else 1.0 for q in questions])

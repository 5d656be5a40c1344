"""Why this question: what it would tell, in words and figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from eddi.model.partial_vae import PartialVAE
from eddi.model.prediction import Prediction
from eddi.table.evidence import Evidence
from eddi.table.question import Question

N_ANSWERS = 64  # imagined answers behind the expected change of the prediction


@dataclass(frozen=True)
class Explanation:
    """What the next question is expected to do, and what would be asked instead.

    Args:
        question: the next question.
        nats: what its answer is expected to tell about the target.
        now: spread of the belief now: width of the 90% interval, or, for levels, the chance of being
            wrong with the most likely one.
        after: the same, expected after the answer.
        runner_up: the next best question, and what it is worth.
        opens: by how many nats its answer is expected to better the question after it, less a doubt,
            where that counts: at the first question.
    """

    question: Question
    target: str
    nats: float
    now: float
    after: float
    of_levels: bool
    runner_up: tuple[str, float] | None
    opens: float = 0.0

    def __str__(self) -> str:
        spread = (
            f"the chance that our best guess of {self.target} is wrong from {self.now:.0%} to "
            f"{self.after:.0%}"
            if self.of_levels
            else f"the 90% interval of {self.target} from {self.now:.4g} to {self.after:.4g} wide"
        )
        words = (
            f"{self.question.text!r} is expected to tell {_nats(self.nats)} about {self.target}, "
            f"and to change {spread}."
        )
        if self.opens > 0:
            words += f" It also says what to ask after it, which is worth {_nats(self.opens)} or more."
        if self.runner_up is None:
            return words + " Nothing else is left to ask."
        return words + f" Next best: {self.runner_up[0]!r} ({_nats(self.runner_up[1])})."


def explain(
    model: PartialVAE,
    evidence: Evidence,
    target: Sequence[str],
    question: Question,
    rivals: Sequence[str],
    *,
    rewards: Mapping[str, float],
) -> Explanation:
    """Explain ``question`` for one row, given its next best and what all open questions are worth.

    The spread is that of the first target.
    """
    first = target[0]
    now = model.predict_evidence(evidence, (first,))[first]
    after = model.predict_evidence(_imagined(model, evidence, question), (first,))[first]
    return Explanation(
        question,
        first,
        rewards[question.name],
        float(_spread(now).mean()),
        float(_spread(after).mean()),
        now.probabilities is not None,
        (rivals[0], rewards[rivals[0]]) if rivals else None,
    )


def _imagined(model: PartialVAE, evidence: Evidence, question: Question) -> Evidence:
    """The row once for each of many answers it might give."""
    posterior = model.posterior(model.code(evidence))
    drawn = model.draw(posterior, N_ANSWERS, seed=0)[:, 0].cpu().numpy()  # [answers, variables]
    revealed = np.zeros_like(drawn, dtype=bool)
    revealed[:, model.schema_.positions(question.reveals)] = True
    repeated = evidence[np.zeros(N_ANSWERS, dtype=int)]
    return Evidence(drawn, revealed & ~repeated.observed).reveal(repeated)


def _spread(belief: Prediction) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    if belief.probabilities is not None:
        return np.asarray(1 - belief.probabilities.max(-1))
    return np.asarray(np.diff(belief.interval, axis=-1)[..., 0])


def _nats(nats: float) -> str:
    return f"{round(nats, 2) + 0.0:.2f} nats"  # plus nought, for -0.00 puzzles people

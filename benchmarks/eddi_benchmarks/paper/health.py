"""What the two health applications share: three strategies on one model, and a frank word on who won."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eddi.model.partial_vae import PartialVAE
from eddi.strategy import FixedOrder, Random
from eddi.strategy.base import Strategy
from eddi_benchmarks.harness.experiment import Outcome, Settings
from eddi_benchmarks.paper import authors_code as published
from eddi_benchmarks.paper.comparison import (
    ENCODERS,
    STRATEGIES,
    Areas,
    Combination,
    Contest,
    mean_and_error,
    p_words,
)

CHAMPION = ("eddi", "pnp")


@dataclass(frozen=True)
class Contestants:
    """EDDI, RAND and SING for one model, and how long the one order took to learn."""

    strategies: Mapping[str, Strategy]
    seconds_to_learn: float

    @classmethod
    def of(
        cls, model: PartialVAE, test: Any, target: str | Sequence[str], settings: Settings
    ) -> "Contestants":
        information = published.information(settings)
        began = time.perf_counter()
        # The paper's single best order averages the reward over the test rows, and so does ours.
        order = FixedOrder.learn(model, test, target, strategy=information)
        seconds = time.perf_counter() - began
        rand = Random(int(settings["seed"]))
        return cls({"eddi": information, "rand": rand, "sing": order}, seconds)


def theirs(by_encoder: Mapping[str, tuple[float, float, float]]) -> dict[Combination, float]:
    """A table of the paper, whose lines are encoders, by strategy and encoder."""
    return {
        (strategy, encoder): by_encoder[encoder][place]
        for place, strategy in enumerate(("eddi", "rand", "sing"))
        for encoder in ENCODERS
    }


def verdict(outcomes: Sequence[Outcome], metric: str, paper: Mapping[Combination, float]) -> str:
    """Whether the paper's two orderings hold here: EDDI-PNP first, and EDDI before RAND throughout."""
    areas = Areas.of(outcomes, metric, list(paper))
    if not areas.cases:
        return "No repetition is finished for all four encoders yet, so nothing can be ranked."
    ranks = dict(zip(paper, mean_and_error(areas.ranks)[0].tolist(), strict=True))
    return f"{_first(ranks)} {_before_random(areas)}"


def _first(ranks: Mapping[Combination, float]) -> str:
    best = min(ranks, key=lambda one: ranks[one])
    if best == CHAMPION:
        return f"As in the paper, EDDI with PNP has the best average rank of the {len(ranks)}."
    place = 1 + sum(rank < ranks[CHAMPION] for rank in ranks.values())
    return (
        f"Unlike in the paper, the best average rank is that of {_called(best)} ({ranks[best]:.2f}); "
        f"EDDI with PNP is number {place} of {len(ranks)} ({ranks[CHAMPION]:.2f})."
    )


def _before_random(areas: Areas) -> str:
    contests = {e: Contest.of(areas, ("eddi", e), ("rand", e)) for e in ENCODERS}
    won = [ENCODERS[e] for e, contest in contests.items() if contest.won]
    other = [f"{ENCODERS[e]} (p {p_words(c.p_rows)})" for e, c in contests.items() if not c.won]
    words = f"EDDI is better than Random, with p < 0.05, for {', '.join(won) or 'no encoder'}"
    return f"{words}; not for {', '.join(other)}." if other else f"{words}: for every encoder."


def _called(one: Combination) -> str:
    return f"{STRATEGIES[one[0]]} with {ENCODERS[one[1]]}"


def fit_time(outcomes: Sequence[Outcome]) -> str:
    """How long a run took here, part by part."""
    parts = ("fit", "eddi", "rand", "sing")
    spent = [[each.figures["seconds"][part] for part in parts] for each in outcomes]
    fit, *strategies = np.mean(spent, axis=0) if spent else np.zeros(len(parts))
    words = ", ".join(f"{name} {each:.1f} s" for name, each in zip(parts[1:], strategies, strict=True))
    return f"{len(outcomes)} runs, on average {fit:.1f} s of training; all test rows by {words}."

"""What the two health experiments (ICU, NHANES) share: their strategies and their conclusions."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eddi import PartialVAE
from eddi.strategy import FixedOrder, Random
from eddi.strategy.base import Strategy
from eddi_benchmarks.harness.run_result import RunResult, Settings
from eddi_benchmarks.paper import authors_code
from eddi_benchmarks.paper.comparison import (
    COMPARED_STRATEGIES,
    ENCODERS,
    STRATEGIES,
    Combination,
    PairedTest,
    RowAreas,
)
from eddi_benchmarks.report.statistics import format_p

PAPERS_BEST = ("eddi", "pnp")


@dataclass(frozen=True)
class HealthStrategies:
    """EDDI, RAND and SING for one model, and the time to learn the single best order."""

    by_name: Mapping[str, Strategy]
    order_seconds: float

    @classmethod
    def learn(
        cls, model: PartialVAE, test: Any, target: str | Sequence[str], *, settings: Settings
    ) -> "HealthStrategies":
        information = authors_code.make_strategy(settings)
        start = time.perf_counter()
        # As in the paper, the single best order averages the reward over the test rows.
        order = FixedOrder.learn(model, test, target, strategy=information)
        seconds = time.perf_counter() - start
        random = Random(int(settings["seed"]))
        return cls({"eddi": information, "rand": random, "sing": order}, seconds)


def paper_table(by_encoder: Mapping[str, tuple[float, float, float]]) -> dict[Combination, float]:
    """A table of the paper with EDDI, Random and Single best by encoder, as a mapping."""
    return {
        (strategy, encoder): by_encoder[encoder][column]
        for column, strategy in enumerate(COMPARED_STRATEGIES)
        for encoder in ENCODERS
    }


def conclusion(results: Sequence[RunResult], metric: str, paper: Mapping[Combination, float]) -> str:
    """Whether two claims of the paper hold: EDDI-PNP ranks first, and EDDI is better than RAND."""
    areas = RowAreas.from_results(results, metric, list(paper))
    if not areas.by_split:
        return "No repetition is finished for all four encoders yet, so nothing can be ranked."
    rank = dict(zip(paper, areas.mean_ranks.mean(0).tolist(), strict=True))
    return f"{_describe_first(rank)} {_describe_random_comparison(areas)}"


def _describe_first(rank: Mapping[Combination, float]) -> str:
    best = min(rank, key=lambda combination: rank[combination])
    if best == PAPERS_BEST:
        return f"As in the paper, EDDI with PNP has the best average rank of {len(rank)} combinations."
    place = 1 + sum(other < rank[PAPERS_BEST] for other in rank.values())
    strategy, encoder = best
    return (
        f"Unlike in the paper, {STRATEGIES[strategy]} with {ENCODERS[encoder]} has the best average "
        f"rank ({rank[best]:.2f}); EDDI with PNP is number {place} of {len(rank)} "
        f"({rank[PAPERS_BEST]:.2f})."
    )


def _describe_random_comparison(areas: RowAreas) -> str:
    tests = {e: PairedTest.from_areas(areas, ("eddi", e), ("rand", e)) for e in ENCODERS}
    wins = [ENCODERS[e] for e, test in tests.items() if test.is_win]
    others = [f"{ENCODERS[e]} (p {format_p(t.p_rows)})" for e, t in tests.items() if not t.is_win]
    text = f"EDDI is better than Random, with p < 0.05, for {', '.join(wins) or 'no encoder'}"
    return f"{text}; not for {', '.join(others)}." if others else f"{text}: for every encoder."


def describe_seconds(results: Sequence[RunResult]) -> str:
    """The mean time of a run, by part."""
    parts = ("fit", *COMPARED_STRATEGIES)
    seconds = [[result.measurements["seconds"][part] for part in parts] for result in results]
    fit, *strategies = np.mean(seconds, axis=0) if seconds else np.zeros(len(parts))
    by_strategy = ", ".join(
        f"{mean:.1f} s with {name}" for name, mean in zip(parts[1:], strategies, strict=True)
    )
    return (
        f"{len(results)} runs; on average, training takes {fit:.1f} s, and interviewing all test rows "
        f"takes {by_strategy}."
    )

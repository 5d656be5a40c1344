"""Simulate interviews with respondents who arrive one after another, with a limit on exposure."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eddi.interview.next_step import InterviewStates
from eddi.interview.rules import InterviewRules, Mask
from eddi.interview.simulated import SimulatedInterviews
from eddi.strategy.exposure import Exposure, ExposureCounts
from eddi.strategy.names import reseed
from eddi.table.evidence import Evidence

BLOCK_ROWS = 10  # respondents between two updates of the counts


@dataclass(frozen=True)
class SimulatedPaths:
    """The interviews of all rows.

    Args:
        evidence: before each question, and after the last one [steps + 1].
        order: the question asked at each step [rows, steps]; -1 after the end of an interview.
        n_questions: number of questions of the schema.
    """

    evidence: tuple[Evidence, ...]
    order: NDArray[np.int64]
    n_questions: int

    def exposure(self, n_steps: int | None = None) -> NDArray[np.float64]:
        """The share of rows that were asked each question among the first ones [questions]."""
        asked = self.order[:, :n_steps]
        counts = np.bincount(asked[asked >= 0], minlength=self.n_questions)
        return np.asarray(counts / max(len(self.order), 1))


def simulate_paths(
    rules: InterviewRules,
    truth: Evidence,
    *,
    n_steps: int,
    exposure: Exposure | None = None,
    seed: int = 0,
) -> SimulatedPaths:
    """Interview the rows in blocks; with an exposure, counts of earlier blocks decide what is withheld.

    Args:
        rules: of the interviews.
        truth: rows that answer the questions.
        n_steps: number of questions.
        exposure: the limit; None for none.
        seed: of the random numbers that decide which questions are withheld.
    """
    n_questions = len(rules.model.schema.questions)
    if exposure is None:
        return _join([_run(rules, truth, n_steps)], n_questions)
    blocks = list(_run_blocks(rules, truth, n_steps, exposure, seed))
    return _join(blocks, n_questions)


def _run_blocks(
    rules: InterviewRules, truth: Evidence, n_steps: int, exposure: Exposure, seed: int
) -> Iterator[tuple[list[Evidence], NDArray[np.int64]]]:
    reveals = rules.model.schema.reveals_mask  # [questions, variables]
    sections = np.array([question.section for question in rules.model.schema.questions])
    counts, random = ExposureCounts.empty(len(reveals)), np.random.default_rng(seed)
    for number, start in enumerate(range(0, len(truth), BLOCK_ROWS)):
        block = truth[start : start + BLOCK_ROWS]
        uniform = random.random((len(block), 1 + 2 * len(reveals)))
        withheld = exposure.draw_withheld(counts, sections, uniform=uniform)
        own = replace(rules, strategy=reseed(rules.strategy, seed * 100_003 + number))
        evidence, order = _run(own, block, n_steps, withheld)
        yield evidence, order
        asked = (order[:, :, None] == np.arange(len(reveals))).any(1)
        counts = counts.plus(~withheld, asked)


def _run(
    rules: InterviewRules, truth: Evidence, n_steps: int, withheld: Mask | None = None
) -> tuple[list[Evidence], NDArray[np.int64]]:
    """Evidence at each step [steps + 1], and the questions asked [rows, steps]."""
    start = replace(InterviewStates.empty(rules, len(truth)), withheld=withheld)
    steps = list(SimulatedInterviews(rules, truth, start).run(n_steps))
    evidence = [step.evidence for step in steps]
    evidence += [evidence[-1]] * (n_steps + 1 - len(evidence))
    order = np.full((len(truth), n_steps), -1, dtype=np.int64)
    for place, step in enumerate(steps[:-1]):
        order[:, place] = step.chosen
    return evidence, order


def _join(blocks: list[tuple[list[Evidence], NDArray[np.int64]]], n_questions: int) -> SimulatedPaths:
    by_step = zip(*(evidence for evidence, _ in blocks), strict=True)
    evidence = tuple(
        Evidence(
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.observed for part in parts]),
        )
        for parts in by_step
    )
    return SimulatedPaths(evidence, np.concatenate([order for _, order in blocks]), n_questions)

"""Made-up tables in which it is known what can be known, and at best how soon.

A `World` is a finite set of equally likely hypotheses. Each gives every variable its own mean and
standard deviation, and the target its class; given the hypothesis, variables are independent. So the
exact belief after any answers is a sum over hypotheses, and with it the exact worth of a question.

CUBE is of Zannone et al. (2019), CUBE-NM, whose context is asked at once, of AFABench; Syn1-3 are of
Yoon et al. (INVASE, 2019) with the switch and the signs of Norcliffe et al. (SEFA, 2025).
"""

import itertools
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

TARGET = "y"
SHARP = 0.1  # sd of what tells something
BLURRED, MIDDLE = 0.3, 0.5  # sd and mean of what tells nothing
N_BITS, N_PLACES = 3, 10  # of CUBE: a class is three bits, written somewhere in ten places


@dataclass(frozen=True)
class World:
    """Hypotheses, what each makes of the variables, and which questions reveal several at once."""

    classes: NDArray[np.int64]  # [hypotheses]
    mean: Numbers  # [hypotheses, variables]
    sd: Numbers  # [hypotheses, variables]
    groups: dict[str, tuple[str, ...]]  # question: its variables, where those are several

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"x{place}" for place in range(self.mean.shape[1]))

    @property
    def n_classes(self) -> int:
        return int(self.classes.max()) + 1

    def rows(self, n_rows: int, random: np.random.Generator) -> pd.DataFrame:
        """A table drawn from this world, the target last."""
        picked = random.integers(len(self.classes), size=n_rows)
        noise = random.standard_normal((n_rows, self.mean.shape[1]))
        table = pd.DataFrame(self.mean[picked] + self.sd[picked] * noise, columns=list(self.names))
        return table.assign(**{TARGET: self.classes[picked]})


def cube() -> World:
    """Eight classes; the three bits of class y stand in the variables y, y + 1 and y + 2 of twenty."""
    mean, sd = _bits(np.arange(8))
    return World(np.arange(8), *_with_noise(mean, sd, 10), {})


def cube_nm(n_contexts: int = 5) -> World:
    """CUBE in one of several blocks; which one, only the context says, which says nothing else."""
    pairs = list(itertools.product(range(n_contexts), range(8)))  # 40 hypotheses
    context, classes = np.array(pairs).T
    n_first = n_contexts  # one variable for each context, all asked at once
    mean = np.full((len(pairs), n_first + n_contexts * N_PLACES), MIDDLE)
    sd = np.full_like(mean, BLURRED)
    mean[:, :n_first], sd[:, :n_first] = np.eye(n_contexts)[context], SHARP
    bits_mean, bits_sd = _bits(classes)
    for row, block in enumerate(context):
        where = slice(n_first + block * N_PLACES, n_first + (block + 1) * N_PLACES)
        mean[row, where], sd[row, where] = bits_mean[row], bits_sd[row]
    return World(classes, mean, sd, {"context": tuple(f"x{place}" for place in range(n_first))})


def xor() -> World:
    """Two fair bits of eight variables: whether they differ, which neither says alone."""
    bits = np.array(list(itertools.product((0.0, 1.0), repeat=2)))
    mean, sd = _with_noise(bits, np.full_like(bits, SHARP), 6)
    return World((bits[:, 0] != bits[:, 1]).astype(np.int64), mean, sd, {})


def context(n_contexts: int = 4) -> World:
    """Four bits, and the context that says which of them is the class; four more tell nothing."""
    bits = np.array(list(itertools.product((0, 1), repeat=n_contexts)))
    pairs = [(which, *each) for which in range(n_contexts) for each in bits]
    which, told = np.array(pairs)[:, 0], np.array(pairs)[:, 1:]
    classes = told[np.arange(len(pairs)), which]
    mean = np.concatenate([np.eye(n_contexts)[which], told], axis=1)
    group = {"context": tuple(f"x{place}" for place in range(n_contexts))}
    return World(classes, *_with_noise(mean, np.full_like(mean, SHARP), 4), group)


WORLDS = {"cube": cube, "cube_nm": cube_nm, "xor": xor, "context": context}
SYN = {"syn1": (0, 1), "syn2": (0, 2), "syn3": (1, 2)}
"""Which of the three functions decides below and above nought of the last variable."""


def syn_rows(name: str, n_rows: int, random: np.random.Generator) -> pd.DataFrame:
    """Syn1-3: eleven standard normal variables, of which the last says which others matter."""
    x = random.standard_normal((n_rows, 11))
    functions = (
        4 * x[:, 0] * x[:, 1],
        1.2 * np.square(x[:, 2:6]).sum(1) - 4.2,
        -10 * np.sin(0.2 * x[:, 6]) + np.abs(x[:, 7]) + x[:, 8] + np.exp(-x[:, 9]) - 2.4,
    )
    below, above = SYN[name]
    logit = np.where(x[:, 10] < 0, functions[below], functions[above])
    chance = 1 / (1 + np.exp(logit))
    table = pd.DataFrame(x, columns=[f"x{place}" for place in range(11)])
    return table.assign(**{TARGET: (random.random(n_rows) < chance).astype(np.int64)})


def _bits(classes: NDArray[np.int64]) -> tuple[Numbers, Numbers]:
    """Mean and sd of the ten places [rows, places]: bit j of class y, lowest first, at y + j."""
    mean = np.full((len(classes), N_PLACES), MIDDLE)
    sd = np.full_like(mean, BLURRED)
    rows = np.arange(len(classes))
    for bit in range(N_BITS):
        place = (classes + bit) % N_PLACES
        mean[rows, place], sd[rows, place] = (classes >> bit) & 1, SHARP
    return mean, sd


def _with_noise(mean: Numbers, sd: Numbers, n_more: int) -> tuple[Numbers, Numbers]:
    """Variables that tell nothing, after those there are."""
    more = ((0, 0), (0, n_more))
    return (
        np.pad(mean.astype(np.float64), more, constant_values=MIDDLE),
        np.pad(sd.astype(np.float64), more, constant_values=BLURRED),
    )

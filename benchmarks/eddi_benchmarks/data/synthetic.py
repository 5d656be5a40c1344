"""Artificial tables for which the best possible prediction is known.

A `GaussianMixture` has equally likely components. Each gives every variable a mean and a standard
deviation, and the target a class; within a component, variables are independent. So the exact posterior
after any answers is a sum over components, and with it the exact information of a question.
`GaussianClasses` are classes whose variables share a covariance matrix; the exact posterior is that of
linear discriminant analysis.

CUBE is from Zannone et al. (2019). CUBE-NM, whose context is one question, is from AFABench. Syn1-3 are
from Yoon et al. (INVASE, 2019) with the switch and the signs of Norcliffe et al. (SEFA, 2025).
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

TARGET = "y"
SIGNAL_SD = 0.1  # of informative variables
NOISE_MEAN, NOISE_SD = 0.5, 0.3  # of uninformative variables
N_COLLINEAR, N_FACTORS, N_COLLINEAR_CLASSES = 18, 3, 4
COLLINEAR_NOISE_SD = 0.15  # of the variables given the factors, and of the means of the classes
N_BITS, N_PLACES = 3, 10  # CUBE: a class has three bits, which are at one of ten places


@dataclass(frozen=True)
class GaussianMixture:
    """Equally likely components with a class each, and the questions that reveal several variables."""

    classes: NDArray[np.int64]  # [components]
    mean: Numbers  # [components, variables]
    sd: Numbers  # [components, variables]
    groups: dict[str, tuple[str, ...]]  # variables by question, for questions that reveal several

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"x{i}" for i in range(self.mean.shape[1]))

    @property
    def n_classes(self) -> int:
        return int(self.classes.max()) + 1

    def draw_rows(self, n_rows: int, random: np.random.Generator) -> pd.DataFrame:
        """A random table, the target last."""
        component = random.integers(len(self.classes), size=n_rows)
        noise = random.standard_normal((n_rows, self.mean.shape[1]))
        values = self.mean[component] + self.sd[component] * noise
        return pd.DataFrame(values, columns=list(self.names)).assign(**{TARGET: self.classes[component]})


@dataclass(frozen=True)
class GaussianClasses:
    """Equally likely classes with means of their own and a common covariance matrix."""

    mean: Numbers  # [classes, variables]
    covariance: Numbers  # [variables, variables]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"x{i}" for i in range(self.mean.shape[1]))

    @property
    def n_classes(self) -> int:
        return len(self.mean)

    def draw_rows(self, n_rows: int, random: np.random.Generator) -> pd.DataFrame:
        """A random table, the target last."""
        classes = random.integers(self.n_classes, size=n_rows)
        noise = random.multivariate_normal(np.zeros(len(self.covariance)), self.covariance, size=n_rows)
        values = self.mean[classes] + noise
        return pd.DataFrame(values, columns=list(self.names)).assign(**{TARGET: classes})


def collinear_gaussian(random: np.random.Generator) -> GaussianClasses:
    """Classes that differ where the variance is small.

    Three factors move each of 18 variables by about 1.7. The four classes differ by 0.15, which is also
    the standard deviation of the noise, so no variable is informative by itself.
    """
    loadings = random.standard_normal((N_COLLINEAR, N_FACTORS))
    covariance = loadings @ loadings.T + COLLINEAR_NOISE_SD**2 * np.eye(N_COLLINEAR)
    mean = COLLINEAR_NOISE_SD * random.standard_normal((N_COLLINEAR_CLASSES, N_COLLINEAR))
    return GaussianClasses(mean, covariance)


def cube(signal_sd: float = SIGNAL_SD) -> GaussianMixture:
    """Eight classes in twenty variables; the three bits of class y are variables y, y + 1 and y + 2.

    AFABench's configuration of 2026 has a ``signal_sd`` of 0.3, as large as that of the noise.
    """
    mean, sd = _cube_bits(np.arange(8), signal_sd)
    return GaussianMixture(np.arange(8), *_add_noise_variables(mean, sd, 10), {})


def cube_nm(n_contexts: int = 5, signal_sd: float = SIGNAL_SD) -> GaussianMixture:
    """CUBE in one of several blocks. The context says which block, and nothing about the class."""
    pairs = list(itertools.product(range(n_contexts), range(8)))  # 40 components
    context, classes = np.array(pairs).T
    mean = np.full((len(pairs), n_contexts + n_contexts * N_PLACES), NOISE_MEAN)
    sd = np.full_like(mean, NOISE_SD)
    mean[:, :n_contexts], sd[:, :n_contexts] = np.eye(n_contexts)[context], SIGNAL_SD
    bits_mean, bits_sd = _cube_bits(classes, signal_sd)
    for row, block in enumerate(context):
        places = slice(n_contexts + block * N_PLACES, n_contexts + (block + 1) * N_PLACES)
        mean[row, places], sd[row, places] = bits_mean[row], bits_sd[row]
    return GaussianMixture(classes, mean, sd, _context_question(n_contexts))


def xor() -> GaussianMixture:
    """The class is whether two fair bits differ; neither bit is informative by itself."""
    bits = np.array(list(itertools.product((0.0, 1.0), repeat=2)))
    mean, sd = _add_noise_variables(bits, np.full_like(bits, SIGNAL_SD), 6)
    return GaussianMixture((bits[:, 0] != bits[:, 1]).astype(np.int64), mean, sd, {})


def context(n_contexts: int = 4) -> GaussianMixture:
    """Four bits, and a context that says which of them is the class; four more variables are noise."""
    bit_patterns = np.array(list(itertools.product((0, 1), repeat=n_contexts)))
    pairs = np.array([(which, *bits) for which in range(n_contexts) for bits in bit_patterns])
    which, bits = pairs[:, 0], pairs[:, 1:]
    classes = bits[np.arange(len(pairs)), which]
    mean = np.concatenate([np.eye(n_contexts)[which], bits], axis=1)
    mean, sd = _add_noise_variables(mean, np.full_like(mean, SIGNAL_SD), 4)
    return GaussianMixture(classes, mean, sd, _context_question(n_contexts))


MIXTURES: dict[str, Callable[[], GaussianMixture]] = {
    "cube": cube,
    "cube_nm": cube_nm,
    "xor": xor,
    "context": context,
}
SYN = {"syn1": (0, 1), "syn2": (0, 2), "syn3": (1, 2)}
"""Which of the three functions applies if the last variable is negative, and if it is not."""


def draw_syn_rows(name: str, n_rows: int, random: np.random.Generator) -> pd.DataFrame:
    """Syn1-3: eleven standard normal variables; the last one determines which others matter."""
    x = random.standard_normal((n_rows, 11))
    functions = (
        4 * x[:, 0] * x[:, 1],
        1.2 * np.square(x[:, 2:6]).sum(1) - 4.2,
        -10 * np.sin(0.2 * x[:, 6]) + np.abs(x[:, 7]) + x[:, 8] + np.exp(-x[:, 9]) - 2.4,
    )
    if_negative, otherwise = SYN[name]
    logit = np.where(x[:, 10] < 0, functions[if_negative], functions[otherwise])
    probability = 1 / (1 + np.exp(logit))
    table = pd.DataFrame(x, columns=[f"x{i}" for i in range(11)])
    return table.assign(**{TARGET: (random.random(n_rows) < probability).astype(np.int64)})


def _context_question(n_contexts: int) -> dict[str, tuple[str, ...]]:
    """One question reveals the indicator variables of all contexts, which come first."""
    return {"context": tuple(f"x{i}" for i in range(n_contexts))}


def _cube_bits(classes: NDArray[np.int64], signal_sd: float) -> tuple[Numbers, Numbers]:
    """Mean and sd of the ten places [rows, places]: bit j of class y, lowest first, is at y + j."""
    mean = np.full((len(classes), N_PLACES), NOISE_MEAN)
    sd = np.full_like(mean, NOISE_SD)
    rows = np.arange(len(classes))
    for bit in range(N_BITS):
        place = (classes + bit) % N_PLACES
        mean[rows, place], sd[rows, place] = (classes >> bit) & 1, signal_sd
    return mean, sd


def _add_noise_variables(mean: Numbers, sd: Numbers, n_variables: int) -> tuple[Numbers, Numbers]:
    """Append uninformative variables."""
    padding = ((0, 0), (0, n_variables))
    return (
        np.pad(mean.astype(np.float64), padding, constant_values=NOISE_MEAN),
        np.pad(sd.astype(np.float64), padding, constant_values=NOISE_SD),
    )

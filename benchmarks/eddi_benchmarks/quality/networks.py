"""Does the reward rank questions as the exact information does? Small published Bayesian networks tell.

Rows are drawn from a network, a model learns from them, and then, in many states of evidence, its
rewards of the open questions stand beside their exact conditional mutual information with the target.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

import eddi
from eddi.model.partial_vae import PartialVAE
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind
from eddi_benchmarks.data.exact_network import (
    ExactNetwork,
    NetworkError,
    Numbers,
    divergence,
    mutual_information,
    published,
)
from eddi_benchmarks.harness.experiment import Experiment, Figures, Settings
from eddi_benchmarks.quality import networks_report as networks_page

TARGETS = {  # what one would want to know in each
    "asia": "lung",  # lung cancer, behind an X-ray and breathlessness
    "cancer": "Cancer",
    "earthquake": "Burglary",  # behind an alarm and the calls of two neighbours
    "survey": "T",  # the means of travel
    "sachs": "Akt",  # a protein far down the signalling cascade
}
TOLD_APART = 1e-6  # nats: questions that differ by less are equally good
LEAST_CHANCE = 1e-6  # of a level in the model's belief, so that no divergence is infinite
MAX_TRIES = 50  # rows drawn for each state of evidence wanted
LEAST_OPEN = 2  # questions, for otherwise there is no choice


@dataclass(frozen=True)
class State:
    """What is known of one row, and the exact worth of what may still be asked."""

    row: Numbers  # [variables] places of levels, NaN where nothing is known
    opened: NDArray[np.intp]  # variables that may be asked [open]
    information: Numbers  # nats each tells about the target [open]
    posterior: Numbers  # of the target [levels]


def play(settings: Settings, folder: Path) -> Figures:  # noqa: ARG001  # it keeps no files
    """Learn from rows of one published network, and compare with its exact information."""
    name = str(settings["network"])
    return play_network(published(name), TARGETS[name], settings)


def play_network(network: ExactNetwork, target: str, settings: Settings) -> Figures:
    """The same for any network and target."""
    seed = int(settings["seed"])
    began = time.perf_counter()
    model = fit(
        network, network.rows(int(settings["n_rows"]), np.random.default_rng([seed, 0])), settings
    )
    fitted = time.perf_counter()
    place = network.names.index(target)
    states = draw_states(network, place, int(settings["n_states"]), np.random.default_rng([seed, 1]))
    evidence = model.coding_.encode(np.stack([state.row for state in states]))
    beliefs = model.predict_evidence(evidence, [target])[target].probabilities
    rewards = score(model, evidence, target, settings)
    told = {"reward": _opened(rewards, states)}
    if (own := own_information(model, evidence, place, settings)) is not None:
        told["own"] = _opened(own, states)
    exact = [state.information for state in states]
    figures = {
        "target": target,
        "n_variables": len(network.names),
        "n_states": len(states),
        "best_nats": np.mean([nats.max() for nats in exact]),
        "choices": {name: choices(exact, nats) for name, nats in told.items()},
        "kl": calibration(network, place, states, np.asarray(beliefs)),
        "exact": exact,
        "rewards": told["reward"],
        "seconds": {"fit": fitted - began, "all": time.perf_counter() - began},
    }
    figures["choices"]["random"] = random_choices(exact)
    return {name: _plain(value) for name, value in figures.items()}


def fit(network: ExactNetwork, rows: NDArray[np.int64], settings: Settings) -> PartialVAE:
    """A model of rows of the network, each variable with exactly its levels."""
    variables, columns = [], {}
    for (name, levels), column in zip(network.levels.items(), rows.T, strict=True):
        kind = Kind.BINARY if len(levels) == 2 else Kind.CATEGORY
        variables.append(eddi.Variable(name, kind, levels=levels))
        columns[name] = np.array(levels, dtype=object)[column]
    return PartialVAE(
        eddi.Schema(tuple(variables)),
        recipe=settings["recipe"],
        set_encoder="pnp",
        random_state=int(settings["seed"]),
        max_steps=int(settings["max_steps"]),
    ).fit(pd.DataFrame(columns))


def draw_states(
    network: ExactNetwork, target: int, n_states: int, random: np.random.Generator
) -> list[State]:
    """States of evidence in which some question tells more than another.

    Each is a row of the network of which a few variables are known: how many is uniform, from none to
    all but two of those that are not the target.
    """
    found: list[State] = []
    for state in _states(network, target, MAX_TRIES * n_states, random):
        if np.ptp(state.information) > TOLD_APART:
            found.append(state)
        if len(found) == n_states:
            return found
    raise NetworkError(
        f"only {len(found)} of {n_states} states of evidence have a question that tells more about "
        f"{network.names[target]!r} than another. Choose another target."
    )


def _states(
    network: ExactNetwork, target: int, n_states: int, random: np.random.Generator
) -> Iterator[State]:
    askable = np.delete(np.arange(len(network.names)), target)
    for row in network.rows(n_states, random):
        n_known = random.integers(0, len(askable) - LEAST_OPEN, endpoint=True)
        known = random.permutation(askable)[:n_known]
        told = {int(variable): int(row[variable]) for variable in known}
        opened = np.setdiff1d(askable, known)
        seen = np.full(len(row), np.nan)
        seen[known] = row[known]
        nats = network.information(target, told)[opened]
        yield State(seen, opened, nats, network.posterior(target, told))


def score(model: PartialVAE, evidence: Evidence, target: str, settings: Settings) -> Numbers:
    """The information reward of every variable in every state [states, variables]."""
    strategy = eddi.strategy.Information(n_draws=int(settings["n_draws"]), seed=int(settings["seed"]))
    return np.asarray(strategy.score(model, evidence, [target]), np.float64)


def own_information(
    model: PartialVAE, evidence: Evidence, target: int, settings: Settings
) -> Numbers | None:
    """I(x_target; x_d | evidence) as the model itself believes [states, variables].

    It has the model's errors and not those of the reward. None where the model takes levels for numbers.
    """
    with torch.inference_mode():
        posterior = model.posterior(model.code(evidence))
        chances = model.chances(posterior, int(settings["n_draws"]), seed=int(settings["seed"]))
    if len(chances) < evidence.n_variables:
        return None
    by_variable = [np.asarray(chances[d], np.float64) for d in range(evidence.n_variables)]
    pairs = (np.einsum("dst,dsa->sta", by_variable[target], each) for each in by_variable)
    return np.array([[mutual_information(pair / pair.sum()) for pair in each] for each in pairs]).T


def _opened(scores: Numbers, states: Sequence[State]) -> list[Numbers]:
    return [row[state.opened] for row, state in zip(scores, states, strict=True)]


def choices(exact: Sequence[Numbers], scores: Sequence[Numbers]) -> dict[str, float]:
    """How well scores of open questions rank and choose them by their exact information.

    Means over states: the rank correlation, the share in which a best question is chosen, and the nats
    given away.
    """
    pairs = list(zip(exact, scores, strict=True))
    regret = np.array([nats.max() - nats[given.argmax()] for nats, given in pairs])
    return {
        "tau": float(np.mean([rank_correlation(*pair) for pair in pairs])),
        "hit": float(np.mean(regret <= TOLD_APART)),
        "regret": float(np.mean(regret)),
    }


def random_choices(exact: Sequence[Numbers]) -> dict[str, float]:
    """What is to be expected of a random order."""
    regrets = [nats.max() - nats for nats in exact]
    return {
        "tau": 0.0,
        "hit": float(np.mean([np.mean(each <= TOLD_APART) for each in regrets])),
        "regret": float(np.mean([each.mean() for each in regrets])),
    }


def rank_correlation(exact: Numbers, rewards: Numbers) -> float:
    """Kendall's tau over the pairs of questions whose exact information differs.

    The share of such pairs that the rewards order rightly, less the share they order wrongly.
    """
    difference = exact[:, None] - exact[None]
    apart = difference > TOLD_APART
    order = np.sign(rewards[:, None] - rewards[None])
    return float(order[apart].mean())


def calibration(
    network: ExactNetwork, target: int, states: Sequence[State], beliefs: Numbers
) -> dict[str, float]:
    """Mean KL from the exact posterior of the target to the model's, and to its marginal."""
    floored = np.maximum(beliefs, LEAST_CHANCE)  # [states, levels]
    floored /= floored.sum(1, keepdims=True)
    marginal = network.posterior(target, {})
    told = list(zip(states, floored, strict=True))
    return {
        "ours": float(np.mean([divergence(state.posterior, belief) for state, belief in told])),
        "marginal": float(np.mean([divergence(state.posterior, marginal) for state in states])),
    }


def _plain(figures: Any) -> Any:
    """Figures as JSON keeps them, to six significant digits."""
    if isinstance(figures, dict):
        return {name: _plain(value) for name, value in figures.items()}
    if isinstance(figures, list | np.ndarray):
        return [_plain(value) for value in figures]
    return float(f"{figures:.6g}") if isinstance(figures, float) else figures


def datasets(settings: Settings) -> tuple[str, ...]:  # noqa: ARG001  # pgmpy brings the networks
    """None: rows are drawn from a network."""
    return ()


EXPERIMENT = Experiment(play, datasets, networks_page.sections)

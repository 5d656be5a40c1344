"""The reward compared with exact information in small published Bayesian networks.

Rows are drawn from a network and a model is trained on them. Then, for many random evidence states, the
rewards of the open questions are compared with their exact conditional mutual information with the
target.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

import eddi
from eddi import PartialVAE
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind
from eddi_benchmarks.data.exact_network import (
    ExactNetwork,
    NetworkError,
    kl_divergence,
    load_published,
    mutual_information,
)
from eddi_benchmarks.harness.experiment import Experiment
from eddi_benchmarks.harness.run_result import Measurements, Settings, to_json_values
from eddi_benchmarks.quality.networks_report import report_sections
from eddi_benchmarks.report.statistics import Numbers

TARGETS = {
    "asia": "lung",  # lung cancer, with an X-ray and breathlessness as symptoms
    "cancer": "Cancer",
    "earthquake": "Burglary",  # indicated by an alarm and the calls of two neighbours
    "survey": "T",  # the means of travel
    "sachs": "Akt",  # a protein at the end of the signalling cascade
}
TIE = 1e-6  # nats: questions whose information differs by less are equally good
MIN_PROBABILITY = 1e-6  # of a predicted level, so that divergences are finite
MAX_TRIES = 50  # rows drawn per evidence state
MIN_OPEN = 2  # questions in an evidence state, so that there is a choice


@dataclass(frozen=True)
class EvidenceState:
    """The observed variables of one row, and the exact information of the open questions."""

    row: Numbers  # [variables] indices of levels, NaN where unobserved
    open_questions: NDArray[np.intp]  # indices of variables [open]
    information: Numbers  # of each open question about the target, in nats [open]
    posterior: Numbers  # of the target [levels]


def run(settings: Settings, folder: Path) -> Measurements:  # noqa: ARG001  # stores no files
    """Train on rows of one published network, and compare with its exact information."""
    name = str(settings["network"])
    return run_on_network(load_published(name), TARGETS[name], settings)


def run_on_network(network: ExactNetwork, target: str, settings: Settings) -> Measurements:
    """Run on any network and target."""
    seed = int(settings["seed"])
    start = time.perf_counter()
    rows = network.draw_rows(int(settings["n_rows"]), np.random.default_rng([seed, 0]))
    model = fit(network, rows, settings)
    fitted = time.perf_counter()
    index = network.names.index(target)
    n_states = int(settings["n_states"])
    states = draw_states(network, index, n_states, np.random.default_rng([seed, 1]))
    evidence = model.coding_.encode(np.stack([state.row for state in states]))
    prediction = model.fitted().predict_evidence(evidence, [target])[target]
    predictions = np.asarray(prediction.probabilities)
    scores = {"reward": _open_scores(rewards(model, evidence, target, settings), states)}
    if (own := model_information(model, evidence, index, settings)) is not None:
        scores["own"] = _open_scores(own, states)
    exact = [state.information for state in states]
    choices = {name: choice_quality(exact, values) for name, values in scores.items()}
    measurements: Measurements = to_json_values(
        {
            "target": target,
            "n_variables": len(network.names),
            "n_states": len(states),
            "best_nats": np.mean([nats.max() for nats in exact]),
            "choices": {**choices, "random": random_choice_quality(exact)},
            "kl": prediction_divergence(network, index, states, predictions),
            "exact": exact,
            "rewards": scores["reward"],
            "seconds": {"fit": fitted - start, "all": time.perf_counter() - start},
        }
    )
    return measurements


def fit(network: ExactNetwork, rows: NDArray[np.int64], settings: Settings) -> PartialVAE:
    """Fit a model of rows of the network, with the levels of the network."""
    variables, columns = [], {}
    for (name, levels), column in zip(network.levels.items(), rows.T, strict=True):
        kind = Kind.BINARY if len(levels) == 2 else Kind.CATEGORY
        variables.append(eddi.Variable(name, kind, levels=levels))
        columns[name] = np.array(levels, dtype=object)[column]
    return PartialVAE(
        eddi.Schema(tuple(variables)),
        recipe=settings["recipe"],
        random_state=int(settings["seed"]),
        max_steps=int(settings["max_steps"]),
    ).fit(pd.DataFrame(columns))


def draw_states(
    network: ExactNetwork, target: int, n_states: int, random: np.random.Generator
) -> list[EvidenceState]:
    """Random evidence states in which the open questions differ in information.

    A state is a row of the network with a random number of observed variables, uniform from none to all
    but two, not counting the target.

    Raises:
        NetworkError: there are too few such states.
    """
    states: list[EvidenceState] = []
    for state in _draw_all_states(network, target, MAX_TRIES * n_states, random):
        if np.ptp(state.information) > TIE:
            states.append(state)
        if len(states) == n_states:
            return states
    raise NetworkError(
        f"only {len(states)} of {n_states} evidence states have questions that differ in information "
        f"about {network.names[target]!r}. Choose another target."
    )


def _draw_all_states(
    network: ExactNetwork, target: int, n_states: int, random: np.random.Generator
) -> Iterator[EvidenceState]:
    askable = np.delete(np.arange(len(network.names)), target)
    for row in network.draw_rows(n_states, random):
        n_observed = random.integers(0, len(askable) - MIN_OPEN, endpoint=True)
        observed = random.permutation(askable)[:n_observed]
        levels = {int(variable): int(row[variable]) for variable in observed}
        open_questions = np.setdiff1d(askable, observed)
        observed_row = np.full(len(row), np.nan)
        observed_row[observed] = row[observed]
        information = network.information(target, levels)[open_questions]
        posterior = network.posterior(target, levels)
        yield EvidenceState(observed_row, open_questions, information, posterior)


def rewards(model: PartialVAE, evidence: Evidence, target: str, settings: Settings) -> Numbers:
    """The information reward of every variable in every state [states, variables]."""
    strategy = eddi.strategy.Information(n_draws=int(settings["n_draws"]), seed=int(settings["seed"]))
    return np.asarray(strategy.score(model.fitted(), evidence, [target]), np.float64)


def model_information(
    model: PartialVAE, evidence: Evidence, target: int, settings: Settings
) -> Numbers | None:
    """I(x_target; x_d | evidence) under the model's own distribution [states, variables].

    It has the errors of the model but not those of the reward. None if the model treats levels as
    numbers.
    """
    fitted = model.fitted()
    with torch.inference_mode():
        posterior = fitted.posterior(fitted.code(evidence))
        by_variable = fitted.level_probabilities(
            posterior, int(settings["n_draws"]), seed=int(settings["seed"])
        )
    if len(by_variable) < evidence.n_variables:
        return None
    probabilities = [np.asarray(by_variable[d], np.float64) for d in range(evidence.n_variables)]
    joints = (np.einsum("dst,dsa->sta", probabilities[target], p) for p in probabilities)
    nats = [[mutual_information(joint / joint.sum()) for joint in of_states] for of_states in joints]
    return np.array(nats).T


def _open_scores(scores: Numbers, states: Sequence[EvidenceState]) -> list[Numbers]:
    return [row[state.open_questions] for row, state in zip(scores, states, strict=True)]


def choice_quality(exact: Sequence[Numbers], scores: Sequence[Numbers]) -> dict[str, float]:
    """How well scores of open questions agree with their exact information.

    Means over states: the rank correlation, the share of states in which a best question is chosen, and
    the regret in nats.
    """
    pairs = list(zip(exact, scores, strict=True))
    regret = np.array([nats.max() - nats[score.argmax()] for nats, score in pairs])
    return {
        "tau": float(np.mean([rank_correlation(*pair) for pair in pairs])),
        "hit": float(np.mean(regret <= TIE)),
        "regret": float(np.mean(regret)),
    }


def random_choice_quality(exact: Sequence[Numbers]) -> dict[str, float]:
    """The expected quality of random choices."""
    regrets = [nats.max() - nats for nats in exact]
    return {
        "tau": 0.0,
        "hit": float(np.mean([np.mean(regret <= TIE) for regret in regrets])),
        "regret": float(np.mean([regret.mean() for regret in regrets])),
    }


def rank_correlation(exact: Numbers, scores: Numbers) -> float:
    """Kendall's tau over the pairs of questions whose exact information differs.

    The share of such pairs that the scores order correctly less the share they order wrongly.
    """
    is_ordered = exact[:, None] - exact[None] > TIE
    order = np.sign(scores[:, None] - scores[None])
    return float(order[is_ordered].mean())


def prediction_divergence(
    network: ExactNetwork, target: int, states: Sequence[EvidenceState], predictions: Numbers
) -> dict[str, float]:
    """Mean KL from the exact posterior of the target to the prediction, and to its marginal."""
    clipped = np.maximum(predictions, MIN_PROBABILITY)  # [states, levels]
    clipped /= clipped.sum(1, keepdims=True)
    marginal = network.posterior(target, {})
    pairs = list(zip(states, clipped, strict=True))
    return {
        "ours": float(np.mean([kl_divergence(state.posterior, p) for state, p in pairs])),
        "marginal": float(np.mean([kl_divergence(state.posterior, marginal) for state in states])),
    }


def required_datasets(settings: Settings) -> tuple[str, ...]:  # noqa: ARG001
    """None: the networks come with pgmpy."""
    return ()


EXPERIMENT = Experiment(run, required_datasets, report_sections)

"""Why the context of CUBE-NM is asked first, or not: the exact policy next to a trained model.

    python examples/afabench/cube_nm.py --n-train 600 2000 --seed 0 1 --output cube_nm.json

In CUBE-NM the context says which of five blocks of ten variables is about the class, and nothing about the
class itself. The script compares, under the true distribution and under a trained model,

- the information of the best first question, and of the best question after the context;
- the lookahead gain of the context, next to the largest gain of another question;
- the accuracy after each question, if the context is asked first and if it is not.

Needs the packages `eddi-ml` and `benchmarks` of this repository.
"""

import argparse
import dataclasses
import json
from pathlib import Path

import numpy as np
import torch

import eddi
from eddi.evaluate.simulate import simulate_evidence
from eddi.reward.lookahead import FIRST_QUESTION
from eddi.reward.mutual_information import mutual_information
from eddi.strategy import Information
from eddi.table.evidence import Evidence
from eddi_benchmarks.data.synthetic import TARGET, cube_nm
from eddi_benchmarks.decisions.exact import ExactInterviewer
from eddi_benchmarks.decisions.problem import target_variable

N_CONTEXTS, NOISE = 5, 0.3
N_TEST, N_STEPS = 400, 12
MIXTURE = cube_nm(N_CONTEXTS, NOISE)
CONTEXT = "context"
SMALL_SHARE = 1e-3  # of the greedy questions' information: the gain changes in proportion to it


@dataclasses.dataclass(frozen=True)
class ContextFirst:
    """Asks the context first, then the question with the highest reward."""

    def score(self, model, evidence, target):
        scores = Information(reward="target").score(model, evidence, target).clone()
        is_first = torch.from_numpy(~evidence.observed.any(1))
        scores[is_first, question_place(model, CONTEXT)] = torch.inf
        return scores


def question_place(model, name):
    return [question.name for question in model.schema.questions].index(name)


def fit(n_train, seed):
    """The default model of ``n_train`` rows."""
    table = MIXTURE.draw_rows(n_train, np.random.default_rng(seed))
    schema = eddi.Schema.infer(table, targets=[TARGET])
    schema = schema.with_variable(target_variable(table[TARGET], is_real=False))
    schema = schema.with_question(CONTEXT, reveals=MIXTURE.groups[CONTEXT])
    return eddi.PartialVAE(schema, TARGET, random_state=seed, device="cpu").fit(table).fitted()


def exact_values():
    """Information of questions under the true distribution, in nats."""
    exact = ExactInterviewer(MIXTURE)
    n_components = len(MIXTURE.classes)
    before = np.full((1, n_components), 1 / n_components)
    first = exact.information(before)[0]
    greedy = int(first.argmax())
    probability, after_greedy = exact._simulate_answers(before[0], greedy)
    given_context = (MIXTURE.mean[:, 0] == 1)[None] / (n_components / N_CONTEXTS)
    return {
        "context": first[0],
        "best_first": first.max(),
        "best_after_greedy": probability @ exact.information(after_greedy).max(1),
        "best_after_context": exact.information(given_context).max(),
    }


def model_values(model):
    """The same values as the model estimates them, and the lookahead gains."""
    n_variables, place = len(model.schema.variables), question_place(model, CONTEXT)
    empty = Evidence.empty(1, n_variables)
    rewards = mutual_information(model, empty, (TARGET,), n_draws=50, seed=0)[0].numpy()
    true_contexts = np.full((N_CONTEXTS, n_variables), np.nan)
    true_contexts[:, :N_CONTEXTS] = np.eye(N_CONTEXTS)
    evidence = model.coding.encode(true_contexts)
    after = mutual_information(model, evidence, (TARGET,), n_draws=50, seed=0)
    lookahead = dataclasses.replace(FIRST_QUESTION, min_gain=0.0)
    reduced = dataclasses.replace(lookahead, min_gain=SMALL_SHARE)
    gains, less = (it.gain(model, empty, (TARGET,))[0].numpy() for it in (lookahead, reduced))
    differences = (gains - less)[less > 0]
    greedy_value = differences.mean() / SMALL_SHARE if len(differences) else np.nan
    result = {
        "context": rewards[place],
        "best_first": rewards.max(),
        "greedy_value": greedy_value,
        "best_after_context": after.amax(1).mean(),
        "gain_of_context": gains[place],
        "largest_other_gain": np.delete(gains, place).max(),
    }
    numbers = {key: float(value) for key, value in result.items()}
    return {**numbers, "first_question": eddi.Interview(model, TARGET).ask().name}


def accuracies(model, seed):
    """Accuracy after each number of questions, on the same test rows."""
    test = MIXTURE.draw_rows(N_TEST, np.random.default_rng([seed, 999]))
    rows, classes = test.drop(columns=TARGET).to_numpy(), test[TARGET].to_numpy()
    exact, truth = ExactInterviewer(MIXTURE), model.evidence(test)
    curves = {
        "exact, greedy": exact.interview(rows, classes, N_STEPS, lookahead=False),
        "exact, lookahead": exact.interview(rows, classes, N_STEPS, lookahead=True),
    }
    strategies = {
        "model": Information(),
        "model, greedy": Information(reward="target"),
        "model, context first": ContextFirst(),
    }
    for name, strategy in strategies.items():
        curves[name] = simulate_evidence(model, truth, TARGET, strategy=strategy, max_steps=N_STEPS)
    return {
        name: {"accuracy": curve.accuracy.tolist(), "nll": curve.nll.tolist()}
        for name, curve in curves.items()
    }


def analyse(model, n_train, seed):
    """Values and curves of one model."""
    run = {"n_train": n_train, "seed": seed, **model_values(model)}
    print({k: v if isinstance(v, str) else round(v, 4) for k, v in run.items()}, flush=True)  # noqa: T201
    return {**run, "curves": accuracies(model, seed)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n-train", nargs="+", type=int, default=[600, 2_000])
    parser.add_argument("--seed", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--output", type=Path, default=Path("cube_nm.json"))
    arguments = parser.parse_args()
    exact = {key: float(value) for key, value in exact_values().items()}
    results = {"exact": exact, "min_gain": FIRST_QUESTION.min_gain, "runs": []}
    print("exact", {key: round(value, 4) for key, value in exact.items()})  # noqa: T201
    for n_train in arguments.n_train:
        for seed in arguments.seed:
            results["runs"].append(analyse(fit(n_train, seed), n_train, seed))
            arguments.output.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()

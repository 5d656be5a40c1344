"""Train EDDI on AFABench's tables, and evaluate it with a hard budget.

    python examples/afabench/evaluate.py --task cube-600 ckd --seed 42 43 --output results.json

Needs the packages `eddi-ml` and `benchmarks` of this repository, and EDDI_DATA for the real tables. Results
are added to the output file; runs that are in it already are skipped.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from eddi_method import EddiMethod
from sklearn.metrics import accuracy_score, f1_score
from tasks import SEEDS, TASKS

BATCH_ROWS = 1_000


class RandomOrder:
    """The same classifier with randomly chosen features, as a lower bound."""

    def __init__(self, method):
        self.method = method
        self.random = np.random.default_rng(0)

    def act(self, masked_features, feature_mask, selection_mask):  # noqa: ARG002
        scores = np.where(selection_mask, -1.0, self.random.random(selection_mask.shape))
        return torch.from_numpy(np.where(selection_mask.all(1), 0, scores.argmax(1) + 1))[:, None]

    def predict(self, masked_features, feature_mask):
        return self.method.predict(masked_features, feature_mask)


def evaluate(method, task, revealed):
    """Accuracy and macro F1 score after 0, 1, 2 ... selections, up to the largest budget.

    Args:
        method: anything with AFABench's ``act`` and ``predict``.
        task: with the test rows.
        revealed: which features each selection reveals [selections, features].
    """
    predicted = [
        predict_steps(method, torch.tensor(rows, dtype=torch.float32), revealed, max(task.budgets))
        for rows in np.split(task.test_features, range(BATCH_ROWS, len(task.test_features), BATCH_ROWS))
    ]
    steps = np.concatenate([classes for classes, _ in predicted], axis=1)  # [steps, rows]
    first = np.concatenate([selections for _, selections in predicted])
    return {
        "accuracy": [accuracy_score(task.test_labels, step) for step in steps],
        "f1": [f1_score(task.test_labels, step, average="macro") for step in steps],
        "first": int(np.bincount(first).argmax()) - 1,  # the most frequent first selection; -1: stop
    }


def predict_steps(method, features, revealed, n_steps):
    """The predicted classes after each number of selections, and the first selections."""
    is_visible = torch.zeros(features.shape, dtype=torch.bool)
    is_selected = torch.zeros((len(features), len(revealed)), dtype=torch.bool)
    classes, first = [], np.zeros(len(features), dtype=np.int64)
    for step in range(n_steps + 1):
        masked = features * is_visible
        classes.append(method.predict(masked, is_visible).argmax(1).numpy())
        if step == n_steps:
            break
        action = method.act(masked, is_visible, is_selected)[:, 0]
        first = action.numpy() if step == 0 else first
        rows = torch.nonzero(action)[:, 0]  # rows that stop keep what they have
        is_selected[rows, action[rows] - 1] = True
        is_visible[rows] |= revealed[action[rows] - 1]
    return np.stack(classes), first


def run(name, seed):
    """Train and evaluate EDDI on one instance of a table."""
    task = TASKS[name](seed=seed)
    start = time.perf_counter()
    method = EddiMethod.fit(
        task.train_features,
        task.train_labels,
        groups=task.groups,
        balance=task.has_f1,
        random_state=seed,
    )
    training = time.perf_counter() - start
    schema = method.model.schema_
    revealed = torch.from_numpy(schema.reveals_mask[method.selections][:, :-1].copy())
    start = time.perf_counter()
    result = evaluate(method, task, revealed)
    deciding = time.perf_counter() - start
    return {
        "task": name,
        "seed": seed,
        "budgets": task.budgets,
        "metric": "f1" if task.has_f1 else "accuracy",
        "n_train": len(task.train_labels),
        "n_test": len(task.test_labels),
        "training_s": training,
        "evaluation_s": deciding,
        "eddi": result,
        "random": evaluate(RandomOrder(method), task, revealed),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", nargs="+", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--seed", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--output", type=Path, default=Path("results.json"))
    arguments = parser.parse_args()
    results = json.loads(arguments.output.read_text()) if arguments.output.exists() else []
    done = {(result["task"], result["seed"]) for result in results}
    for seed in arguments.seed:
        for name in arguments.task:
            if (name, seed) not in done:
                results.append(run(name, seed))
                arguments.output.write_text(json.dumps(results, indent=1) + "\n")
                at_budgets = {
                    method: [
                        round(results[-1][method][results[-1]["metric"]][b], 3)
                        for b in results[-1]["budgets"]
                    ]
                    for method in ("eddi", "random")
                }
                print(name, seed, results[-1]["budgets"], at_budgets, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()

"""EDDI as a method of AFABench, the benchmark of active feature acquisition (Schütz et al. 2025).

AFABench calls a method with the features of a batch (zero where hidden), a mask of the visible ones and a
mask of the selections that were made. The method answers with the next selection of each row, counted
from 1, or 0 to stop, and with the probabilities of the classes. `EddiMethod` has all members of that
protocol and needs no import from the benchmark.

A selection is a question of the schema, in the order of the schema and without the target's question.
So grouped features are questions that reveal several variables.
"""

import json
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

import eddi

MODEL_FILE, SETTINGS_FILE = "model.eddi", "settings.json"


class EddiMethod:
    """Chooses features with `eddi.next_questions`, and predicts the class with the same model.

    Args:
        model: a `PartialVAE` with one declared target, fitted to the features, in order, and the target.
        class_weights: factors of the classes' probabilities. Weights of one over the frequency of each
            class give the predictions of a classifier that was trained with a class-weighted loss.
        min_reward: stop once no feature has this expected information in nats (AFABench's soft budget);
            None to stop only if no selection is left.
    """

    _class_version = "1.0.0"  # in the manifest of AFABench's bundles

    def __init__(self, model, *, class_weights=None, min_reward=None):
        self.model = model
        self.class_weights = None if class_weights is None else [float(w) for w in class_weights]
        self.min_reward = min_reward

    @classmethod
    def fit(cls, features, labels, *, groups=None, balance=False, random_state=0, device="cpu"):
        """Train on complete rows.

        Args:
            features: of the training rows [rows, features].
            labels: their classes, from 0 up [rows].
            groups: features by the name of the selection that reveals them; None for one each.
            balance: weigh classes by one over their frequency.
            random_state: the seed.
            device: where to train.
        """
        values, classes = np.asarray(features, dtype=np.float64), np.asarray(labels, dtype=np.int64)
        table = {f"x{i}": column for i, column in enumerate(values.T)} | {"y": classes}
        levels = tuple(range(int(classes.max()) + 1))
        kind = "binary" if len(levels) == 2 else "category"
        variables = [eddi.Variable(f"x{i}", "real") for i in range(values.shape[1])]
        schema = eddi.Schema((*variables, eddi.Variable("y", kind, levels=levels)), targets=("y",))
        for name, places in (groups or {}).items():
            schema = schema.with_question(name, reveals=[f"x{i}" for i in places])
        model = eddi.PartialVAE(schema, "y", random_state=random_state, device=device).fit(table)
        frequencies = np.bincount(classes) / len(classes)
        return cls(model, class_weights=1 / frequencies if balance else None)

    @property
    def selections(self):
        """The positions of the questions that can be selected."""
        reveals_target = self.model.schema_.reveals_mask[:, self._target_places].any(1)
        return np.flatnonzero(~reveals_target)

    def act(self, masked_features, feature_mask, selection_mask=None, label=None, feature_shape=None):  # noqa: ARG002
        """The next selection of each row, counted from 1 [rows, 1]; 0 means stop."""
        rows = self._rows(masked_features, feature_mask)
        closed = np.zeros((len(rows[0]), len(self.model.schema_.questions)), dtype=bool)
        if selection_mask is not None:
            closed[:, self.selections] = _to_numpy(selection_mask)
        steps = eddi.next_questions(
            self.model, rows, closed=closed, stop=eddi.Stop(reward_below=self.min_reward)
        )
        number = np.zeros(closed.shape[1] + 1, dtype=np.int64)  # the last entry is for -1: stop
        number[self.selections] = np.arange(1, len(self.selections) + 1)
        return torch.from_numpy(number[steps.index])[:, None].to(masked_features.device)

    def predict(self, masked_features, feature_mask, label=None, feature_shape=None):  # noqa: ARG002
        """The probabilities of the classes [rows, classes]."""
        steps = eddi.next_questions(self.model, self._rows(masked_features, feature_mask))
        (prediction,) = steps.predictions.values()
        probabilities = prediction.probabilities * (self.class_weights or 1.0)
        probabilities = probabilities / probabilities.sum(-1, keepdims=True)
        return torch.from_numpy(probabilities).float().to(masked_features.device)

    def save(self, path):
        """Write the method to the folder ``path``."""
        self.model.save(Path(path) / MODEL_FILE)
        settings = {"class_weights": self.class_weights, "min_reward": self.min_reward}
        (Path(path) / SETTINGS_FILE).write_text(json.dumps(settings))

    @classmethod
    def load(cls, path, device="cpu"):
        """Read a method that `save` wrote."""
        settings = json.loads((Path(path) / SETTINGS_FILE).read_text())
        return cls(eddi.load(Path(path) / MODEL_FILE, device=str(device)), **settings)

    def to(self, device):
        """Move the model to a device: a model file can be read on any."""
        if torch.device(device) != self.device:
            with tempfile.TemporaryDirectory() as folder:
                self.save(folder)
                self.model = self.load(folder, device).model
        return self

    @property
    def device(self):
        """The device of the model."""
        return self.model.fitted().frozen.device

    @property
    def has_builtin_classifier(self):
        return True

    @property
    def cost_param(self):
        """The soft budget: the smallest expected information that is worth a feature."""
        return self.min_reward

    def set_cost_param(self, cost_param):
        self.min_reward = cost_param

    def set_seed(self, seed):
        """Nothing to do: choices are deterministic."""

    @property
    def _target_places(self):
        return self.model.schema_.positions(self.model.target_)

    def _rows(self, masked_features, feature_mask):
        """Values and mask as arrays [rows, features]; features of any shape are flattened."""
        n_rows = len(masked_features)
        return _to_numpy(masked_features).reshape(n_rows, -1), _to_numpy(feature_mask).reshape(
            n_rows, -1
        )


def _to_numpy(tensor: Tensor):
    return tensor.detach().cpu().numpy()

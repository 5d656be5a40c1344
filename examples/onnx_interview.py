"""An interview without EDDI and without PyTorch: the files of `eddi export --onnx`, and arithmetic.

    python examples/onnx_interview.py FOLDER TARGET

Needs numpy and onnxruntime. The code is meant to be translated: any ONNX runtime can do the same.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime


class ExportedModel:
    """A model that was exported to ``folder``."""

    def __init__(self, folder):
        self.metadata = json.loads((Path(folder) / "interview.json").read_text())
        self.variables = self.metadata["schema"]["variables"]  # by name, in the order of the columns
        self.names = list(self.variables)
        self.parts = {
            name: onnxruntime.InferenceSession(Path(folder) / f"{name}.onnx")
            for name in self.metadata["parts"]
        }

    def run(self, part, *inputs):
        """The outputs of one part of the network, by name."""
        names = self.metadata["parts"][part]
        outputs = self.parts[part].run(None, dict(zip(names["inputs"], inputs, strict=True)))
        return dict(zip(names["outputs"], outputs, strict=True))

    def questions(self):
        """The variables that each question reveals; other variables have a question of their own."""
        described = self.metadata["schema"].get("questions", {})
        questions = {name: entry.get("reveals", [name]) for name, entry in described.items()}
        revealed = {name for reveals in questions.values() for name in reveals}
        return {**questions, **{name: [name] for name in self.names if name not in revealed}}

    def number(self, name, answer):
        """An answer as a number: its value, or the position of its level."""
        levels = self.variables[name].get("levels")
        return float(levels.index(answer) if levels else answer)

    def terms(self, numbers, variables):
        """The terms that answers add to the code [n, width], from numbers and positions of variables [n]."""
        coding = {key: np.array(value)[variables] for key, value in self.metadata["coding"].items()}
        warped = np.where(coding["logarithmic"], np.log1p(np.maximum(numbers, 0)), numbers)
        coded = (warped - coding["shift"]) / coding["scale"]
        return self.run("term", coded.astype(np.float32), variables)["terms"]

    def code(self, answers):
        """The code of some answers, given by variable [width]."""
        code = np.array(self.metadata["code_of_nothing"], dtype=np.float32)
        if answers:
            variables = np.array([self.names.index(name) for name in answers])
            numbers = np.array([self.number(name, answer) for name, answer in answers.items()])
            code = code + self.terms(numbers, variables).sum(0)
        return code

    def posterior(self, codes):
        """Mean and log variance of z for codes [..., width]."""
        flat = self.run("posterior", codes.reshape(-1, codes.shape[-1]).astype(np.float32))
        return [flat[key].reshape(*codes.shape[:-1], -1) for key in ("z_mean", "z_log_var")]

    def draw(self, code, n_draws, random):
        """Joint draws of all variables in the table's own units [draws, variables]."""
        outputs = self.decode_draws(code, n_draws, random)
        noise = random.standard_normal(outputs["value_mean"].shape)
        drawn = outputs["value_mean"] + noise * np.sqrt(outputs["value_variance"])
        for place, name in enumerate(self.names):  # a rounded normal approximates the count likelihood
            if self.variables[name]["kind"] == "count":
                drawn[:, place] = np.maximum(np.rint(drawn[:, place]), 0)
        for output, places in self.metadata["chances"]["decoder"].items():
            cumulative = outputs[output].cumsum(-1)  # [draws, variables of this kind, levels]
            level = (cumulative < random.random((*cumulative.shape[:2], 1))).sum(-1)
            last = [len(self.variables[self.names[place]]["levels"]) - 1 for place in places]
            drawn[:, places] = np.minimum(level, last)
        return drawn

    def decode_draws(self, code, n_draws, random):
        """The outputs of the decoder for draws of z."""
        mean, log_var = self.posterior(code[None])
        noise = random.standard_normal((n_draws, self.metadata["latent"]))
        return self.run("decoder", (mean + np.exp(0.5 * log_var) * noise).astype(np.float32))

    def rewards(self, answers, target, *, n_draws=100, seed=0):
        """Expected information of each open question about the target, in nats (Ma et al. 2019)."""
        random, code = np.random.default_rng(seed), self.code(answers)
        drawn = self.draw(code, n_draws, random)
        variables = np.tile(np.arange(len(self.names)), n_draws)
        terms = self.terms(drawn.reshape(-1), variables).reshape(*drawn.shape, -1)
        code_and_target = code + terms[:, self.names.index(target)]  # [draws, width]
        prior, prior_with_target = self.posterior(code), self.posterior(code_and_target)
        rewards = {}
        for question, reveals in self.questions().items():
            unobserved = [self.names.index(name) for name in reveals if name not in answers]
            if unobserved and target not in reveals:
                answer = terms[:, unobserved].sum(1)  # [draws, width]
                about_all = kl(self.posterior(code + answer), prior)
                about_others = kl(self.posterior(code_and_target + answer), prior_with_target)
                rewards[question] = float((about_all - about_others).mean())
        return rewards

    def predict(self, answers, target, *, n_draws=512, seed=0):
        """Mean and standard deviation of the target in its own units."""
        place, code = self.names.index(target), self.code(answers)
        if "direct" in self.parts:  # the marginal predictions, which need no draws
            outputs = self.run("direct", code[None].astype(np.float32))
        else:
            outputs = self.decode_draws(code, n_draws, np.random.default_rng(seed))
        mean, variance = outputs["value_mean"][:, place], outputs["value_variance"][:, place]
        return float(mean.mean()), float(np.sqrt(variance.mean() + mean.var()))


def kl(after, before):
    """KL(after || before) of diagonal Gaussians, each a mean and a log variance [..., latent]."""
    (m1, v1), (m2, v2) = after, before
    return 0.5 * (v2 - v1 + np.exp(v1 - v2) + (m1 - m2) ** 2 * np.exp(-v2) - 1).sum(-1)


def main(folder, target):
    """Ask questions until none is left, and print the prediction after each answer."""
    model, answers = ExportedModel(folder), {}
    while rewards := model.rewards(answers, target):
        question = max(rewards, key=rewards.get)
        for name in model.questions()[question]:
            text = input(f"{name}? ").strip()
            levels = model.variables[name].get("levels")
            answers[name] = next(x for x in levels if str(x) == text) if levels else float(text)
        mean, sd = model.predict(answers, target)
        print(f"{target}: {mean:.4g} +- {sd:.2g}")  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])

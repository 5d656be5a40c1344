"""An interview without EDDI and without PyTorch: four files of `eddi export --onnx`, and arithmetic.

    python examples/onnx_interview.py FOLDER TARGET

Needs numpy and onnxruntime. It is written to be translated: whatever runs ONNX can do the same.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime


class Exported:
    """A model that was exported to ``folder``."""

    def __init__(self, folder):
        self.facts = json.loads((Path(folder) / "interview.json").read_text())
        self.variables = self.facts["schema"]["variables"]  # by name, in the order of the columns
        self.names = list(self.variables)
        self.parts = {
            name: onnxruntime.InferenceSession(Path(folder) / f"{name}.onnx")
            for name in self.facts["parts"]
        }

    def run(self, part, *inputs):
        names = self.facts["parts"][part]
        outputs = self.parts[part].run(None, dict(zip(names["inputs"], inputs, strict=True)))
        return dict(zip(names["outputs"], outputs, strict=True))

    def questions(self):
        """The variables that each question reveals; what none reveals asks for itself."""
        named = self.facts["schema"].get("questions", {})
        found = {name: entry.get("reveals", [name]) for name, entry in named.items()}
        revealed = {name for reveals in found.values() for name in reveals}
        return {**found, **{name: [name] for name in self.names if name not in revealed}}

    def number(self, name, answer):
        """An answer as a number: itself, or the position of its level."""
        levels = self.variables[name].get("levels")
        return float(levels.index(answer) if levels else answer)

    def terms(self, numbers, variables):
        """What answers add to the code: numbers [n] of variables (positions) [n] give [n, width]."""
        coding = {key: np.array(value)[variables] for key, value in self.facts["coding"].items()}
        warped = np.where(coding["logarithmic"], np.log1p(np.maximum(numbers, 0)), numbers)
        coded = (warped - coding["shift"]) / coding["scale"]
        return self.run("term", coded.astype(np.float32), variables)["terms"]

    def code(self, answers):
        """The code of some answers by variable [width]."""
        code = np.array(self.facts["code_of_nothing"], dtype=np.float32)
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
        """Joint draws of all variables in the table's numbers [draws, variables]."""
        mean, log_var = self.posterior(code[None])
        z = mean + np.exp(0.5 * log_var) * random.standard_normal((n_draws, self.facts["latent"]))
        said = self.run("decoder", z.astype(np.float32))
        noise = random.standard_normal(said["value_mean"].shape)
        drawn = said["value_mean"] + noise * np.sqrt(said["value_variance"])
        for place, name in enumerate(self.names):  # a count's own likelihood is not a rounded normal
            if self.variables[name]["kind"] == "count":
                drawn[:, place] = np.maximum(np.rint(drawn[:, place]), 0)
        for output, places in self.facts["chances"]["decoder"].items():
            reached = said[output].cumsum(-1)  # [draws, its variables, levels]
            chosen = (reached < random.random((*reached.shape[:2], 1))).sum(-1)
            top = [len(self.variables[self.names[place]]["levels"]) - 1 for place in places]
            drawn[:, places] = np.minimum(chosen, top)
        return drawn

    def rewards(self, answers, target, *, n_draws=100, seed=0):
        """Nats that each open question is expected to tell about the target (Ma et al. 2019)."""
        random, code = np.random.default_rng(seed), self.code(answers)
        drawn = self.draw(code, n_draws, random)
        variables = np.tile(np.arange(len(self.names)), n_draws)
        terms = self.terms(drawn.reshape(-1), variables).reshape(*drawn.shape, -1)
        now = self.posterior(code)
        knowing = code + terms[:, self.names.index(target)]  # the target as well [draws, width]
        then = self.posterior(knowing)
        found = {}
        for question, reveals in self.questions().items():
            news = [self.names.index(name) for name in reveals if name not in answers]
            if news and target not in reveals:
                told = terms[:, news].sum(1)  # [draws, width]
                gain = kl(self.posterior(code + told), now) - kl(self.posterior(knowing + told), then)
                found[question] = float(gain.mean())
        return found

    def predict(self, answers, target, *, n_draws=512, seed=0):
        """Mean and standard deviation of the target in its own units."""
        place, code = self.names.index(target), self.code(answers)
        if "direct" in self.parts:
            said = self.run("direct", code[None].astype(np.float32))
            mean, variance = said["value_mean"][:, place], said["value_variance"][:, place]
        else:
            mean, log_var = self.posterior(code[None])
            noise = np.random.default_rng(seed).standard_normal((n_draws, self.facts["latent"]))
            said = self.run("decoder", (mean + np.exp(0.5 * log_var) * noise).astype(np.float32))
            mean, variance = said["value_mean"][:, place], said["value_variance"][:, place]
        return float(mean.mean()), float(np.sqrt(variance.mean() + mean.var()))


def kl(after, before):
    """KL(after || before) of diagonal Gaussians, each a mean and a log variance [..., latent]."""
    (m1, v1), (m2, v2) = after, before
    return 0.5 * (v2 - v1 + np.exp(v1 - v2) + (m1 - m2) ** 2 * np.exp(-v2) - 1).sum(-1)


def main(folder, target):
    model, answers = Exported(folder), {}
    while rewards := model.rewards(answers, target):
        question = max(rewards, key=rewards.get)
        for name in model.questions()[question]:
            said = input(f"{name}? ").strip()
            levels = model.variables[name].get("levels")
            answers[name] = next(one for one in levels if str(one) == said) if levels else float(said)
        mean, sd = model.predict(answers, target)
        print(f"{target}: {mean:.4g} +- {sd:.2g}")  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])

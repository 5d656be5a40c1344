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

    def n_levels(self, name):
        """The number of levels, or of time bins of a survival variable: between its edges, and after them."""
        entry = self.variables[name]
        return len(entry["edges"]) + 1 if entry["kind"] == "survival" else len(entry["levels"])

    def terms(self, numbers, variables):
        """The terms that answers add to the code [n, width], from numbers and positions of variables [n]."""
        coding = {key: np.array(value)[variables] for key, value in self.metadata["coding"].items()}
        warped = np.where(coding["logarithmic"], np.log1p(np.maximum(numbers, 0)), numbers)
        coded = (warped - coding["shift"]) / coding["scale"]
        return self.run("term", coded.astype(np.float32), variables)["terms"]

    def ignored(self, target):
        """The names of the variables that predictions of the target ignore."""
        positions = self.metadata.get("ignored_variables", {}).get(target, ())
        return {self.names[position] for position in positions}

    def used_answers(self, answers, target):
        """The answers from which the target is predicted."""
        return {name: answer for name, answer in answers.items() if name not in self.ignored(target)}

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

    def draw(self, code, n_draws, random, *, part="decoder"):
        """Draws of all variables in the table's own units [draws, variables]; joint ones of the decoder."""
        if part == "decoder":
            outputs = self.decode_draws(code, n_draws, random)
        else:
            marginal = self.run(part, code[None].astype(np.float32))
            outputs = {name: np.repeat(output, n_draws, axis=0) for name, output in marginal.items()}
        noise = random.standard_normal(outputs["value_mean"].shape)
        drawn = outputs["value_mean"] + noise * np.sqrt(outputs["value_variance"])
        for place, name in enumerate(self.names):  # a rounded normal approximates the count likelihood
            if self.variables[name]["kind"] == "count":
                drawn[:, place] = np.maximum(np.rint(drawn[:, place]), 0)
        for output, places in self.metadata["chances"][part].items():
            cumulative = outputs[output].cumsum(-1)  # [draws, variables of this kind, levels]
            level = (cumulative < random.random((*cumulative.shape[:2], 1))).sum(-1)
            drawn[:, places] = np.minimum(
                level, [self.n_levels(self.names[place]) - 1 for place in places]
            )
        return drawn

    def decode_draws(self, code, n_draws, random):
        """The outputs of the decoder for draws of z."""
        mean, log_var = self.posterior(code[None])
        noise = random.standard_normal((n_draws, self.metadata["latent"]))
        return self.run("decoder", (mean + np.exp(0.5 * log_var) * noise).astype(np.float32))

    def rewards(self, answers, target, *, n_draws=100, seed=0):
        """Expected information of each open question about the target, in nats."""
        random, code = np.random.default_rng(seed), self.code(self.used_answers(answers, target))
        is_time = self.variables[target]["kind"] == "survival"  # never observed, so its terms are zero
        drawn = self.draw(code, n_draws, random, part="direct" if is_time else "decoder")
        variables = np.tile(np.arange(len(self.names)), n_draws)
        terms = self.terms(drawn.reshape(-1), variables).reshape(*drawn.shape, -1)
        measure = self.about_bins if is_time else self.about_target
        rewards = {}
        for question, reveals in self.questions().items():
            known = {*answers, *self.ignored(target)}
            unobserved = [self.names.index(name) for name in reveals if name not in known]
            kinds = {self.variables[name]["kind"] for name in reveals}
            if unobserved and target not in reveals and "survival" not in kinds:
                answer = terms[:, unobserved].sum(1)  # [draws, width]
                rewards[question] = float(measure(code, answer, terms, target).mean())
        return rewards

    def about_target(self, code, answer, terms, target):
        """The reward of Ma et al. (2019) for each drawn answer [draws]."""
        with_target = code + terms[:, self.names.index(target)]  # [draws, width]
        about_all = kl(self.posterior(code + answer), self.posterior(code))
        return about_all - kl(self.posterior(with_target + answer), self.posterior(with_target))

    def about_bins(self, code, answer, terms, target):  # noqa: ARG002
        """How much each drawn answer changes the prediction of a survival target [draws]."""
        after = self.bins(code + answer, target)  # [draws, bins]
        mixture = after.mean(0)
        return (after * np.log(np.maximum(after, 1e-12) / np.maximum(mixture, 1e-12))).sum(-1)

    def bins(self, codes, target):
        """Probabilities of the time bins of a survival target for codes [rows, width]."""
        places = self.metadata["chances"]["direct"]["chances_survival"]
        chances = self.run("direct", codes.astype(np.float32))["chances_survival"]
        return chances[:, places.index(self.names.index(target)), : self.n_levels(target)]

    def survival(self, answers, target):
        """Times, and the probability that the event comes later than each of them."""
        chances = self.bins(self.code(answers)[None], target)[0]
        return self.variables[target]["edges"], 1 - chances.cumsum()[:-1]

    def predict(self, answers, target, *, n_draws=512, seed=0):
        """Mean and standard deviation of the target in its own units."""
        place, code = self.names.index(target), self.code(self.used_answers(answers, target))
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
        if model.variables[target]["kind"] == "survival":
            times, survival = model.survival(answers, target)
            middle = len(times) // 2
            print(f"{target}: none up to {times[middle]:g} with probability {survival[middle]:.2f}")  # noqa: T201
        else:
            mean, sd = model.predict(answers, target)
            print(f"{target}: {mean:.4g} +- {sd:.2g}")  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])

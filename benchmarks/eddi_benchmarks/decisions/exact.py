"""Interviews with exact inference in a `GaussianMixture`, as an upper bound for other methods.

The posterior over components is exact. The greedy variant asks the question with the most information
about the class. The lookahead variant maximises the information of a question plus the expected
information of the best question after it. The optimal policy has no closed form; a lookahead of two
steps is enough where one question only shows which one to ask next.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eddi.evaluate.curves import Curves
from eddi_benchmarks.data.synthetic import TARGET, GaussianMixture
from eddi_benchmarks.decisions.baseline_curves import class_predictions
from eddi_benchmarks.report.statistics import Numbers

FINE_GRID = np.linspace(-0.6, 1.6, 89)  # of answers for quadrature: four points per signal sd
COARSE_GRID = np.linspace(-0.6, 1.6, 34)  # of hypothetical answers: three points per two signal sds
N_CANDIDATES = 12  # questions for lookahead: those with the most information about the component
DISCOUNT = 0.95  # of later information, so that of two orders the faster one is preferred
NEGLIGIBLE = 1e-4  # nats or probability below which lookahead ignores a question, class or answer
TINY = 1e-300


@dataclass(frozen=True)
class ExactInterviewer:
    """Interviews rows of a mixture by exact inference."""

    mixture: GaussianMixture

    @cached_property
    def questions(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Names and variables of the questions, groups first, as in a schema."""
        index = {name: i for i, name in enumerate(self.mixture.names)}
        groups = [
            (question, tuple(index[name] for name in names))
            for question, names in self.mixture.groups.items()
        ]
        grouped = {variable for _, variables in groups for variable in variables}
        singles = ((name, (i,)) for name, i in index.items() if i not in grouped)
        return (*groups, *singles)

    def interview(
        self, rows: Numbers, classes: NDArray[np.int64], n_steps: int, *, lookahead: bool
    ) -> Curves:
        """Interview each row [rows, variables]; returns the predictions of its class."""
        log_likelihood = self._log_likelihood(rows)  # [rows, questions, components]
        n_components = len(self.mixture.classes)
        log_posterior = np.full((len(rows), n_components), -np.log(n_components))
        asked = np.zeros((len(rows), len(self.questions)), dtype=bool)
        predictions, order = [self._class_log_probabilities(log_posterior)], []
        for _ in range(n_steps):
            chosen = self._choose(np.exp(log_posterior), asked, lookahead=lookahead)
            asked[np.arange(len(rows)), chosen] = True
            log_posterior = log_posterior + log_likelihood[np.arange(len(rows)), chosen]
            log_posterior -= np.logaddexp.reduce(log_posterior, axis=1, keepdims=True)
            predictions.append(self._class_log_probabilities(log_posterior))
            order.append(chosen)
        return Curves(
            target=TARGET,
            questions=tuple(name for name, _ in self.questions),
            levels=tuple(range(self.mixture.n_classes)),
            truth=classes.astype(np.float64),
            order=np.stack(order, axis=1),
            spent=np.tile(np.arange(n_steps + 1.0), (len(rows), 1)),
            **class_predictions(np.stack(predictions, axis=1), classes),
        )

    def information(self, posterior: Numbers) -> Numbers:
        """Information of each question about the class in nats [rows, questions]."""
        questions = np.arange(len(self.questions))
        return self._mutual_information(posterior, self._class_indicators, questions, FINE_GRID)

    def _choose(
        self, posterior: Numbers, asked: NDArray[np.bool_], *, lookahead: bool
    ) -> NDArray[np.int64]:
        """The best open question of each row."""
        information = np.where(asked, -np.inf, self.information(posterior))
        chosen = np.asarray(information.argmax(1))
        cache: dict[bytes, int] = {}  # rows with equal posteriors have the same best question
        for row in range(len(posterior) if lookahead else 0):
            key = posterior[row].round(12).tobytes() + asked[row].tobytes()
            if key not in cache:
                cache[key] = self._choose_with_lookahead(posterior[row], information[row])
            chosen[row] = cache[key]
        return chosen

    def _choose_with_lookahead(self, posterior: Numbers, information: Numbers) -> int:
        """The question that maximises its information plus that of the best question after it.

        Args:
            posterior: over components [components].
            information: about the class [questions]; minus infinity for closed questions.
        """
        questions = np.arange(len(information))
        components = np.eye(len(posterior))
        about_component = self._mutual_information(posterior[None], components, questions, FINE_GRID)[0]
        candidates = questions[(about_component > NEGLIGIBLE) & (information > -np.inf)]
        if not len(candidates) or 1 - (self._class_indicators @ posterior).max() < NEGLIGIBLE:
            return int(information.argmax())
        scores = {}
        for question in candidates[np.argsort(-about_component[candidates])][:N_CANDIDATES]:
            # [answers], [answers, components]
            probability, after = self._simulate_answers(posterior, int(question))
            others = candidates[candidates != question]
            later = self._mutual_information(after, self._class_indicators, others, COARSE_GRID)
            best_later = later.max(1, initial=0.0)
            scores[int(question)] = information[question] + DISCOUNT * probability @ best_later
        return max(scores, key=lambda question: scores[question])

    def _simulate_answers(self, posterior: Numbers, question: int) -> tuple[Numbers, Numbers]:
        """Possible answers to a question: their probabilities, and the posterior after each."""
        parameters, index = self._answer_distributions[question]
        if len(self.questions[question][1]) > 1:  # answers to groups identify the distribution
            joint = posterior * (index == np.arange(len(parameters))[:, None])
        else:
            joint = posterior * _grid_probabilities(COARSE_GRID, parameters)[index].T
        probability = joint.sum(1)
        is_likely = probability > NEGLIGIBLE
        joint, probability = joint[is_likely], probability[is_likely]
        return probability / probability.sum(), joint / probability[:, None]

    def _mutual_information(
        self,
        posterior: Numbers,
        indicators: Numbers,
        questions: NDArray[np.int64],
        grid: Numbers,
    ) -> Numbers:
        """Mutual information of the answers to ``questions`` and an event [rows, questions].

        Args:
            posterior: over components [rows, components].
            indicators: which components belong to which event [events, components].
            questions: their indices.
            grid: answers for quadrature.
        """
        # [rows * events, components]
        by_event = (posterior[:, None] * indicators).reshape(-1, indicators.shape[1])
        information = np.empty((len(posterior), len(questions)))
        for column, question in enumerate(questions):
            parameters, index = self._answer_distributions[question]
            joint = by_event @ np.eye(len(parameters))[index]  # [rows * events, distributions]
            if len(self.questions[question][1]) == 1:
                joint = joint @ _grid_probabilities(grid, parameters)
            joint = joint.reshape(len(posterior), len(indicators), -1)
            information[:, column] = _mutual_information_of(joint)
        return information

    @cached_property
    def _answer_distributions(self) -> list[tuple[Numbers, NDArray[np.intp]]]:
        """By question: its distinct (means, sds), and the index of those of each component."""
        distributions = []
        for _, variables in self.questions:
            parameters = np.concatenate(
                [self.mixture.mean[:, variables], self.mixture.sd[:, variables]], axis=1
            )
            distinct, index = np.unique(parameters, axis=0, return_inverse=True)
            distributions.append((distinct, index.reshape(-1)))
        return distributions

    @cached_property
    def _class_indicators(self) -> Numbers:
        """Which components belong to which class [classes, components]."""
        classes = np.arange(self.mixture.n_classes)[:, None]
        return np.asarray(classes == self.mixture.classes, dtype=np.float64)

    def _class_log_probabilities(self, log_posterior: Numbers) -> Numbers:
        """Log probabilities of the classes [rows, classes]."""
        return np.log(np.maximum(np.exp(log_posterior) @ self._class_indicators.T, TINY))

    def _log_likelihood(self, rows: Numbers) -> Numbers:
        """Log likelihood of each answer under each component [rows, questions, components]."""
        mean, sd = self.mixture.mean.T, self.mixture.sd.T
        standardised = (rows[:, :, None] - mean) / sd  # [rows, variables, components]
        by_variable = -0.5 * np.square(standardised) - np.log(sd)
        by_question = [by_variable[:, list(variables)].sum(1) for _, variables in self.questions]
        return np.stack(by_question, axis=1)


def _grid_probabilities(grid: Numbers, parameters: Numbers) -> Numbers:
    """Probabilities of the grid points [distributions, points] from (mean, sd) [distributions, 2]."""
    mean, sd = parameters[:, :1], parameters[:, 1:]
    density = np.exp(-0.5 * np.square((grid - mean) / sd))
    return np.asarray(density / density.sum(1, keepdims=True))


def _mutual_information_of(joint: Numbers) -> Numbers:
    """Mutual information of the last two axes of joint probabilities."""
    joint_entropy = _entropy(joint.reshape(len(joint), -1))
    return _entropy(joint.sum(-1)) + _entropy(joint.sum(-2)) - joint_entropy


def _entropy(probabilities: Numbers) -> Numbers:
    return np.asarray(-(probabilities * np.log(np.maximum(probabilities, TINY))).sum(-1))

"""What nobody can beat by much: the exact belief of a `World`, and the questions it would have asked.

The belief over hypotheses is exact. Greedy takes the question with the most information about the class.
The other looks one answer further: information of the question, and then, averaged over its answers, of
the best one after it. The optimum has no short form; two steps are enough where one opens the next.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eddi.evaluate.curves import Curves
from eddi_benchmarks.data.synthetic import TARGET, World
from eddi_benchmarks.decisions.peers import level_beliefs

Numbers = NDArray[np.float64]

FINE = np.linspace(-0.6, 1.6, 89)  # answers at which densities are weighed; four to a sharp sd
COARSE = np.linspace(-0.6, 1.6, 34)  # the same for what is only supposed; three to two sharp sds
N_CANDIDATES = 12  # questions looked behind: those that tell most about the hypothesis
LATER = 0.95  # what comes later is worth a little less, so that of two orders the quicker is taken
NOTHING = 1e-4  # nats: what tells less of the hypothesis, or of a class, is not worth a look
LEAST = 1e-300


@dataclass(frozen=True)
class Exact:
    """The exact chooser of a world."""

    world: World

    @cached_property
    def questions(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Names and variables, groups first, as a schema has them."""
        place = {name: at for at, name in enumerate(self.world.names)}
        groups = [
            (name, tuple(place[each] for each in some)) for name, some in self.world.groups.items()
        ]
        taken = {at for _, some in groups for at in some}
        return (*groups, *((name, (at,)) for name, at in place.items() if at not in taken))

    def interview(
        self, rows: Numbers, classes: NDArray[np.int64], n_steps: int, *, ahead: bool
    ) -> Curves:
        """Ask each row [rows, variables]; how the belief in its class went."""
        likely = self._log_likelihood(rows)  # [rows, questions, hypotheses]
        belief = np.full((len(rows), len(self.world.classes)), -np.log(len(self.world.classes)))
        asked = np.zeros((len(rows), len(self.questions)), dtype=bool)
        beliefs, order = [self._classes(belief)], []
        for _ in range(n_steps):
            chosen = self._chosen(np.exp(belief), asked, ahead=ahead)
            asked[np.arange(len(rows)), chosen] = True
            belief = belief + likely[np.arange(len(rows)), chosen]
            belief -= np.logaddexp.reduce(belief, axis=1, keepdims=True)
            beliefs.append(self._classes(belief))
            order.append(chosen)
        asked_at = np.stack(order, axis=1)
        return Curves(
            target=TARGET,
            questions=tuple(name for name, _ in self.questions),
            levels=tuple(range(self.world.n_classes)),
            truth=classes.astype(np.float64),
            order=asked_at,
            spent=np.tile(np.arange(n_steps + 1.0), (len(rows), 1)),
            **level_beliefs(np.stack(beliefs, axis=1), classes),
        )

    def information(self, weights: Numbers) -> Numbers:
        """Nats that each question tells about the class [rows, questions], by beliefs of rows."""
        return self._about(weights, self._of_classes, np.arange(len(self.questions)), FINE)

    def _chosen(self, weights: Numbers, asked: NDArray[np.bool_], *, ahead: bool) -> NDArray[np.int64]:
        """The best open question of each row."""
        now = np.where(asked, -np.inf, self.information(weights))
        chosen = np.asarray(now.argmax(1))
        known: dict[bytes, int] = {}  # rows that know as much choose alike
        for row in range(len(weights) if ahead else 0):
            key = weights[row].round(12).tobytes() + asked[row].tobytes()
            if key not in known:
                known[key] = self._two_ahead(weights[row], now[row])
            chosen[row] = known[key]
        return chosen

    def _two_ahead(self, weight: Numbers, now: Numbers) -> int:
        """The question with the most information, its own and of the best one after it.

        Args:
            weight: the belief [hypotheses].
            now: what each question tells of the class [questions]; minus infinity where it is closed.
        """
        everything = np.arange(len(now))
        whole = self._about(weight[None], np.eye(len(weight)), everything, FINE)[0]
        tell = everything[(whole > NOTHING) & (now > -np.inf)]
        if not len(tell) or 1 - (self._of_classes @ weight).max() < NOTHING:
            return int(now.argmax())
        scores = {}
        for place in tell[np.argsort(-whole[tell])][:N_CANDIDATES]:
            chance, after = self._answers(weight, int(place))  # [answers], [answers, hypotheses]
            then = self._about(after, self._of_classes, tell[tell != place], COARSE)
            scores[int(place)] = now[place] + LATER * chance @ then.max(1, initial=0.0)
        return max(scores, key=lambda place: scores[place])

    def _answers(self, weight: Numbers, question: int) -> tuple[Numbers, Numbers]:
        """Answers that may come: how likely each is, and the belief after it."""
        kinds, which = self._kinds[question]
        if len(self.questions[question][1]) > 1:  # sharp enough to be told apart for sure
            joint = weight * (which == np.arange(len(kinds))[:, None])
        else:
            joint = weight * _shares(COARSE, kinds)[which].T
        chance = joint.sum(1)
        joint, chance = joint[chance > NOTHING], chance[chance > NOTHING]
        return chance / chance.sum(), joint / chance[:, None]

    def _about(
        self, weights: Numbers, parts: Numbers, some: NDArray[np.int64], points: Numbers
    ) -> Numbers:
        """Mutual information of ``some`` questions' answers and a part of the hypothesis.

        Args:
            weights: beliefs [rows, hypotheses].
            parts: which hypotheses each part holds [parts, hypotheses].
            some: places of questions.
            points: the answers at which densities are weighed.
        """
        by_part = (weights[:, None] * parts).reshape(-1, parts.shape[1])  # [rows * parts, hypotheses]
        found = np.empty((len(weights), len(some)))
        for column, place in enumerate(some):
            kinds, which = self._kinds[place]
            joint = by_part @ np.eye(len(kinds))[which]  # [rows * parts, kinds]
            if len(self.questions[place][1]) == 1:
                joint = joint @ _shares(points, kinds)
            found[:, column] = _mutual(joint.reshape(len(weights), len(parts), -1))
        return found

    @cached_property
    def _kinds(self) -> list[tuple[Numbers, NDArray[np.intp]]]:
        """By question: the different (mean, sd) it may have, and which each hypothesis gives it."""
        found = []
        for _, variables in self.questions:
            facts = np.concatenate([self.world.mean[:, variables], self.world.sd[:, variables]], axis=1)
            kinds, which = np.unique(facts, axis=0, return_inverse=True)
            found.append((kinds, which.reshape(-1)))
        return found

    @cached_property
    def _of_classes(self) -> Numbers:
        return np.asarray(
            np.arange(self.world.n_classes)[:, None] == self.world.classes, dtype=np.float64
        )

    def _classes(self, belief: Numbers) -> Numbers:
        """Log probabilities of the classes [rows, classes]."""
        return np.log(np.maximum(np.exp(belief) @ self._of_classes.T, LEAST))

    def _log_likelihood(self, rows: Numbers) -> Numbers:
        """Of each question's answer under each hypothesis [rows, questions, hypotheses]."""
        away = (rows[:, :, None] - self.world.mean.T) / self.world.sd.T  # [rows, variables, hypotheses]
        each = -0.5 * np.square(away) - np.log(self.world.sd.T)
        return np.stack([each[:, list(some)].sum(1) for _, some in self.questions], axis=1)


def _shares(points: Numbers, kinds: Numbers) -> Numbers:
    """How likely an answer is to fall to each point [kinds, points], from means and sds [kinds, 2]."""
    mean, sd = kinds[:, :1], kinds[:, 1:]
    density = np.exp(-0.5 * np.square((points - mean) / sd))
    return np.asarray(density / density.sum(1, keepdims=True))


def _mutual(joint: Numbers) -> Numbers:
    """Mutual information of the last two axes of a table of probabilities."""
    both = _entropy(joint.reshape(len(joint), -1))
    return _entropy(joint.sum(-1)) + _entropy(joint.sum(-2)) - both


def _entropy(chances: Numbers) -> Numbers:
    return np.asarray(-(chances * np.log(np.maximum(chances, LEAST))).sum(-1))

"""Sentences about how answers changed a prediction. Verbs differ by language, so each is complete."""

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from eddi.model.prediction import Prediction
from eddi.service.errors import N_
from eddi.service.web.formatting import format_number, format_probability
from eddi.service.web.languages.language import ENGLISH, Language
from eddi.service.web.texts import PLAIN, Texts
from eddi.service.web.wording import coverage_percent, uncertainty

Numbers = NDArray[np.float64]

MIN_CHANGE = 0.005  # of a relative width or a probability; a smaller change is not mentioned
LIKELIHOODS = (  # the lowest probability that a word stands for
    *((0.9, N_("very likely")), (0.66, N_("likely")), (0.33, N_("possible")), (0.1, N_("unlikely"))),
    (0.0, N_("very unlikely")),
)


class Cause(Enum):
    """What changed a prediction: the subject of a sentence about the change."""

    LAST_ANSWER = "Your last answer"
    ONE_ANSWER = "Your answer"
    ALL_ANSWERS = "Your answers"
    AN_ANSWER = "The answer"


@dataclass(frozen=True)
class ChangeSentences:
    """The sentences about a change by one cause."""

    same_width: str
    narrowed: str
    widened: str
    same_probability: str
    raised: str
    lowered: str


CHANGE_SENTENCES = {
    Cause.LAST_ANSWER: ChangeSentences(
        N_("Your last answer did not change the width of the %(percent)s range."),
        N_("Your last answer narrowed the %(percent)s range from %(old)s to %(new)s."),
        N_("Your last answer widened the %(percent)s range from %(old)s to %(new)s."),
        N_("Your last answer did not change the probability of “%(level)s”."),
        N_("Your last answer raised the probability of “%(level)s” from %(old)s to %(new)s."),
        N_("Your last answer lowered the probability of “%(level)s” from %(old)s to %(new)s."),
    ),
    Cause.ONE_ANSWER: ChangeSentences(
        N_("Your answer did not change the width of the %(percent)s range."),
        N_("Your answer narrowed the %(percent)s range from %(old)s to %(new)s."),
        N_("Your answer widened the %(percent)s range from %(old)s to %(new)s."),
        N_("Your answer did not change the probability of “%(level)s”."),
        N_("Your answer raised the probability of “%(level)s” from %(old)s to %(new)s."),
        N_("Your answer lowered the probability of “%(level)s” from %(old)s to %(new)s."),
    ),
    Cause.ALL_ANSWERS: ChangeSentences(
        N_("Your answers did not change the width of the %(percent)s range."),
        N_("Your answers narrowed the %(percent)s range from %(old)s to %(new)s."),
        N_("Your answers widened the %(percent)s range from %(old)s to %(new)s."),
        N_("Your answers did not change the probability of “%(level)s”."),
        N_("Your answers raised the probability of “%(level)s” from %(old)s to %(new)s."),
        N_("Your answers lowered the probability of “%(level)s” from %(old)s to %(new)s."),
    ),
    Cause.AN_ANSWER: ChangeSentences(
        N_("The answer did not change the width of the %(percent)s range."),
        N_("The answer narrowed the %(percent)s range from %(old)s to %(new)s."),
        N_("The answer widened the %(percent)s range from %(old)s to %(new)s."),
        N_("The answer did not change the probability of “%(level)s”."),
        N_("The answer raised the probability of “%(level)s” from %(old)s to %(new)s."),
        N_("The answer lowered the probability of “%(level)s” from %(old)s to %(new)s."),
    ),
}


def describe_change(
    before: Prediction, after: Prediction, decimals: int = 0, *, cause: Cause, texts: Texts = PLAIN
) -> str:
    """Return how a prediction changed."""
    sentences = CHANGE_SENTENCES[cause]
    if before.probabilities is not None and after.probabilities is not None:
        return _describe_level_change(before.probabilities, after.probabilities, after, sentences, texts)
    language = texts.language
    old, new = uncertainty(before), uncertainty(after)
    values = {
        "percent": coverage_percent(language),
        "old": format_number(old, decimals, language),
        "new": format_number(new, decimals, language),
    }
    if abs(new - old) < MIN_CHANGE * old:
        return language.gettext(sentences.same_width, **values)
    if new < old:
        return language.gettext(sentences.narrowed, **values)
    surprise = language.gettext("A surprising answer can do that.")
    return f"{language.gettext(sentences.widened, **values)} {surprise}"


def describe_likelihood(probability: float, language: Language = ENGLISH) -> str:
    """Return a probability in words, such as "unlikely"."""
    return language.gettext(next(word for bound, word in LIKELIHOODS if probability >= bound))


def _describe_level_change(
    before: Numbers, after: Numbers, prediction: Prediction, sentences: ChangeSentences, texts: Texts
) -> str:
    """Return how the probability of the level that is most likely now has changed."""
    most_likely, earlier = int(after.argmax()), int(before.argmax())
    old, new = float(before[most_likely]), float(after[most_likely])
    variable, language = prediction.variable, texts.language
    level, earlier_level = (texts.level(variable, variable.levels[n]) for n in (most_likely, earlier))
    if abs(new - old) < MIN_CHANGE:
        return language.gettext(sentences.same_probability, level=level)
    old_text, new_text = (format_probability(probability, language) for probability in (old, new))
    old_word, new_word = (describe_likelihood(probability, language) for probability in (old, new))
    if old_word != new_word:
        old_text, new_text = f"{old_word} ({old_text})", f"{new_word} ({new_text})"
    pattern = sentences.raised if new > old else sentences.lowered
    sentence = language.gettext(pattern, level=level, old=old_text, new=new_text)
    if earlier == most_likely:
        return sentence
    reversal = language.gettext(
        "Our best guess changed from “%(earlier)s” to “%(level)s”.", earlier=earlier_level, level=level
    )
    return f"{sentence} {reversal}"

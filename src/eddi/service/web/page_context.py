"""What each page shows of an interview, as plain facts for its template."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from eddi.interview.explanation import explain
from eddi.interview.interview import Interview
from eddi.interview.record import Answer
from eddi.model.prediction import Prediction
from eddi.service.interviews import interview_analytics
from eddi.service.interviews.interview_service import Sitting
from eddi.service.web import svg, wording
from eddi.service.web.svg import Bar, Strip
from eddi.table.question import Question

PUT_OFF = "You put this question off until now, when nothing else is left to ask."
N_RIVALS = 5  # questions whose worth is shown beside that of the one that is asked
Facts = dict[str, Any]


@dataclass(frozen=True)
class Shown:
    """One belief in words and as a picture: a strip for a quantity, bars for levels."""

    words: wording.Belief
    strip: Strip | None
    bars: list[Bar]


@dataclass(frozen=True)
class Mover:
    """One answer and what it did."""

    said: wording.Said
    percent: float  # of the greatest move, half the picture's width at most
    moved: str
    told: str


def frame(sitting: Sitting, here: str) -> Facts:
    """What every page of an interview shows around itself."""
    return {
        "name": heading(sitting.interview.target),
        "key": sitting.key,
        "here": here,
        "n_answers": len(sitting.interview.record.answers),
        "version": sitting.version,
    }


def heading(target: tuple[str, ...]) -> str:
    """What a questionnaire about these targets is called."""
    return wording.sentence(" and ".join(target))


def shown(interview: Interview, name: str, course: list[Prediction]) -> Shown:
    """What is believed about ``name``, the last of ``course``."""
    now, decimals = course[-1], wording.decimals(course)
    words = wording.belief(now, decimals)
    if now.probabilities is not None:
        return Shown(words, None, svg.bars(now))
    strip = svg.strip(
        interview_analytics.draw_values(interview, name),
        now,
        course[0],
        scale=svg.Scale.of(course),
        decimals=decimals,
    )
    return Shown(words, strip, [])


def now(sitting: Sitting) -> Facts:
    """How sure we are now, beside a question."""
    interview = sitting.interview
    courses = {
        name: interview_analytics.predictions_over_time(interview, name) for name in interview.target
    }
    first = courses[interview.target[0]]
    decimals = wording.decimals(first)
    last = (
        wording.change(first[-2], first[-1], decimals, by="Your last answer") if len(first) > 1 else ""
    )
    return {
        "beliefs": [shown(interview, name, course) for name, course in courses.items()],
        "history": svg.steps(first, decimals=decimals),
        "last_change": last,
    }


def question(
    sitting: Sitting, asked: Question, heard: wording.Heard | None, *, aside: set[str]
) -> Facts:
    """A question to be answered now."""
    interview = sitting.interview
    n_told = len(interview.record.answers)
    fields = wording.fields(
        asked, interview.model.schema, known=interview.record.answered_variables(), heard=heard
    )
    return {
        **frame(sitting, "question"),
        **now(sitting),
        **_form(asked, fields),
        "title": f"Question {n_told + 1}: {asked.text}",
        "eyebrow": f"Question {n_told + 1}",
        "action": f"/i/{sitting.key}",
        "changing": False,
        "can_wait": bool(set(sitting.rewards) - {asked.name}),
        "back": f"/i/{sitting.key}/change/{n_told}" if n_told else "",
        "notice": PUT_OFF if asked.name in aside else "",
    }


def change(sitting: Sitting, place: int, heard: wording.Heard | None = None) -> Facts:
    """An answered question, to be answered otherwise; ``place`` counts from 1."""
    interview = sitting.interview
    answer = interview.record.answers[place - 1]
    asked = question_of(interview, answer)
    heard = wording.remembered(answer) if heard is None else heard
    known = elsewhere(interview, answer)
    return {
        **frame(sitting, "answers"),
        **now(sitting),
        **_form(asked, wording.fields(asked, interview.model.schema, known=known, heard=heard)),
        "title": f"Change: {asked.text}",
        "eyebrow": f"Your answer {place} of {len(interview.record.answers)}",
        "action": f"/i/{sitting.key}/change/{place}",
        "changing": True,
        "can_wait": False,
        "back": f"/i/{sitting.key}/change/{place - 1}" if place > 1 else "",
        "notice": f"You said: {wording.said(answer, interview.model.schema)}. Your other answers stay.",
        "left": "",
    }


def _form(asked: Question, fields: list[wording.Field]) -> Facts:
    return {"question": asked, "fields": fields, "n_errors": sum(bool(one.error) for one in fields)}


def question_of(interview: Interview, answer: Answer) -> Question:
    """The question an answer belongs to; a variable told by its own name is a question of its own."""
    for one in interview.model.schema.questions:
        if one.name == answer.question:
            return one
    return Question(answer.question, (answer.question,))


def elsewhere(interview: Interview, answer: Answer) -> set[str]:
    """Variables that other answers than this one told."""
    others = (one for one in interview.record.answers if one is not answer)
    return {name for one in others for name in one.values} - set(answer.values) - set(answer.without)


def why(sitting: Sitting, asked: Question) -> Facts:
    """Why this question is asked, and what else could be."""
    interview = sitting.interview
    explanation = explain(
        interview.model, interview.evidence(), interview.target, sitting.step, question=asked
    )
    assert explanation is not None  # noqa: S101  # there is a question
    decimals = wording.decimals([sitting.prediction])
    return {
        **frame(sitting, "question"),
        "title": f"Why: {asked.text}",
        "question": asked,
        "sentences": wording.why(explanation, interview.model.schema, decimals),
        "rivals": rivals(sitting, asked),
    }


def rivals(sitting: Sitting, asked: Question) -> list[Bar]:
    """What the best open questions are worth, the one that is asked among them."""
    texts = {one.name: one.text for one in sitting.interview.model.schema.questions}
    ranked = list(sitting.rewards.items())
    best = ranked[:N_RIVALS]
    if asked.name not in dict(best):
        best = [*best[: N_RIVALS - 1], (asked.name, sitting.rewards.get(asked.name, 0.0))]
    most = max((nats for _, nats in best), default=0.0)
    return [
        Bar(
            texts.get(name, name),
            round(100 * max(0.0, nats) / most, 1) if most > 0 else 0.0,
            wording.nats(nats),
            name == asked.name,
        )
        for name, nats in best
    ]


def answers(sitting: Sitting) -> Facts:
    """All answers, each with the way to change it."""
    schema = sitting.interview.model.schema
    told = [
        {"said": wording.said(answer, schema), "link": f"/i/{sitting.key}/change/{place}"}
        for place, answer in enumerate(sitting.interview.record.answers, start=1)
    ]
    return {
        **frame(sitting, "answers"),
        "title": "Your answers so far",
        "answers": told,
        "more": sitting.question is not None,
        "notice": "",
    }


def result(sitting: Sitting, *, link: str, today: str) -> Facts:
    """What was found out."""
    interview = sitting.interview
    courses = {
        name: interview_analytics.predictions_over_time(interview, name) for name in interview.target
    }
    first = courses[interview.target[0]]
    decimals = wording.decimals(first)
    ended = sitting.question is None
    by = "Your answer" if len(first) == 2 else "Your answers"
    return {
        **frame(sitting, "result"),
        "title": f"Result: {heading(interview.target)}",
        "eyebrow": "That is enough, thank you" if ended else "The result so far",
        "heading": "What we believe now",
        "beliefs": [shown(interview, name, course) for name, course in courses.items()],
        "change": wording.change(first[0], first[-1], decimals, by=by),
        "movers": movers(interview, first, decimals),
        "moved": _moved(first[-1]),
        "history": svg.steps(first, decimals=decimals),
        "link": link,
        "more": not ended,
        "today": today,
        "n_said": n_said(interview),
    }


def movers(interview: Interview, course: list[Prediction], decimals: int) -> list[Mover]:
    """Each answer and what it did, the greatest mover first."""
    found = interview_analytics.effects(interview, course)
    most = max((abs(effect.shift) for effect in found), default=0.0) or 1.0
    schema = interview.model.schema
    return [
        Mover(
            wording.said(effect.answer, schema),
            round(50 * effect.shift / most, 2),
            wording.shift_words(effect.shift, course[-1], decimals),
            wording.nats(effect.nats),
        )
        for effect in found
    ]


def _moved(belief: Prediction) -> str:
    if belief.probabilities is None:
        return f"the estimate of {belief.variable.name}"
    level = wording.level_words(belief.variable.levels[int(belief.probabilities.argmax())])
    return f"the probability of “{level}”"


def n_said(interview: Interview) -> str:
    """How many answers there are, in words."""
    n = len(interview.record.answers)
    return {0: "no answers", 1: "one answer"}.get(n, f"{n} answers")


def message(heading: str, sentences: list[str], *, where: str, way: str) -> Mapping[str, Any]:
    """A page that only says something, and where to go from there."""
    return {
        "name": "Questionnaire",
        "key": "",
        "here": "",
        "title": heading,
        "heading": heading,
        "sentences": sentences,
        "where": where,
        "way": way,
    }

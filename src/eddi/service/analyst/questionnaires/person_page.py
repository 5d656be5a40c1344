"""The page of one person: answers, what the model predicts, and the outcome."""

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from fastapi import APIRouter, Request, Response

from eddi.errors import AnswerError, OutOfRangeError
from eddi.interview.record import Answer, NoAnswer
from eddi.model.prediction import Prediction
from eddi.service.analyst.accounts.activity import AUTHORS
from eddi.service.analyst.models.published_questionnaire import PublishedQuestionnaire
from eddi.service.analyst.pages.layout import Form, Layout, redirect
from eddi.service.analyst.pages.page_context import Context, format_time
from eddi.service.analyst.questionnaires.collected_answers import Person, find_person
from eddi.service.analyst.questionnaires.outcome_records import OutcomeRecords
from eddi.service.analyst.workshop import Workshop
from eddi.service.errors import N_, QuestionnaireMissingError
from eddi.service.interviews.history import History
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.web.api_keys import get_author
from eddi.service.web.formatting import format_probability, format_value
from eddi.service.web.languages.current import current_language, gettext, localize
from eddi.service.web.languages.messages import describe_error
from eddi.service.web.texts import Texts
from eddi.table.variable import Level, Variable

N_LEVELS_SHOWN = 3  # of a prediction, most likely first
NO_ANSWER = {NoAnswer.UNKNOWN: N_("not known"), NoAnswer.DECLINED: N_("declined")}


def add(routes: APIRouter, layout: Layout, workshop: Workshop, service: InterviewService) -> None:
    """Add the routes of this page."""
    pages = PersonPages(layout, workshop, service)
    address = "/questionnaires/{name}/answers/{person}"
    routes.add_api_route(address, pages.show, methods=["GET"])
    routes.add_api_route(f"{address}/outcome", pages.record, methods=["POST"])


class PersonPages:
    """Shows the answers of a person, and records the outcome."""

    def __init__(self, layout: Layout, workshop: Workshop, service: InterviewService) -> None:
        self.layout, self.workshop, self.service = layout, workshop, service
        self.records = OutcomeRecords(workshop)

    def show(self, request: Request, name: str, person: str) -> Response:
        """The answers of a person, and the form of the outcome."""
        return self._page(request, name, person)

    def record(self, request: Request, name: str, person: str, form: Form) -> Response:
        """Record the outcome. If a value is not valid, show the page with the error."""
        self.layout.forms.check(request, form)
        by = get_author(request)
        item = self.workshop.publisher.get_for_editor(name, by)
        _, found = find_person(self.service.store, item, person)
        cells = {target: form.get(_field(target), "").strip() for target in found.record.target}
        values = {target: cell for target, cell in cells.items() if cell}
        try:
            confirm = bool(form.get("confirm"))
            self.records.record(name, person, values, by=by, confirm=confirm)
        except AnswerError as error:
            return self._page(request, name, person, cells=cells, error=error)
        return redirect(_address(item, person))

    def _page(
        self,
        request: Request,
        name: str,
        person: str,
        *,
        cells: Mapping[str, str] | None = None,
        error: AnswerError | None = None,
    ) -> Response:
        item = self.workshop.publisher.get_for_editor(name, get_author(request))
        key, found = find_person(self.service.store, item, person)
        history, texts = self._read_history(key), Texts(item.settings)
        context = {
            "section": "home",
            "title": gettext("Person %(name)s", name=person),
            "questionnaire_name": item.name,
            "address": _address(item, person),
            "person": found.name,
            "facts": _describe_person(found),
            "answers": [] if history is None else _describe_answers(history, texts),
            "predictions": [] if history is None else _describe_predictions(history, texts),
            "targets": [] if history is None else _list_targets(history, found, texts, cells),
            "outcome_text": self._describe_outcome(found),
            "needs_confirmation": isinstance(error, OutOfRangeError),
            "error": "" if error is None else _describe_error(error),
        }
        return self.layout.page(request, "person.html", context, status=422 if error else 200)

    def _read_history(self, key: str) -> History | None:
        """The history of an interview; None if its model is not available any more."""
        try:
            return self.service.histories.read(key)
        except QuestionnaireMissingError:
            return None

    def _describe_outcome(self, person: Person) -> str:
        if person.outcome is None:
            return ""
        by, when = person.outcome.by, format_time(person.outcome.at)
        label = self.workshop.publisher.permissions.label
        author = gettext(AUTHORS[by]) if by in AUTHORS else label(by)
        return gettext("Recorded %(when)s by %(author)s.", when=when, author=author)


def _describe_person(person: Person) -> list[tuple[str, str]]:
    return [
        (gettext("Began"), format_time(person.began_at)),
        (gettext("Last change"), format_time(person.ended_at)),
        (gettext("Interview"), gettext("finished") if person.is_finished else gettext("not finished")),
        (gettext("Version"), f"{person.version}"),
    ]


def _describe_answers(history: History, texts: Texts) -> list[tuple[str, str]]:
    """Question and answer, in the order of the interview."""
    schema = history.questionnaire.model.schema
    questions = {question.name: question for question in schema.questions}
    return [
        (
            texts.question(questions[answer.question])
            if answer.question in questions
            else answer.question,
            _describe_answer(answer, history, texts),
        )
        for answer in history.record.answers
    ]


def _describe_answer(answer: Answer, history: History, texts: Texts) -> str:
    schema = history.questionnaire.model.schema
    known = {name: _describe_value(schema[name], value, texts) for name, value in answer.values.items()}
    missing = {name: gettext(NO_ANSWER[reason]) for name, reason in answer.without.items()}
    cells = known | missing
    if len(cells) == 1:
        return next(iter(cells.values()))
    return "; ".join(f"{texts.title(schema[name])}: {text}" for name, text in cells.items())


def _describe_value(variable: Variable, value: Level, texts: Texts) -> str:
    if variable.kind.has_levels:
        return texts.level(variable, value)
    return f"{format_value(value, current_language())} {texts.unit(variable)}".strip()


def _describe_predictions(history: History, texts: Texts) -> list[tuple[str, str]]:
    """What the model predicts after these answers, by target."""
    interview = history.interview()
    predictions = interview.model.predict_evidence(interview.evidence(), interview.target)
    return [
        (texts.title(prediction.variable), describe_prediction(prediction[0], texts))
        for prediction in predictions.values()
    ]


def describe_prediction(prediction: Prediction, texts: Texts) -> str:
    """The prediction for one row: the most likely levels, or the mean and the 90% interval."""
    variable = prediction.variable
    if prediction.probabilities is None:
        low, high = prediction.interval.tolist()
        mean = localize(f"{float(prediction.mean):.4g}")
        return gettext(
            "%(mean)s, 90%% interval %(low)s to %(high)s",
            mean=f"{mean} {texts.unit(variable)}".strip(),
            low=localize(f"{low:.4g}"),
            high=localize(f"{high:.4g}"),
        )
    shares = zip(variable.levels, prediction.probabilities.tolist(), strict=True)
    best = sorted(shares, key=lambda pair: -pair[1])[:N_LEVELS_SHOWN]
    return ", ".join(
        f"{texts.level(variable, level)} {format_probability(p, current_language())}"
        for level, p in best
    )


def _list_targets(
    history: History, person: Person, texts: Texts, cells: Mapping[str, str] | None
) -> list[Context]:
    """The fields of the form of the outcome."""
    schema = history.questionnaire.model.schema
    known = {} if person.outcome is None else person.outcome.values
    fields = []
    for name in history.record.target:
        variable = schema[name]
        value = format_value(known[name]) if name in known else ""
        fields.append(
            {
                "field": _field(name),
                "title": texts.title(variable),
                "unit": variable.unit,
                "levels": _list_levels(variable, texts),
                "value": value if cells is None else cells[name],
            }
        )
    return fields


def _list_levels(variable: Variable, texts: Texts) -> Sequence[tuple[str, str]]:
    return [(format_value(level), texts.level(variable, level)) for level in variable.levels]


def _describe_error(error: AnswerError) -> str:
    if isinstance(error, OutOfRangeError):
        return gettext(
            "This value is outside the usual range. Check it, and confirm it if it is correct."
        )
    return describe_error(error)[:300]


def _field(target: str) -> str:
    return f"value {target}"


def _address(item: PublishedQuestionnaire, person: str) -> str:
    return f"/analyst/questionnaires/{quote(item.name)}/answers/{quote(person)}"

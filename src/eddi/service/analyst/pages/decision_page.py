"""The decision viewer: the interview with a held-out row, step by step, and what-if analyses."""

from collections.abc import Mapping

from fastapi import APIRouter, Request, Response

from eddi.service.analyst.models.decision_path import DecisionPath
from eddi.service.analyst.models.model_viewer import ModelViewer, RowNotFoundError
from eddi.service.analyst.models.trained_model import TrainedModel
from eddi.service.analyst.pages import decision_context
from eddi.service.analyst.pages.decision_context import TargetPrediction
from eddi.service.analyst.pages.layout import Layout, redirect
from eddi.service.analyst.pages.page_context import Context, analyst_texts, model_context
from eddi.service.web import wording
from eddi.service.web.answer_form import NONE, FormInput, build_fields, parse_form
from eddi.service.web.languages.current import current_language, format_integer, gettext

N_WHAT_IF_REWARDS = 5
MAX_DIGITS = 9


def add(routes: APIRouter, layout: Layout, viewer: ModelViewer) -> None:
    """Add the routes of this page."""
    pages = DecisionPages(layout, viewer)
    routes.add_api_route("/models/{digest}/decisions", pages.choose, methods=["GET"])
    routes.add_api_route("/models/{digest}/decisions/{row}", pages.show, methods=["GET"])


class DecisionPages:
    """Shows one step of the interview with one row."""

    def __init__(self, layout: Layout, viewer: ModelViewer) -> None:
        self.layout, self.viewer = layout, viewer

    def choose(self, request: Request, digest: str) -> Response:
        """Redirect to the held-out row with the requested number, or to the next one after it."""
        model = self.viewer.models.get_model(digest)
        if not model.held_out:
            raise RowNotFoundError("no rows were held out from this model, so there are none to show.")
        requested = parse_integer(request.query_params.get("row", ""), default=1) - 1
        later = [row for row in model.held_out if row >= requested]
        row = (later or model.held_out)[0]
        return redirect(f"/analyst/models/{digest}/decisions/{row + 1}")

    def show(self, request: Request, digest: str, row: str) -> Response:
        """One step of the interview with a row, and the effect of a different answer."""
        loaded = self.viewer.load(digest)
        position = parse_integer(row, default=0) - 1
        path = self.viewer.decision_path(loaded, position)
        query = request.query_params
        step = min(parse_integer(query.get("step", ""), default=0), path.n_steps)
        context = {
            **model_context(loaded.origin, "decisions"),
            **_row_context(loaded.origin, position),
            **_step_context(path, step),
            "what_if": _what_if_context(path, step, query),
            "title": gettext("Decisions for row %(row)s", row=position + 1),
        }
        return self.layout.page(request, "decision.html", context)


def parse_integer(text: str, *, default: int) -> int:
    """A non-negative integer from an address; ``default`` if the text is not one."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS else default


def _row_context(model: TrainedModel, row: int) -> Context:
    """The number of a row, and links to the held-out rows before and after it."""
    index = model.held_out.index(row)
    last = len(model.held_out) - 1
    base = f"/analyst/models/{model.digest}/decisions"
    return {
        "row": row + 1,
        "row_count": gettext(
            "Held-out row %(number)s of %(all)s.",
            number=format_integer(index + 1),
            all=format_integer(last + 1),
        ),
        "base": f"{base}/{row + 1}",
        "previous": f"{base}/{model.held_out[index - 1] + 1}" if index else "",
        "next": f"{base}/{model.held_out[index + 1] + 1}" if index < last else "",
    }


def _step_context(path: DecisionPath, step: int) -> Context:
    """The state after ``step`` answers, and the effect of the next answer."""
    view = decision_context
    is_over = step == path.n_steps
    n_answers = step if is_over else step + 1  # in the list of answers
    answers = [path.answer(n) for n in range(n_answers)]
    rewards = [] if is_over else view.list_rewards(path, step)
    decimals = wording.count_decimals(path.predictions)
    return {
        "step": step,
        "n_steps": path.n_steps,
        "steps": [path.question(n).text for n in range(path.n_steps)],
        "is_over": is_over,
        "is_per_cost": path.is_per_cost,
        "is_truncated": path.is_truncated,
        "question": None if is_over else path.question(step),
        "rewards": rewards[: view.N_REWARDS_SHOWN],
        "more_rewards": rewards[view.N_REWARDS_SHOWN :],
        "answer": "" if is_over else view.format_answer(path, answers[-1]),
        "effect": [] if is_over else view.describe_effect(path, step),
        "truth": view.format_truth(path),
        "comparison": view.compare_predictions(path, _before_and_after(path, step, is_over=is_over)),
        "prediction": wording.describe_prediction(
            path.predictions[n_answers], decimals, analyst_texts()
        ),
        "history": view.history_chart(path, n_answers) if path.n_steps else None,
        "answers": [
            (path.question(n).text, view.format_answer(path, answer)) for n, answer in enumerate(answers)
        ],
    }


def _before_and_after(path: DecisionPath, step: int, *, is_over: bool) -> list[TargetPrediction]:
    """The predictions before and after an answer, or at the beginning and the end of the interview."""
    earlier, later = (0, step) if is_over else (step, step + 1)
    before_name = gettext("before any answer") if earlier == 0 else gettext("before the answer")
    after_name = gettext("at the end") if is_over else gettext("after the answer")
    before = _prediction_at(path, earlier, "before", before_name)
    return [before] if earlier == later else [before, _prediction_at(path, later, "after", after_name)]


def _prediction_at(path: DecisionPath, step: int, style: str, name: str) -> TargetPrediction:
    return TargetPrediction(style, name, path.evidence[[step]], path.predictions[step])


def _what_if_context(path: DecisionPath, step: int, query: Mapping[str, str]) -> Context | None:
    """The form that changes one answer, and the effect of the change; None if no answer was chosen."""
    n_answers = min(step + 1, path.n_steps)
    number = parse_integer(query.get("change", ""), default=0)
    if not 1 <= number <= n_answers:
        return None
    question, answer = path.question(number - 1), path.answer(number - 1)
    schema = path.model.schema
    answered_before = [
        name for name in question.reveals if name not in {*answer.values, *answer.without}
    ]
    is_submitted = any(key.startswith("v") for key in query) or not {"act", NONE}.isdisjoint(query)
    form_input = (
        parse_form(question, schema, query, answered=answered_before, language=current_language())
        if is_submitted
        else FormInput.from_answer(answer, schema, current_language())
    )
    is_valid = is_submitted and not form_input.errors
    return {
        "number": number,
        "question": question,
        "fields": build_fields(
            question,
            schema,
            answered=answered_before,
            form_input=form_input,
            texts=analyst_texts(),
        ),
        "result": _what_if_result(path, n_answers, number, form_input) if is_valid else None,
    }


def _what_if_result(path: DecisionPath, n_answers: int, number: int, form_input: FormInput) -> Context:
    """The prediction and the next question after ``n_answers`` answers, if one had been different."""
    view = decision_context
    evidence = path.what_if_evidence(n_answers, view.answer_numbers(path, form_input))
    prediction = path.model.predict_evidence(evidence, (path.target,))[path.target][0]
    actual = path.predictions[n_answers]
    actual_rewards, rewards = path.rewards(n_answers), path.rewards_given(evidence, n_answers)
    chosen = path.question_given(evidence, n_answers)
    decimals = wording.count_decimals([prediction, actual])
    compared = [
        _prediction_at(path, n_answers, "after", gettext("actual answer")),
        TargetPrediction("what-if", gettext("different answer"), evidence, prediction),
    ]
    texts = {question.name: question.text for question in path.model.schema.questions}
    return {
        "answer": view.format_answer(path, view.to_answer(path.question(number - 1), form_input)),
        "actual_answer": view.format_answer(path, path.answer(number - 1)),
        "comparison": view.compare_predictions(path, compared),
        "prediction": wording.describe_prediction(prediction, decimals, analyst_texts()),
        "actual_prediction": wording.describe_prediction(actual, decimals, analyst_texts()),
        "next": "" if chosen is None else texts[chosen],
        "actual_next": path.question(n_answers).text if n_answers < path.n_steps else "",
        "rewards": view.list_what_if_rewards(rewards, texts, actual_rewards, chosen=chosen)[
            :N_WHAT_IF_REWARDS
        ],
    }

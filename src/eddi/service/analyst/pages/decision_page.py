"""The decision viewer: what each question was worth to a held-out row, and what if it had said else."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response

from eddi.service.analyst.decision import Trail
from eddi.service.analyst.model_viewer import Exhibits, RowNotFoundError, about
from eddi.service.analyst.pages import decision_context
from eddi.service.analyst.pages.layout import Frame, see
from eddi.service.analyst.trained_model import Made
from eddi.service.web import wording
from eddi.service.web.answer_form import FormInput, build_fields, parse_form

N_RIVALS = 5  # questions whose worth is shown, had the row said something else
MAX_DIGITS = 9

Facts = dict[str, Any]


def add(routes: APIRouter, frame: Frame, exhibits: Exhibits) -> None:
    """Add the routes of this page."""
    pages = DecisionPages(frame, exhibits)
    routes.add_api_route("/models/{seal}/decisions", pages.choose, methods=["GET"])
    routes.add_api_route("/models/{seal}/decisions/{row}", pages.show, methods=["GET"])


class DecisionPages:
    """Shows one step of the interview with one row."""

    def __init__(self, frame: Frame, exhibits: Exhibits) -> None:
        self.frame, self.exhibits = frame, exhibits

    def choose(self, request: Request, seal: str) -> Response:
        """Go to a row: the one whose number was typed, or the next one that was held out."""
        made = self.exhibits.made(seal)
        if not made.held_out:
            raise RowNotFoundError("no rows were held out from this model, so that none can be shown.")
        wanted = whole(request.query_params.get("row", ""), default=1) - 1
        later = [number for number in made.held_out if number >= wanted]
        return see(f"/analyst/models/{seal}/decisions/{(later or made.held_out)[0] + 1}")

    def show(self, request: Request, seal: str, row: str) -> Response:
        """One step of the interview with a row, and what another answer would have changed."""
        exhibit = self.exhibits.get(seal)
        number = whole(row, default=0) - 1
        trail = self.exhibits.trail(exhibit, number)
        query = request.query_params
        step = min(whole(query.get("step", ""), default=0), trail.n_steps)
        shown = {
            **about(exhibit.made, "decisions"),
            **_neighbours(exhibit.made, number),
            **_step(trail, step),
            "what_if": _what_if(trail, step, query),
            "title": f"Decisions: row {number + 1}",
        }
        return self.frame.page(request, "decision.html", shown)


def whole(text: str, *, default: int) -> int:
    """A whole number from an address; ``default`` where it is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS else default


def _neighbours(made: Made, number: int) -> Facts:
    place = made.held_out.index(number)
    base = f"/analyst/models/{made.seal}/decisions"
    return {
        "row": number + 1,
        "place": f"{place + 1:,} of {len(made.held_out):,} held out",
        "base": f"{base}/{number + 1}",
        "earlier": f"{base}/{made.held_out[place - 1] + 1}" if place else "",
        "later": f"{base}/{made.held_out[place + 1] + 1}" if place + 1 < len(made.held_out) else "",
    }


def _step(trail: Trail, step: int) -> Facts:
    """How things stood after ``step`` answers, and what the next one did."""
    ended = step == trail.n_steps
    last = step if ended else step + 1  # the answers that are listed
    told = [trail.answer(place) for place in range(last)]
    shown = decision_context
    worths = [] if ended else shown.worths(trail, step)
    return {
        "step": step,
        "n_steps": trail.n_steps,
        "steps": [trail.question(place).text for place in range(trail.n_steps)],
        "ended": ended,
        "goes_on": trail.goes_on,
        "question": None if ended else trail.question(step),
        "worths": worths[: shown.N_SHOWN],
        "more_worths": worths[shown.N_SHOWN :],
        "said": "" if ended else shown.said(trail, told[-1]),
        "verdict": [] if ended else shown.verdict(trail, step),
        "truth": shown.truth_words(trail),
        "moved": shown.moved(trail, _before_after(trail, step, ended=ended)),
        "belief": wording.describe_prediction(
            trail.beliefs[last], wording.count_decimals(trail.beliefs)
        ),
        "course": shown.course(trail, last) if trail.n_steps else None,
        "told": [(trail.question(n).text, shown.said(trail, one)) for n, one in enumerate(told)],
    }


def _before_after(trail: Trail, step: int, *, ended: bool) -> list[Any]:
    earlier, later = (0, step) if ended else (step, step + 1)
    before = ("before", "before any answer" if earlier == 0 else "before the answer", earlier)
    after = ("after", "in the end" if ended else "after the answer", later)
    chosen = [before] if earlier == later else [before, after]
    return [(style, name, trail.seen[[place]], trail.beliefs[place]) for style, name, place in chosen]


def _what_if(trail: Trail, step: int, query: Mapping[str, str]) -> Facts | None:
    """The form that changes one answer, and what that would change; None where none was chosen."""
    n_told = min(step + 1, trail.n_steps)
    place = whole(query.get("change", ""), default=0)
    if not 1 <= place <= n_told:
        return None
    question, answer = trail.question(place - 1), trail.answer(place - 1)
    schema = trail.model.schema
    known = [name for name in question.reveals if name not in {*answer.values, *answer.without}]
    sent = any(key.startswith("v") for key in query) or "act" in query
    heard = (
        parse_form(question, schema, query, answered=known) if sent else FormInput.from_answer(answer)
    )
    fields = build_fields(question, schema, answered=known, form_input=heard)
    found = _changed(trail, n_told, place, heard) if sent and not heard.errors else None
    return {"place": place, "question": question, "fields": fields, "found": found}


def _changed(trail: Trail, n_told: int, place: int, heard: FormInput) -> Facts:
    """What would be believed and asked after ``n_told`` answers, had that one been another."""
    shown = decision_context
    question = trail.question(place - 1)
    seen = trail.otherwise(n_told, shown.numbers(trail, heard))
    belief = trail.model.predict_evidence(seen, (trail.target,))[trail.target][0]
    was, worths = trail.worths(n_told), trail.worths_of(seen, n_told)
    decimals = wording.count_decimals([belief, trail.beliefs[n_told]])
    pairs = [
        ("after", "as it was", trail.seen[[n_told]], trail.beliefs[n_told]),
        ("what-if", "what if", seen, belief),
    ]
    texts = {one.name: one.text for one in trail.model.schema.questions}
    return {
        "said": shown.said(trail, shown.imagined(question, heard)),
        "instead": shown.said(trail, trail.answer(place - 1)),
        "moved": shown.moved(trail, pairs),
        "belief": wording.describe_prediction(belief, decimals),
        "was": wording.describe_prediction(trail.beliefs[n_told], decimals),
        "next": texts[next(iter(worths))] if worths else "",
        "next_was": texts[next(iter(was))] if was else "",
        "worths": shown.rivals(worths, texts, was)[:N_RIVALS],
    }

"""The pages that judge a model: its card, its evaluation, two models side by side; no script needed."""

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse

from eddi.service.analyst.model_viewer import Exhibit, Exhibits, about
from eddi.service.analyst.pages import (
    comparison,
    decision_page,
    evaluation_context,
    model_card,
    page_context,
)
from eddi.service.analyst.pages.layout import Form, Frame, see
from eddi.service.analyst.trained_model import Made, Models

MODEL_TYPE = "application/zip"
MAX_LISTED = 200  # models to choose from


def add(routes: APIRouter, frame: Frame, models: Models) -> None:
    """Add the routes of these pages."""
    exhibits = Exhibits(models)
    pages = JudgingPages(frame, models, exhibits)
    routes.add_api_route("/models/{seal}", pages.card, methods=["GET"])
    routes.add_api_route("/models/{seal}/file", pages.file, methods=["GET"])
    routes.add_api_route("/models/{seal}/evaluation", pages.evaluation, methods=["GET"])
    routes.add_api_route("/models/{seal}/evaluation", pages.evaluate, methods=["POST"])
    routes.add_api_route("/compare", pages.compare, methods=["GET"])
    decision_page.add(routes, frame, exhibits)


class JudgingPages:
    """What each address shows."""

    def __init__(self, frame: Frame, models: Models, exhibits: Exhibits) -> None:
        self.frame, self.models, self.exhibits = frame, models, exhibits

    def card(self, request: Request, seal: str) -> Response:
        """What a model is, what it learned from, and how well it does."""
        exhibit = self.exhibits.get(seal)
        shown = {
            **about(exhibit.made, "card"),
            **model_card.facts(exhibit, self.exhibits.evaluation(exhibit.made)),
            "title": f"Model card: {exhibit.made.name}",
            "others": self._others(exhibit.made),
        }
        return self.frame.page(request, "card.html", shown)

    def file(self, seal: str) -> Response:
        """The model itself."""
        made = self.exhibits.made(seal)
        name = "".join(one if one.isalnum() and one.isascii() else "-" for one in made.name)[:80]
        return FileResponse(
            self.models.shelf.path(seal),
            media_type=MODEL_TYPE,
            filename=f"{name or 'model'}-{seal[:8]}.eddi",
        )

    def evaluation(self, request: Request, seal: str) -> Response:
        """How well a model finds out its target on rows it never saw."""
        made = self.exhibits.made(seal)
        document = self.exhibits.evaluation(made)
        shown = {**about(made, "evaluation"), "title": f"Evaluation: {made.name}"}
        if document is None:
            return self.frame.page(request, "not_judged.html", shown)
        metric = request.query_params.get("metric", "")
        shown |= evaluation_context.facts(document, metric)
        return self.frame.page(request, "evaluation.html", shown)

    def evaluate(self, request: Request, seal: str, form: Form) -> Response:
        """Ask for an evaluation, and show how far it is."""
        self.frame.forms.check(request, form)
        return see(f"/analyst/jobs/{self.models.evaluate(self.exhibits.made(seal).seal)}")

    def compare(self, request: Request) -> Response:
        """Two models side by side; which two is asked for where the address does not say."""
        seals = [request.query_params.get(side, "") for side in ("a", "b")]
        listed = [_option(made) for made in self.models.models()[:MAX_LISTED]]
        shown: dict[str, Any] = {"here": "home", "title": "Compare two models", "models": listed}
        shown |= {"a": seals[0], "b": seals[1], "both": None}
        if all(seals):
            shown |= self._both(*(self.exhibits.get(seal) for seal in seals))
        return self.frame.page(request, "compare.html", shown)

    def _both(self, a: Exhibit, b: Exhibit) -> dict[str, Any]:
        judged = (self.exhibits.evaluation(a.made), self.exhibits.evaluation(b.made))
        both = [_option(a.made), _option(b.made)]
        title = f"Compare {a.made.name} and {b.made.name}"
        return {**comparison.facts(a, b, judged), "both": both, "title": title}

    def _others(self, made: Made) -> list[dict[str, str]]:
        """Other models that find out the same."""
        every = self.models.models()[:MAX_LISTED]
        return [_option(one) for one in every if one.seal != made.seal and one.target == made.target]


def _option(made: Made) -> dict[str, str]:
    when = page_context.moment(made.when) if made.when else "no date"
    return {
        "seal": made.seal,
        "short": made.seal[:8],
        "name": made.name,
        "words": f"{made.name}, {made.target}, {when} ({made.seal[:8]})",
        "when": when,
    }

"""The pages about trained models: model card, evaluation, and comparison of two models."""

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse

from eddi.service.analyst.models.model_viewer import LoadedModel, ModelViewer
from eddi.service.analyst.models.trained_model import TrainedModel, TrainedModels
from eddi.service.analyst.pages import comparison, decision_page, evaluation_context, model_card
from eddi.service.analyst.pages.layout import Form, Layout, redirect
from eddi.service.analyst.pages.page_context import Context, format_time, model_context
from eddi.service.web.api_keys import get_author
from eddi.service.web.languages.current import gettext

MODEL_TYPE = "application/zip"
MAX_LISTED = 200  # models to choose from


def add(routes: APIRouter, layout: Layout, models: TrainedModels) -> None:
    """Add the routes of these pages."""
    viewer = ModelViewer(models)
    pages = EvaluationPages(layout, viewer)
    routes.add_api_route("/models/{digest}", pages.card, methods=["GET"])
    routes.add_api_route("/models/{digest}/file", pages.file, methods=["GET"])
    routes.add_api_route("/models/{digest}/evaluation", pages.evaluation, methods=["GET"])
    routes.add_api_route("/models/{digest}/evaluation", pages.evaluate, methods=["POST"])
    routes.add_api_route("/compare", pages.compare, methods=["GET"])
    decision_page.add(routes, layout, viewer)


class EvaluationPages:
    """Shows model cards, evaluations and comparisons."""

    def __init__(self, layout: Layout, viewer: ModelViewer) -> None:
        self.layout, self.viewer, self.models = layout, viewer, viewer.models

    def card(self, request: Request, digest: str) -> Response:
        """The model card."""
        model, loaded = self.models.get_model(digest), self.viewer.load(digest)
        context = {
            **model_context(model, "card"),
            "model_name": model.name,
            **model_card.build_context(loaded, self.viewer.evaluation(model)),
            "title": gettext("Model card: %(name)s", name=model.name),
            "alternatives": self._alternatives(model),
        }
        return self.layout.page(request, "model_card.html", context)

    def file(self, digest: str) -> Response:
        """The model's file."""
        model = self.models.get_model(digest)
        name = "".join(char if char.isalnum() and char.isascii() else "-" for char in model.name)[:80]
        return FileResponse(
            self.models.blobs.path(digest),
            media_type=MODEL_TYPE,
            filename=f"{name or 'model'}-{model.short_digest}.eddi",
        )

    def evaluation(self, request: Request, digest: str) -> Response:
        """The evaluation of a model on its held-out rows."""
        model = self.models.get_model(digest)
        document = self.viewer.evaluation(model)
        context = {
            **model_context(model, "evaluation"),
            "title": gettext("Evaluation of %(name)s", name=model.name),
        }
        if document is None:
            return self.layout.page(request, "not_evaluated.html", context)
        metric = request.query_params.get("metric", "")
        context |= evaluation_context.build_context(document, metric)
        return self.layout.page(request, "evaluation.html", context)

    def evaluate(self, request: Request, digest: str, form: Form) -> Response:
        """Submit an evaluation job, and show its progress."""
        self.layout.forms.check(request, form)
        model = self.models.get_model(digest)
        job = self.models.evaluate(model.digest, by=get_author(request))
        return redirect(f"/analyst/jobs/{job}")

    def compare(self, request: Request) -> Response:
        """Two models side by side, or a form to choose them."""
        a, b = (request.query_params.get(side, "") for side in ("a", "b"))
        models = self.models.models()[:MAX_LISTED]
        context: dict[str, Any] = {
            "section": "home",
            "title": gettext("Compare two models"),
            "models": [_option(model) for model in models],
            "a": a or (models[0].digest if models else ""),
            "b": b or _suggest_other(models),
            "compared": None,
        }
        if a and b:
            context |= self._comparison(self.viewer.load(a), self.viewer.load(b))
        return self.layout.page(request, "compare.html", context)

    def _comparison(self, a: LoadedModel, b: LoadedModel) -> Context:
        evaluations = (self.viewer.evaluation(a.origin), self.viewer.evaluation(b.origin))
        return {
            **comparison.build_context(a, b, evaluations),
            "compared": [_option(a.origin), _option(b.origin)],
            "title": gettext("Compare %(a)s and %(b)s", a=a.origin.name, b=b.origin.name),
        }

    def _alternatives(self, model: TrainedModel) -> list[dict[str, str]]:
        """Other models with the same target."""
        others = [other for other in self.models.models()[:MAX_LISTED] if other.digest != model.digest]
        return [_option(other) for other in others if other.target == model.target]


def _suggest_other(models: Sequence[TrainedModel]) -> str:
    """The digest of the newest model that can be compared with the first; empty if there is none."""
    others = sorted(models[1:], key=lambda model: model.target != models[0].target)
    return others[0].digest if others else ""


def _option(model: TrainedModel) -> dict[str, str]:
    when = format_time(model.trained_at) if model.trained_at else gettext("no date")
    return {
        "digest": model.digest,
        "short": model.short_digest,
        "name": model.name,
        "label": f"{model.name}, {model.target}, {when} ({model.short_digest})",
        "when": when,
    }

"""The pages that publish a model as a questionnaire, list its versions, and roll back to one of them."""

from collections.abc import Mapping

from fastapi import APIRouter, Request, Response

from eddi.errors import StopError, TargetError
from eddi.service.analyst.models.publishing import (
    PublishedQuestionnaire,
    PublishingError,
    Version,
    make_valid_name,
)
from eddi.service.analyst.models.trained_model import TrainedModel
from eddi.service.analyst.pages.layout import Form, Layout, redirect
from eddi.service.analyst.pages.page_context import Context, format_time, model_item
from eddi.service.analyst.workshop import JobSpecError, Workshop
from eddi.service.web.api_keys import NO_KEY, get_author
from eddi.service.web.formatting import capitalize
from eddi.strategy.names import DESCRIPTIONS
from eddi.strategy.stopping import Stop

DEFAULT_STRATEGY = "most informative question, per unit of cost if costs differ"

# The criteria of the stopping rule that the form offers: label, hint, whether it is an integer.
RULES = {
    "after": ("Stop after this number of answers", "", True),
    "probability_above": ("Stop when a level is at least this likely", "between 0 and 1", False),
    "interval_below": (
        "Stop when the 90% interval is narrower than",
        "in the unit of the target",
        False,
    ),
    "sd_below": ("Stop when the standard deviation is below", "in the unit of the target", False),
    "reward_below": (
        "Stop when no question has this expected information",
        "in nats; 1 nat is 1.44 bits",
        False,
    ),
    "risk": ("Stop when the expected error rate is at most", "between 0 and 1", False),
    "within": ("Largest error of a quantity that counts as correct", "with an error rate", False),
    "confidence": ("Confidence of that error rate", "0.95 if empty", False),
    "budget": ("Maximum total cost of the questions", "", False),
}


def add(routes: APIRouter, layout: Layout, workshop: Workshop) -> None:
    """Add the routes of these pages."""
    pages = PublishPages(layout, workshop)
    routes.add_api_route("/models/{digest}/publish", pages.publish_form, methods=["GET"])
    routes.add_api_route("/models/{digest}/publish", pages.publish, methods=["POST"])
    routes.add_api_route("/questionnaires/{name}", pages.show, methods=["GET"])
    routes.add_api_route("/questionnaires/{name}/rollback", pages.roll_back, methods=["POST"])


class PublishPages:
    """Publishes models, shows questionnaires, and rolls them back."""

    def __init__(self, layout: Layout, workshop: Workshop) -> None:
        self.layout, self.workshop = layout, workshop

    def publish_form(self, request: Request, digest: str) -> Response:
        """The form that publishes a model."""
        return self._form_page(request, self.workshop.get_model(digest), {})

    def publish(self, request: Request, digest: str, form: Form) -> Response:
        """Publish a model. If a field is not valid, show the form again with the error."""
        self.layout.forms.check(request, form)
        model = self.workshop.get_model(digest)
        name = form.get("name", "").strip()
        try:
            rules = _parse_rules(form)
            Stop.from_document(rules)
            strategy = form.get("strategy", "")
            if strategy not in ("", *DESCRIPTIONS):
                raise PublishingError(f"there is no strategy {strategy[:40]!r}.")
            self.workshop.publish(
                name,
                digest,
                target=[model.target],
                rules=rules,
                strategy=strategy,
                by=get_author(request),
            )
        except (PublishingError, TargetError, StopError, JobSpecError) as error:
            return self._form_page(request, model, form, error=capitalize(str(error)))
        return redirect(f"/analyst/questionnaires/{name}")

    def show(self, request: Request, name: str) -> Response:
        """A questionnaire with its versions, newest first."""
        questionnaire = self.workshop.publisher.get(name)
        current = questionnaire.current.number
        context = {
            "section": "home",
            "title": questionnaire.name,
            "questionnaire": questionnaire_item(questionnaire),
            "versions": [
                _version_item(version, is_current=version.number == current)
                for version in reversed(questionnaire.versions)
            ],
        }
        return self.layout.page(request, "questionnaire.html", context)

    def roll_back(self, request: Request, name: str, form: Form) -> Response:
        """Make another version current."""
        self.layout.forms.check(request, form)
        text = form.get("version", "")
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else 0
        self.workshop.roll_back(name, number, by=get_author(request))
        return redirect(f"/analyst/questionnaires/{name}")

    def _form_page(
        self, request: Request, model: TrainedModel, form: Mapping[str, str], *, error: str = ""
    ) -> Response:
        context = {
            "section": "home",
            "title": f"Publish {model.name}",
            "model": model_item(model, {}),
            "existing_names": [item.name for item in self.workshop.publisher.all()],
            "questionnaire_name": form.get("name") or make_valid_name(model.name),
            "rules": [
                {"name": name, "label": label, "hint": hint, "value": form.get(name, "")}
                for name, (label, hint, _) in RULES.items()
            ],
            "strategies": [("", DEFAULT_STRATEGY), *DESCRIPTIONS.items()],
            "strategy": form.get("strategy", ""),
            "error": error,
        }
        return self.layout.page(request, "publish.html", context, status=422 if error else 200)


def questionnaire_item(questionnaire: PublishedQuestionnaire) -> Context:
    """A questionnaire in a list."""
    current = questionnaire.current
    return {
        "name": questionnaire.name,
        "version": current.number,
        "n_versions": len(questionnaire.versions),
        "target": ", ".join(current.target),
        "model": current.model,
        "when": format_time(current.published_at),
        "rules": _describe_rules(current),
    }


def _version_item(version: Version, *, is_current: bool) -> Context:
    return {
        "number": version.number,
        "is_current": is_current,
        "model": version.model,
        "short": version.model[:8],
        "target": ", ".join(version.target),
        "when": format_time(version.published_at),
        "by": _describe_author(version.by),
        "rules": _describe_rules(version),
    }


def _describe_author(by: str) -> str:
    if by == "server":
        return "when the server started"
    return "by an analyst" if by == NO_KEY else f"with the key {by}"


def _describe_rules(version: Version) -> str:
    """When interviews of a version end, and in which order it asks, as text."""
    order = DESCRIPTIONS.get(version.strategy, DEFAULT_STRATEGY)
    return f"{Stop.from_document(version.rules).summarize()}; order: {order}"


def _parse_rules(form: Mapping[str, str]) -> dict[str, float]:
    """The criteria of the stopping rule in a form."""
    rules: dict[str, float] = {}
    for name, (label, _, is_integer) in RULES.items():
        text = form.get(name, "").strip().replace(",", ".")
        if not text:
            continue
        try:
            value = int(text) if is_integer else float(text)
        except ValueError:
            raise JobSpecError(f"“{label}” must be a number, got {text[:40]!r}.") from None
        if not 0 < value < 1e12:
            raise JobSpecError(f"“{label}” must be above 0, got {text[:40]!r}.")
        rules[name] = value
    return rules

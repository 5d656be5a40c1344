"""The page that publishes a model as a questionnaire."""

from collections.abc import Mapping
from urllib.parse import quote

from fastapi import APIRouter, Request, Response

from eddi.errors import EddiError, StopError, TargetError
from eddi.model.files.archive import load
from eddi.service.analyst.accounts.access import AccessDeniedError
from eddi.service.analyst.models.publishing import (
    PublishingError,
    TargetChangeError,
    make_valid_name,
)
from eddi.service.analyst.models.trained_model import TrainedModel
from eddi.service.analyst.pages.layout import Form, Layout, redirect
from eddi.service.analyst.pages.page_context import model_item
from eddi.service.analyst.questionnaires.raw_names import find_raw_names
from eddi.service.analyst.questionnaires.translation_form import find_missing
from eddi.service.analyst.workshop import JobSpecError, Workshop
from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings
from eddi.service.web.api_keys import get_author
from eddi.service.web.formatting import capitalize
from eddi.service.web.texts import Texts
from eddi.strategy.names import DESCRIPTIONS
from eddi.strategy.stopping import Stop

DEFAULT_CONFIDENCE = 0.95  # of a guaranteed error rate
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


class PublishPages:
    """Publishes models."""

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
                replace_target=bool(form.get("replace_target")),
                by=get_author(request),
            )
        except (PublishingError, AccessDeniedError, TargetError, StopError, JobSpecError) as error:
            return self._form_page(request, model, form, error=error)
        return redirect(f"/analyst/questionnaires/{quote(name)}")

    def _form_page(
        self,
        request: Request,
        model: TrainedModel,
        form: Mapping[str, str],
        *,
        error: EddiError | None = None,
    ) -> Response:
        published = self.workshop.publisher.all()
        name = form.get("name") or make_valid_name(model.name)
        schema, target = load(self.workshop.blobs.path(model.digest)).schema, [model.target]
        default = QuestionnaireSettings.for_schema(schema)
        settings = next((item.settings for item in published if item.name == name), default)
        context = {
            "section": "home",
            "title": f"Publish {model.name}",
            "model": model_item(model, {}),
            "existing_names": [item.name for item in published],
            "questionnaire_name": name,
            "raw_names": find_raw_names(schema, target, Texts(settings)),
            "untranslated": find_missing(schema, target, settings),
            "asks_to_confirm": isinstance(error, TargetChangeError),
            "rules": [
                {"name": name, "label": label, "hint": hint, "value": form.get(name, "")}
                for name, (label, hint, _) in RULES.items()
            ],
            "strategies": [("", DEFAULT_STRATEGY), *DESCRIPTIONS.items()],
            "strategy": form.get("strategy", ""),
            "certificate": self._describe_certificate(model),
            "error": capitalize(str(error)) if error else "",
        }
        return self.layout.page(request, "publish.html", context, status=422 if error else 200)

    def _describe_certificate(self, model: TrainedModel) -> str:
        """Which error rates can be guaranteed, as text."""
        certificates = load(self.workshop.blobs.path(model.digest)).certificates.values()
        certificate = next((item for item in certificates if item.target == (model.target,)), None)
        if certificate is None:
            return "This model has no certificate, so no error rate can be guaranteed."
        smallest = certificate.smallest_risk(DEFAULT_CONFIDENCE)
        return (
            f"Error rates from {smallest:.0%} up can be guaranteed with a confidence of "
            f"{DEFAULT_CONFIDENCE:.0%}, from {certificate.n_rows:,} rows that training did not use."
        )


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

"""The page that publishes a model as a questionnaire."""

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from fastapi import APIRouter, Request, Response

from eddi.errors import EddiError, StopError, TargetError
from eddi.model.certificate import Certificate
from eddi.model.files.archive import load
from eddi.service.analyst.accounts.access import AccessDeniedError
from eddi.service.analyst.models.publishing import (
    PublishingError,
    TargetChangeError,
    make_valid_name,
)
from eddi.service.analyst.models.trained_model import TrainedModel
from eddi.service.analyst.pages.layout import Form, Layout, redirect
from eddi.service.analyst.pages.page_context import analyst_texts, count_rows, model_item
from eddi.service.analyst.pages.rule_wording import ORDERS, describe_order
from eddi.service.analyst.questionnaires.raw_names import find_raw_names
from eddi.service.analyst.questionnaires.translation_form import find_missing
from eddi.service.analyst.workshop import JobSpecError, Workshop
from eddi.service.errors import N_
from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings
from eddi.service.web.api_keys import get_author
from eddi.service.web.formatting import capitalize
from eddi.service.web.languages.current import format_percent, gettext, localize
from eddi.service.web.languages.messages import describe_error
from eddi.service.web.texts import Texts
from eddi.strategy.stopping import Stop
from eddi.table.variable import Variable

DEFAULT_CONFIDENCE = 0.95  # of a guaranteed error rate

# The criteria of the stopping rule that the form offers: label, hint, whether it is an integer.
RULES = {
    "after": (N_("Stop after this number of answers"), "", True),
    "probability_above": (N_("Stop when a level is at least this likely"), N_("between 0 and 1"), False),
    "interval_below": (
        N_("Stop when the 90%% interval is narrower than"),
        N_("in the unit of the target"),
        False,
    ),
    "sd_below": (
        N_("Stop when the standard deviation is below"),
        N_("in the unit of the target"),
        False,
    ),
    "reward_below": (
        N_("Stop when no question has this expected information"),
        N_("in nats; 1 nat is 1.44 bits"),
        False,
    ),
    "risk": (N_("Stop when the expected error rate is at most"), N_("between 0 and 1"), False),
    "within": (
        N_("Largest error of a quantity that counts as correct"),
        N_("with an error rate"),
        False,
    ),
    "confidence": (N_("Confidence of that error rate"), N_("0.95 if empty"), False),
    "horizon": (N_("Horizon of the risk"), N_("in the unit of the target"), False),
    "risk_below": (N_("Stop when the risk at the horizon is at most"), N_("between 0 and 1"), False),
    "risk_above": (N_("Stop when the risk at the horizon is at least"), N_("between 0 and 1"), False),
    "budget": (N_("Maximum total cost of the questions"), "", False),
}
HORIZON_RULES = {"horizon", "risk_below", "risk_above"}


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
            if strategy not in ("", *ORDERS):
                raise PublishingError(gettext("There is no strategy “%(name)s”.", name=strategy[:40]))
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
        fitted = load(self.workshop.blobs.path(model.digest))
        schema, target = fitted.schema, [model.target]
        certificates = [item for item in fitted.certificates.values() if item.target == (model.target,)]
        default = QuestionnaireSettings.for_schema(schema)
        settings = next((item.settings for item in published if item.name == name), default)
        context = {
            "section": "home",
            "title": gettext("Publish %(name)s", name=model.name),
            "model": model_item(model, {}),
            "existing_names": [item.name for item in published],
            "questionnaire_name": name,
            "raw_names": find_raw_names(schema, target, Texts(settings)),
            "untranslated": find_missing(schema, target, settings),
            "asks_to_confirm": isinstance(error, TargetChangeError),
            "rules": [
                {
                    "name": name,
                    "label": gettext(label),
                    "hint": gettext(hint) if hint else "",
                    "value": form.get(name, ""),
                }
                for name, (label, hint, _) in RULES.items()
                if name in _offer_rules(schema[model.target], is_certified=bool(certificates))
            ],
            "strategies": [(name, capitalize(describe_order(name))) for name in ("", *ORDERS)],
            "strategy": form.get("strategy", ""),
            "certificate": describe_certificates(schema[model.target], certificates),
            "error": describe_error(error) if error else "",
        }
        return self.layout.page(request, "publish.html", context, status=422 if error else 200)


def describe_certificates(target: Variable, certificates: Sequence[Certificate]) -> str:
    """Which error rates can be guaranteed, or why none can, as text."""
    if certificates:
        return " ".join(_describe_certificate(target, certificate) for certificate in certificates)
    if target.survival is not None:
        return gettext("No error rate is offered, because the target is a time.")
    if target.kind.has_levels:
        return gettext("This model has no certificate, so no error rate can be guaranteed.")
    return gettext(
        "No error rate is offered, because the target is a quantity: what counts as an error depends on the "
        "largest error that you accept. Train the model again, with a largest error that counts as correct "
        "and held-out rows."
    )


def _describe_certificate(target: Variable, certificate: Certificate) -> str:
    facts = {
        "risk": format_percent(certificate.smallest_risk(DEFAULT_CONFIDENCE)),
        "confidence": format_percent(DEFAULT_CONFIDENCE),
        "rows": count_rows(certificate.n_rows),
    }
    if certificate.within is None:
        return gettext(
            "Error rates from %(risk)s up can be guaranteed with a confidence of %(confidence)s, from "
            "%(rows)s that training did not use.",
            **facts,
        )
    limit = f"{localize(f'{certificate.within:g}')} {analyst_texts().unit(target)}".strip()
    return gettext(
        "If errors of up to %(limit)s count as correct, error rates from %(risk)s up can be guaranteed with "
        "a confidence of %(confidence)s, from %(rows)s that training did not use.",
        limit=limit,
        **facts,
    )


def _offer_rules(target: Variable, *, is_certified: bool) -> set[str]:
    """The criteria that a target can have."""
    if target.survival is not None:
        return set(RULES) - {"probability_above", "risk", "within", "confidence"}
    if target.kind.has_levels:
        return set(RULES) - {"within"} - HORIZON_RULES
    unavailable = set() if is_certified else {"risk", "within", "confidence"}
    return set(RULES) - {"probability_above"} - HORIZON_RULES - unavailable


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
            raise JobSpecError(
                gettext(
                    "“%(field)s” must be a number, and not “%(typed)s”.",
                    field=gettext(label),
                    typed=text[:40],
                )
            ) from None
        if not 0 < value < 1e12:
            raise JobSpecError(
                gettext(
                    "“%(field)s” must be above 0, and not “%(typed)s”.",
                    field=gettext(label),
                    typed=text[:40],
                )
            )
        rules[name] = value
    return rules

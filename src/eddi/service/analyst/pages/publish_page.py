"""Publishing a model as a questionnaire, its versions, and going back to one of them."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response

from eddi.errors import StopError, TargetError
from eddi.service.analyst.pages import page_context
from eddi.service.analyst.pages.layout import Form, Frame, see, sentence
from eddi.service.analyst.publishing import Published, PublishingError, Version, called
from eddi.service.analyst.trained_model import Made
from eddi.service.analyst.workshop import ModelNotFoundError, OrderError, Workshop
from eddi.strategy.stopping import Stop

RULES = {
    "after": ("Stop after this many answers", "", True),
    "probability_above": ("Stop when a level is at least this likely", "between 0 and 1", False),
    "interval_below": ("Stop when the 90% range is narrower than", "in the unit of the target", False),
    "budget": ("Ask no more than this costs in all", "", False),
}


def add(routes: APIRouter, frame: Frame, workshop: Workshop) -> None:
    """Add the routes of these pages."""
    pages = PublishPages(frame, workshop)
    routes.add_api_route("/models/{seal}/publish", pages.ask, methods=["GET"])
    routes.add_api_route("/models/{seal}/publish", pages.publish, methods=["POST"])
    routes.add_api_route("/questionnaires/{name}", pages.show, methods=["GET"])
    routes.add_api_route("/questionnaires/{name}/rollback", pages.roll_back, methods=["POST"])


class PublishPages:
    """Publishes, shows what was published, and rolls back."""

    def __init__(self, frame: Frame, workshop: Workshop) -> None:
        self.frame, self.workshop = frame, workshop

    def ask(self, request: Request, seal: str) -> Response:
        return self._ask(request, self._made(seal), {})

    def publish(self, request: Request, seal: str, form: Form) -> Response:
        self.frame.forms.check(request, form)
        made = self._made(seal)
        name = form.get("name", "").strip()
        try:
            rules = _rules(form)
            Stop(**rules)  # type: ignore[arg-type]
            self.workshop.publish(name, seal, target=[made.target], rules=rules)
        except (PublishingError, TargetError, StopError, OrderError) as error:
            return self._ask(request, made, form, error=sentence(str(error)))
        return see(f"/analyst/questionnaires/{name}")

    def show(self, request: Request, name: str) -> Response:
        published = self.workshop.publishing.get(name)
        facts = {
            "here": "home",
            "title": published.name,
            "questionnaire": line(published),
            "versions": [_version(one, published) for one in reversed(published.versions)],
        }
        return self.frame.page(request, "questionnaire.html", facts)

    def roll_back(self, request: Request, name: str, form: Form) -> Response:
        self.frame.forms.check(request, form)
        text = form.get("version", "")
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else 0
        self.workshop.roll_back(name, number)
        return see(f"/analyst/questionnaires/{name}")

    def _made(self, seal: str) -> Made:
        made = self.workshop.made(seal)
        if made is None:
            raise ModelNotFoundError(f"there is no model {seal[:64]!r}.")
        return made

    def _ask(
        self, request: Request, made: Made, form: Mapping[str, str], *, error: str = ""
    ) -> Response:
        names = [one.name for one in self.workshop.publishing.all()]
        facts = {
            "here": "home",
            "title": f"Publish {made.name}",
            "model": page_context.model_line(made, {}),
            "names": names,
            "name_typed": form.get("name") or called(made.name),
            "rules": [
                {"name": name, "label": label, "hint": hint, "typed": form.get(name, "")}
                for name, (label, hint, _) in RULES.items()
            ],
            "error": error,
        }
        return self.frame.page(request, "publish.html", facts, status=422 if error else 200)


def line(published: Published) -> dict[str, Any]:
    """A questionnaire in a list."""
    current = published.current
    return {
        "name": published.name,
        "version": current.number,
        "n_versions": len(published.versions),
        "target": ", ".join(current.target),
        "model": current.model,
        "short": current.model[:8],
        "when": page_context.moment(current.at),
        "rules": _rule_words(current),
    }


def _version(one: Version, published: Published) -> dict[str, Any]:
    return {
        "number": one.number,
        "is_current": one.number == published.current.number,
        "model": one.model,
        "short": one.model[:8],
        "target": ", ".join(one.target),
        "when": page_context.moment(one.at),
        "by": "with the server" if one.by == "server" else "by an analyst",
        "rules": _rule_words(one),
    }


def _rule_words(version: Version) -> str:
    """When interviews end, in words."""
    said = {
        "after": "after {:g} answers",
        "probability_above": "when a level is {:.0%} likely",
        "interval_below": "when the 90% range is narrower than {:g}",
        "sd_below": "when the standard deviation is below {:g}",
        "reward_below": "when no question is worth {:g} nats",
    }
    rules = version.rules
    stops = [words.format(rules[name]) for name, words in said.items() if name in rules]
    cost = [f"questions cost at most {rules['budget']:g} in all"] if "budget" in rules else []
    ends = [f"stops {' or '.join(stops)}"] if stops else []
    return "; ".join([*ends, *cost]) or "asks everything it may"


def _rules(form: Mapping[str, str]) -> dict[str, float]:
    """The stopping rules that a form sets."""
    found: dict[str, float] = {}
    for name, (label, _, whole) in RULES.items():
        text = form.get(name, "").strip().replace(",", ".")
        if not text:
            continue
        try:
            value = int(text) if whole else float(text)
        except ValueError:
            raise OrderError(f"“{label}” must be a number, got {text[:40]!r}.") from None
        if not 0 < value < 1e12:
            raise OrderError(f"“{label}” must be above 0, got {text[:40]!r}.")
        found[name] = value
    return found

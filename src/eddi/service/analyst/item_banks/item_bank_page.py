"""The page that shows an item bank, whose parameters are the rows of a table, and publishes it."""

import math
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from fastapi import APIRouter, Request, Response

from eddi.errors import EddiError, SchemaError, StopError, TableError
from eddi.model.item_bank import ItemBank, Trait
from eddi.model.item_bank.item_file import build_item_bank
from eddi.service.analyst.accounts.access import AccessDeniedError
from eddi.service.analyst.data.tables import UploadedTable
from eddi.service.analyst.item_banks.information_charts import TraitSummary, summarize_traits
from eddi.service.analyst.models.publishing import PublishingError, make_valid_name
from eddi.service.analyst.pages.layout import Form, Layout, redirect
from eddi.service.analyst.workshop import Workshop
from eddi.service.web.api_keys import get_author
from eddi.service.web.formatting import capitalize
from eddi.service.web.languages.current import gettext

MAX_NAME = 80  # characters of the name of a trait
DEFAULTS = {"trait": "trait", "mean": "50", "sd": "10", "sd_below": "", "after": ""}


def add(routes: APIRouter, layout: Layout, workshop: Workshop) -> None:
    """Add the routes of this page."""
    pages = ItemBankPages(layout, workshop)
    routes.add_api_route("/tables/{key}/item-bank", pages.show, methods=["GET"])
    routes.add_api_route("/tables/{key}/item-bank", pages.save, methods=["POST"])


class ItemBankPages:
    """Shows item banks, and publishes them."""

    def __init__(self, layout: Layout, workshop: Workshop) -> None:
        self.layout, self.workshop = layout, workshop

    def show(self, request: Request, key: str) -> Response:
        """The information of the items with the default scale."""
        return self._page(request, self.workshop.tables.get(key), {})

    def save(self, request: Request, key: str, form: Form) -> Response:
        """Publish the item bank, or show it with another scale."""
        self.layout.forms.check(request, form)
        table = self.workshop.tables.get(key)
        if form.get("then") != "publish":
            return self._page(request, table, form)
        name = form.get("name", "").strip()
        try:
            self._publish(table, form, name, by=get_author(request))
        except (TableError, SchemaError, PublishingError, StopError, AccessDeniedError) as error:
            return self._page(request, table, form, error=error)
        return redirect(f"/analyst/questionnaires/{quote(name)}")

    def _publish(self, table: UploadedTable, form: Mapping[str, str], name: str, *, by: str) -> None:
        bank = self._build(table, form)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bank.eddi"
            bank.save(path)
            digest = self.workshop.blobs.put(path)
        self.workshop.catalogue.publish(
            name, digest, bank.target, rules=_parse_rules(form), replace_target=False, by=by
        )

    def _build(self, table: UploadedTable, form: Mapping[str, str]) -> ItemBank:
        trait = form.get("trait", DEFAULTS["trait"]).strip()[:MAX_NAME] or DEFAULTS["trait"]
        mean, sd = (_parse_number(form, name) for name in ("mean", "sd"))
        described = Trait(
            trait,
            report_mean=float(DEFAULTS["mean"]) if mean is None else mean,
            report_sd=float(DEFAULTS["sd"]) if sd is None else sd,
        )
        return build_item_bank(self.workshop.tables.rows(table.digest), described)

    def _page(
        self,
        request: Request,
        table: UploadedTable,
        form: Mapping[str, str],
        *,
        error: EddiError | None = None,
    ) -> Response:
        traits: list[TraitSummary] = []
        try:
            traits = summarize_traits(self._build(table, form))
        except (TableError, SchemaError, StopError) as problem:
            error = error or problem
        context = {
            "section": "tables",
            "title": gettext("Item bank %(title)s", title=table.title),
            "table": {"key": table.key, "title": table.title},
            "traits": traits,
            "fields": {name: form.get(name, text) for name, text in DEFAULTS.items()},
            "name": form.get("name") or make_valid_name(table.title),
            "error": "" if error is None else capitalize(str(error)),
        }
        return self.layout.page(request, "item_bank.html", context, status=422 if error else 200)


def _parse_rules(form: Mapping[str, str]) -> dict[str, float]:
    rules = {name: _parse_number(form, name) for name in ("sd_below", "after")}
    after = rules["after"]
    if after is not None and not after.is_integer():
        raise StopError(gettext("The number of items is a whole number."))
    given = {name: number for name, number in rules.items() if number is not None}
    return given if after is None else given | {"after": int(after)}


def _parse_number(form: Mapping[str, str], name: str) -> float | None:
    text = form.get(name, "").strip().replace(",", ".")
    if not text:
        return None
    try:
        number = float(text) if len(text) <= 20 else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise StopError(gettext("“%(text)s” is not a number.", text=text[:40]))
    return number

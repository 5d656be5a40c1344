"""The page of the activity log: who did what, by person and by questionnaire."""

import itertools
from collections.abc import Sequence
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request, Response

from eddi.service.analyst.accounts.activity import MAX_PAGES, PAGE_SIZE, Entry
from eddi.service.analyst.pages.layout import Layout
from eddi.service.analyst.pages.page_context import Context, format_time
from eddi.service.analyst.workshop import Workshop
from eddi.service.web.formatting import capitalize
from eddi.service.web.languages.current import gettext


def add(routes: APIRouter, layout: Layout, workshop: Workshop) -> None:
    """Add the route of this page."""
    routes.add_api_route("/activity", ActivityPage(layout, workshop).show, methods=["GET"])


class ActivityPage:
    """Shows the activity log."""

    def __init__(self, layout: Layout, workshop: Workshop) -> None:
        self.layout, self.workshop = layout, workshop

    def show(self, request: Request) -> Response:
        """A page of the log, newest entries first."""
        query = request.query_params
        person, questionnaire = query.get("person", "")[:80], query.get("questionnaire", "")[:100]
        everything = self.workshop.activity.find()
        log = self.workshop.activity.find(person=person, questionnaire=questionnaire)
        found = _group_entries(log)
        n_pages = max(1, -(-len(found) // PAGE_SIZE))
        page = min(_parse_page(query.get("page", "")), n_pages)
        context = {
            "section": "activity",
            "title": gettext("Activity"),
            "entries": [
                _entry_item(entry, n_times)
                for entry, n_times in found[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
            ],
            "n_entries": len(found),
            "people": sorted({(item.author, item.by) for item in everything if item.by}),
            "questionnaires": sorted({item.subject for item in everything if item.questionnaire}),
            "person": person,
            "questionnaire": questionnaire,
            "page": page,
            "n_pages": n_pages,
            "query": urlencode({"person": person, "questionnaire": questionnaire}),
        }
        return self.layout.page(request, "activity.html", context)


def _group_entries(entries: Sequence[Entry]) -> list[tuple[Entry, int]]:
    """Entries with their number; those that say the same in a row become one, the newest."""

    def describe(entry: Entry) -> tuple[str, ...]:
        return entry.author, entry.action, entry.subject, entry.details, entry.address

    groups = (list(group) for _, group in itertools.groupby(entries, key=describe))
    return [(group[0], len(group)) for group in groups]


def _entry_item(entry: Entry, n_times: int) -> Context:
    return {
        "when": format_time(entry.at),
        "at": entry.at,
        "author": capitalize(entry.author),
        "action": entry.action,
        "subject": entry.subject,
        "details": entry.details,
        "address": quote(entry.address),
        "n_times": n_times,
    }


def _parse_page(text: str) -> int:
    is_number = text.isascii() and text.isdecimal() and len(text) < 9
    return min(max(1, int(text)), MAX_PAGES) if is_number else 1

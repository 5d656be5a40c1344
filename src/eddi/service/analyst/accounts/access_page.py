"""The form that shares a questionnaire or gives it to another owner, and what pages say about owners."""

from urllib.parse import quote

from fastapi import APIRouter, Request, Response

from eddi.service.analyst.accounts.access import Access
from eddi.service.analyst.models.published_questionnaire import PublishedQuestionnaire
from eddi.service.analyst.models.publishing import Publisher
from eddi.service.analyst.pages.layout import Form, Layout, redirect
from eddi.service.analyst.pages.page_context import Context
from eddi.service.analyst.workshop import Workshop
from eddi.service.web.api_keys import get_author

EDITOR = "editor-"  # begins the names of the fields of editors


def add(routes: APIRouter, layout: Layout, workshop: Workshop) -> None:
    """Add the route of this form."""
    form = AccessForm(layout, workshop)
    routes.add_api_route("/questionnaires/{name}/access", form.save, methods=["POST"])


class AccessForm:
    """Changes who may edit a questionnaire."""

    def __init__(self, layout: Layout, workshop: Workshop) -> None:
        self.layout, self.workshop = layout, workshop

    def save(self, request: Request, name: str, form: Form) -> Response:
        """Save the owner and the editors."""
        self.layout.forms.check(request, form)
        owner = form.get("owner", "")
        chosen = {field.removeprefix(EDITOR) for field in form if field.startswith(EDITOR)}
        access = Access(owner, tuple(sorted(chosen - {owner})))
        item = self.workshop.publisher.change_access(name, access, by=get_author(request))
        return redirect(f"/analyst/questionnaires/{quote(item.name)}")


def owner_context(request: Request, publisher: Publisher, item: PublishedQuestionnaire) -> Context:
    """Who owns a questionnaire, and whether the visitor may change it."""
    permissions, access, by = publisher.permissions, item.access, get_author(request)
    return {
        "owner": permissions.label(access.owner),
        "is_own": access.owner == by,
        "may_edit": permissions.may_edit(access, by),
        "may_manage": permissions.may_manage(access, by),
    }


def access_context(
    request: Request, layout: Layout, publisher: Publisher, item: PublishedQuestionnaire
) -> Context:
    """The context of the form, and of those who may not use it."""
    access = item.access
    holders = publisher.permissions.holders() if layout.sign_in.is_needed else []
    return {
        **owner_context(request, publisher, item),
        "has_accounts": layout.sign_in.is_needed,
        "editors": [publisher.permissions.label(name) for name in access.editors],
        "owners": [(key.name, key.label, key.name == access.owner) for key in holders],
        "possible_editors": [(key.name, key.label, key.name in access.editors) for key in holders],
        "is_owner_gone": access.owner not in {"", *(key.name for key in holders)},
    }

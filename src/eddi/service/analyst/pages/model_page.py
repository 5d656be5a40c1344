"""The forms that rename and delete a model."""

from fastapi import APIRouter, Request, Response

from eddi.service.analyst.pages.layout import Form, Layout, redirect
from eddi.service.analyst.workshop import Workshop
from eddi.service.web.api_keys import get_author
from eddi.service.web.languages.current import gettext


def add(routes: APIRouter, layout: Layout, workshop: Workshop) -> None:
    """Add the routes of these forms."""
    pages = ModelPages(layout, workshop)
    routes.add_api_route("/models/{digest}/rename", pages.rename, methods=["POST"])
    routes.add_api_route("/models/{digest}/delete", pages.confirm_delete, methods=["GET"])
    routes.add_api_route("/models/{digest}/delete", pages.delete, methods=["POST"])


class ModelPages:
    """Renames and deletes models."""

    def __init__(self, layout: Layout, workshop: Workshop) -> None:
        self.layout, self.workshop = layout, workshop

    def rename(self, request: Request, digest: str, form: Form) -> Response:
        """Give a model another name."""
        self.layout.forms.check(request, form)
        self.workshop.rename_model(digest, form.get("name", ""), by=get_author(request))
        return redirect(f"/analyst/models/{digest}")

    def confirm_delete(self, request: Request, digest: str) -> Response:
        """Ask whether to delete a model."""
        model = self.workshop.get_model(digest)
        context = {
            "section": "home",
            "title": gettext("Delete %(subject)s?", subject=model.name),
            "subject": gettext(
                "the model %(name)s %(digest)s", name=model.name, digest=model.short_digest
            ),
            "text": gettext(
                "Its file is permanently deleted. Its table stays. A model that a questionnaire uses cannot "
                "be deleted."
            ),
            "action": f"/analyst/models/{digest}/delete",
            "back": f"/analyst/models/{digest}",
        }
        return self.layout.page(request, "delete.html", context)

    def delete(self, request: Request, digest: str, form: Form) -> Response:
        """Delete a model."""
        self.layout.forms.check(request, form)
        self.workshop.delete_model(digest, by=get_author(request))
        return redirect("/analyst")

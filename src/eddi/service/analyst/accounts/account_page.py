"""The pages with which analysts sign in and out, see their account, and change their key."""

from fastapi import APIRouter, Request, Response

from eddi.service.analyst.pages.layout import Form, Layout, check_next_url, redirect
from eddi.service.analyst.pages.page_context import format_time
from eddi.service.errors import N_
from eddi.service.web.api_keys import (
    PUBLISHERS,
    KeyForbiddenError,
    KeyMissingError,
    Keys,
    get_author,
)
from eddi.service.web.languages.current import gettext

WRONG_KEY = N_("This is not a valid key of an analyst. Keys begin with eddi_ and can expire.")
NOT_YOURS = N_("This is not your present key.")
ROLES = {
    "analyst": N_("Analyst: trains models, and manages questionnaires that they own or may edit"),
    "administrator": N_("Administrator: manages the questionnaires of everybody"),
}


def add(routes: APIRouter, layout: Layout) -> None:
    """Add the routes of these pages."""
    pages = AccountPages(layout)
    routes.add_api_route("/sign-in", pages.sign_in_form, methods=["GET"])
    routes.add_api_route("/sign-in", pages.sign_in, methods=["POST"])
    routes.add_api_route("/sign-out", pages.sign_out, methods=["POST"])
    routes.add_api_route("/account", pages.show, methods=["GET"])
    routes.add_api_route("/account/key", pages.change_key, methods=["POST"])


class AccountPages:
    """Signs analysts in and out, shows their account, and changes their key."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    def sign_in_form(self, request: Request) -> Response:
        """The sign-in form."""
        return self._sign_in_page(request, check_next_url(request.query_params.get("next", "")))

    def sign_in(self, request: Request, form: Form) -> Response:
        """Sign in with a key, and go to the page that was requested first."""
        self.layout.forms.check(request, form)
        next_url = check_next_url(form.get("next", ""))
        response = redirect(next_url)
        try:
            self.layout.sign_in.sign_in(request, response, form.get("key", "").strip())
        except (KeyMissingError, KeyForbiddenError):
            return self._sign_in_page(request, next_url, error=gettext(WRONG_KEY))
        return response

    def sign_out(self, request: Request, form: Form) -> Response:
        """Sign out."""
        self.layout.forms.check(request, form)
        response = redirect("/analyst/sign-in")
        self.layout.sign_in.sign_out(response)
        return response

    def show(self, request: Request) -> Response:
        """Who is signed in, until when the key is valid, and when it was last used to sign in."""
        keys = self.layout.sign_in.keys
        return redirect("/analyst") if keys is None else self._account_page(request, keys)

    def change_key(self, request: Request, form: Form) -> Response:
        """Replace the key of who is signed in, who must know the present one, and show the new one once."""
        self.layout.forms.check(request, form)
        sign_in, name = self.layout.sign_in, get_author(request)
        if (keys := sign_in.keys) is None:
            return redirect("/analyst")
        try:
            is_own = keys.check(form.get("key", "").strip(), PUBLISHERS).name == name
        except (KeyMissingError, KeyForbiddenError):
            is_own = False
        if not is_own:
            return self._account_page(request, keys, error=gettext(NOT_YOURS))
        new_key = keys.rotate(name, by=name)
        response = self._account_page(request, keys, new_key=new_key)
        sign_in.set_cookie(request, response, keys.check(new_key, PUBLISHERS))
        return response

    def _account_page(
        self, request: Request, keys: Keys, *, error: str = "", new_key: str = ""
    ) -> Response:
        key = keys.get(get_author(request))
        times = [format_time(at) for at in keys.sign_ins(key.name)[:2]]
        context = {
            "section": "account",
            "title": gettext("Your account"),
            "facts": [
                (gettext("Name"), key.holder or gettext("none; an operator issues keys with --holder")),
                (gettext("Role"), gettext(ROLES[key.role])),
                (
                    gettext("Key"),
                    gettext(
                        "eddi_%(name)s_…, valid until %(time)s",
                        name=key.name,
                        time=format_time(key.expires.isoformat()),
                    ),
                ),
                (gettext("This sign-in"), times[0] if times else gettext("not recorded")),
                (gettext("Sign-in before"), times[1] if len(times) > 1 else gettext("none")),
            ],
            "new_key": new_key,
            "error": error,
        }
        return self.layout.page(request, "account.html", context, status=422 if error else 200)

    def _sign_in_page(self, request: Request, next_url: str, *, error: str = "") -> Response:
        if not self.layout.sign_in.is_needed:
            return redirect(next_url)
        context = {
            "title": gettext("Sign in"),
            "next": next_url,
            "error": error,
            "can_sign_out": False,
            "has_navigation": False,
        }
        return self.layout.page(request, "sign_in.html", context, status=401 if error else 200)

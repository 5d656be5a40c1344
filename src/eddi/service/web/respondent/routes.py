"""The addresses of the pages of respondents."""

from fastapi import APIRouter

from eddi.service.interviews.interview_service import InterviewService
from eddi.service.settings import Settings
from eddi.service.web.respondent.interview_pages import InterviewPages
from eddi.service.web.respondent.page_frame import PageFrame
from eddi.service.web.respondent.start_pages import StartPages


def router(service: InterviewService, settings: Settings) -> APIRouter:
    """Return the routes of the respondent's pages."""
    frame = PageFrame(settings)
    start, pages = StartPages(service, frame, settings), InterviewPages(service, frame)
    routes = APIRouter(route_class=frame.route_class(), include_in_schema=False)
    routes.add_api_route("/", start.first, methods=["GET"])
    routes.add_api_route("/q/{name}", start.named, methods=["GET"])
    routes.add_api_route("/theme/{name}", start.theme, methods=["GET"])
    routes.add_api_route("/logo/{digest}", start.logo, methods=["GET"])
    routes.add_api_route("/start", start.begin, methods=["POST"])
    routes.add_api_route("/resume", start.resume, methods=["POST"])
    routes.add_api_route("/static/{name}", start.static, methods=["GET"])
    routes.add_api_route("/i/{key}", pages.current, methods=["GET"])
    routes.add_api_route("/i/{key}/question/{number}", pages.question, methods=["GET"])
    routes.add_api_route("/i/{key}/question/{number}", pages.answer, methods=["POST"])
    routes.add_api_route("/i/{key}/why", pages.why, methods=["GET"])
    routes.add_api_route("/i/{key}/back", pages.undo, methods=["POST"])
    routes.add_api_route("/i/{key}/answers", pages.answers, methods=["GET"])
    routes.add_api_route("/i/{key}/change/{place}", pages.change, methods=["GET"])
    routes.add_api_route("/i/{key}/change/{place}", pages.save_change, methods=["POST"])
    routes.add_api_route("/i/{key}/result", pages.result, methods=["GET"])
    routes.add_api_route("/i/{key}/forget", pages.confirm_forget, methods=["GET"])
    routes.add_api_route("/i/{key}/forget", pages.forget, methods=["POST"])
    return routes

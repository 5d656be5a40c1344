"""Builds the web application from its parts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI

from eddi import __version__
from eddi.service.analyst import api as analyst_api
from eddi.service.analyst.pages import home as analyst_pages
from eddi.service.analyst.workshop import Workshop
from eddi.service.fhir import routes as fhir_routes
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.interviews.metrics import Metrics
from eddi.service.maintenance import Maintenance
from eddi.service.open_service import open_service
from eddi.service.settings import Settings
from eddi.service.web import api, problem_details, respondent
from eddi.service.web.api_keys import Keys
from eddi.service.web.middleware import install_middleware

DESCRIPTION = """\
Interviews that ask each person the most informative next question, and stop when the result is certain
enough.

Start with `POST /interviews`, then send answers to `POST /interviews/{key}/answers` until `question` is
null. To keep the answers yourself, request one step at a time with `POST /ask`.

Analysts upload a table with `POST /tables`, train a model with `POST /jobs`, and publish it with
`POST /questionnaires/{name}/versions`. Interviews stay on the version they started with.

FHIR clients find adaptive forms at `/fhir/Questionnaire`, and answer them with
`POST /fhir/Questionnaire/$next-question` (SDC 4.0.0).

All errors are `application/problem+json`; at `/fhir`, they are an `OperationOutcome`.
"""


def build(settings: Settings, *, metrics: Metrics | None = None, runs_jobs: bool = True) -> FastAPI:
    """Build the application described by the settings.

    Args:
        settings: of the server.
        metrics: those of the process; by default new ones.
        runs_jobs: whether this process runs the workshop's jobs.

    Raises:
        ModelFileError: the model file does not exist or is not valid.
        TargetError: the model has no such target.
        StopError: the risk cannot be guaranteed, because the model has no certificate for it.
        StoreError: the store cannot be opened.
    """
    models = [Path(settings.model)] if settings.model else []
    service, workshop = open_service(settings, models, metrics=metrics)
    return assemble(service, workshop, settings, runs_jobs=runs_jobs)


def assemble(
    service: InterviewService, workshop: Workshop, settings: Settings, *, runs_jobs: bool = True
) -> FastAPI:
    """Build the application around an interview service and a workshop, and close both with it."""
    maintenance = Maintenance(service, keep_days=settings.keep_days)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        current_default_thread_limiter().total_tokens = settings.threads
        if runs_jobs:
            workshop.open()
            maintenance.start()
        yield
        maintenance.stop()
        workshop.close()
        service.close()

    app = FastAPI(
        title="EDDI",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,  # its scripts would be loaded from another site
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.service, app.state.workshop = service, workshop
    install_middleware(app, settings, service.metrics)
    problem_details.install_error_handlers(app)
    keys = Keys(service.store) if settings.needs_keys else None
    app.include_router(api.change_router(service, keys))
    app.include_router(api.router(service, keys))
    app.include_router(analyst_api.router(workshop, keys))
    app.include_router(fhir_routes.router(service, keys, is_stored=settings.fhir_store))
    app.include_router(respondent.router(service, settings))
    app.include_router(analyst_pages.router(workshop, keys, settings, service))
    return app

"""The service put together: a store, a questionnaire, the API and the pages, behind one guard."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI

from eddi import __version__
from eddi.service.analyst import api as analyst_api
from eddi.service.analyst.pages import home as analyst_pages
from eddi.service.analyst.workshop import Workshop
from eddi.service.interviews.batcher import Batcher
from eddi.service.interviews.interview_service import Desk
from eddi.service.interviews.metrics import Metrics
from eddi.service.interviews.questionnaire import Questionnaire
from eddi.service.settings import Settings
from eddi.service.web import api, pages, problem_details
from eddi.service.web.api_keys import Keys
from eddi.service.web.middleware.guard import Guard
from eddi.store.factory import open_store
from eddi.strategy.stopping import Stop

ABOUT = """\
Interviews that ask each person the most valuable next question, and stop when it is enough.

Begin with `POST /interviews`, answer with `POST /interviews/{key}/answers` until `question` is null. Or
keep the answers yourself, and take one step at a time with `POST /ask`.

Analysts bring a table with `POST /tables`, have a model learned from it with `POST /jobs`, and publish
it with `POST /questionnaires/{name}/versions`; interviews stay on the version they began with.

Everything that goes wrong is `application/problem+json`.
"""


def build(settings: Settings) -> FastAPI:
    """The whole service, ready to be served.

    Raises:
        ModelFileError: there is no such model.
        TargetError: the model has no such target.
        StopError: the risk cannot be promised, for the model was not certified.
        StoreError: the store cannot be opened.
    """
    stop = Stop(after=settings.after, budget=settings.budget, risk=settings.risk, within=settings.within)
    path = Path(settings.model)
    questionnaire = Questionnaire.load(path, settings.targets, stop=stop) if settings.model else None
    store = open_store(settings.store)
    workshop = Workshop.from_settings(store, settings)
    metrics = Metrics()
    batcher = Batcher(
        most=settings.batch,
        window_s=settings.window_ms / 1000,
        waiting=settings.waiting,
        on_batch=metrics.batch_size.observe,
    )
    if questionnaire is not None:
        batcher.next_step(questionnaire.interview())  # the first look is the slowest
        workshop.catalogue.publish_at_startup(path, questionnaire)
    desk = Desk(store, workshop.catalogue, batcher=batcher, metrics=metrics)
    return assemble(desk, workshop, settings)


def assemble(desk: Desk, workshop: Workshop, settings: Settings) -> FastAPI:
    """The web face of a desk and a workshop; closing it closes their store."""

    @asynccontextmanager
    async def open_hours(_: FastAPI) -> AsyncIterator[None]:
        current_default_thread_limiter().total_tokens = settings.threads
        workshop.open()
        yield
        workshop.close()
        desk.close()

    app = FastAPI(
        title="EDDI",
        version=__version__,
        description=ABOUT,
        docs_url=None,  # its scripts would come from elsewhere
        redoc_url=None,
        lifespan=open_hours,
    )
    app.state.desk, app.state.workshop = desk, workshop
    app.add_middleware(Guard, settings=settings, metrics=desk.metrics)
    problem_details.install(app)
    keys = Keys(desk.store) if settings.needs_keys else None
    app.include_router(api.router(desk, keys))
    app.include_router(analyst_api.router(workshop, keys))
    app.include_router(pages.router(desk, settings))
    app.include_router(analyst_pages.router(desk, workshop, settings))
    return app

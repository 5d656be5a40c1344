"""Opens the interview service and the workshop that the settings describe."""

from collections.abc import Sequence
from pathlib import Path

from eddi.service.analyst.workshop import Workshop
from eddi.service.interviews.batcher import Batcher
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.interviews.metrics import Metrics
from eddi.service.interviews.questionnaire import Questionnaire
from eddi.service.settings import Settings
from eddi.store.factory import open_store


def open_service(
    settings: Settings, models: Sequence[Path], *, metrics: Metrics | None = None
) -> tuple[InterviewService, Workshop]:
    """Open the store, and publish models as questionnaires. The caller closes both results.

    Args:
        settings: of the server.
        models: files of models; the last one is the default questionnaire.
        metrics: those of the process; by default new ones.

    Raises:
        ModelFileError: a model file does not exist or is not valid.
        TargetError: a model has no such target.
        StopError: the risk cannot be guaranteed, because a model has no certificate for it.
        StoreError: the store cannot be opened.
    """
    questionnaires = [
        Questionnaire.load(
            path,
            settings.targets,
            strategy=settings.strategy,
            rules=settings.rules,
            device=settings.device,
        )
        for path in models
    ]
    store = open_store(settings.store)
    workshop = Workshop.from_settings(store, settings)
    metrics = metrics or Metrics()
    batcher = Batcher(
        max_batch_size=settings.batch,
        window_s=settings.window_ms / 1000,
        max_waiting=settings.waiting,
        on_batch=metrics.batch_size.observe,
    )
    for path, questionnaire in zip(models, questionnaires, strict=True):
        batcher.next_step(questionnaire.interview())  # the first step is the slowest
        workshop.catalogue.publish_at_startup(path, questionnaire)
    return InterviewService(store, workshop.catalogue, batcher=batcher, metrics=metrics), workshop

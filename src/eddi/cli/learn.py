"""`eddi learn`: learn from the stored interviews of a questionnaire, and compare with its current version."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eddi.cli import terminal
from eddi.cli.errors import check_writable
from eddi.cli.fit import Steps, report_interruption
from eddi.cli.open_store import StoreUrl, WorkshopOption, find_workshop, open_store
from eddi.cli.options import Json, Seed
from eddi.errors import EddiError

if TYPE_CHECKING:
    from eddi.evaluate.off_policy.estimates import OffPolicyComparison
    from eddi.partial_vae import PartialVAE
    from eddi.service.analyst.learning.learning_data import LearningData
    from eddi.service.analyst.models.published_questionnaire import PublishedQuestionnaire
    from eddi.service.analyst.workshop import Workshop
    from eddi.service.interviews.questionnaire import Questionnaire


class PublishRule(StrEnum):
    """When a new model becomes the current version."""

    NEVER = "never"
    BETTER = "better"
    ALWAYS = "always"


def learn(
    url: StoreUrl,
    questionnaire: Annotated[
        str,
        typer.Option("--questionnaire", "-q", metavar="NAME", help="Whose interviews to learn from."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write.")],
    table: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A table to learn from, too. May be repeated."),
    ] = None,
    publish: Annotated[
        PublishRule,
        typer.Option(help="Publish the model: never, if it is better with 95% confidence, or always."),
    ] = PublishRule.NEVER,
    steps: Steps = None,
    seed: Seed = 0,
    workshop: WorkshopOption = None,
    json: Json = False,
) -> None:
    """Learn from stored interviews, and compare the model with the current version.

    For example: eddi learn sqlite:///answers.db -q people -o people-2.eddi

    The answers and outcomes of 7 in 10 persons are training rows. The finished
    interviews of the others, as far as their outcomes are known, tell which model is
    better, although the current version chose their questions. The same store gives
    the same weights. To resume after an interruption, run the same command.
    """
    check_writable(output)
    folder = workshop or find_workshop(url)
    if folder is None:
        raise EddiError("the store has no workshop. Name the folder of its models: --workshop")
    with open_store(url) as store:
        from eddi.service.analyst.workshop import Workshop

        work = Workshop(store, folder)
        item = work.publisher.get(questionnaire)
        current = work.catalogue.load(item)
        data = _read_data(work, item, current, table or [])
        model = _fit(current, data, output, steps=steps, seed=seed)
        comparison = _compare(model, current, data)
        is_better = comparison is not None and comparison.is_better
        is_published = publish == PublishRule.ALWAYS or (publish == PublishRule.BETTER and is_better)
        if is_published:
            _publish(work, item, current, output)
    _report(output, data, comparison, is_published=is_published)
    if json:
        document = _to_document(output, data, comparison, is_published=is_published)
        terminal.print_data(terminal.to_json(document))


def _read_data(
    work: "Workshop", item: "PublishedQuestionnaire", current: "Questionnaire", paths: list[Path]
) -> "LearningData":
    from eddi.service.analyst.learning.learning_data import prepare_data
    from eddi.service.analyst.learning.stored_interviews import read_interviews
    from eddi.table import formats

    tables = [formats.read(path) for path in paths]
    interviews = read_interviews(work.publisher.store, work.catalogue, item.key)
    return prepare_data(current.model.schema, interviews, tables)


def _fit(
    current: "Questionnaire", data: "LearningData", output: Path, *, steps: int | None, seed: int
) -> "PartialVAE":
    from eddi.service.analyst.learning.candidate import fit_candidate

    checkpoint = output.with_name(output.name + ".partial")
    with report_interruption(checkpoint), terminal.show_training_progress() as on_progress:
        model = fit_candidate(
            current, data, checkpoint=checkpoint, steps=steps, seed=seed, on_progress=on_progress
        )
        model.save(output)
    checkpoint.unlink(missing_ok=True)
    return model


def _compare(
    model: "PartialVAE", current: "Questionnaire", data: "LearningData"
) -> "OffPolicyComparison | None":
    from eddi.service.analyst.learning.learning_data import compare_with_current

    return compare_with_current(model.fitted(), current, data.logged)


def _publish(
    work: "Workshop", item: "PublishedQuestionnaire", current: "Questionnaire", output: Path
) -> None:
    from eddi.service.analyst.learning.learning_data import publish_candidate
    from eddi.service.web.api_keys import COMMAND_LINE

    publish_candidate(work.catalogue, item, current, work.blobs.put(output), by=COMMAND_LINE)


def _report(
    output: Path,
    data: "LearningData",
    comparison: "OffPolicyComparison | None",
    *,
    is_published: bool,
) -> None:
    terminal.print_message(
        f"{output}: {data.rows.num_rows:,} rows, {data.n_interviews:,} of them interviews.",
        style="green",
    )
    if comparison is None:
        terminal.print_message("no held-out interview has an outcome, so nothing can be compared.")
    else:
        new, old = comparison.candidate, comparison.current
        terminal.print_message(
            f"on {new.n_interviews:,} other interviews: error {new.error}, so far {old.error}; "
            f"difference {comparison.error_difference}; cost {new.cost}, so far {old.cost}."
        )
        verdict = "better" if comparison.is_better else "not better with 95% confidence"
        terminal.print_message(
            f"the new model is {verdict} ({new.n_effective:.0f} effective interviews)."
        )
    terminal.print_message("published." if is_published else "not published.")


def _to_document(
    output: Path,
    data: "LearningData",
    comparison: "OffPolicyComparison | None",
    *,
    is_published: bool,
) -> dict[str, Any]:
    return {
        "model": str(output),
        "rows": data.rows.num_rows,
        "interviews": data.n_interviews,
        "comparison": None if comparison is None else comparison.to_document(),
        "published": is_published,
    }

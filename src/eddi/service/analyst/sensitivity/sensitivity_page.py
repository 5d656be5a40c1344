"""The page that asks "what if those who did not answer have higher values?" about a model."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from fastapi import APIRouter, Request, Response

from eddi.evaluate.sensitivity import analyse_sensitivity
from eddi.model.fitted import FittedModel
from eddi.service.analyst.models.model_viewer import LoadedModel, ModelViewer
from eddi.service.analyst.pages.layout import Layout
from eddi.service.analyst.pages.page_context import Context, analyst_texts, model_context
from eddi.service.analyst.sensitivity import sensitivity_wording
from eddi.service.web.languages.current import gettext
from eddi.table.variable import Kind, Variable

MAX_ROWS = 200  # without a value, which are analysed
MAX_VARIABLES = 200  # to choose from


@dataclass(frozen=True)
class MissingValues:
    """A variable and the held-out rows without a value of it."""

    variable: Variable
    rows: tuple[int, ...]


def add(routes: APIRouter, layout: Layout, viewer: ModelViewer) -> None:
    """Add the route of this page."""
    page = SensitivityPage(layout, viewer)
    routes.add_api_route("/models/{digest}/sensitivity", page.show, methods=["GET"])


class SensitivityPage:
    """Shows predictions under several assumptions about missing values."""

    def __init__(self, layout: Layout, viewer: ModelViewer) -> None:
        self.layout, self.viewer = layout, viewer

    def show(self, request: Request, digest: str) -> Response:
        """The analysis of one variable; by default of the one with most missing values."""
        loaded = self.viewer.load(digest)
        found = find_missing(loaded)
        name = request.query_params.get("variable", "")
        chosen = next(
            (item for item in found if item.variable.name == name), found[0] if found else None
        )
        texts = analyst_texts()
        context: Context = {
            **model_context(loaded.origin, "sensitivity"),
            "title": gettext("Missing values: %(name)s", name=loaded.origin.name),
            "variables": [(item.variable.name, texts.name(item.variable)) for item in found],
            "chosen": "" if chosen is None else chosen.variable.name,
            "has_table": loaded.rows is not None,
            "has_order": has_order(loaded.model.schema[loaded.origin.target]),
        }
        if chosen is not None and loaded.rows is not None:
            context |= _analyse(loaded.model, loaded.rows, chosen, loaded.origin.target)
        return self.layout.page(request, "sensitivity.html", context)


def find_missing(loaded: LoadedModel) -> list[MissingValues]:
    """The variables that the analysis can be about, those with most missing values first."""
    model, target = loaded.model, loaded.origin.target
    if loaded.rows is None or not has_order(model.schema[target]):
        return []
    observed = model.evidence(loaded.rows, optional=(target,)).observed
    found = [
        MissingValues(variable, tuple(np.flatnonzero(~observed[:, place]).tolist()))
        for place, variable in enumerate(model.schema.variables)
        if variable.name not in model.target and variable.name != target and has_order(variable)
    ]
    missing = sorted((item for item in found if item.rows), key=lambda item: -len(item.rows))
    return missing[:MAX_VARIABLES]


def has_order(variable: Variable) -> bool:
    """Whether values can be high or low."""
    return variable.kind is not Kind.CATEGORY or variable.n_levels == 2


def _analyse(model: FittedModel, rows: pa.Table, missing: MissingValues, target: str) -> Context:
    result = analyse_sensitivity(
        model, rows.take(list(missing.rows[:MAX_ROWS])), missing.variable.name, target=target
    )
    return sensitivity_wording.describe(
        result, model.schema[target], missing.variable, n_rows=rows.num_rows, n_missing=len(missing.rows)
    )

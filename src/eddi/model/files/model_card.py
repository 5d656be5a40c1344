"""The model card: what a model is, what it was trained on, and how well it predicts."""

from collections import Counter

from eddi.model.fitted import FittedModel


def model_card(model: FittedModel) -> str:
    """The card in Markdown."""
    sections = (
        *(_heading(model), _quality(model), _warnings(model), _training(model), _variables(model)),
        *(_ignored(model), _set_aside(model), _LIMITATIONS),
    )
    return "\n".join(section for section in sections if section)


def _heading(model: FittedModel) -> str:
    target = ", ".join(model.target) or "none declared; any variable can be one"
    return (
        "# An EDDI model\n\n"
        "A Partial VAE. It predicts any variable from any subset of the others, imputes missing values, "
        "and chooses the most informative next question in an interview.\n\n"
        f"- Target: {target}\n"
        f"- Variables: {len(model.schema.variables)} ({_kinds(model)})\n"
        f"- Questions: {len(model.schema.questions)}\n"
    )


def _quality(model: FittedModel) -> str:
    sections = [
        f"## Quality of predictions of {quality.target}\n\n"
        + "".join(f"- {line}\n" for line in quality.describe())
        for quality in model.quality.values()
    ]
    return "\n".join(sections)


def _warnings(model: FittedModel) -> str:
    lines = "".join(f"- {warning}\n" for warning in model.training.warnings)
    return f"## Warnings about the training table\n\n{lines}" if lines else ""


def _kinds(model: FittedModel) -> str:
    kinds = Counter(str(variable.kind) for variable in model.schema.variables)
    return ", ".join(f"{n} {kind}" for kind, n in kinds.most_common())


def _training(model: FittedModel) -> str:
    last = model.training.history[-1]
    best = [p.best for p in model.training.history if p.best is not None]
    validation = (
        f"- Validation score: {best[-1]:.3f} per hidden entry (minus the CRPS of quantities in coded "
        "units, minus the Brier score of levels; the log-likelihood with the paper's recipe)\n"
        if best
        else "- No rows were held out for validation\n"
    )
    return (
        "## Training\n\n"
        f"- Rows: {_rows(model)}\n"
        f"- Table fingerprint (SHA-256): `{model.training.fingerprint}`\n"
        f"- Set encoder: {model.set_encoder}; latent size {model.recipe.latent}\n"
        f"- Steps: {last.step:,} in {last.seconds:.1f} s\n" + validation
    )


def _rows(model: FittedModel) -> str:
    n_rows, n_prior_rows = model.training.n_rows, model.training.n_prior_rows
    if not n_rows:
        return "0. No data were used: the model follows from the beliefs that the schema states"
    return f"{n_rows:,}" + (f", and beliefs that count as {n_prior_rows:,} rows" if n_prior_rows else "")


def _variables(model: FittedModel) -> str:
    lines = ["## Variables\n", "| variable | kind | values |", "|--|--|--|"]
    for v in model.schema.variables:
        if v.survival is not None:
            values = v.describe_values()
        elif v.kind.has_levels:
            values = ", ".join(map(str, v.levels[:8])) + (" ..." if v.n_levels > 8 else "")
        elif v.low is None and v.high is None:
            values = "any"
        else:
            values = f"{_end(v.low)} to {_end(v.high)} {v.unit}".strip()
        lines.append(f"| {_cell(v.name)} | {v.kind} | {_cell(values)} |")
    return "\n".join(lines) + "\n"


def _end(bound: float | None) -> str:
    return "any" if bound is None else f"{bound:g}"


def _ignored(model: FittedModel) -> str:
    lines = [
        f"- Predictions of {target} ignore {', '.join(ignored)}\n"
        for target, ignored in model.ignored_variables.items()
    ]
    if not lines:
        return ""
    reason = (
        "Answers to these variables made predictions of held-out rows no better. The quality above is "
        "measured on the same rows, so it is slightly optimistic.\n\n"
    )
    return "## Ignored variables\n\n" + reason + "".join(lines)


def _set_aside(model: FittedModel) -> str:
    if not model.schema.set_aside:
        return ""
    lines = [f"- {aside.name}: {aside.reason}" for aside in model.schema.set_aside]
    return "## Excluded columns\n\n" + "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


_LIMITATIONS = """## Limitations

Predictions describe the population of the training table. They are not advice about a person. Predictions
for rows unlike those of the training table can be wrong without showing a larger uncertainty.
"""

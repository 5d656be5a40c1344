"""A model card: what a model is, what it was trained on and how well it does, for people."""

from collections import Counter

from eddi.model.partial_vae import PartialVAE


def card(model: PartialVAE) -> str:
    """The card in Markdown."""
    sections = (_heading(model), _training(model), _variables(model), _set_aside(model), _CARE)
    return "\n".join(section for section in sections if section)


def _heading(model: PartialVAE) -> str:
    target = ", ".join(model.target_) or "none declared; any variable can be one"
    return (
        "# An EDDI model\n\n"
        "A Partial VAE: it predicts any variable from any part of a row, fills holes in tables, and "
        "chooses the next most valuable question in an interview.\n\n"
        f"- Target: {target}\n"
        f"- Variables: {len(model.schema_.variables)} ({_kinds(model)})\n"
        f"- Questions: {len(model.schema_.questions)}\n"
    )


def _kinds(model: PartialVAE) -> str:
    kinds = Counter(str(variable.kind) for variable in model.schema_.variables)
    return ", ".join(f"{n} {kind}" for kind, n in kinds.most_common())


def _training(model: PartialVAE) -> str:
    last = model.history_[-1]
    best = [p.best for p in model.history_ if p.best is not None]
    validation = (
        f"- How well hidden entries of validation rows are foretold: {best[-1]:.3f} an entry (minus the "
        "CRPS of coded quantities, the log-likelihood of the rest)\n"
        if best
        else "- No rows were held out for validation\n"
    )
    return (
        "## Training\n\n"
        f"- Rows: {model.n_rows_:,}\n"
        f"- Table fingerprint (SHA-256): `{model.fingerprint_}`\n"
        f"- Set encoder: {model.set_encoder}; latent size {model.recipe_.latent}\n"
        f"- Steps: {last.step:,} in {last.seconds:.1f} s\n" + validation
    )


def _variables(model: PartialVAE) -> str:
    lines = ["## Variables\n", "| variable | kind | values |", "|--|--|--|"]
    for v in model.schema_.variables:
        if v.kind.has_levels:
            values = ", ".join(map(str, v.levels[:8])) + (" ..." if v.n_levels > 8 else "")
        elif v.low is None and v.high is None:
            values = "any"
        else:
            values = f"{_end(v.low)} to {_end(v.high)} {v.unit}".strip()
        lines.append(f"| {_cell(v.name)} | {v.kind} | {_cell(values)} |")
    return "\n".join(lines) + "\n"


def _end(bound: float | None) -> str:
    return "any" if bound is None else f"{bound:g}"


def _set_aside(model: PartialVAE) -> str:
    if not model.schema_.set_aside:
        return ""
    lines = [f"- {aside.name}: {aside.reason}" for aside in model.schema_.set_aside]
    return "## Set aside, not modelled\n\n" + "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


_CARE = """## Use with care

Predictions describe the population of the training table. They are not advice about a person, and rows
unlike those of the training table get answers that sound as sure as any other.
"""

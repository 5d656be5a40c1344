"""What `eddi fit` says in the end."""

from pathlib import Path
from typing import TYPE_CHECKING

from eddi.cli import terminal

if TYPE_CHECKING:
    from eddi.model.partial_vae import PartialVAE


def report(model: "PartialVAE", output: Path, *, json: bool) -> None:
    """Print how training went, and what was written."""
    last, n_bytes = model.history_[-1], output.stat().st_size
    facts = {
        "model": str(output),
        "bytes": n_bytes,
        "rows": model.n_rows_,
        "variables": len(model.schema_.variables),
        "target": list(model.target_),
        "steps": last.step,
        "seconds": round(last.seconds, 3),
        "score": last.best,
    }
    early = ", no longer improving" if last.step < last.max_steps else ""
    held_out = "no rows held out" if last.best is None else f"held-out score {last.best:.3f}"
    terminal.say(
        f"{output} ({terminal.size(n_bytes)}): {model.n_rows_:,} rows, {last.step:,} steps{early}, "
        f"{terminal.duration(last.seconds)}; {held_out}.",
        style="green",
    )
    if json:
        terminal.put(terminal.as_json(facts))

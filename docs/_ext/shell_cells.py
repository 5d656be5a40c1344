"""The cell magic `%%bash` for pages: one text without colours, and an error stops the build."""

import os
import subprocess
from typing import Any


def bash(_: str, cell: str) -> None:
    """Run a cell in bash and print what it writes."""
    environment = {key: value for key, value in os.environ.items() if "COLOR" not in key}
    run = subprocess.run(  # noqa: S603  # the commands are those of the page
        ["bash", "-ec", cell],  # noqa: S607
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        env=environment,
        check=False,
    )
    print(run.stdout, end="")
    run.check_returncode()


def load_ipython_extension(shell: Any) -> None:
    """Replace the magic of IPython, which prints its output in pieces."""
    shell.register_magic_function(bash, magic_kind="cell")

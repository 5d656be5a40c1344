"""The command line interface: one module per command, assembled in `app`."""

from eddi.cli.app import app, main

__all__ = ["app", "main"]

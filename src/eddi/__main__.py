"""`python -m eddi` is the command `eddi`."""

from eddi.cli import main

main()

"""`python -m eddi` is the command `eddi`."""

from eddi.cli.app import main

if __name__ == "__main__":  # not where a spawned process imports this again
    main()

"""The command `assay`, and `python -m worker.cli`."""

import sys


def main() -> None:
    """Load the commands and run the one that is asked for; Ctrl-C while they load ends it, too."""
    try:
        from worker.cli.main import cli

        cli()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":  # an import must not begin anything
    main()

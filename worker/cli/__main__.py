"""`python -m worker.cli`: the same as `assay`."""

from worker.cli.main import cli

if __name__ == "__main__":  # an import must not begin anything
    cli()

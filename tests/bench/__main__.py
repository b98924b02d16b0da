"""Print every number, or those named: `python -m tests.bench [core] [turn] [million] [live]`."""

import sys

from tests.bench import core, live, million, turn

PARTS = {"core": core.run, "turn": turn.run, "million": million.run, "live": live.run}


def main() -> None:
    """Run the named parts, or all."""
    chosen = sys.argv[1:] or list(PARTS)
    for name in chosen:
        if name not in PARTS:
            sys.exit(f"{name} is no part of the bench; there is {', '.join(PARTS)}")
    for name in chosen:
        PARTS[name]()


main()

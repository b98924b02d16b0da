"""Print every number, or those named: `python -m tests.bench [core] [turn] [live] [web] ...`."""

import sys

from tests.bench import (
    assess,
    best_model,
    change,
    choosing,
    compare,
    core,
    crowd,
    curve,
    ece,
    evaluator,
    f1,
    forecast,
    half_open,
    huge,
    judged,
    live,
    load,
    looks,
    million,
    models,
    opinions,
    opinions_size,
    pairs,
    recovery,
    report,
    start,
    structure,
    subjective,
    turn,
    verdicts,
    web,
    wide,
)

PARTS = {
    "core": core.run,
    "turn": turn.run,
    "million": million.run,
    "live": live.run,
    "start": start.run,
    "load": load.run,
    "wide": wide.run,
    "report": report.run,
    "assess": assess.run,
    "forecast": forecast.run,
    "web": web.run,
    "half-open": half_open.run,
    "subjective": subjective.run,
    "evaluator": evaluator.run,
    "crowd": crowd.run,
    "curve": curve.run,
    "ece": ece.run,
    "structure": structure.run,
    "judged": judged.run,
    "models": models.run,
    "compare": compare.run,
    "recovery": recovery.run,
}
# minutes and a download, an hour, and 10 GB of disk
ONLY_IF_NAMED = {
    "start_bare": start.run_bare,
    "huge": huge.run,
    "change": change.run,
    "opinions": opinions.run,
    "opinions_size": opinions_size.run,
    "looks": looks.run,
    "choosing": choosing.run,
    "verdicts": verdicts.run,
    "pairs": pairs.run,
    "best_model": best_model.run,
    "f1": f1.run,
}


def main() -> None:
    """Run the named parts, or all but the very long ones."""
    chosen = sys.argv[1:] or list(PARTS)
    parts = PARTS | ONLY_IF_NAMED
    for name in chosen:
        if name not in parts:
            sys.exit(f"{name} is no part of the bench; there is {', '.join(parts)}")
    for name in chosen:
        parts[name]()


main()

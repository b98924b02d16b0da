"""Which cell's next item is worth a label.

To add a strategy: write the function, add its line to `STRATEGIES` and its name to `Strategy` in
`worker/plan/model.py`.
"""

from functools import partial
from typing import Any

from worker.core.strategies.ours import assay
from worker.core.strategies.papers import (
    bayes_ucb,
    epsilon_greedy,
    multiple_play,
    random,
    thompson,
    top_two,
)
from worker.core.strategies.picking import Choice, NothingLeft, Strategy

STRATEGIES: dict[str, Strategy] = {
    "assay": assay,
    "random": random,
    "thompson": thompson,
    "top-two": top_two,
    "multiple-play": multiple_play,
    "epsilon-greedy": epsilon_greedy,
    "bayes-ucb": bayes_ucb,
}

# Those that have a number, with its parameter: how often the first draw is kept (beta), how often
# any item is taken (epsilon), and the posterior quantile.
NUMBERED = {"top-two": "keep", "epsilon-greedy": "explore", "bayes-ucb": "quantile"}


def numbered(name: str, number: float) -> Strategy:
    """One of `NUMBERED`, with another number than its own, inside (0, 1)."""
    choose: Any = STRATEGIES[name]
    with_number: Strategy = partial(choose, **{NUMBERED[name]: number})
    return with_number


__all__ = ["NUMBERED", "STRATEGIES", "Choice", "NothingLeft", "Strategy", "numbered"]

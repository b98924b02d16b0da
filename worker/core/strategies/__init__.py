"""Which cell's next item is worth a label.

To add a strategy: write the function and add its line to `STRATEGIES`.
"""

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

__all__ = ["STRATEGIES", "Choice", "NothingLeft", "Strategy"]

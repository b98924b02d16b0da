"""How sure one is of what annotators take for what."""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.crowd.inference import Crowd

Floats = NDArray[np.float64]


def confusion_interval(crowd: Crowd, level: float = 0.95) -> tuple[Floats, Floats]:
    """(A, K, K) twice: the ends of each confusion's interval, [annotator, true, given].

    Equal-tailed under the Beta of the same mean and deviation.
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level}, expected a probability inside (0, 1), such as 0.95.")
    tail = (1 - level) / 2
    mean = np.clip(crowd.confusion, 1e-9, 1 - 1e-9)
    total = np.maximum(mean * (1 - mean) / np.maximum(crowd.confusion_sd, 1e-9) ** 2 - 1, 1e-3)
    a, b = mean * total, (1 - mean) * total
    return special.betaincinv(a, b, tail), special.betaincinv(a, b, 1 - tail)

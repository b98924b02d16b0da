"""What is believed of a cell before its first label."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# A mean score that rounds to 0 or 1 would give a Beta with a zero parameter, which no label
# can ever contradict.
LEAST_SCORE = 1e-3


def uniform(n_cells: int, strength: float = 2.0) -> tuple[Floats, Floats]:
    """The same Beta(strength/2, strength/2) in every cell: nothing is known of any of them.

    Args:
        n_cells: C >= 0.
        strength: pseudo-counts, > 0; 2 makes every accuracy equally likely.

    Returns:
        alpha, beta: (C,).

    Raises:
        ValueError: `strength` is not a positive number.

    >>> uniform(2)[0].tolist()
    [1.0, 1.0]
    """
    _check_strength(strength)
    return np.full(n_cells, strength / 2), np.full(n_cells, strength / 2)


def informative(mean_score: Floats, strength: float = 2.0) -> tuple[Floats, Floats]:
    """Beta(strength * s, strength * (1 - s)): the classifier is believed to be calibrated.

    Args:
        mean_score: (C,) mean score of the cell's pool items, in [0, 1]; nan in empty cells, which
            are never labelled and get 0.5. Clipped to [0.001, 0.999]: see `LEAST_SCORE`.
        strength: pseudo-counts, > 0.

    Returns:
        alpha, beta: (C,).

    Raises:
        ValueError: `strength` is not a positive number, or a score lies outside [0, 1].

    Source:
        "IPrior" of Ji, Logan, Smyth & Steyvers, "Active Bayesian Assessment for Black-Box
        Classifiers" (AAAI 2021), which does not clip.
    """
    _check_strength(strength)
    scores = np.asarray(mean_score, dtype=np.float64)
    strange = (scores < 0) | (scores > 1)
    if strange.any():
        c = int(strange.argmax())
        raise ValueError(
            f"the mean score of cell {c} is {scores[c]}, expected a probability in [0, 1]; "
            "check the scores of the predictions."
        )
    s = np.clip(np.nan_to_num(scores, nan=0.5), LEAST_SCORE, 1 - LEAST_SCORE)
    return strength * s, strength * (1 - s)


def _check_strength(strength: float) -> None:
    if not (np.isfinite(strength) and strength > 0):
        raise ValueError(
            f"the prior's strength is {strength}, expected a positive number of pseudo-counts; "
            "2 is the usual one."
        )

"""How far predictions are from what people say: distance, divergence, and AUC of the classes.

A measure of items takes human frequencies (N, K) and draws (N, D, K) and gives (N, D); a measure of
the whole, such as the AUC, is a number a draw (D,). Any function of either form will do.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.evaluator.errors import EvaluatorError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MeasureFunction = Callable[[Floats, Floats], Floats]

# Below it a predicted probability counts as this much: an infinite divergence has no distribution.
FLOOR = 1e-12


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure and how one speaks about it.

    of: the function. per_item: it gives (N, D), else (D,). low, high: its least and its greatest
    value, or None. is_better_high: the greater, the closer to people.
    """

    name: str
    title: str
    unit: str
    of: MeasureFunction
    per_item: bool = True
    low: float | None = 0.0
    high: float | None = None
    is_better_high: bool = False


def normalised_l2(human: Floats, drawn: Floats) -> Floats:
    """The Euclidean distance divided by that of two different corners of the simplex, √2.

    Args:
        human: (N, K), rows sum to 1.
        drawn: (N, D, K); on the simplex the distance lies in [0, 1]. Draws with the likelihood's
            noise may lie beside it, and then also above 1.

    Returns:
        (N, D).

    Source:
        Eq. 15 of the supplement writes the *squared* norm over √2, whose greatest value is √2; its
        text ("range [0, 1]", "Euclidean distance") wants the norm itself, which is taken here.
    """
    apart = drawn - human[:, None, :]
    distance: Floats = np.sqrt(np.einsum("ndk,ndk->nd", apart, apart) / 2)
    return distance


def kl_divergence(human: Floats, drawn: Floats, floor: float = FLOOR) -> Floats:
    """The Kullback-Leibler divergence KL(human || predicted), in bits.

    It is the sum over the classes of y log2(y / ŷ), where 0 log 0 is 0. Predicted probabilities
    below `floor` count as `floor` (the others are not scaled for it), so that the divergence is at
    most about log2(1 / floor), 40 bits; `clipped` says in how many places that mattered.

    Args:
        human: (N, K), rows sum to 1.
        drawn: (N, D, K).

    Returns:
        (N, D), >= 0 but for rounding where the draws sum to 1.

    Source:
        Eq. 16 of the supplement has the quotient the other way round, which is the negative of it.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where(human > 0, human * np.log2(human), 0.0).sum(axis=1)
    cross = np.einsum("nk,ndk->nd", human, np.log2(np.maximum(drawn, floor)))
    divergence: Floats = own[:, None] - cross
    return divergence


def clipped(human: Floats, drawn: Floats, floor: float = FLOOR) -> int:
    """In how many of the N x D values `kl_divergence` depends on its floor."""
    return int(((drawn < floor) & (human > 0)[:, None, :]).any(axis=2).sum())


def auc(human: Floats, drawn: Floats) -> Floats:
    """The AUC of the predicted classes against people's, one class against the rest, each draw.

    A class has one operating point, its AUC is (true positive rate + true negative rate) / 2; the
    classes that the majority of people chose for some item, but not for all, count alike.

    Args:
        human: (N, K); the class is the largest frequency, the first of equal ones.
        drawn: (N, D, K), likewise.

    Returns:
        (D,), in [0, 1]; 1/2 is chance.

    Raises:
        EvaluatorError: the majority chose one and the same class for every item.

    Source:
        Section 4.3 of the supplement: "applying the argmax function to the classifier's output and
        the human frequencies". It does not say how classes are averaged; here plainly (macro).
    """
    hits, likeliest = class_hits(human, drawn)
    majority = np.bincount(human.argmax(axis=1), minlength=human.shape[1])
    return auc_of_hits(hits, likeliest, majority)


def class_hits(human: Floats, drawn: Floats) -> tuple[Ints, Ints]:
    """(D, K) each: items of the majority's class that are predicted as it, a draw and class; and
    items for which the class is the likeliest predicted one."""
    n_draws, k = drawn.shape[1:]
    offset = np.arange(n_draws) * k
    guess, truth = drawn.argmax(axis=2), human.argmax(axis=1)[:, None]
    cells = (guess + offset)[guess == truth], (guess + offset).ravel()
    hits, likeliest = (np.bincount(c, minlength=n_draws * k).reshape(n_draws, k) for c in cells)
    return hits, likeliest


def auc_of_hits(hits: Ints, likeliest: Ints, majority: Ints) -> Floats:
    """(D,) the `auc` of `class_hits`, which may be added up over parts of the items.

    Args:
        majority: (K,) items whose majority chose each class.

    Raises:
        EvaluatorError: as `auc`.
    """
    total = majority.sum()
    used = (majority > 0) & (majority < total)
    if not used.any():
        raise EvaluatorError(
            "Most people chose one and the same class for every item, so the AUC has nothing to "
            "tell apart; take the measure l2 or kl, or add items of other classes."
        )
    right, positive = hits[:, used], majority[used]
    wrong = likeliest[:, used] - right
    rates: Floats = (right / positive + 1 - wrong / (total - positive)) / 2
    return np.asarray(rates.mean(axis=1))


def class_counts(human: Floats, drawn: Floats) -> Ints:
    """(D, K, K) how many items of the majority's class [k] have the predicted class [j], a draw."""
    n_draws, k = drawn.shape[1:]
    cell = human.argmax(axis=1)[:, None] * k + drawn.argmax(axis=2) + np.arange(n_draws) * k**2
    return np.bincount(cell.ravel(), minlength=n_draws * k**2).reshape(n_draws, k, k)


MEASURES: Mapping[str, Measure] = {
    "l2": Measure("l2", "normalised L2 distance", "", normalised_l2, high=1.0),
    "kl": Measure("kl", "KL divergence", "bits", kl_divergence),
    "auc": Measure("auc", "AUC", "", auc, per_item=False, high=1.0, is_better_high=True),
}


def measured(measure: Measure, human: Floats, drawn: Floats) -> Floats:
    """Apply a measure, and refuse what is no measure of these draws.

    Returns:
        (N, D) of a measure of items, (D,) of one of the whole.

    Raises:
        EvaluatorError: the function gave another shape, or numbers that are not finite.
    """
    values = np.asarray(measure.of(human, drawn), dtype=np.float64)
    expected = drawn.shape[:2] if measure.per_item else drawn.shape[1:2]
    if values.shape != expected:
        raise EvaluatorError(
            f"The measure {measure.name} gave an array of shape {values.shape}, expected "
            f"{expected}: {'one number an item and draw' if measure.per_item else 'one a draw'}."
        )
    if not np.isfinite(values).all():
        raise EvaluatorError(
            f"The measure {measure.name} gave {int((~np.isfinite(values)).sum()):,} numbers that "
            "are not finite, of which there is no distribution; clip what it takes the logarithm "
            "of, or divides by."
        )
    return values

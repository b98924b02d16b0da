"""The smallest set of groups that surely has the answer in it: true before one group is left."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.core.confidence_sequences.guarantee import Guard, ends, misses, sides
from worker.core.posterior.belief import Belief, Counts, group_size
from worker.core.posterior.marginals import SLACK
from worker.core.posterior.mixing import mixed
from worker.core.posterior.summary import draws
from worker.core.questions.question import Question
from worker.core.questions.ranking import ranking, set_confidence


@dataclass(frozen=True, slots=True)
class Shortlist:
    """Groups among which the ones asked for are.

    groups: the likeliest first. confidence: P(the `top` are among them | labels); under a
    guarantee that holds at any time the bound of it.
    """

    groups: tuple[int, ...]
    confidence: float


def shortlist(
    b: Belief,
    question: Question,
    confidence: float,
    guard: Guard | None = None,
    unknown: Counts | None = None,
) -> Shortlist:
    """The fewest groups that have the `top` among them with at least this confidence.

    Which groups are tried, the likeliest first, posterior draws say; how sure a set is, is as exact
    as for the answer itself (`set_confidence`), so that the draws can make it longer, not wrong.

    Args:
        question: an identify question.
        confidence: in (0, 1].
        guard: with it nobody is missing who could still be one of the `top` by the bands: so it
            holds at any time, with the same few misses as the answer (`misses`), and `confidence`
            is not asked.
        unknown: (C,) as of `decide`.
    """
    if guard is not None:
        nothing = np.zeros(b.group.size, dtype=np.int64)
        return _at_any_time(b, question, guard, nothing if unknown is None else unknown)
    order = _likeliest_first(b, question)

    def sure(n: int) -> float:
        chosen = order[:n]

        def of_one(of: Belief) -> NDArray[np.float64]:
            found = set_confidence(of, chosen, question.which, question.tolerance, top=question.top)
            return np.array(found)

        return float(mixed(b, of_one))

    return _fewest(order, question.top, confidence - 1e-12, sure)


def _fewest(
    order: list[int], least: int, confidence: float, sure: Callable[[int], float]
) -> Shortlist:
    """The first n of the order, n >= least, that are sure enough: the more, the surer.

    Short ones are tried first, because a long one takes the laws of many groups.
    """
    low, step = least, 1  # all shorter ones are not sure enough
    found: dict[int, float] = {len(order): 1.0}
    n = least
    while n < len(order):
        found[n] = sure(n)
        if found[n] >= confidence:
            break
        low, n, step = n + 1, n + step, 2 * step
    high = min(n, len(order))
    while low < high:
        middle = (low + high) // 2
        found[middle] = sure(middle)
        low, high = (low, middle) if found[middle] >= confidence else (middle + 1, high)
    return Shortlist(tuple(order[:high]), min(1.0, found[high]))


def _likeliest_first(b: Belief, question: Question) -> list[int]:
    """The groups with items by how often they are one of the `top` in posterior draws, then by
    their means."""
    filled = np.flatnonzero(group_size(b))
    drawn = draws(b)[:, filled]
    signed = drawn if question.which == "lowest" else -drawn
    top = min(question.top, filled.size)
    times = np.bincount(
        np.argpartition(signed, top - 1, axis=1)[:, :top].ravel(), minlength=filled.size
    )
    of_group = np.zeros(b.n_groups)
    of_group[filled] = times
    order = ranking(b, question.which)
    return [int(g) for g in order[np.argsort(-of_group[order], kind="stable")]]


def _at_any_time(b: Belief, question: Question, guard: Guard, unknown: Counts) -> Shortlist:
    """All whose bands do not rule them out: their best end is better than `top` worst ends.

    That a group of the true set is missing takes the same wrong ends as a wrong answer: of a group
    that is named and not in the set, or of the one that is missing.
    """
    order = np.sort(ranking(b, question.which))
    found = ends(b, unknown, guard, *misses(b, question, guard.miss))
    worst, _ = sides(b, found, order.tolist(), question)
    _, best = sides(b, found, (), question)
    top = min(question.top, order.size)
    last = np.partition(worst, top - 1)[top - 1]
    is_in = best + question.tolerance + SLACK < last
    is_in[np.argsort(worst, kind="stable")[:top]] = True
    inside = order[is_in]
    return Shortlist(
        tuple(inside[np.argsort(worst[is_in], kind="stable")].tolist()), 1 - guard.miss
    )

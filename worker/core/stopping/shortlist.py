"""The smallest set of groups that surely has the answer in it: true before one group is left."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.core.confidence_sequences.guarantee import ConfidenceSequence, alpha_split, ends, sides
from worker.core.posterior.belief import Belief, Counts, group_size
from worker.core.posterior.marginals import SLACK
from worker.core.posterior.mixing import mixed
from worker.core.posterior.summary import draws
from worker.core.questions.question import Question
from worker.core.questions.ranking import LONG, ranking, set_confidence


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
    sequence: ConfidenceSequence | None = None,
    unknown: Counts | None = None,
) -> Shortlist:
    """The fewest groups that have the `top` among them with at least this confidence; of more than
    32, about the fewest.

    Which groups are tried, the likeliest first, posterior draws say; how sure a set is, is as exact
    as for the answer itself (`set_confidence`), so that the draws can make it longer, not wrong.

    Args:
        question: an identify question.
        confidence: in (0, 1].
        sequence: with it nobody is missing who could still be one of the `top` by the bands: so it
            holds at any time, with the same few misses as the answer (`alpha_split`), and
            `confidence` is not asked.
        unknown: (C,) as of `decide`.
    """
    if sequence is not None:
        nothing = np.zeros(b.group.size, dtype=np.int64)
        return _at_any_time(b, question, sequence, nothing if unknown is None else unknown)
    order, n = _likeliest_first(b, question, confidence)

    def sure(n: int) -> float:
        chosen = order[:n]

        def of_one(of: Belief) -> NDArray[np.float64]:
            found = set_confidence(of, chosen, question.which, question.tolerance, top=question.top)
            return np.array(found)

        return float(mixed(b, of_one))

    return _fewest(order, question.top, n, confidence - 1e-12, sure)


def _fewest(
    order: list[int], least: int, n: int, confidence: float, sure: Callable[[int], float]
) -> Shortlist:
    """The first groups of the order, at least `least`, that are sure enough: the more, the surer.

    Of more than 32 a few could go perhaps: each try takes seconds, and it is no short list.

    Args:
        n: so many will about do.
    """
    low, high = least, len(order)  # shorter ones are not sure enough, so many are
    found: dict[int, float] = {high: 1.0}
    n, step = min(max(n, low), high - 1), 1
    was_sure = was_not = False
    while low < high:
        found[n] = sure(n)
        if found[n] >= confidence:
            high, was_sure = n, True
            if n > LONG:
                break
        else:
            low, was_not = n + 1, True
        if (was_sure and was_not) or n > LONG:
            n = (low + high) // 2
        else:
            n, step = max(low, n - step) if was_sure else min(high - 1, n + step), 2 * step
    return Shortlist(tuple(order[:high]), min(1.0, found[high]))


def _likeliest_first(b: Belief, question: Question, confidence: float) -> tuple[list[int], int]:
    """The groups with items by how often they are one of the `top` in posterior draws, then by
    their means; and how many of them had all of these in such a share of the draws."""
    filled = np.flatnonzero(group_size(b))
    drawn = draws(b)[:, filled]
    signed = drawn if question.which == "lowest" else -drawn
    top = min(question.top, filled.size)
    extreme = filled[np.argpartition(signed, top - 1, axis=1)[:, :top]]
    ranked = ranking(b, question.which)

    def ordered(draws: NDArray[np.intp]) -> NDArray[np.intp]:
        times = np.bincount(draws.ravel(), minlength=b.n_groups)
        return ranked[np.argsort(-times[ranked], kind="stable")]

    # the share of other draws: those that the order follows would always say too few
    place = np.empty(b.n_groups, dtype=np.intp)
    place[ordered(extreme[::2])] = np.arange(ranked.size)
    last = np.sort(place[extreme[1::2]].max(axis=1))
    n = 1 + int(last[min(int(confidence * last.size), last.size - 1)])
    return ordered(extreme).tolist(), n


def _at_any_time(
    b: Belief, question: Question, sequence: ConfidenceSequence, unknown: Counts
) -> Shortlist:
    """All whose bands do not rule them out: their best end is better than `top` worst ends.

    That a group of the true set is missing takes the same wrong ends as a wrong answer: of a group
    that is named and not in the set, or of the one that is missing.
    """
    order = np.sort(ranking(b, question.which))
    found = ends(b, unknown, sequence, *alpha_split(b, question, sequence.miss))
    worst, _ = sides(b, found, order.tolist(), question)
    _, best = sides(b, found, (), question)
    top = min(question.top, order.size)
    last = np.partition(worst, top - 1)[top - 1]
    is_in = best + question.tolerance + SLACK < last
    is_in[np.argsort(worst, kind="stable")[:top]] = True
    inside = order[is_in]
    return Shortlist(
        tuple(inside[np.argsort(worst[is_in], kind="stable")].tolist()), 1 - sequence.miss
    )

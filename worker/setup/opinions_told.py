"""What each opinion of a pool would be used for, before there is any label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from worker.formats import counted, share
from worker.nearest import listed
from worker.plan import Plan
from worker.plan.opinions_part import OpinionPlan
from worker.pool import Pool
from worker.pool.opinions import SAYS_NOTHING, Told


@dataclass(frozen=True, slots=True)
class OpinionTold:
    """One opinion as `check` shows it.

    agrees: the share of the items of which it says something that it gives our class; None if it
        is no classifier. missing: of how many items it says nothing. differs: whether it says
        different things of different items; else it tells nothing.
    """

    name: str
    kind: str
    agrees: float | None
    missing: int
    differs: bool
    text: str


def told_of(plan: Plan, pool: Pool) -> list[OpinionTold]:
    """Return what is said of each opinion, in the plan's order."""
    right = "the prediction" if plan.annotation.verdict is None else "the output"
    given = zip(plan.pool.opinions or (), pool.opinions, strict=True)
    return [_told(opinion, told, pool.n_items, right) for opinion, told in given]


def strata_per_group(pool: Pool) -> float:
    """How many strata there are on average in a group, or in a unit of it where it has units."""
    places = np.stack([pool.cell_group, pool.cell_unit])
    return pool.n_cells / len(np.unique(places, axis=1)[0])


def strata_told(plan: Plan, pool: Pool) -> str:
    """How many strata come out a group, and by what they are cut."""
    each = f"{strata_per_group(pool):.1f}".removesuffix(".0")
    by_score = "the score and " if plan.pool.has_scores else ""
    by = by_score + counted(len(pool.opinions), "opinion")
    return f"{each} {'stratum' if each == '1' else 'strata'} a group on average, by {by}"


def _told(opinion: OpinionPlan, told: Told, n_items: int, right: str) -> OpinionTold:
    n_there = n_items - told.n_missing
    agrees = None if told.agreed is None else int(told.agreed.sum()) / n_there
    differs = any(term != SAYS_NOTHING for term in told.terms)
    said = [_what(opinion, told, right)]
    if not differs:
        said.append("no more than the score says, or the same of all items; leave it out")
    elif agrees is not None:
        said.append(
            f"{'more so than not' if opinion.right else 'agrees'} on {share(agrees)} of the items"
        )
    if told.n_missing:
        said.append(f"says nothing of {told.n_missing:,}")
    text = f"{told.name}: {'; '.join(said)}"
    return OpinionTold(told.name, told.kind, agrees, told.n_missing, differs, text)


def _what(opinion: OpinionPlan, told: Told, right: str) -> str:
    if opinion.predicted is not None:
        return "another classifier's class" + ("" if opinion.score is None else " and score")
    if opinion.probabilities is not None:
        return "another classifier's probabilities"
    if opinion.right is not None:
        return f"how likely {right} is right"
    if opinion.number is not None:
        return "a number, which may go with errors"
    names = [term for term in told.terms if term != SAYS_NOTHING]
    values = f"of {len(names)} values ({listed(names, 3)}), " if names else ""
    return f"a category {values}which may go with errors"

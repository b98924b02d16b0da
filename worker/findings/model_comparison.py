"""What is found of several models: rows of numbers, and sentences that name the better one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from worker.assessment.several import Several
from worker.core.posterior.belief import Belief
from worker.core.posterior.intervals import interval
from worker.core.posterior.summary import mean
from worker.core.questions.question import StopRule
from worker.core.stopping.pairs import PairVerdict
from worker.core.stopping.verdict import Verdict
from worker.findings.claims import extreme_claim, sure_text, within_text
from worker.formats import probability
from worker.metrics import WORDS
from worker.pool.models import ALL_ITEMS

_MOST_SAID = 3


def models_of(
    several: Several,
    belief: Belief,
    verdict: Verdict,
    shortlists: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Everything that is said of several models, JSON-able.

    names; agreed: items on which all predict the same class, of which no label is needed to compare
    them. differences: of two models, in a group or overall (first less second; of the accuracy on
    all its items, in [-1, 1]): items on which they disagree, labels among these and how often each
    alone was right, mean and 95% interval, the probabilities to be below, within and above the
    rope, and the better one, None if they are practically equal. groups: each model's own, with
    its labels and its accuracy. shortlists: as `worker.findings.evidence.among_rows` has them.
    """
    return {
        "names": list(several.models.names),
        "agreed": several.models.agreed,
        "differences": _differences(several, belief, verdict) if several.asked else [],
        "groups": [] if several.asked else _groups(several, belief, verdict),
        "shortlists": list(shortlists),
    }


def _differences(several: Several, belief: Belief, verdict: Verdict) -> list[dict[str, Any]]:
    view, names = several.views[0], several.models.names
    errors = belief.errors
    assert errors is not None, "differences count who is right"
    differs = view.cell >= 0

    def of_groups(cells: Any) -> list[int]:
        sums = np.bincount(view.group[differs], cells[differs], view.n_groups)
        return [int(n) for n in sums]

    columns = {
        "disagreed": of_groups(view.size),
        "labelled": of_groups(belief.right + belief.wrong),
        "first_right": of_groups(belief.right),
        "second_right": of_groups(errors.counts[:, 0]),
    }
    sizes = np.bincount(view.group, view.size, view.n_groups)
    means, bounds = mean(belief), interval(belief)
    rows = []
    for pair in verdict.pairs:
        g, asked = pair.g1, several.asked[pair.g1]
        first, second = names[asked.first], names[asked.second]
        row: dict[str, Any] = {"first": first, "second": second, "group": asked.group}
        row |= {"size": int(sizes[g])} | {key: of[g] for key, of in columns.items()}
        row |= {"mean": _digits(means[g]), "low": _digits(bounds[g, 0])}
        row |= {"high": _digits(bounds[g, 1]), "region": pair.region}
        row |= {"below": probability(pair.p_below), "within": probability(pair.p_within)}
        row |= {"above": probability(pair.p_above)}
        row["better"] = {"above": first, "below": second, "within": None}[pair.region]
        rows.append(row)
    return rows


def _groups(several: Several, belief: Belief, verdict: Verdict) -> list[dict[str, Any]]:
    rows, begin = [], 0
    for model, part, names in zip(
        several.models.names, belief.parts, several.models.own_names, strict=True
    ):
        means, bounds = mean(part), interval(part)
        for g, name in enumerate(names):
            own = part.group == g
            row: dict[str, Any] = {"model": model, "group": name}
            row |= {"size": int(part.size[own].sum()), "right": int(part.right[own].sum())}
            row["labelled"] = row["right"] + int(part.wrong[own].sum())
            numbers = (means[g], *bounds[g])
            row |= dict(zip(("mean", "low", "high"), map(_digits, numbers), strict=True))
            row["is_chosen"] = begin + g in verdict.chosen
            rows.append(row)
        begin += part.n_groups
    return rows


def finding_of_models(
    several: Several, belief: Belief, verdict: Verdict, rule: StopRule, noun: str
) -> str:
    """What was found out, in one sentence.

    Each difference says how sure it is; of the extreme groups (`noun` says what they are) that is
    left to who asks.
    """
    if several.asked:
        means, bounds = mean(belief), interval(belief)
        ordered = sorted(verdict.pairs, key=lambda pair: several.asked[pair.g1].group != ALL_ITEMS)
        said = [
            _said(several, pair, verdict.certain, float(means[pair.g1]), *bounds[pair.g1].tolist())
            for pair in ordered[:_MOST_SAID]
        ]
        more = len(ordered) - len(said)
        return "; ".join(said) + (f"; and {more} more differences" if more > 0 else "")
    told = []
    for m, name in enumerate(several.models.names):
        begin, end = several.begins[m], several.begins[m + 1]
        own = [several.models.own_names[m][g - begin] for g in verdict.ranking if begin <= g < end]
        claim = extreme_claim(own, noun, WORDS["accuracy"], several.question, rule)
        told.append(f"{name}: {claim}")
    return "; ".join(told)


def _said(
    several: Several, pair: PairVerdict, is_certain: bool, mean: float, low: float, high: float
) -> str:
    asked, names = several.asked[pair.g1], several.models.names
    first, second = names[asked.first], names[asked.second]
    where = "" if asked.group == ALL_ITEMS else f" in “{asked.group}”"
    epsilon = 100 * several.question.epsilon
    if pair.confidence < 0.5:  # one that is named would be taken for the better one
        points, *ends = (f"{round(100 * x, 1) + 0.0:+.1f}" for x in (mean, low, high))
        held = f"{first} less {second} is {points} points [{', '.join(ends)}]"
        return f"it is open which of {first} and {second} is better{where}: {held}"
    sure = "for certain" if is_certain else sure_text(pair.confidence)
    if pair.region == "within":
        held = f"[{100 * low:+.1f}, {100 * high:+.1f}]"
        return (
            f"{first} and {second} are equivalent to within {epsilon:g} points{where}: "
            f"{100 * mean:+.1f} points {held}; {sure}"
        )
    if pair.region == "below":
        first, second, mean, low, high = second, first, -mean, -high, -low
    return (
        f"{first} is better than {second}{where} by {100 * mean:.1f} points "
        f"[{100 * low:.1f}, {100 * high:.1f}]; {sure} that it is by more than {epsilon:g}"
    )


def question_of_models(several: Several) -> str:
    """What is asked, as a question."""
    names = ", ".join(several.models.names)
    if not several.asked:
        extreme = "least" if several.question.which == "lowest" else "most"
        top = several.question.top
        what = "group" if top == 1 else f"{top} groups"
        asked = f"Which {what} of its own is each model ({names}) {extreme} accurate in?"
        return " ".join(filter(None, (asked, within_text(several.question))))
    groups = {asked.group for asked in several.asked}
    places = ["overall"] * (ALL_ITEMS in groups)
    if n := len(groups - {ALL_ITEMS}):
        places.append(f"in each of {n} groups")
    among = dict.fromkeys(
        several.models.names[m] for asked in several.asked for m in (asked.first, asked.second)
    )
    return f"Which of {', '.join(among)} is better, {' and '.join(places)}, and by how much?"


def _digits(number: float) -> float | None:
    return None if np.isnan(number) else round(float(number), 6)

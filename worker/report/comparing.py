"""Two assessments side by side (two models, two months), with the posterior of the difference."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.assessment.verdicts import assess_now
from worker.core.posterior.belief import Belief, group_labelled, group_size
from worker.core.posterior.intervals import draws_of_whole, interval, whole
from worker.core.posterior.summary import draws, mean
from worker.errors import AssayError
from worker.files import write_whole
from worker.findings.evidence import tells_overall
from worker.findings.wording import headline
from worker.metrics import METRICS
from worker.report.contents import Interval
from worker.report.contents_comparison import VERSION, Comparison, Difference, Side, as_json
from worker.report.templating import template
from worker.store import Header, Ledger

Floats = NDArray[np.float64]
Case = tuple[Assessment, Header, Ledger]

# Each assessment draws the same strata in the same order; in another order they are independent.
# Several orders, because each pairs the draws by chance.
_ORDERS = 5
_SEED = 20210209
_LEVEL = (0.025, 0.975)


class NotComparable(AssayError):
    """The two assessments ask for different things."""


def compare(a: Case, b: Case) -> Comparison:
    """Set two assessments side by side, as they stand now.

    The two posteriors are taken as independent. The same labels give the same numbers.

    Raises:
        NotComparable: they ask for different metrics, or have no group in common.
    """
    plan_a, plan_b = a[0].plan, b[0].plan
    for plan in (plan_a, plan_b):
        if plan.models is not None:
            raise NotComparable(
                f"{plan.assessment} is of several models, whose groups are their own; its report "
                "sets them side by side."
            )
    metric = plan_a.metric
    if (asked_a := _asked(a[0])) != (asked_b := _asked(b[0])):
        raise NotComparable(
            f"{plan_a.assessment} asks for {asked_a}, but {plan_b.assessment} asks for {asked_b}; "
            "only values of one metric can be compared."
        )
    (side_a, belief_a), (side_b, belief_b) = _side(*a), _side(*b)
    places_a, places_b = _places(a[0], belief_a), _places(b[0], belief_b)
    shared = [name for name in places_a if name in places_b]
    if not shared:
        raise NotComparable(
            f"{plan_a.assessment} and {plan_b.assessment} have no group of the same name, so there "
            f"is nothing to compare; the first has {', '.join(list(places_a)[:5])}, the other "
            f"{', '.join(list(places_b)[:5])}."
        )
    in_all = ((a[0], belief_a, side_a), (b[0], belief_b, side_b))
    is_whole = all(tells_overall(work, belief) for work, belief, _ in in_all)
    drawn_a, drawn_b = draws(belief_a), draws(belief_b)
    values_a, values_b = _values(belief_a), _values(belief_b)
    labels_a, labels_b = group_labelled(belief_a), group_labelled(belief_b)
    groups = [
        _difference(
            name,
            (values_a[i], drawn_a[:, i], int(labels_a[i])),
            (values_b[j], drawn_b[:, j], int(labels_b[j])),
        )
        for name, i, j in ((name, places_a[name], places_b[name]) for name in shared)
    ]
    return Comparison(
        version=VERSION,
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        metric=metric,
        metric_name=plan_a.words.name,
        a=side_a,
        b=side_b,
        overall=_difference("all groups", *map(_overall, in_all)) if is_whole else None,
        groups=tuple(sorted(groups, key=lambda g: (g.difference.mean, g.name))),
        only_a=tuple(name for name in places_a if name not in places_b),
        only_b=tuple(name for name in places_b if name not in places_a),
        remarks=_remarks(a, b, is_whole),
    )


def page(comparison: Comparison) -> str:
    """The comparison as one HTML page that needs nothing but itself."""
    shown = [*filter(None, [comparison.overall]), *comparison.groups]
    ends = [0.0, *(end for d in shown for end in (d.difference.low, d.difference.high))]
    return template("comparison.html.j2").render(c=comparison, low=min(ends), high=max(ends))


def write_comparison(comparison: Comparison, folder: Path, stem: str) -> Path:
    """Write STEM.json and STEM.html, each as a whole; return the page's path."""
    folder.mkdir(parents=True, exist_ok=True)
    told = json.dumps(as_json(comparison), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_whole(folder / f"{stem}.json", told)
    write_whole(folder / f"{stem}.html", page(comparison))
    return folder / f"{stem}.html"


def _asked(work: Assessment) -> str:
    question = work.plan.question
    asked = work.plan.metric
    is_of_class = question.positive is not None and METRICS[asked].judge_says is None
    return f"{asked} of {question.positive}" if is_of_class else asked


def _side(work: Assessment, header: Header, ledger: Ledger) -> tuple[Side, Belief]:
    state, belief, verdict = assess_now(work, ledger)
    decisions = [json.loads(text) for text in ledger.decisions()]
    stop = next((d for d in reversed(decisions) if d["kind"] == "stop"), None)
    side = Side(
        assessment=header.assessment,
        title=work.plan.label_studio.title or header.assessment,
        status=state.status,
        text=stop["text"]
        if stop and state.status == "stopped"
        else headline(work, belief, verdict),
        labels=verdict.labels,
        pool_items=work.pool.n_items,
        revision=state.revision,
        plan_hash=header.plan_hash,
        pool_hash=header.pool_hash,
    )
    return side, belief


def _places(work: Assessment, belief: Belief) -> dict[str, int]:
    """The groups with items: name -> index."""
    sizes = group_size(belief)
    return {name: g for g, name in enumerate(work.pool.group_names) if sizes[g]}


def _values(belief: Belief) -> Floats:
    """(G, 3) mean and interval of every group."""
    return np.column_stack([mean(belief), interval(belief)])


def _overall(one: tuple[Assessment, Belief, Side]) -> tuple[Floats, Floats, int]:
    """Mean and interval of the whole pool's value, draws of it, and labels."""
    _, belief, side = one
    return np.array(whole(belief)), draws_of_whole(belief), side.labels


def _difference(
    name: str, a: tuple[Floats, Floats, int], b: tuple[Floats, Floats, int]
) -> Difference:
    """Of two values, each with mean and interval, draws and labels."""
    rng = np.random.default_rng(_SEED)
    gap = np.concatenate([b[1][rng.permutation(b[1].size)] - a[1] for _ in range(_ORDERS)])
    gap = gap.round(12)  # equal shares may differ by rounding
    low, high = np.quantile(gap, _LEVEL, method="inverted_cdf")
    return Difference(
        name,
        _interval(*a[0]),
        _interval(*b[0]),
        _interval(b[0][0] - a[0][0], low, high),
        _rounded((gap > 0).mean()),
        _rounded((gap < 0).mean()),
        a[2],
        b[2],
    )


def _interval(middle: float, low: float, high: float) -> Interval:
    return Interval(_rounded(middle), _rounded(low), _rounded(high))


def _rounded(number: float) -> float:
    return round(float(number), 6) + 0.0  # no -0.0


def _remarks(a: Case, b: Case, is_whole: bool) -> tuple[str, ...]:
    """What a reader must know to take the differences for what they are."""
    plan_a, plan_b = a[0].plan, b[0].plan
    found = [
        "The two posteriors are taken as independent; if the same people labelled the same items "
        "for both, the difference is known better than is said here."
    ]
    of_values = ("costs", "cost_ratio", "bins", "superclasses", "people")
    told = [
        key
        for key in of_values
        if str(getattr(plan_a.question, key)) != str(getattr(plan_b.question, key))
    ]
    if told:
        keys = ", ".join(f"question.{key}" for key in told)
        found.append(f"The plans differ in {keys}: the values do not mean quite the same.")
    if plan_a.population != plan_b.population:
        found.append(
            f"The population is {plan_a.population} in A and {plan_b.population} in B: one is "
            "about a pool, the other about all items like it."
        )
    if plan_a.pool.groups != plan_b.pool.groups:
        found.append("The groups are made in different ways; only their names are the same.")
    if not is_whole:
        found.append(
            "Where groups are looked for or compared, most labels are of a few of them, and the "
            "mean of the groups' calibration errors, or rates, is not that of the pool: nothing is "
            "said of the whole pool."
        )
    return tuple(found)

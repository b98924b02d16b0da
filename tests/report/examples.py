"""All made-up reports by name; the degenerate, the crowded and the nasty ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.report.examples_ordinary import ANIMALS, _six, ordinary
from tests.report.examples_questions import (
    banded,
    compared,
    confused,
    continued,
    costly,
    estimated,
    from_labels,
    with_opinions,
)
from worker.report.contents import Group, Interval, Items, Pair, Report
from worker.report.contents_people import (
    Agreement,
    Annotator,
    Confusions,
    Disputed,
    Mistake,
    OwnConfusion,
    Rejected,
)
from worker.report.contents_progress import Forecast, Point

NASTY = (
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    "مرحبا بالعالم",
    "\u202eevil\u202d tail",
    "👩‍👩‍👧 family 🦎",
    "x" * 300,
    "日本語のとても長いグループ名前です、表示を確認",
    "a\tb\nc\x00d",
    "$\\frac{1}{0}$ {{ 7*7 }} @3:0@",
    "' onmouseover=alert(1) \"",
    "",
    "-1+1",
)


def empty() -> Report:
    """Nothing is labelled yet, and one group has no items."""
    report = ordinary(ANIMALS[:4], 0)
    hollow = Group("hollow", 0, 0.0, 0, 0, *(None,) * 8, is_chosen=False)
    return replace(
        report,
        text="Not yet: no labels. 0 of 10,000 items labelled.",
        confidence=None,
        forecast=Forecast(None, None, None, "no pace can be told yet"),
        progress=(),
        groups=(*report.groups, hollow),
        reliability=None,
        changes=None,
        annotators=(),
        items=Items(0, 6, 0, 0, 0, 0, 9_994, 0),
        rejected=(),
        n_rejected=0,
    )


def one_group() -> Report:
    """A pool of one group, with a single label."""
    return ordinary(("only",), 1)


def all_right() -> Report:
    """Every group has the same items and labels, and all of them are right."""
    report = ordinary(ANIMALS[:6], 60)
    same = tuple(
        replace(g, size=10, labelled=10, right=10, mean=1.0, low=1.0, high=1.0, p_lowest=1.0,
                p_highest=1.0, rank=1.0, rank_low=1.0, rank_high=1.0)
        for g in report.groups
    )  # fmt: skip
    return replace(
        report, groups=same, overall=Interval(1.0, 1.0, 1.0), boundary=1.0, confidence=1.0,
        is_certain=True, is_enough=True, progress=(Point(60, 1.0, "all"),),
    )  # fmt: skip


def crowded(classes: tuple[str, ...] = ANIMALS[:4], people: int = 5) -> Report:
    """Several people vote on every item, gold items are among them, and classes are inferred."""
    report, rng = ordinary(labels=300), np.random.default_rng(9)
    k, names = len(classes), [f"annotator {n + 1}" for n in range(people)]
    annotators, found = [], []
    for name in names:
        rate = rng.uniform(0.3, 0.95)
        mean = 0.6 * rate * np.eye(k) + (1 - 0.6 * rate) * rng.dirichlet(np.ones(k), k)
        mistakes = sorted(
            ((i, j) for i in range(k) for j in range(k) if i != j), key=lambda at: -mean[at]
        )[:10]
        told = tuple(
            Mistake(classes[i], classes[j], _six(m), _six(0.7 * m), _six(min(1, 1.4 * m)))
            for i, j in mistakes
            for m in [mean[i, j]]
        )
        matrices = [tuple(tuple(map(_six, row)) for row in m) for m in (mean, mean / 9)]
        found.append(OwnConfusion(name, *(matrices if k <= 12 else [(), ()]), told))
        annotators.append(
            Annotator(
                name, 180, 1, 60.5, 4.0, _six(rate), "2026-11-21T14:01:00+00:00", 170, 20,
                round(20 * rate), _six(rate), _six(rate - 0.05), _six(min(1, rate + 0.04)),
            )
        )  # fmt: skip
    votes = {classes[0]: 2, classes[-1]: 1, classes[1]: 1}
    return replace(
        report,
        annotators=tuple(annotators),
        items=replace(report.items, gold=28),
        agreement=Agreement(0.4389, 0.3896, 0.4908, 300, 900, "nominal"),
        disputed=tuple(
            Disputed(f"item {n}", ANIMALS[n], votes, classes[0], _six(0.4 + n / 40))
            for n in range(20)
        ),
        confusions=Confusions(classes if k <= 12 else (), tuple(found)),
        r_hat=2.4 if k > 4 else 1.02,
    )


def thousand() -> Report:
    """A thousand groups, ten of them chosen."""
    return ordinary(tuple(f"group-{g:04d}" for g in range(1_000)), 3_000, top=10)


def nasty() -> Report:
    """Names that try to be something else, everywhere that a name can stand."""
    report, votes = ordinary(NASTY, 300), crowded(NASTY, 2)
    called = tuple(NASTY[at] for at in (0, 4))
    assert votes.confusions is not None
    confused_ones = zip(votes.confusions.of, called, strict=True)
    return replace(
        report,
        agreement=votes.agreement,
        disputed=tuple(replace(one, item=NASTY[n % 12]) for n, one in enumerate(votes.disputed)),
        confusions=Confusions(
            NASTY, tuple(replace(one, annotator=name) for one, name in confused_ones)
        ),
        title=NASTY[0],
        text=f"Not yet: at present “{NASTY[5]}” and “{NASTY[3]}” {NASTY[0]} are the least accurate",
        annotators=(replace(report.annotators[0], name=NASTY[0]),),
        rejected=(Rejected(1, NASTY[0]), Rejected(2, NASTY[5])),
        n_rejected=2,
        pairs=(
            Pair(NASTY[0], NASTY[5], 0.2, 0.3, 0.5, "above"),
            Pair(NASTY[2], NASTY[6], 1, 0, 0, "below"),
        ),
        n_pairs=2,
        epsilon=0.05,
        reproduce={**report.reproduce, "commands": [NASTY[0]], NASTY[0]: NASTY[1]},
        glossary=((NASTY[0], NASTY[2]),),
    )


EXAMPLES = {
    "ordinary": ordinary, "empty": empty, "one-group": one_group, "all-right": all_right,
    "thousand": thousand, "nasty": nasty, "compared": compared, "confused": lambda: confused(9),
    "confused-many": lambda: confused(60), "costly": costly, "banded": banded,
    "estimated": lambda: estimated(ordinary()), "crowded": crowded,
    "crowded-classes": lambda: crowded(ANIMALS, 3), "crowded-people": lambda: crowded(people=60),
    "crowded-two": lambda: crowded(("yes", "no"), 12), "continued": continued,
    "opinions": with_opinions, "opinions-nasty": lambda: with_opinions(NASTY[:3]),
    "labels": from_labels, "labels-nasty": lambda: from_labels(NASTY),
}  # fmt: skip

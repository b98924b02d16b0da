"""Made-up reports: ordinary, degenerate and nasty ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from worker.findings.continuation import Continuation, Shift, ThenAndNow
from worker.report.contents import (
    VERSION,
    Bin,
    Changes,
    Confusion,
    Forecast,
    Group,
    Interval,
    Items,
    Moved,
    Pair,
    Point,
    Rejected,
    Reliability,
    Report,
)
from worker.report.contents_people import (
    Agreement,
    Annotator,
    Confusions,
    Disputed,
    Mistake,
    OwnConfusion,
)

ANIMALS = (
    "lizard", "otter", "dolphin", "leopard", "possum", "shrew", "crocodile", "seal", "bear",
    "woman", "ray", "turtle", "rabbit", "lobster", "snake", "mouse", "beaver", "girl", "boy", "man",
)  # fmt: skip
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


def groups(names: tuple[str, ...], labels: int, seed: int = 1, top: int = 1) -> tuple[Group, ...]:
    """Groups with a Beta posterior each, and ranks of 2,000 draws; the lowest `top` are chosen."""
    rng, n = np.random.default_rng(seed), len(names)
    accuracy = np.clip(rng.beta(12, 2.5, n), 0.05, 0.99)
    size = rng.integers(40, 400, n)
    weight = np.exp(-6 * accuracy)
    labelled = np.minimum(size, rng.multinomial(labels, weight / weight.sum()))
    right = rng.binomial(labelled, accuracy)
    draws = rng.beta(8.0 + right, 1.5 + labelled - right, (2_000, n))
    rank = draws.argsort(axis=1).argsort(axis=1) + 1
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    ends = np.quantile(rank, [0.025, 0.5, 0.975], axis=0, method="inverted_cdf")
    chosen = set(np.argsort(draws.mean(axis=0))[:top])
    return tuple(
        Group(
            name=name,
            size=int(size[g]),
            share=_six(size[g] / size.sum()),
            labelled=int(labelled[g]),
            right=int(right[g]),
            mean=_six(draws[:, g].mean()),
            low=_six(low[g]),
            high=_six(high[g]),
            p_lowest=_six((rank[:, g] == 1).mean()),
            p_highest=_six((rank[:, g] == n).mean()),
            rank=float(ends[1, g]),
            rank_low=float(ends[0, g]),
            rank_high=float(ends[2, g]),
            is_chosen=g in chosen,
        )
        for g, name in enumerate(names)
    )


def ordinary(names: tuple[str, ...] = ANIMALS, labels: int = 700, top: int = 1) -> Report:
    """An assessment on its way: which class is the least accurate?"""
    all_groups = groups(names, labels, top=top)
    by_mean = sorted(g.mean or 0.0 for g in all_groups)
    counts = [round(30 * 1.1**k) for k in range(60) if 30 * 1.1**k < labels] + [labels]
    return Report(
        version=VERSION,
        assessment="animals-2026-11",
        title="Animals in the November pool",
        made_at="2026-11-21T14:05:00+00:00",
        started_at="2026-11-17T08:30:00+00:00",
        revision=812,
        status="open",
        text=f"Not yet: at present “{names[0]}” is the least accurate class, 62% sure; about 400 "
        f"more labels at the present pace, Thursday. {labels:,} of 10,000 items labelled.",
        is_enough=False,
        is_certain=False,
        confidence=0.621,
        value=None,
        forecast=Forecast(
            400, "2026-11-26T10:00:00+00:00", 22.5, "About 400 more labels, Thursday.", 210, 760
        ),
        question={"task": "identify", "metric": "accuracy", "which": "lowest", "top": top},
        question_text="Which class does the classifier get wrong most often?",
        rule={"kind": "mrr", "target": 0.99, "confidence": 0.95, "looks": 3},
        rule_text="Stop when the finding is 95% sure at two looks running.",
        guarantee="posterior",
        guarantee_means="the posterior probability, under the plan's prior and model, that the "
        "finding holds; it is no bound on the error of a single assessment",
        metric="accuracy",
        metric_name="accuracy",
        which="lowest",
        top=top,
        labels=labels,
        pool_items=10_000,
        progress=tuple(
            Point(
                n,
                _six(0.62 * (1 - np.exp(-k / 12)) + 0.05 * np.sin(k) ** 2),
                f"“{names[len(names) > 1 and k < 9]}” is the least accurate class, {k}% sure",
            )
            for k, n in enumerate(counts)
        ),
        progress_name="confidence",
        progress_target=0.95,
        progress_is_share=True,
        groups=all_groups,
        overall=Interval(0.812345, 0.784, 0.8391),
        boundary=_six((by_mean[top - 1] + by_mean[top]) / 2) if len(names) > top else None,
        epsilon=None,
        pairs=(),
        n_pairs=0,
        reliability=calibrated(10),
        confusion=None,
        changes=Changes(
            "2026-11-20T14:00:00+00:00",
            112,
            0.48,
            f"Not yet: at present “{names[0]}” is the least accurate class, 48% sure",
            tuple(Moved(g.name, _six(g.mean + 0.03), g.mean) for g in all_groups[:5] if g.mean),
        ),
        annotators=(
            Annotator("annotator 1", 402, 3, 31.5, 8.2, 0.941, "2026-11-21T14:01:00+00:00"),
            Annotator("annotator 2", 298, 0, None, None, None, "2026-11-20T17:44:00+00:00"),
        ),
        items=Items(labels, 6, 2, 1, 1, 0, 10_000 - labels - 10, 0),
        rejected=(Rejected(4711, "the annotation has no choice for “animal”"),),
        n_rejected=1,
        decisions=(),
        reproduce={
            "plan_hash": "b1946ac92492d2347c6235b4d2611184",
            "pool_hash": "591785b794601e212b260e25925636fd",
            "seed": 1,
            "strategy": "assay",
            "prior": {"kind": "empirical", "strength": 2.0},
            "population": "finite",
            "project": 12,
            "versions": {"assay": "0.1.0", "numpy": "2.3.5", "python": "3.11.2"},
            "commands": ["assay check plan.yaml", "assay replay animals-2026-11"],
        },
        glossary=(
            ("accuracy", "the share of a group's items that the classifier gets right"),
            ("95% interval", "the value lies in it with a probability of 95%, given the labels"),
        ),
    )


def calibrated(n: int) -> Reliability:
    """A classifier that is too sure of itself, in n bins."""
    at = (np.arange(n) + 0.5) / n
    return Reliability(
        tuple(
            Bin(_six(s), _six(s**1.3), _six(max(0, s**1.3 - 0.09)), _six(min(1, s**1.3 + 0.07)),
                100 + 900 * (k == n - 1) + 40 * k, 20 + 3 * k)
            for k, s in enumerate(at)
        ),
        Interval(0.0612, 0.0411, 0.0834),
    )  # fmt: skip


def confused(n: int) -> Report:
    """An estimate of a confusion matrix."""
    rng = np.random.default_rng(3)
    names = ANIMALS[:n] if n <= len(ANIMALS) else tuple(f"class {k:03d}" for k in range(n))
    mean = rng.dirichlet(np.full(n, 0.3), n) * 0.25 + 0.75 * np.eye(n)
    half = np.sqrt(mean * (1 - mean)) / 8

    def cells(matrix: np.ndarray) -> tuple[tuple[float | None, ...], ...]:
        rows = [tuple(map(_six, row)) for row in np.clip(matrix, 0, 1)]
        return (*rows[:-1], (None,) * n)  # the last class is never predicted

    matrix = Confusion(names, cells(mean), cells(mean - half), cells(mean + half))
    report = estimated(ordinary(names, 500))
    return replace(report, metric="confusion", confusion=matrix)


def estimated(report: Report) -> Report:
    """The same with the task estimate: nobody is chosen, the rule asks for an error."""
    points = tuple(Point(n, _six(0.4 / np.sqrt(n)), "") for n in range(20, report.labels, 40))
    return replace(
        report,
        question={"task": "estimate", "metric": "accuracy"},
        rule={"kind": "rmse", "target": 0.02},
        confidence=None,
        value=0.0179,
        text="Enough is known: the expected root mean squared error of the groups' accuracies is "
        "0.0179 (asked for: 0.02); 500 of 10,000 items labelled.",
        is_enough=True,
        status="stopped",
        forecast=None,
        progress=points,
        progress_name="expected error",
        progress_target=0.02,
        progress_is_share=False,
        boundary=None,
        groups=tuple(replace(g, is_chosen=False) for g in report.groups),
        decisions=(
            {
                "kind": "stop",
                "text": "Enough is known: …",
                "decided_at": "2026-11-21T13:00:00+00:00",
                "revision": 800,
                "since": None,
            },
        ),
    )


def compared(n_pairs: int = 6) -> Report:
    """Pairs of groups."""
    rng = np.random.default_rng(5)
    base = ordinary(labels=400)
    names = [(a.name, b.name) for i, a in enumerate(base.groups) for b in base.groups[:i]][:n_pairs]
    shares = rng.dirichlet([1, 1, 1], len(names))
    pairs = tuple(
        Pair(
            a, b, _six(x), _six(y), _six(1 - x - y), ("below", "within", "above")[int(np.argmax(s))]
        )
        for (a, b), s in zip(names, shares, strict=True)
        for x, y in [s[:2]]
    )
    groups_ = tuple(replace(g, is_chosen=False) for g in base.groups)
    question = {"task": "compare", "metric": "accuracy", "compare": "all"}
    return replace(
        base,
        question=question,
        pairs=pairs,
        n_pairs=n_pairs,
        epsilon=0.05,
        groups=groups_,
        boundary=None,
    )


def costly() -> Report:
    """Expected costs, the highest first."""
    report = ordinary(labels=600, top=2)
    scaled = tuple(
        replace(
            g,
            **{
                k: _six(12 * (1 - v))
                for k, v in (("mean", g.mean), ("low", g.high), ("high", g.low))
            },
            is_chosen=False,
        )
        for g in report.groups
    )
    first = {g.name for g in sorted(scaled, key=lambda g: -g.mean)[:2]}
    scaled = tuple(replace(g, is_chosen=g.name in first) for g in scaled)
    return replace(
        report, metric="cost", metric_name="expected cost", which="highest", groups=scaled,
        overall=Interval(2.31, 1.9, 2.8), boundary=4.2,
    )  # fmt: skip


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


def banded() -> Report:
    """An any-time guarantee: each group has a band."""
    report = ordinary()
    wide = tuple(
        replace(g, band_low=_six(g.low - 0.06), band_high=_six(min(1, g.high + 0.05)))
        for g in report.groups
    )
    return replace(report, groups=wide, guarantee="anytime")


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


def continued() -> Report:
    """An assessment that continues another, with a group that changed and one that is new."""
    report = ordinary()
    groups = tuple(
        ThenAndNow(
            name=group.name,
            then_mean=None if n == 1 else 0.9,
            then_low=None if n == 1 else 0.8,
            then_high=None if n == 1 else 0.95,
            now_mean=group.mean,
            now_low=group.low,
            now_high=group.high,
            labels_then=0 if n == 1 else 30,
            labels_now=group.labelled,
            share_then=None if n == 1 else 0.05,
            difference=None if n == 1 else -0.3 if n == 2 else -0.01,
            difference_low=None if n == 1 else -0.4 if n == 2 else -0.06,
            difference_high=None if n == 1 else -0.2 if n == 2 else 0.04,
            p=None if n == 1 else 0.0004 if n == 2 else 1.0,
            lower=None if n == 1 else 0.999 if n == 2 else 0.1,
            about_equal=None if n == 1 else 0.001 if n == 2 else 0.89,
            higher=None if n == 1 else 0.0 if n == 2 else 0.01,
            believed=None if n == 1 else 0.05 if n == 2 else 0.4,
            is_changed=n == 2,
        )
        for n, group in enumerate(report.groups)
    )
    told = Continuation(
        assessment="last-month",
        text_then="Enough is known: <b>nothing</b> of it.",
        metric_then="accuracy",
        labels=570,
        left_out={"the group <i>gone</i>": 12},
        epsilon=0.05,
        whole=replace(groups[2], name="whole pool", is_changed=False),
        groups=groups,
        changed=(report.groups[2].name,),
        class_p=0.0,
        class_distance=0.2,
        score_p=0.3,
        score_distance=0.01,
        shift=Shift(0.9, 0.1, 0.0, 9.0, ""),
        text=("570 labels are taken over.", "One group <script>changed</script>."),
    )
    return replace(report, then_and_now=told)


EXAMPLES = {
    "ordinary": ordinary, "empty": empty, "one-group": one_group, "all-right": all_right,
    "thousand": thousand, "nasty": nasty, "compared": compared, "confused": lambda: confused(9),
    "confused-many": lambda: confused(60), "costly": costly, "banded": banded,
    "estimated": lambda: estimated(ordinary()), "crowded": crowded,
    "crowded-classes": lambda: crowded(ANIMALS, 3), "crowded-people": lambda: crowded(people=60),
    "crowded-two": lambda: crowded(("yes", "no"), 12), "continued": continued,
}  # fmt: skip


def _six(number: float) -> float:
    return round(float(number), 6)

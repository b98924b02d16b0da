"""An ordinary made-up report: which class is the least accurate?"""

from __future__ import annotations

import numpy as np

from worker.report.contents import (
    VERSION,
    Bin,
    Group,
    Interval,
    Items,
    Rejected,
    Reliability,
    Report,
)
from worker.report.contents_people import Annotator
from worker.report.contents_progress import Changes, Forecast, Moved, Point

ANIMALS = (
    "lizard", "otter", "dolphin", "leopard", "possum", "shrew", "crocodile", "seal", "bear",
    "woman", "ray", "turtle", "rabbit", "lobster", "snake", "mouse", "beaver", "girl", "boy", "man",
)  # fmt: skip


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


def _six(number: float) -> float:
    return round(float(number), 6)

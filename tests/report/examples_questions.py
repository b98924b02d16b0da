"""Made-up reports of other questions: matrices, estimates, pairs, costs, bands, a continuation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.report.examples_ordinary import ANIMALS, _six, ordinary
from worker.findings.continuation import Continuation, Shift, ThenAndNow
from worker.findings.opinions_values import Estimate, Opinions, Side, Weight, Worth
from worker.report.contents import Confusion, Interval, Pair, Report
from worker.report.contents_densities import (
    Densities,
    DifferenceDensity,
    Outline,
    ValueDensity,
)
from worker.report.contents_labels import LabelSource, OtherMetric
from worker.report.contents_progress import Point


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


def from_labels(names: tuple[str, ...] = ANIMALS) -> Report:
    """A random sample that a file has, with a group that is empty under every metric."""
    report = replace(ordinary(names, 500), progress=(), forecast=None)
    empty = replace(report.groups[-1], mean=None, low=None, high=None, rank=None, size=0)
    groups = (*report.groups[:-1], empty)

    def of(metric: str, name: str, scale: float) -> OtherMetric:
        each = tuple(
            None
            if g.mean is None
            else Interval(*(_six(scale * x) for x in (g.mean, g.low or 0, g.high or 0)))
            for g in groups
        )
        return OtherMetric(metric, name, Interval(0.81, 0.77, 0.84), each)

    metrics = (
        of("accuracy", "accuracy", 1),
        of("bias", "overconfidence", 0.1),
        of("ece", "calibration error", 0.2),
    )
    text = (f"500 of 10,000 items have a label in {names[0]} (column {names[1]}).", "Left out: 3.")
    source = LabelSource(names[0], names[1], "random", 500, 2, 1, text, metrics)
    return replace(report, groups=groups, source=source, densities=densities_of(names))


def densities_of(names: tuple[str, ...]) -> Densities:
    """Of the pool's ECE and a group's that is known exactly; of two differences."""
    at = tuple(_six(x) for x in np.linspace(-0.2, 0.3, 24))
    bell = Outline(at, tuple(_six(4 * np.exp(-((x - 0.05) ** 2) / 0.01)) for x in at))
    right = Outline(at[10:], bell.density[10:])
    ece = (
        ValueDensity("the whole pool", 0.07, 0.01, 0.2, right),
        ValueDensity(names[0], 0.05, 0.05, 0.05, Outline((), ())),
    )
    apart = tuple(
        DifferenceDensity(names[0], name, 0.05, -0.09, 0.2, 0.06, 0.44, 0.5, bell)
        for name in names[1:3]
    )
    return Densities(ece, "The whole pool. Groups: the highest mean first.", apart, names[0], 0.05)


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


def banded() -> Report:
    """An any-time guarantee: each group has a band."""
    report = ordinary()
    wide = tuple(
        replace(g, band_low=_six(g.low - 0.06), band_high=_six(min(1, g.high + 0.05)))
        for g in report.groups
    )
    return replace(report, groups=wide, guarantee="anytime")


def with_opinions(names: tuple[str, ...] = ("old", "words", "upside")) -> Report:
    """A classifier that helps, a number, and a classifier that misleads."""
    old, words, upside = names
    warning = f"The opinion {upside} misleads: where it agrees there are more errors, not fewer."
    sides = (
        Side("it agrees", 9_100, 402, 390, Estimate(0.971234, 0.96, 0.98)),
        Side("it does not", 900, 298, 101, Estimate(0.34, 0.28, 0.41)),
    )
    of = (
        Worth(old, "predicted", 0, 0.91, sides, f"The opinion {old} agrees on 91.0%.", ""),
        Worth(words, "number", 12, None, (), f"The opinion {words} says nothing of 12.", ""),
        Worth(upside, "predicted", 0, 0.1, sides[::-1], f"The opinion {upside} …", warning),
    )
    weights = tuple(
        Weight(one.name, one.name, weight, _six(np.exp(weight)))
        for one, weight in zip(of, (1.3, 0.01, -0.7), strict=True)
    )
    text = " ".join([*(one.text for one in of), "All together saved about 240 labels."])
    told = Opinions(
        of, weights, Estimate(1.34, 1.26, 1.44), Estimate(240, 180, 310), text, (warning,)
    )
    return replace(ordinary(labels=700), opinions=told)


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

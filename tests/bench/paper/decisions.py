"""What decisions cost, and how often they are right: the stop rule, the guarantee, the claims."""

from typing import NamedTuple

import numpy as np
from scipy import stats

from tests.bench.paper.claims import CONFIRMED, LEVELS, claimed
from tests.bench.paper.late import DELAYS, OPEN, SKIPPED, delayed
from tests.bench.paper.ours import Stops, stopped
from tests.bench.paper.section import Section, Size, number, shown
from tests.bench.paper.svg import claims_plot

Row = tuple[str, int]  # a pool, and how many of its least accurate groups are asked for
# At most so many runs, to so many labels at most: what the large pools can afford.
ROWS: dict[Row, tuple[int, int | None]] = {
    ("20newsgroups", 1): (200, None),
    ("20newsgroups", 3): (200, None),
    ("cifar100", 1): (200, None),
    ("cifar100", 10): (200, None),
    ("svhn", 1): (200, 12_000),
    ("svhn", 3): (50, None),
    ("imagenet", 1): (10, 8_000),
    ("imagenet", 10): (10, 12_000),
}
GUARANTEED: dict[Row, int] = {
    ("20newsgroups", 1): 100,
    ("cifar100", 1): 100,
    ("20newsgroups", 3): 30,
    ("cifar100", 10): 10,
    ("svhn", 1): 30,
}
DELAYED: dict[Row, int] = {("20newsgroups", 1): 40, ("cifar100", 1): 40}
CLAIMS = ("20newsgroups", "cifar100", "svhn")
_FEW = 20  # runs of what never stops


class Late(NamedTuple):
    """Runs, the labels of those that stopped, and how many of these were right."""

    n_runs: int
    labels: list[int]
    n_right: int


def question(top: int) -> dict[str, object]:
    """The `top` least accurate predicted classes."""
    return {"task": "identify", "which": "lowest", "top": top}


def ours(row: Row, size: Size) -> Stops:
    """Assay's stops."""
    most, until = ROWS[row]
    return stopped(row[0], question(row[1]), min(size.ours, most), until)


def papers(row: Row, size: Size, is_finite: bool) -> Stops:
    """The stops of the paper's posterior and TS, with the same rule."""
    most = ROWS[row][0] if is_finite else min(_FEW, ROWS[row][0])
    method = "paper-finite" if is_finite else "paper"
    return stopped(row[0], question(row[1]), min(size.ours, most), None, method)


def guaranteed(row: Row, size: Size) -> Stops:
    """Assay's stops with `guarantee: anytime`."""
    return stopped(row[0], question(row[1]), min(size.ours, GUARANTEED[row]), None, "anytime")


def late(row: Row, delay: str, size: Size) -> Late:
    """The same, with answers that come late or never."""
    n_runs = min(size.ours, DELAYED[row])
    ends = delayed(*row, delay, n_runs)["ends"]
    return Late(n_runs, [end[0] for end in ends if end], sum(end[1] for end in ends if end))


def truths(size: Size) -> int:
    """How many truths are drawn: 500 beside 200 runs."""
    return max(1, 5 * size.ours // 2)


def made(pool: str, key: str, size: Size) -> list[tuple[int, float, bool]]:
    """The claims of a level; with everything labelled a finding is no claim but known."""
    found = claimed(pool, truths(size))
    return [tuple(c) for c in found["claims"][key] if c and c[0] < found["n_items"]]


def stops(size: Size) -> Section:
    """The stop rule at 95%."""
    rows: list[tuple[str, ...]] = []
    for row in ROWS if size.ours else ():
        own, finite, paper = ours(row, size), papers(row, size, True), papers(row, size, False)
        ratio = own.median / finite.median
        cells = [
            f"{s.n_right} of {len(s.labels)} ({s.n_runs})"
            + (f", {s.exhausted} to the end") * (s.exhausted > 0)
            for s in (own, finite, paper)
        ]
        medians = f"{own.median:,.0f} / {finite.median:,.0f} / {paper.median:,.0f}"
        rows.append((f"{shown(row[0])}, {row[1]}", *cells, medians, number(ratio, 2)))
    return Section(
        "Stops: labels until a right decision is published",
        "P(MRR ≥ .99) ≥ .95 at two looks. How many findings were right, of how many (runs); a "
        "run that labels the whole pool finds nothing before it knows everything. Then the median "
        "number of labels until a right finding is out, a wrong or missing one counted as the "
        "whole pool: Assay / the paper's prior and TS on the finite pool / the paper's infinite "
        "posterior, which is hardly ever sure, since it stays wide where all is labelled.",
        ("pool, m", "Assay", "paper, finite", "paper", "median labels", "Assay / finite"),
        rows,
    )


def anytime(size: Size) -> Section:
    """The guarantee."""
    rows: list[tuple[str, ...]] = []
    for row in GUARANTEED if size.ours else ():
        own = guaranteed(row, size)
        rows.append((_name(row), "one at a time", *_late_cells(own, own.n_items)))
        for delay in DELAYS if row in DELAYED else ():
            some = late(row, delay, size)
            rows.append((_name(row), delay, *_late_cells(some, own.n_items)))
    return Section(
        "`guarantee: anytime`: right at any time, whatever the truth",
        f"Two strata. Late: {OPEN} items are with annotators at any time, and each takes as long "
        "as an exponential draw says; slow when wrong: wrong items take six times as long; "
        f"skipped: {100 * SKIPPED:.0f}% of the wrong items never come back. Percent of the pool "
        "labelled at the stop: median (quartiles).",
        ("pool, m", "answers come", "runs", "stopped", "right", "labels, %"),
        rows,
    )


def claims(size: Size) -> Section:
    """Claims on drawn truths."""
    rows: list[tuple[str, ...]] = []
    plots = {}
    points: dict[str, list[tuple[float, float, float, float]]] = {}
    for pool in CLAIMS if size.ours else ():
        points[shown(pool)] = []
        for key in (*map(str, LEVELS), CONFIRMED):
            of_level = made(pool, key, size)
            n, right = len(of_level), sum(c[2] for c in of_level)
            if not n:
                continue
            low, high = band(right, n)
            labels, said = (np.median([c[0] for c in of_level]), np.mean([c[1] for c in of_level]))
            cells = (f"{right / n:.3f}", f"{low:.3f} to {high:.3f}", f"{said:.3f}")
            rows.append((shown(pool), key, f"{right} of {n}", *cells, f"{labels:,.0f}"))
            if key != CONFIRMED:
                points[shown(pool)].append((float(key), right / n, low, high))
        plots = {"claims": claims_plot("Claims on drawn truths", points)}
    return Section(
        "Claims on truths drawn from the fitted model",
        f"{truths(size)} truths a pool, drawn from the model fitted to all of its labels, the "
        "least accurate class, a run each: the first look at which P(MRR ≥ .99) reached the level, "
        "and whether the finding was right, with a 95% binomial band (Clopper and Pearson), and "
        "what was claimed on average. “Confirmed” is the plan's own rule: .95 at two looks, each "
        "10% of labels apart.",
        ("pool", "level", "right", "share", "band", "mean claim", "median labels"),
        rows,
        plots,
    )


def band(right: int, n: int) -> tuple[float, float]:
    """The exact 95% interval of a binomial share."""
    found = stats.binomtest(right, n).proportion_ci()
    return float(found.low), float(found.high)


def _name(row: Row) -> str:
    return f"{shown(row[0])}, {row[1]}"


def _late_cells(found: Stops | Late, n_items: int) -> tuple[str, ...]:
    labels = sorted(100 * n / n_items for n in found.labels)
    low, median, high = np.quantile(labels, [0.25, 0.5, 0.75]) if labels else [np.nan] * 3
    share = f"{median:.1f} ({low:.1f} to {high:.1f})" if labels else "–"
    return str(found.n_runs), str(len(labels)), str(found.n_right), share

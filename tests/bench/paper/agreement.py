"""Do the reruns of the authors' code lie within Monte Carlo error of the baseline with quirks?"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

from tests.bench.paper.accuracy import METHODS
from tests.bench.paper.estimates import estimation
from tests.bench.paper.reruns import (
    SUPPLEMENT_1,
    TABLE_3,
    TABLE_3_AT_N,
    TABLE_5,
    TABLE_6,
    Triple,
)
from tests.bench.paper.section import Section, Size, number, shown
from tests.bench.paper.tables import identification

FAR = 3.0  # standard errors; a hundred comparisons are made
N_RUNS = 1000  # of an estimate: they are short, and their errors have long tails


@dataclass(frozen=True, slots=True)
class Row:
    """A number of theirs, ours, and whether chance explains the distance."""

    what: str
    method: str
    theirs: float
    ours: float
    distance: str
    is_near: bool


def compared(n_runs: int) -> list[Row]:
    """Every row of 20 runs or more of Tables 3, 5 and 6 and supplement Table 1.

    Table 6, with `n_runs` of our own, is left out below 150: its bands need as many as they had.
    """
    return [*_estimates(), *(_identifications(n_runs) if n_runs >= 150 else ())]


def agreement(size: Size) -> Section:
    """The rows that do not agree, and Table 6."""
    rows = compared(size.runs)
    n_far = sum(not row.is_near for row in rows)
    note = (
        f"{len(rows)} numbers of the authors' code, rerun, against the baseline with quirks "
        f"({N_RUNS} runs, for Table 6 {size.runs}): {n_far} lie outside {FAR} standard errors, or "
        "for Table 6 outside the 99% band that resampling gives for that many runs. Shown are "
        "those, and Table 6."
    )
    cells: list[tuple[str, ...]] = [
        (r.what, r.method, number(r.theirs), number(r.ours), r.distance, str(r.is_near).lower())
        for r in rows
        if not r.is_near or r.what.startswith("Table 6")
    ]
    header = ("what", "method", "their code", "here", "distance or band", "agrees")
    return Section("Agreement with the authors' code", note, header, cells)


def _estimates() -> Iterator[Row]:
    tables = (
        ("Table 3", TABLE_3, False, "rmse_x100", True),
        ("Table 3 at N", TABLE_3_AT_N, False, "rmse_x100", False),
        ("Table 5", TABLE_5, True, "ece_error_percent", True),
        ("Supplement Table 1", SUPPLEMENT_1, True, "rmse_x100", True),
    )
    for table, reruns, bins, measure, quirks in tables:
        for pool, (runs, of_n) in reruns.items():
            found = estimation(pool, bins, N_RUNS, quirks)
            for n, theirs in of_n.items():
                for method, value in _pairs(theirs):
                    if method == "UPrior" and not quirks:
                        continue  # their UPrior is the quirk
                    mean, spread = found[method][measure][str(n)]
                    error = spread * sqrt(1 / runs + 1 / N_RUNS) + 0.05 / sqrt(3)  # rounded
                    away = (value - mean) / error
                    what = f"{table}, {shown(pool)}, N = {n}"
                    yield Row(what, method, value, mean, f"{away:+.1f} s.e.", abs(away) < FAR)


def _identifications(n_ours: int) -> Iterator[Row]:
    for (pool, top), (theirs, runs) in TABLE_6.items():
        for (method, value), n_runs in zip(_pairs(theirs), runs, strict=True):
            found = identification(pool, method, top, n_ours, True)
            n: int = found["n_items"]
            low, high = (100 * x / n for x in found["at_runs"][str(n_runs)])
            here = 100 * found["labels_to_mrr99"] / n
            what = f"Table 6, {shown(pool)}, {top}"
            near = low - 0.1 <= value <= high + 0.1
            yield Row(what, method, value, here, f"{low:.1f} to {high:.1f}", near)


def _pairs(theirs: Triple) -> list[tuple[str, float]]:
    return [(m, v) for m, v in zip(METHODS, theirs, strict=True) if v is not None]

"""Rows -> one page, and the same as text: what fails stands on top."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from tests.calibration.rows import HIGH, LOW, Row, surely


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean over rows of what came true, between what it surely lies, and has to."""

    what: str
    rows: int
    came: float
    low: float
    high: float
    least: float
    most: float

    @property
    def fails(self) -> bool:
        return self.high < self.least or self.low > self.most


def summed_up(rows: Sequence[Row]) -> list[Mean]:
    """Of each kind of 95% interval over all pools, and of claims on (a) and on (g)."""
    found = []
    intervals = [row for row in rows if row.is_interval and row.labels >= 20]
    for name in sorted({row.statistic for row in intervals}):
        # bands promise no more than that they hold, and ranks are whole numbers
        most = 1.0 if name in ("any-time bands", "rank interval") else HIGH
        found.append(_mean(name, [row for row in intervals if row.statistic == name], LOW, most))
    if intervals:
        found.append(_mean("all intervals", intervals, LOW, HIGH))
    for letter, where in (("a", "truths from the model"), ("g", "real pools")):
        claims = [r for r in rows if r.statistic.startswith("claim") and r.kind[0] == letter]
        for name in sorted({row.statistic for row in claims}):
            of = [row for row in claims if row.statistic == name]
            found.append(_mean(f"{name}, {where}", of, of[0].said, 1.0))
    return sorted(found, key=lambda mean: not mean.fails)


def _mean(what: str, rows: Sequence[Row], least: float, most: float) -> Mean:
    runs: dict[tuple[str, str], int] = {}
    for row in rows:  # those of one run, after so many labels each, are not independent
        runs[row.way, row.kind] = max(row.runs, runs.get((row.way, row.kind), 0))
    came = sum(row.came for row in rows) / len(rows)
    return Mean(what, len(rows), came, *surely(came, sum(runs.values())), least, most)


_HEADS = ("", "held", "surely from", "to", "said", "what", "plan", "pool", "labels", "runs", "n")
_NUMBERS: Callable[[Row], tuple[str, ...]] = lambda row: (  # noqa: E731
    "FAILS" if row.fails else "", f"{row.came:.3f}", f"{row.low:.3f}", f"{row.high:.3f}",
    f"{row.said:.3f}", row.statistic, row.way, row.kind, str(row.labels or "stop"),
    str(row.runs), str(row.n),
)  # fmt: skip


def _ordered(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (not row.fails, row.high - row.said, row.came - row.said))


def text_of(
    rows: Sequence[Row], means: Sequence[Mean], missing: Sequence[str], every: bool = False
) -> str:
    """As text; of the rows those that fail, unless every one is wanted."""
    return "\n".join(_lines(rows, means, missing, every)) + "\n"


def _lines(
    rows: Sequence[Row], means: Sequence[Mean], missing: Sequence[str], every: bool
) -> Iterator[str]:
    shown = [row for row in _ordered(rows) if row.fails or every]
    yield f"{len(rows)} rows, of which {sum(row.fails for row in rows)} fail."
    for row in shown:
        mark, came, low, high, said, what, way, kind, labels, runs, n = _NUMBERS(row)
        yield (
            f"{mark:5} {came} [{low}, {high}] said {said}  {what} | {way} | {kind} | "
            f"{labels} labels | {runs} runs, {n}"
        )
    yield "Means over rows:"
    for mean in means:
        yield (
            f"{'FAILS' if mean.fails else '':5} {mean.came:.3f} [{mean.low:.3f}, {mean.high:.3f}] "
            f"({mean.least:.2f} to {mean.most:.2f})  {mean.what}, {mean.rows} rows"
        )
    yield from (f"NOT RUN {what}: its data is not here" for what in missing)


def page(rows: Sequence[Row], means: Sequence[Mean], missing: Sequence[str]) -> str:
    """As one HTML page that needs nothing but itself."""
    of_means = [
        ("FAILS" if mean.fails else "", f"{mean.came:.3f}", f"{mean.low:.3f}", f"{mean.high:.3f}",
         f"{mean.least:.2f}", f"{mean.most:.2f}", mean.what, str(mean.rows))
        for mean in means
    ]  # fmt: skip
    parts = [
        "<!doctype html><meta charset=utf-8><title>Calibration</title>",
        "<style>body{font:14px system-ui;margin:2em}table{border-collapse:collapse}"
        "td,th{padding:.15em .6em;text-align:left}tr.FAILS{background:#fdd}</style>",
        "<h1>Calibration of every number that is published</h1>",
        "<p>A row fails if it surely holds less often than allowed (99%, by how much runs differ): "
        "a 95% interval in less than .88 of cases; a claim on truths from the model less often "
        "than it says. Where one failed, all of its plan and pool have five times "
        "the runs. What is said of one truth without being claimed is judged over pools.</p>",
        _table(("", "mean", "surely from", "to", "asked for from", "to", "what", "rows"), of_means),
        _table(_HEADS, [_NUMBERS(row) for row in _ordered(rows)]),
    ]
    if missing:
        parts.append(f"<p>Not run, for their data is not here: {escape('; '.join(missing))}.</p>")
    return "\n".join(parts) + "\n"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}" for name in heads)
    body = "\n".join(
        f"<tr class='{row[0]}'>" + "".join(f"<td>{escape(cell)}" for cell in row) for row in rows
    )
    return f"<table><tr>{head}\n{body}</table>"

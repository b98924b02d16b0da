"""Every number that was asked of Assay, with what it came to, on one page."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tests.bench.paper import decisions, estimates, supplement, tables
from tests.bench.paper.claims import LEVELS
from tests.bench.paper.costs import Kind
from tests.bench.paper.late import DELAYS
from tests.bench.paper.pairs import compared
from tests.bench.paper.section import Section, Size, number, shown

# ImageNet takes as long as all others; by then the others' numbers are kept.
POOLS = (("20newsgroups", "cifar100", "cifar100-wrn", "svhn"), ("imagenet",))
CALIBRATED = ("20newsgroups", "cifar100")
COMPARED = ("20newsgroups", "svhn")
COSTS: tuple[tuple[Kind, int], ...] = (
    ("human", 1),
    ("superclass", 1),
    ("superclass", 10),
    ("human", 10),
)
Rows = Iterator[tuple[str, str, float | None]]  # the key of a number, a row of it, its value


@dataclass(slots=True)
class Number:
    """What was asked, and the rows behind what it came to.

    mean: what the mean of all rows must be. each: what no row may be beyond. Ratios have a
    geometric mean and should be small; shares an arithmetic one and should be large.
    """

    what: str
    mean: float | None
    each: float | None
    is_share: bool = False
    rows: list[tuple[str, float | None]] = field(default_factory=list)

    def cells(self) -> tuple[str, ...]:
        """What was asked, its goal, what it came to, whether that is enough, and the rows."""
        sign = "≥" if self.is_share else "≤"
        goals = [f"mean {sign} {_short(self.mean)}"] if self.mean is not None else []
        goals += [f"each {sign} {_short(self.each)}"] if self.each is not None else []
        known = [value for _, value in self.rows if value is not None]
        shown_rows = "; ".join(f"{name}: {number(value, 3)}" for name, value in self.rows)
        if not known:
            return self.what, ", ".join(goals), "–", "–", shown_rows
        if self.is_share:
            mean, worst = sum(known) / len(known), min(known)
            is_met = mean >= (self.mean or 0) and worst >= (self.each or 0)
        else:
            mean, worst = math.exp(sum(map(math.log, known)) / len(known)), max(known)
            is_met = mean <= (self.mean or math.inf) and worst <= (self.each or math.inf)
        met = "yes" if is_met else "**no**"
        met += ", of the rows known" if len(known) < len(self.rows) else ""
        measured = f"mean {mean:.3f}, {'least' if self.is_share else 'largest'} {worst:.3f}"
        return self.what, ", ".join(goals), measured, met, shown_rows


def asked(size: Size) -> Section:
    """The table; its rows are made pool after pool."""
    all_of = {
        "mrr99": Number("Least accurate: labels to mean MRR > .99, of IPrior+TS's", 0.3, 0.8),
        "mrr95": Number("The same to > .95", 0.3, 0.8),
        "rmse": Number("RMSE of classwise accuracy (Table 3), of IPrior's", 0.5, 1.0),
        "ece": Number("Error of the ECE (Table 5), of IPrior+TS's", 0.6, 1.0),
        "calibrated": Number("Least calibrated: labels to > .99, of IPrior+TS's", None, 0.6),
        "cost": Number("Most costly, relative cost 10: the same (WRN-16-4)", None, 0.6),
        "compare": Number("All pairs: labels to λ ≥ .95 and right, of IPrior+TS's", None, 0.6),
        "decision": Number(
            "Median labels to a right decision, of those of the paper's prior and TS", 1 / 3, None
        ),
        "right": Number("`posterior`: decisions at 95% that are right", 0.95, 0.85, True),
        **{f"claim {x}": _claims_of(x, size) for x in LEVELS},
        "anytime": Number("`anytime`: decisions that are right", None, 0.95, True),
        "share": Number("`anytime`: median share of the pool, worst 1", None, 0.5),
    }
    for pools in POOLS:
        for rows_of in (_found, _decided, _claimed, _dear, _guaranteed):
            for pool in pools:
                for key, row, value in rows_of(pool, size):
                    all_of[key].rows.append((f"{shown(pool)} {row}".strip(), value))
    return Section(
        "What was asked, and what it came to",
        f"{size.ours} runs of Assay and {size.runs} of the paper's method, but where the parts "
        "below say otherwise. Ratios are labels or errors of Assay over those of the paper's "
        "method, and their mean is geometric. Claims on drawn truths must be right as often as "
        "they say, less two standard errors.",
        ("number", "asked", "measured", "met", "rows"),
        [value.cells() for value in all_of.values()],
    )


def _found(pool: str, size: Size) -> Rows:
    """Labels to a ranking, errors of estimates, labels of a pair."""
    for top in tables.TOPS.get(pool, ()):
        for mark, value in zip((95, 99), tables.ratios(pool, top, size), strict=True):
            yield f"mrr{mark}", str(top), value
    if pool in estimates.AT_CLASSES:
        for table in ("rmse", "ece"):
            for n, value in estimates.ratios(pool, table == "ece", size):
                yield table, str(n), value
    if pool in COMPARED:
        theirs = tables.settled(pool, "decided")["IPrior+TS"]["labels"]
        yield "compare", "", compared(pool, tables.runs_of_pairs(size))["labels"] / theirs


def _decided(pool: str, size: Size) -> Rows:
    """What the stop rule costs, and how often it is right."""
    for row in _of(pool, decisions.ROWS):
        own, paper = decisions.ours(row, size), decisions.papers(row, size, is_finite=True)
        if paper.labels:
            yield "decision", str(row[1]), own.median / paper.median
        if own.labels:
            yield "right", str(row[1]), own.n_right / len(own.labels)


def _claimed(pool: str, size: Size) -> Rows:
    """How often claims on drawn truths are right."""
    for level in LEVELS if pool in decisions.CLAIMS else ():
        right = [c[2] for c in decisions.made(pool, str(level), size)]
        yield f"claim {level}", "", sum(right) / len(right) if right else None


def _dear(pool: str, size: Size) -> Rows:
    """Labels to a ranking by calibration error or cost."""
    for top in tables.TOPS[pool] if pool in CALIBRATED else ():
        yield "calibrated", str(top), supplement.calibrated_ratio(pool, top, size)
    for kind, top in COSTS if pool == "cifar100-wrn" else ():
        yield "cost", f"{kind} {top}", supplement.cost_ratio(kind, 10, top, size)


def _guaranteed(pool: str, size: Size) -> Rows:
    """How often the guarantee holds, and what it costs."""
    for row in _of(pool, decisions.GUARANTEED):
        own = decisions.guaranteed(row, size)
        delays = DELAYS if row in decisions.DELAYED else ()
        late = {delay: decisions.late(row, delay, size) for delay in delays}
        for how, found in {"": own, **late}.items():
            if found.labels:
                right = found.n_right / len(found.labels)
                yield "anytime", f"{row[1]} {how}".strip(), right
        if row in decisions.DELAYED and own.labels:
            yield "share", "", sorted(own.labels)[len(own.labels) // 2] / own.n_items


def _claims_of(level: float, size: Size) -> Number:
    error = math.sqrt(level * (1 - level) / decisions.truths(size))
    return Number(f"Claims of {level} on drawn truths", None, round(level - 2 * error, 3), True)


def _of(pool: str, rows: Iterable[decisions.Row]) -> list[decisions.Row]:
    return [row for row in rows if row[0] == pool]


def _short(value: float) -> str:
    return "a third" if value == 1 / 3 else f"{value:g}"

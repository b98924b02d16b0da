"""Values -> HTML: what the pages say, and how numbers, times and intervals look on them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from connector.settings import project_page
from worker.assessment import Assessment
from worker.findings.annotating import waiting_text
from worker.findings.claims import sure_text
from worker.findings.fates import given_up_text
from worker.findings.wording import guarantee_means
from worker.formats import counted, error, percent
from worker.formats import share as share_of
from worker.metrics import METRICS
from worker.report.index import pages
from worker.report.scheduled import is_claimed
from worker.report.status import Status
from worker.web.charts import hours, way
from worker.web.health import SILENT_S
from worker.web.status_cache import Crew, StatusCache, Traffic

# A running assessment that nobody read for so long stands still.
# Of many that are quiet each is read once a minute (worker.watcher).
UNREAD_S = 90.0
# More rows make a page slow on a phone; the JSON has all.
MOST_GROUPS = 1000


@dataclass(frozen=True, slots=True)
class Row:
    """An assessment on the page of all; without a status if it cannot be opened."""

    assessment: str
    status: Status | None
    traffic: Traffic | None
    warnings: tuple[str, ...]


def overview(cache: StatusCache) -> dict[str, Any]:
    """What the page of all assessments says."""
    crew, rows = cache.crew(), []

    def row(assessment: str) -> Row:
        status, traffic = cache.status(assessment), cache.traffic(assessment, crew)
        return Row(assessment, status, traffic, tuple(warnings(status, traffic)))

    for assessment, seen in cache.context.each(row):
        is_seen = isinstance(seen, Row)
        rows.append(seen if is_seen else Row(assessment, None, None, (str(seen),)))
    return {"rows": rows, "crew": crew, "missing": missing(crew), "now": time.time()}


def detail(cache: StatusCache, assessment: str) -> dict[str, Any]:
    """What the page of one assessment says.

    Raises:
        NoSuchAssessment, PoolChanged.
    """
    status, crew = cache.status(assessment), cache.crew()
    work, traffic = cache.work(assessment), cache.traffic(assessment, crew)
    history = cache.history(assessment, traffic.state)
    charts = (
        way(status, work, history.points(status.labels)),
        hours(history.per_hour(traffic.now), traffic.now, work.plan.report.timezone),
    )
    filled = [group for group in status.groups if group["size"]]
    rows = sorted(filled, key=lambda g: float(g["mean"]), reverse=status.which == "highest")
    differences = status.models["differences"] if status.models is not None else []
    return {
        "s": status,
        "project": project_page(status.header.url, status.header.project),
        "t": traffic,
        "crew": crew,
        "now": traffic.now,
        "missing": missing(crew),
        "warnings": warnings(status, traffic),
        "rule": work.rule,
        "metric": work.plan.words.name,
        "guarantee": work.plan.stop.guarantee,
        "guarantee_means": guarantee_means(work),
        "progress": progress(status, work),
        "charts": [chart for chart in charts if chart is not None],
        "then": history.then,
        "groups": rows[:MOST_GROUPS],
        "differences": differences[:MOST_GROUPS],
        "n_more": max(len(rows), len(differences)) - MOST_GROUPS,
        "scale": scale("difference", differences) if differences else scale(status.metric, rows),
        "given_up": given_up_text(status.retired),
        "then_given_up": then_given_up(status.decision),
        "chosen": frozenset(status.decision["chosen"]) if status.decision else frozenset(),
        "reports": pages(cache.reports(assessment), assessment),
        "is_made": is_claimed(traffic.state.metadata, traffic.now),
    }


def progress(status: Status, work: Assessment) -> tuple[float, str] | None:
    """How far the rule is met: a share for the bar, and the words beside it."""
    rule = work.rule
    if rule.confidence is not None and status.confidence is not None:
        words = sure_text(status.confidence)
        if work.confidence_sequence is None:
            return status.confidence, f"{words}; it stops at {percent(rule.confidence)}"
        words += " by the posterior alone; bands that hold at any time decide"
        return status.confidence, words
    if status.value is not None and rule.target is not None:
        share = min(1.0, rule.target / status.value) if status.value > 0 else 1.0
        return share, f"{rule.kind} is {error(status.value)}; it stops at {rule.target:g}"
    return None


def warnings(status: Status, traffic: Traffic) -> list[str]:
    """What a person should look at."""
    found = []
    if traffic.error:
        found.append(f"The last turn failed: {traffic.error}")
    if status.status == "running":
        unread = traffic.now - (traffic.polled_at or 0)
        if traffic.polled_at is None:
            found.append("Label Studio was not read yet.")
        elif unread > UNREAD_S:
            found.append(f"Label Studio was last read {ago(unread)}.")
        if not traffic.open_items:
            found.append("No item is open for the annotators.")
    if status.opinions is not None:
        found += status.opinions.warnings
    if status.labelling:
        found.append(status.labelling)
    if status.rejected:
        found.append(f"{are_counted(len(status.rejected), 'annotation')} rejected.")
    if status.foreign_tasks:
        found.append(f"{are_counted(status.foreign_tasks, 'task')} of the project not ours.")
    return found


def then_given_up(decision: dict[str, Any] | None) -> str:
    """The items that a decision counts as given up."""
    if decision is None:
        return ""
    states = {s: int(decision.get(f"{s}_items", 0)) for s in ("skipped", "rejected", "deleted")}
    return given_up_text({state: n for state, n in states.items() if n})


def missing(crew: Crew) -> list[str]:
    """What must run and does not."""
    found = []
    if not any(worker.seen_s < SILENT_S for worker in crew.workers):
        found.append("No worker runs: start `assay worker` (or `assay up`).")
    if not crew.is_watched:
        found.append("No watcher runs: start `assay watch` (or `assay up`).")
    return found


def scale(metric: str, groups: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """The ends of the bars: 0 to 1 for shares, else what holds 0 and all intervals."""
    if not groups or (metric in METRICS and METRICS[metric].is_share):
        return 0.0, 1.0
    low = min(0.0, *(float(group["low"]) for group in groups))
    high = max(0.0, *(float(group["high"]) for group in groups))
    return (low, high) if high > low else (0.0, 1.0)


def across(value: float, ends: tuple[float, float]) -> str:
    """Where a value lies on a bar that is 100 wide."""
    low, high = ends
    return f"{100 * (value - low) / (high - low):.2f}"


def ago(seconds: float) -> str:
    """An age for people."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit} ago"
    return "just now"


def are_counted(n: int, noun: str) -> str:
    """A number with its noun and verb."""
    return f"{counted(n, noun)} {'is' if n == 1 else 'are'}"


def clock(seconds: float) -> str:
    """A moment as ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def templates() -> Environment:
    """Our templates; every value is escaped, and a name that is missing is an error."""
    environment = Environment(
        loader=PackageLoader("worker.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"ago": ago, "across": across, "clock": clock}
    environment.filters |= {"percent": percent, "share": share_of}
    environment.filters["waiting"] = waiting_text
    return environment

"""/metrics: read from the ledgers of all assessments at the moment of the scrape."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from worker.assessment.outcomes import n_labelled
from worker.errors import AssayError
from worker.report.status import Status
from worker.service.counters import BOUNDS_S, Counters
from worker.web.health import SILENT_S
from worker.web.status_cache import Crew, StatusCache, Traffic

_GAUGES = {
    "assay_readable": "Whether what is kept of the assessment can be read.",
    "assay_running": "Whether the assessment is running (else it is paused or stopped).",
    # A gauge, since labels can be deleted; a counter that falls looks like a restart.
    "assay_labels_total": "Items of the pool with a label now.",
    "assay_pool_items": "Items of the pool.",
    "assay_open_items": "Items before the annotators, gold items too.",
    "assay_pending_events": "Turns asked for and not begun.",
    "assay_rejected": "Rejected annotations.",
    "assay_posterior_width_max": "Width of the widest 95% interval of a group's value.",
    "assay_confidence": "Probability that the finding holds; absent if the rule has none.",
    "assay_events_behind": "Webhooks that came since the last finished turn began.",
    "assay_poll_age_seconds": "Since Label Studio was last read; absent before the first time.",
    "assay_webhook_gap_seconds": "Since the last webhook; absent before the first one.",
    "assay_label_age_seconds": "Since the last label, by Label Studio's clock; absent before it.",
}


def exposition(cache: StatusCache) -> tuple[bytes, str]:
    """The text for Prometheus and its content type."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Ledgers(cache))
    return generate_latest(registry), CONTENT_TYPE_PLAIN_0_0_4


class _Ledgers(Collector):
    def __init__(self, cache: StatusCache) -> None:
        self._cache = cache

    def describe(self) -> Iterable[Metric]:
        return []  # or registering would collect

    def collect(self) -> Iterator[Metric]:
        gauges = {n: GaugeMetricFamily(n, doc, labels=["assessment"]) for n, doc in _GAUGES.items()}
        failures = CounterMetricFamily(
            "assay_job_failures", "Turns that failed.", labels=["assessment"]
        )
        turns = HistogramMetricFamily(
            "assay_advance_seconds", "How long one turn of the loop took.", labels=["assessment"]
        )
        crew = self._cache.crew()
        for assessment, seen in self._cache.context.each(lambda one: self._of(one, crew)):
            is_read = not isinstance(seen, AssayError)
            gauges["assay_readable"].add_metric([assessment], float(is_read))
            if isinstance(seen, AssayError):
                continue
            values, counted = seen
            for name, value in values | self._of_status(assessment):
                gauges[name].add_metric([assessment], value)
            failures.add_metric([assessment], counted.failures)
            turns.add_metric([assessment], *_histogram(counted))
        yield from gauges.values()
        yield failures
        yield turns
        yield from _of_crew(crew)

    def _of(self, assessment: str, crew: Crew) -> tuple[set[tuple[str, float]], Counters]:
        self._cache.context.header(assessment)  # a status that is known does not look at it again
        traffic = self._cache.traffic(assessment, crew)
        return _of_traffic(traffic), traffic.counted

    def _of_status(self, assessment: str) -> set[tuple[str, float]]:
        try:
            return _of_status(self._cache.status(assessment))
        except AssayError:  # its pool is gone: the page of all assessments says so
            return set()


def _of_traffic(traffic: Traffic) -> set[tuple[str, float]]:
    state, ages = traffic.state, set[tuple[str, float]]()
    for name, at in (
        ("assay_poll_age_seconds", traffic.polled_at),
        ("assay_webhook_gap_seconds", traffic.counted.webhook_at),
        ("assay_label_age_seconds", traffic.label_at),
    ):
        if at is not None:
            ages.add((name, max(0.0, traffic.now - at)))
    return ages | {
        ("assay_running", float(state.status == "running")),
        ("assay_labels_total", float(n_labelled(state.tally))),
        ("assay_open_items", float(traffic.open_items)),
        ("assay_pending_events", float(traffic.pending)),
        ("assay_rejected", float(state.n_rejected)),
        ("assay_events_behind", float(traffic.counted.behind)),
    }


def _of_status(status: Status) -> set[tuple[str, float]]:
    rows = [group for group in status.groups if group["size"]]
    rows += status.models["differences"] if status.models is not None else []
    widths = [row["high"] - row["low"] for row in rows]
    found = {
        ("assay_pool_items", float(status.pool_items)),
        ("assay_posterior_width_max", float(max(widths, default=0.0))),
    }
    if status.confidence is not None:
        found.add(("assay_confidence", float(status.confidence)))
    return found


def _histogram(counted: Counters) -> tuple[list[tuple[str, float]], float]:
    names = [*(str(bound) for bound in BOUNDS_S), "+Inf"]
    upto = [float(count) for count in accumulate(counted.turns)]
    return list(zip(names, upto, strict=True)), counted.turn_seconds


def _of_crew(crew: Crew) -> Iterator[Metric]:
    alive = sum(worker.seen_s < SILENT_S for worker in crew.workers)
    yield GaugeMetricFamily("assay_workers", "Workers that gave a sign of life.", alive)
    yield GaugeMetricFamily("assay_watched", "Whether a watcher runs.", float(crew.is_watched))
    yield GaugeMetricFamily("assay_jobs_waiting", "Jobs in RQ's queue.", len(crew.jobs))

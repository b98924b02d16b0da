"""What pages, metrics and health say is what the ledger says."""

from __future__ import annotations

import re
import time
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from rq import Queue
from rq.serializers import JSONSerializer

from connector.errors import ConnectorError
from tests.web.site import SECRET, Begun, begin, dashboard, forget
from tests.worker.assessment.models_pool import header_of, plan_of, values_of, write_models
from worker.cli.printing import status_text
from worker.pool import compile_pool
from worker.report.gathering import gather
from worker.report.status import status_of
from worker.service.context import Context
from worker.service.counters import count_failure, count_turn, counters
from worker.service.job_data import QUEUE
from worker.setup.lifecycle import stop
from worker.store.settings import Settings, read_settings
from worker.watcher import HEARTBEAT
from worker.web.status_cache import StatusCache


def metrics(url: str, begun: Begun) -> dict[str, float]:
    """The samples of one assessment, by name; those of a histogram with their bound."""
    found = {}
    for family in text_string_to_metric_families(httpx.get(f"{url}/metrics").text):
        for sample in family.samples:
            if sample.labels.get("assessment", begun.id) == begun.id:
                found[sample.name + sample.labels.get("le", "")] = sample.value
    return found


def test_people_are_led_to_label_studio_where_they_reach_it(
    url: str, begun: Begun, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABEL_STUDIO_URL", begun.header.url)
    monkeypatch.setenv("LABEL_STUDIO_PUBLIC_URL", "https://labels.example/")
    there = "https://labels.example/projects/1/data"
    assert f'<a href="{there}">' in httpx.get(f"{url}/a/{begun.id}").text
    assert f"Label Studio: {there}\n" in status_text(status_of(context, begun.id))
    report = gather(begun.work, begun.header, begun.ledger)
    assert report.reproduce["url"] == "https://labels.example"
    with pytest.raises(ConnectorError, match=r"LABEL_STUDIO_PUBLIC_URL is 'labels\.example'"):
        read_settings({"LABEL_STUDIO_PUBLIC_URL": "labels.example"})


def test_a_page_says_what_the_status_says(url: str, begun: Begun, context: Context) -> None:
    for n in range(7):
        begun.label(("cat", "dog", "cow")[n % 3])
    status = status_of(context, begun.id)
    page = httpx.get(f"{url}/a/{begun.id}").text
    assert f'<span id="labels">{status.labels}</span> of {status.pool_items} items' in page
    for group in status.groups:
        row = next(r for r in re.findall(r"<tr>.*?</tr>", page) if f">{group['group']}<" in r)
        numbers = [f"{group[name]:.4f}" for name in ("mean", "low", "high")]
        assert all(number in row for number in numbers)
        for name in ("size", "labelled", "right"):
            assert f'<td class="n">{group[name]}</td>' in row
    shown = httpx.get(f"{url}/a/{begun.id}/status.json").json()
    # The tasks before the annotators and the last poll move without any label.
    assert shown == status.as_json() | {
        name: shown[name] for name in ("open_items", "polled_at", "error")
    }


def test_of_models_that_are_compared_the_differences_are_shown_and_no_empty_table(
    url: str, context: Context, tmp_path: Path, assessment_id: str
) -> None:
    write_models(tmp_path, {"old": 0.6, "new": 0.85}, n=60)
    values = values_of(["old", "new"], {"task": "compare"}) | {"assessment": assessment_id}
    plan = plan_of(tmp_path, values)
    context.enter(assessment_id)
    context.ledger(assessment_id).begin(header_of(plan, compile_pool(plan, context.settings.pools)))
    try:
        status = status_of(context, assessment_id)
        page = httpx.get(f"{url}/a/{assessment_id}").text
        told = httpx.get(f"{url}/a/{assessment_id}/status.json").json()
    finally:
        forget(context, assessment_id)
    (row,) = told["models"]["differences"]
    assert (row["first"], row["second"], row["group"]) == ("old", "new", "all items")
    assert row["disagreed"] > 0
    ends = f"{row['low']:+.4f} to {row['high']:+.4f}"
    assert ends in page
    assert "<tbody>\n</tbody>" not in page
    head, line = status_text(status).splitlines()[-2:]
    assert head.startswith("first less second")
    assert line.startswith("old − new, all items")
    assert f"{row['low']:+.3f} to {row['high']:+.3f}" in line


def test_items_that_wait_for_more_votes_are_counted_also_before_any_outcome_changes(
    context: Context, tmp_path: Path, assessment_id: str, url: str
) -> None:
    more = "annotation: {per_item: 2, rule: majority}\nqueue: {look_ahead: 4}\n"
    voted = begin(context, tmp_path / "plan", assessment_id, more=more)
    page = f"{url}/a/{voted.id}"
    assert "Votes to come" not in httpx.get(page).text
    for said in ("cat", "dog", "zebra"):
        voted.label(said)  # all by one person, the last is no class
    assert voted.ledger.revision() == 0
    seen = httpx.get(page).text
    assert "2 items wait for a second vote</dd>" in seen
    assert "<dd>2 to 4 (majority)</dd>" in seen
    first, second, *_ = voted.desk.task_ids()
    voted.desk.annotate(first, "cow", 2)  # a tie asks a third
    voted.turn()
    assert "1 item waits for a second vote, 1 for a third</dd>" in httpx.get(page).text
    voted.desk.annotate(second, "dog", 2)
    voted.turn()
    assert "1 item waits for a third vote</dd>" in httpx.get(page).text
    told = httpx.get(f"{page}/status.json").json()
    assert told["waiting_votes"] == {"3": 1}
    assert told["annotation"]["rule"] == "majority"
    forget(context, voted.id)


def test_the_page_of_all_names_each_with_its_headline(url: str, begun: Begun) -> None:
    begun.label()
    page = httpx.get(url).text
    assert f'href="/a/{begun.id}"' in page
    assert "1 of 60" in page


def test_a_pool_that_is_gone_is_a_warning_and_no_crash(url: str, begun: Begun) -> None:
    begun.work.pool.path.unlink()
    assert httpx.get(url).status_code == 200
    assert "pool" in httpx.get(url).text
    answer = httpx.get(f"{url}/a/{begun.id}", headers={"accept": "text/html"})
    assert answer.status_code == 409
    assert httpx.get(f"{url}/metrics").status_code == 200


def test_a_decision_is_shown_with_its_evidence(url: str, begun: Begun, context: Context) -> None:
    begun.label()
    stop(context, begun.id)
    page = httpx.get(f"{url}/a/{begun.id}").text
    assert "Stopped by hand" in page
    assert "by hand (inconclusive)" in page
    assert begun.header.pool_hash[:16] in page


def test_nobody_is_not_found(url: str) -> None:
    for path in ("/a/nobody", "/a/nobody/part", "/a/nobody/live", "/a/nobody/status.json"):
        assert httpx.get(url + path).status_code == 404


def test_the_same_revision_is_worked_out_once(context: Context, begun: Begun) -> None:
    cache = StatusCache(context)
    first = cache.status(begun.id)
    assert cache.status(begun.id) is first
    begun.label()
    assert cache.status(begun.id).labels == first.labels + 1


# --- metrics --------------------------------------------------------------------------------


def test_metrics_are_those_of_the_ledger(url: str, begun: Begun, context: Context) -> None:
    for _ in range(3):
        begun.label()
    begun.desk.submit(begun.desk.next_task(1) or 0, "nonsense", 1)
    begun.turn()
    status, found = status_of(context, begun.id), metrics(url, begun)
    assert found["assay_labels_total"] == status.labels == 3
    assert found["assay_open_items"] == status.open_items > 0
    assert found["assay_rejected"] == len(status.rejected) == 1
    assert found["assay_confidence"] == pytest.approx(status.confidence)
    widths = [group["high"] - group["low"] for group in status.groups]
    assert found["assay_posterior_width_max"] == pytest.approx(max(widths))
    assert found["assay_running"] == 1
    assert 0 <= found["assay_poll_age_seconds"] < 10
    assert "assay_webhook_gap_seconds" not in found


def test_webhooks_are_behind_until_a_turn_read_them(
    url: str, begun: Begun, context: Context
) -> None:
    queue = Queue(QUEUE, connection=context.jobs, serializer=JSONSerializer)
    queue.empty()
    for _ in range(2):
        httpx.post(
            f"{url}/hook/{begun.id}",
            headers={"X-Assay-Secret": SECRET},
            json={"action": "ANNOTATION_CREATED"},
        ).raise_for_status()
    found = metrics(url, begun)
    assert (found["assay_events_behind"], found["assay_pending_events"]) == (2, 1)
    assert found["assay_webhook_gap_seconds"] < 10
    count_turn(context.state, begun.id, 0.02, 2)
    assert metrics(url, begun)["assay_events_behind"] == 0
    queue.empty()


def test_turns_are_a_histogram_and_failures_a_counter(
    url: str, begun: Begun, context: Context
) -> None:
    for seconds in (0.004, 0.005, 0.2, 99.0):
        count_turn(context.state, begun.id, seconds, 0)
    count_failure(context.state, begun.id)
    found = metrics(url, begun)
    assert found["assay_advance_seconds_bucket0.005"] == 2
    assert found["assay_advance_seconds_bucket0.25"] == 3
    assert found["assay_advance_seconds_bucket30.0"] == 3
    assert found["assay_advance_seconds_bucket+Inf"] == 4
    assert found["assay_advance_seconds_sum"] == pytest.approx(99.209)
    assert found["assay_job_failures_total"] == 1


def test_nothing_was_counted_at_the_beginning(context: Context, assessment_id: str) -> None:
    none = counters(context.state, assessment_id)
    assert sum(none.turns) == none.failures == none.behind == 0
    assert none.webhook_at is None


# --- health ---------------------------------------------------------------------------------


def test_it_is_not_ready_without_watcher_and_worker(url: str, context: Context) -> None:
    context.state.delete(HEARTBEAT)
    answer = httpx.get(f"{url}/readyz")
    assert answer.status_code == 503
    assert any("assay watch" in reason for reason in answer.json()["missing"])
    context.state.set(HEARTBEAT, 1, ex=60)
    reasons = httpx.get(f"{url}/readyz").json()["missing"]
    assert not any("assay watch" in reason for reason in reasons)
    assert httpx.get(f"{url}/healthz").json() == {"status": "up"}


def test_without_its_server_it_is_alive_and_says_what_is_wrong(tmp_path: Path) -> None:
    nowhere = Context(Settings(tmp_path, None, None), f"unix://{tmp_path}/nobody", is_patient=False)
    with dashboard(nowhere, token=None) as url:
        began = time.monotonic()
        assert httpx.get(f"{url}/healthz").status_code == 200
        assert "is away" in httpx.get(f"{url}/readyz").json()["missing"][0]
        answer = httpx.get(url, headers={"accept": "text/html"})
        assert (answer.status_code, "is away" in answer.text) == (503, True)
        assert httpx.get(f"{url}/metrics").status_code == 503
        assert time.monotonic() - began < 5
    nowhere.close()

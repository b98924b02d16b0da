"""The count of one thing is the same on every page, and has one name there."""

from __future__ import annotations

import re

import httpx
import pytest

from tests.web.site import Begun
from tests.web.test_pages import metrics
from worker.assessment.verdicts import assess_now
from worker.cli.printing import status_text
from worker.findings.fates import fates
from worker.notebook import snapshot
from worker.report.contents import as_json
from worker.report.gathering import gather
from worker.report.page import page
from worker.report.status import status_of
from worker.service.context import Context
from worker.setup.lifecycle import stop


@pytest.fixture
def lived(begun: Begun) -> Begun:
    """Four labels, three skips of which two gave an item up, one answer that nobody offered, a
    deleted task, and a person all of whose answers were deleted."""
    for label in ("cat", "dog", "cow"):
        begun.label(label)
    desk = begun.desk
    task = desk.next_task(1)
    assert task is not None
    for author in (1, 2):
        desk.skip(task, author)
    begun.turn()
    task = desk.next_task(2)
    assert task is not None
    desk.skip(task, 2)
    begun.label()
    task = desk.next_task(1)
    assert task is not None
    desk.annotate(task, "zebra", 1)
    begun.turn()
    task = desk.next_task(3)
    assert task is not None
    gone = desk.annotate(task, "cat", 3)
    begun.turn()
    desk.delete_annotation(gone)
    begun.turn()
    task = desk.next_task(1)
    assert task is not None
    desk.delete_task(task)
    begun.ledger.set_metadata(swept_at=0)
    begun.turn()
    return begun


def test_labels_skips_and_given_up_items_agree_wherever_they_stand(
    lived: Begun, context: Context, url: str
) -> None:
    state, _, verdict = assess_now(lived.work, lived.ledger)
    where = fates(lived.work, state)
    assert (where.labelled, where.skipped, where.rejected, where.deleted) == (4, 1, 1, 1)
    every = (
        where.labelled, where.queued, where.skipped, where.rejected, where.deleted,
        where.withdrawn, where.unclaimed,
    )  # fmt: skip
    assert sum(every) == lived.work.pool.n_items

    status, report = status_of(context, lived.id), gather(lived.work, lived.header, lived.ledger)
    seen = snapshot(lived.work, lived.header, lived.ledger, context.settings)
    found, told = metrics(url, lived), as_json(report)
    html = httpx.get(f"{url}/a/{lived.id}").text
    assert verdict.labels == status.labels == report.labels == report.items.labelled == seen.labels
    assert found["assay_labels_total"] == seen.groups["labelled"].sum() == 4
    assert status.retired == where.given_up == {"skipped": 1, "rejected": 1, "deleted": 1}
    assert {fate: told["items"][fate] for fate in where.given_up} == where.given_up
    words = "1 deleted item, 1 rejected item, 1 skipped item"
    assert f"Given up, and counted as unlabelled: {words}." in status_text(status)
    assert f"{words}: given up, and counted as unlabelled" in html
    assert report.n_rejected == len(status.rejected) == found["assay_rejected"] == 1
    assert status.open_items == found["assay_open_items"]
    assert re.search(rf"<dt>Open items</dt><dd>{status.open_items} \(", html)

    # skips are answers, and of these there are more than skipped items
    assert sum(person.skips for person in report.annotators) == 3
    assert seen.annotators["skips"].sum() == 3
    assert len(report.annotators) == len(seen.annotators) == status.annotators == 3
    text = page(report)
    assert "<dt>skipped items</dt>" in text
    assert ">Skips" in text
    assert ">Skipped<" not in text


def test_the_decision_counts_as_the_pages_do(lived: Begun, context: Context, url: str) -> None:
    stop(context, lived.id)
    status = status_of(context, lived.id)
    assert status.decision is not None
    told = status.decision
    given_up = {s: told[f"{s}_items"] for s in ("skipped", "rejected", "deleted")}
    assert given_up == status.retired == {"skipped": 1, "rejected": 1, "deleted": 1}
    assert told["rejected"] == len(status.rejected) == 1
    assert told["labels"] == status.labels == 4
    assert told["annotators"] == status.annotators == 3
    html = httpx.get(f"{url}/a/{lived.id}").text
    words = "1 deleted item, 1 rejected item, 1 skipped item"
    assert f"<dt>Given up then</dt><dd>{words}</dd>" in html
    assert "<dt>Rejected annotations then</dt><dd>1</dd>" in html

"""Decision, report, status and dashboard say the same of second opinions, and warn of them."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from tests.report.at_work import AtWork, at_work
from tests.report.examples_ordinary import ordinary
from worker.assessment.verdicts import assess_now
from worker.cli.printing import status_text
from worker.findings.decision import decision
from worker.report.contents import as_json
from worker.report.gathering import gather
from worker.report.page import page
from worker.report.status import Status, status_of
from worker.service.context import Context
from worker.store.settings import read_settings
from worker.web.pages import warnings
from worker.web.status_cache import Traffic


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> AtWork:
    """After 115 labels; one of the opinions is the truth."""
    folder: Path = tmp_path_factory.mktemp("opinions")
    return at_work(
        folder,
        115,
        strategy="assay",
        prior="{kind: empirical}",
        question="{task: estimate}",
        stop="{rmse: 0.0001}",
        opinions="[{name: old, predicted: old}, {name: cheat, predicted: truth}]",
    )


def status(one: AtWork) -> Status:
    context = SimpleNamespace(
        header=lambda _: one.header, ledger=lambda _: one.ledger, settings=read_settings()
    )
    return status_of(cast(Context, context), one.header.assessment, one.work)


def test_decision_report_and_status_say_the_same(one):
    state, belief, verdict = assess_now(one.work, one.ledger)
    said = decision(one.work, one.header, state, belief, verdict, kind="stop", reason="by hand")
    told = json.loads(said)["opinions"]
    report = gather(one.work, one.header, one.ledger)
    assert told == json.loads(json.dumps(as_json(report)["opinions"]))
    assert told == json.loads(json.dumps(status(one).as_json()["opinions"]))
    assert told["saved"]["low"] <= told["saved"]["mean"] <= told["saved"]["high"] <= 150 - 115


def test_the_true_label_as_an_opinion_is_warned_of_wherever_one_looks(one):
    (warning,) = gather(one.work, one.header, one.ledger).opinions.warnings
    assert warning.startswith("The opinion cheat told right from wrong in all of 115 labels.")
    assert warning in page(gather(one.work, one.header, one.ledger))
    assert warning in " ".join(status_text(status(one)).split())
    traffic = SimpleNamespace(error="", now=0.0, polled_at=0.0, open_items=1)
    assert warning in warnings(status(one), cast(Traffic, traffic))


def test_a_section_tells_it_and_the_glossary_what_it_is(one):
    report = gather(one.work, one.header, one.ledger)
    text = page(report)
    assert '<section id="opinions"' in text
    assert 'id="opinions-sides-table"' in text
    assert 'id="opinions-weights-table"' in text
    assert "second opinion" in dict(report.glossary)
    assert '<section id="opinions"' not in page(ordinary())

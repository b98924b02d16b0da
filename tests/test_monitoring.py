"""The dashboard and the rules in `deploy` name what /metrics has, and all of it."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.promises.small import small_assessment
from worker.service.context import Context
from worker.service.embedded import server
from worker.store.settings import Settings
from worker.store.valkey import ValkeyLedger
from worker.web.metrics import exposition
from worker.web.status_cache import StatusCache

DEPLOY = Path(__file__).parents[1] / "deploy"
BOARD: dict[str, Any] = json.loads((DEPLOY / "grafana-dashboard.json").read_text(encoding="utf-8"))
RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((DEPLOY / "alerts.yaml").read_text(encoding="utf-8"))["groups"]
    for rule in group["rules"]
]
PANELS = [panel for panel in BOARD["panels"] if panel["type"] != "row"]
SAMPLES = {
    "histogram": ("_bucket", "_sum", "_count"),
    "counter": ("_total",),
    "gauge": ("",),
}


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The families that a real scrape has, with the names of their samples."""
    folder = tmp_path_factory.mktemp("scraped")
    with server(folder, None) as url:
        context = Context(Settings(folder, None, None), url)
        _, header = small_assessment(folder / "small", "{budget: 6}")
        ValkeyLedger(context.state, "small").begin(replace(header, assessment="small"))
        context.enter("small")
        text, _ = exposition(StatusCache(context))
        context.close()
    return {
        family.name: {family.name + suffix for suffix in SAMPLES[family.type]}
        for family in text_string_to_metric_families(text.decode())
    }


def named(expressions: list[str]) -> set[str]:
    """All metrics of ours that some expressions name."""
    return {name for text in expressions for name in re.findall(r"\bassay_[a-z_]+", text)}


def shown() -> list[str]:
    return [target["expr"] for panel in PANELS for target in panel["targets"]]


def test_every_metric_that_the_dashboard_or_a_rule_names_is_exported(exported):
    asked = named([*shown(), *(rule["expr"] for rule in RULES)])

    assert asked
    assert asked - set().union(*exported.values()) == set()


def test_every_metric_that_is_exported_has_its_place_on_the_dashboard(exported):
    on_show = named(shown())

    assert [family for family, samples in exported.items() if not samples & on_show] == []


def test_the_dashboard_works_with_any_data_source_and_for_chosen_assessments():
    variables = {variable["name"]: variable for variable in BOARD["templating"]["list"]}
    assert variables["datasource"]["type"] == "datasource"
    assert variables["assessment"]["multi"]
    for panel in PANELS:
        for target in panel["targets"]:
            assert target["datasource"]["uid"] == "${datasource}"
    assert BOARD["id"] is None  # or an import would replace another one


def test_every_panel_has_a_title_words_that_explain_it_and_a_place_of_its_own():
    taken: set[tuple[int, int]] = set()
    for panel in BOARD["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        squares = {
            (place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])
        }
        assert not squares & taken, panel["title"]
        taken |= squares
        if panel["type"] != "row":
            assert panel["title"]
            assert panel["description"].endswith(".")
    ids = [panel["id"] for panel in BOARD["panels"]]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("rule", RULES, ids=[rule["alert"] for rule in RULES])
def test_a_rule_says_how_grave_it_is_and_what_to_do(rule):
    assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
    assert rule["labels"]["severity"] in ("critical", "warning", "info")
    assert re.fullmatch(r"\d+[smh]", rule.get("for", "1m"))
    for text in ("summary", "description"):
        assert rule["annotations"][text]

"""The page of an evaluation: whole, repeatable, and every number of it from its JSON."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from worker.evaluation.evaluating import Evaluation
from worker.evaluator.asked import Settings
from worker.evaluator.experiments import Cases, predictor_experiment
from worker.evaluator.fit_experiment import fit_experiment
from worker.evaluator.measures import MEASURES
from worker.formats import found as found_at
from worker.formats import shown
from worker.report.evaluation import as_json, page, write_evaluation

AT = "2026-05-04T03:02:01+00:00"
SETTINGS = Settings(n_draws=100, folds=0)
NAMES = ("cat & <dog>", "$x$ fox", "猫" * 30)


def predictions(human, width, seed):
    moved = human + width * np.random.default_rng(seed).normal(size=human.shape)
    moved = np.clip(moved, 1e-3, None)
    return moved / moved.sum(axis=1, keepdims=True)


def evaluations():
    human = np.random.default_rng(1).dirichlet([1, 1, 1], 90)
    several = {name: predictions(human, 0.05 * n, n) for n, name in enumerate(NAMES, 1)}
    part = np.arange(90) % 2
    cases = Cases(human, several, part, ("train", "test"), NAMES)
    alone = replace(cases, predicted={"it": several[NAMES[0]]}, part=0 * part, parts=("all",))
    tried = ("uniform", "zero-mean-ndod")
    found = {
        "fit": fit_experiment(human, several[NAMES[0]], tried, SETTINGS),
        "uncertainty": predictor_experiment(alone, "ndod", MEASURES["kl"], SETTINGS),
        "selection": predictor_experiment(cases, "ndod", MEASURES["auc"], SETTINGS),
    }
    return {
        name: Evaluation(NAMES, 12.5, ("3 were left out.",), one) for name, one in found.items()
    }


EXAMPLES = evaluations()


@pytest.mark.parametrize("name", EXAMPLES)
def test_its_pictures_are_well_formed_and_say_in_words_what_they_show(name):
    text = page(EXAMPLES[name], "pets", AT)
    drawn = re.findall(r"<svg.*?</svg>", text, flags=re.S)
    assert len(drawn) == (1 if name == "fit" else 2)
    for svg in drawn:
        head = '<svg xmlns:xlink="http://www.w3.org/1999/xlink" '
        root = ElementTree.fromstring(svg.replace("<svg ", head, 1))
        assert root.get("role") == "img"
        assert len(root.get("aria-label")) > 40


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_two_elements_have_one_id_and_every_reference_has_its_target(name):
    text = page(EXAMPLES[name], "pets", AT)
    ids = re.findall(r'\sid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    named = re.findall(r'(?:href="#|url\(#|aria-labelledby=")([^")]+)', text)
    assert set(named) <= set(ids)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_same_numbers_make_the_same_bytes(name):
    again = evaluations()[name]
    assert page(again, "pets", AT) == page(EXAMPLES[name], "pets", AT)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_cell_of_its_table_is_what_the_json_says(name, tmp_path):
    path = write_evaluation(EXAMPLES[name], "pets", tmp_path)
    told, text = json.loads(path.with_suffix(".json").read_text()), path.read_text()
    heads = re.findall(r'<th scope=col class="\w" data-of="([^"]+)" data-as=(\w+)>', text)
    rows = re.findall(r"<tr data-row=(\d+)>(.*?)(?=<tr|</tbody)", text)
    assert len(heads) >= 7
    assert len(rows) == len(told["rows"])
    for number, cells in rows:
        plain = [re.sub("<[^>]*>", "", cell) for cell in re.split("<td[^>]*>", cells)]
        for (place, kind), cell in zip(heads, plain, strict=True):
            expected = shown(found_at(told, place.format(number)), kind)
            assert html.unescape(cell) == expected


@pytest.mark.parametrize("name", EXAMPLES)
def test_names_of_people_are_text_and_never_markup(name):
    text = page(EXAMPLES[name], "<script>", AT)
    assert "<dog>" not in text
    assert text.count("<script>") == 1
    told = as_json(EXAMPLES[name], "pets", AT)
    assert json.loads(json.dumps(told, allow_nan=False))["notes"] == ["3 were left out."]

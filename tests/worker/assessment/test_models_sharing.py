"""Pools whose models have more products of groups than cells: rare ones are drawn together."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tests.fakes import SCHEMA, FakeDesk
from tests.worker.assessment.models_pool import header_of
from tests.worker.assessment.shared_pool import (
    CLASSES,
    N_CLASSES,
    N_ITEMS,
    at_most,
    plan_of_many,
    write_many,
)
from worker.assessment import Assessment, assess
from worker.core.posterior.summary import interval, mean
from worker.core.strategies import NothingLeft
from worker.errors import PredictionsError
from worker.plan import Plan
from worker.pool import compile_pool, open_pool
from worker.pool.models import SHARED, models_from
from worker.pool.truth import read_truth
from worker.report.gathering import gather
from worker.setup.replaying import export, replay
from worker.simulate.jointly import all_counted
from worker.simulate.measuring import Measures
from worker.simulate.replay import labels, shuffled
from worker.simulate.replay import replay as simulated
from worker.simulate.truths import outcomes
from worker.store import MemoryLedger
from worker.store.tally import tally_key
from worker.turn.loop import advance

IDENTIFY = {"task": "identify"}
BY_REGION = {"task": "compare", "where": "groups"}
ROWS = 60  # so that some products have cells of their own, and some share


def assessed(
    folder: Path,
    question: dict,
    rows: int = ROWS,
    seed: int = 1,
    regions: int = 40,
    **parts: object,
) -> Assessment:
    if not (folder / "old.csv").exists():
        write_many(folder, seed, regions=regions)
    with at_most(rows):
        plan = plan_of_many(folder, question, **parts)
        return assess(plan, compile_pool(plan, folder / "pools"))


def truth_of(work: Assessment) -> np.ndarray:
    return outcomes(work, read_truth(work.plan, work.pool, "truth"))


@pytest.mark.parametrize("rows", [ROWS, 30, N_CLASSES])
def test_no_view_has_more_rows_than_allowed(tmp_path, rows):
    work = assessed(tmp_path, IDENTIFY, rows)
    assert work.pool.models.layout.size.size > rows
    assert work.pool.n_cells <= rows
    assert max(view.cell.size for view in work.several.views) <= rows


@pytest.mark.parametrize("rows", [ROWS, 30, N_CLASSES])
def test_the_counts_of_shared_cells_are_those_of_their_items(tmp_path, rows):
    work, rng = assessed(tmp_path, IDENTIFY, rows), np.random.default_rng(3)
    pool, truth = work.pool, read_truth(work.plan, work.pool, "truth")
    cell = np.repeat(np.arange(pool.n_cells), pool.cell_size)
    labelled = rng.permutation(pool.n_items)[:300]
    tally = Counter(
        tally_key(claim, int(cell[row]), int(pool.predicted[row]), CLASSES[truth[row]])
        for claim, row in enumerate(labelled)
    )
    belief = work.believe(tally)
    said = pool.models.said[pool.predicted]
    for m, (part, view) in enumerate(zip(belief.parts, work.several.views, strict=True)):
        for c in range(view.cell.size):
            own = (cell == view.cell[c]) & (said[:, m] == view.group[c])
            right = (said[:, m] == truth)[labelled][own[labelled]]
            assert part.size[c] == own.sum()
            assert (part.right[c], part.wrong[c]) == (right.sum(), (~right).sum())
        assert part.size.sum() == pool.n_items


def test_once_all_is_labelled_every_model_has_its_true_accuracies(tmp_path):
    work = assessed(tmp_path, IDENTIFY, 30)
    truth, said = read_truth(work.plan, work.pool, "truth"), work.pool.models.said
    said = said[work.pool.predicted]
    for m, part in enumerate(all_counted(work.several, truth_of(work)).parts):
        expected = [(truth == k)[said[:, m] == k].mean() for k in range(N_CLASSES)]
        np.testing.assert_allclose(mean(part), expected)


def test_items_of_one_prediction_count_in_the_groups_that_a_column_puts_them_in(tmp_path):
    groups = {"groups": ["region", "predicted_class"]}
    work = assessed(tmp_path, IDENTIFY, 40, seed=4, regions=3, pool=groups)
    pool, truth = work.pool, read_truth(work.plan, work.pool, "truth")
    with (tmp_path / "old.csv").open() as file:
        region_of = {row["item_id"]: row["region"] for row in csv.DictReader(file)}
    said = pool.models.said[pool.predicted]
    for m, part in enumerate(all_counted(work.several, truth_of(work)).parts):
        right: dict[str, list[bool]] = defaultdict(list)
        for row, item in enumerate(pool.item_ids.to_pylist()):
            name = f"{region_of[item]} × {CLASSES[said[row, m]]}"
            right[name].append(bool(said[row, m] == truth[row]))
        expected = [np.mean(right[name]) for name in pool.models.own_names[m]]
        np.testing.assert_allclose(mean(part), expected)


def test_a_pool_whose_products_fit_is_cut_as_ever(tmp_path):
    write_many(tmp_path)
    plan = plan_of_many(tmp_path, IDENTIFY)
    many = compile_pool(plan, tmp_path / "many")
    with at_most(many.n_cells):
        few = compile_pool(plan, tmp_path / "few")
    assert few.file_sha256 == many.file_sha256
    assert "portions" not in few.models.as_json()
    assert SHARED not in few.group_names


def test_a_shared_pool_is_read_as_it_was_written(tmp_path):
    pool = assessed(tmp_path, IDENTIFY).pool
    told = json.loads(json.dumps(pool.models.as_json()))
    read = models_from({"models": told, "cells": {"size": pool.cell_size.tolist()}})
    assert read.as_json() == pool.models.as_json()
    again = open_pool(pool.path)
    np.testing.assert_array_equal(again.models.portion, pool.models.portion)
    np.testing.assert_array_equal(
        np.bincount(again.models.layout.cells, again.models.layout.size), pool.cell_size
    )


def test_more_groups_than_rows_are_refused_with_a_cure(tmp_path):
    with pytest.raises(PredictionsError, match=r"told apart in 12 places, and at most 11 .*coarse"):
        assessed(tmp_path, IDENTIFY, N_CLASSES - 1)


def test_to_compare_models_only_items_on_which_they_agree_share_a_cell(tmp_path):
    parts = {"pool": {"groups": "region"}, "stop": {"rope": {"epsilon": 0.2}}}
    work = assessed(tmp_path, BY_REGION, 45, **parts)
    pool, outcome = work.pool, truth_of(work)
    assert pool.group_names[-1] == SHARED
    said, truth = pool.models.said[pool.predicted], read_truth(work.plan, pool, "truth")
    region = pool.models.own[work.several.offered.portions(), 0]
    found = mean(all_counted(work.several, outcome))
    for g in range(len(work.several.asked)):
        right = (said == truth[:, None])[region == g]
        assert found[g] == pytest.approx(right[:, 0].mean() - right[:, 1].mean())
    for revealed in islice(labels(work, outcome), 100):
        assert said[revealed.row, 0] != said[revealed.row, 1]
    with pytest.raises(PredictionsError, match="where models disagree, have to be told apart"):
        assessed(tmp_path / "more", BY_REGION, 39, **parts)


def test_a_choice_does_not_know_in_which_order_the_items_left_stand(tmp_path):
    work, rng = assessed(tmp_path, IDENTIFY, 30), np.random.default_rng(2)
    outcome, size, start = truth_of(work), work.pool.cell_size, work.pool.cell_start
    *_, last = islice(labels(work, outcome), 60)
    belief, none = last.belief, np.zeros_like(size)
    taken = np.minimum(size // 3, 20)
    cell = np.repeat(np.arange(size.size), size)
    offered = np.arange(cell.size) < (start + taken)[cell]
    chosen = set()
    for _ in range(5):
        order = np.lexsort((rng.random(cell.size) * ~offered, ~offered, cell))
        again = replace(work, kind=work.several.in_order(order))
        chosen.add(tuple(again.choose(belief, size - taken, none, n).cell for n in range(20)))
    assert len(chosen) == 1


def test_an_exhausted_cell_is_never_chosen_and_all_others_are(tmp_path):
    work = assessed(tmp_path, IDENTIFY, 30)
    drawn = [revealed.row for revealed in labels(work, truth_of(work))]
    assert sorted(drawn) == list(range(N_ITEMS))
    none = np.zeros(work.pool.n_cells, np.int64)
    with pytest.raises(NothingLeft):
        work.choose(work.first, none, none, 0)


def test_live_and_simulated_choices_are_the_same_and_can_be_explained(tmp_path):
    write_many(tmp_path)
    work = assessed(tmp_path, IDENTIFY, 30, queue={"look_ahead": 1}, stop={"budget": 150})
    live, ledger, desk, header = _labelled_live(tmp_path, work)
    ids = [work.pool.item(row).item_id for row in range(N_ITEMS)]
    replayed = [ids[revealed.row] for revealed in islice(labels(work, truth_of(work)), 150)]
    assert live == replayed
    assert replay(work, ledger, desk).is_equal
    assert len(export(work, ledger, {})["records"]) == 150
    report = gather(work, header, ledger)
    rows = report.models["groups"]
    assert [row["group"] for row in rows] == [*CLASSES, *CLASSES]
    assert sum(row["labelled"] for row in rows[:N_CLASSES]) == 150


def test_a_queue_ahead_of_the_answers_is_chosen_again_alike(tmp_path):
    write_many(tmp_path)
    work = assessed(tmp_path, IDENTIFY, 30, queue={"look_ahead": 7}, stop={"budget": 60})
    _, ledger, desk, _ = _labelled_live(tmp_path, work)
    assert any(choice["pending"] for choice in ledger.choices())
    assert replay(work, ledger, desk).is_equal


@pytest.mark.slow
def test_a_pool_of_shared_cells_is_answered_right(tmp_path):
    work = assessed(tmp_path, IDENTIFY, stop={"mrr": {"confidence": 0.99}})
    outcome = truth_of(work)
    runs = [simulated(work, outcome, Measures(N_ITEMS, (), True), 1, n) for n in range(3)]
    assert all(run.stop.is_right for run in runs)
    assert np.median([run.stop.labels for run in runs]) < N_ITEMS


@pytest.mark.slow
def test_items_of_a_shared_cell_are_a_uniform_sample_of_it(tmp_path):
    """However the strategy comes to a cell, its first items are of any group by its share."""
    work = assessed(tmp_path, IDENTIFY)
    portion, cells = work.several.offered.portions(), work.pool.models.layout.cells
    largest = int(work.pool.cell_size.argmax())
    group = work.pool.models.own[:, 1]
    found = []
    for number in range(60):
        rng = np.random.default_rng(number)
        order, outcome = shuffled(work, rng), _uneven(work, rng)
        shown = islice(labels(_seeded(work, number), outcome, order), 40)
        drawn = [portion[one.row] for one in shown]
        found += [group[p] for p in drawn if cells[p] == largest][:4]
    of_cell = cells == largest
    size = np.bincount(group[of_cell], work.pool.models.layout.size[of_cell], N_CLASSES)
    filled = size > 0
    counts = np.bincount(found, minlength=N_CLASSES)
    assert counts[~filled].sum() == 0
    expected = size[filled] * counts.sum() / size.sum()
    assert stats.chisquare(counts[filled], expected).pvalue > 0.001


@pytest.mark.slow
def test_intervals_of_shared_cells_hold_and_would_not_if_portions_were_drawn(tmp_path):
    """Where the old model is right depends on what the new one says: the worst case for sharing.

    Were the new model's worst groups drawn first, as if it had asked for them, the labels would be
    no sample of the old model's groups.
    """
    work = assessed(tmp_path, IDENTIFY, 40)
    own = work.pool.models.own[work.several.offered.portions(), 1]
    cell = np.repeat(np.arange(work.pool.n_cells), work.pool.cell_size)
    n_runs = 12 if os.environ.get("ASSAY_SLOW") == "0" else 24
    uniform, asked_for = [], []
    for number in range(n_runs):
        rng, seeded = np.random.default_rng([6, number]), _seeded(work, number)
        outcome = _uneven(work, rng)
        uniform.append(_held(seeded, outcome, shuffled(work, rng)))
        if number < 6:
            accuracy = mean(all_counted(work.several, outcome).parts[1])
            worst_first = np.lexsort((rng.random(cell.size), accuracy[own], cell))
            asked_for.append(_held(seeded, outcome, worst_first))
    held, held_if_asked_for = (np.mean(runs, axis=(0, 2)) for runs in (uniform, asked_for))
    n = n_runs * N_CLASSES
    assert (held >= stats.binom.ppf(0.001, n, 0.95) / n).all(), held
    assert held_if_asked_for[0] < 0.85, held_if_asked_for


def _held(work: Assessment, outcome: np.ndarray, order: np.ndarray) -> np.ndarray:
    """(2, G) whether the 95% interval of every model's group holds its accuracy, after a while."""
    *_, last = islice(labels(work, outcome, order), 250)
    truth, belief = all_counted(work.several, outcome), last.belief
    held = []
    for known, part in zip(truth.parts, belief.parts, strict=True):
        low, high = interval(part).T
        held.append((low - 1e-9 <= mean(known)) & (mean(known) <= high + 1e-9))
    return np.array(held)


def _uneven(work: Assessment, rng: np.random.Generator) -> np.ndarray:
    """(N,) outcomes: where models disagree, the new one's group says how often each is right."""
    layout = work.pool.models.layout
    old = rng.beta(1.5, 1.5, N_CLASSES)[work.pool.models.own[:, 1]]
    share = np.stack([0.9 * old, np.full(old.size, 0.1), 0.9 * (1 - old)], axis=1)
    agrees = (layout.block == 0).all(axis=1)
    right = rng.beta(4, 1.5, size=agrees.sum())
    share[agrees] = np.stack([right, 1 - right, 0 * right], axis=1)
    upto = np.cumsum(share, axis=1)[:, :-1]
    portion = work.several.offered.portions()
    return (rng.random((portion.size, 1)) > upto[portion]).sum(axis=1)


def _seeded(work: Assessment, seed: int) -> Assessment:
    return replace(work, plan=work.plan.model_copy(update={"seed": seed}))


def _labelled_live(folder: Path, work: Assessment):
    """One annotator, who knows the truth, until the queue stays empty; the items in order."""
    plan: Plan = work.plan
    header = replace(header_of(plan, work.pool), labels=CLASSES)
    ledger, desk = MemoryLedger(plan.assessment), FakeDesk(replace(SCHEMA, labels=CLASSES))
    ledger.begin(header)
    codes = read_truth(plan, work.pool, "truth")
    row_of = {work.pool.item(row).item_id: row for row in range(N_ITEMS)}
    items: list[str] = []
    while True:
        advance(work, header, ledger, desk, folder / "decisions", f"turn-{len(items)}")
        task = desk.next_task(1)
        if task is None:
            return items, ledger, desk, header
        items.append(desk.data_of(task)["item_id"])
        desk.annotate(task, CLASSES[codes[row_of[items[-1]]]], 1)

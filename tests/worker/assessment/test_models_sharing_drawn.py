"""Which items are drawn from cells that groups share, and whether intervals hold of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tests.amount import IS_SHORT
from tests.fakes import SCHEMA, FakeDesk
from tests.worker.assessment.models_pool import header_of
from tests.worker.assessment.shared_pool import (
    CLASSES,
    IDENTIFY,
    N_CLASSES,
    N_ITEMS,
    assessed,
    truth_of,
    write_many,
)
from worker.assessment import Assessment
from worker.core.posterior.summary import interval, mean
from worker.core.strategies import NothingLeft
from worker.plan import Plan
from worker.pool.truth import read_truth
from worker.report.gathering import gather
from worker.setup.replaying import export, replay
from worker.simulate.jointly import all_counted
from worker.simulate.measuring import Measures
from worker.simulate.replay import labels, shuffled
from worker.simulate.replay import replay as simulated
from worker.store import MemoryLedger
from worker.turn.loop import advance


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
    n_runs = 12 if IS_SHORT else 24
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

"""`stop.looks`: the rule must have held at earlier looks too, each with the same finding."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.worker.simulate.simulated_pool import CLASSES, write_plan
from worker.assessment import Assessment, assess
from worker.core.posterior.summary import mean
from worker.core.stopping.schedule import POINTS
from worker.core.stopping.verdict import Verdict
from worker.plan import load_plan
from worker.pool import compile_pool
from worker.store.tally import tally_key

LEFT, N_LABELS = 50, 60


def at_work(folder: Path, stop: str, prior: str = "uniform") -> Assessment:
    path = write_plan(folder, stop=stop, prior=f"{{kind: {prior}}}")
    plan = load_plan(path, for_simulation=True)
    return assess(plan, compile_pool(plan, folder / "pools"))


def tally_of(work: Assessment, wrong: str, n_labels: int = N_LABELS) -> Counter[str]:
    """One label after the other, the classes in turn; those of one class are all wrong."""
    pool, tally = work.pool, Counter[str]()
    rows = np.argsort(pool.predicted, kind="stable").reshape(len(CLASSES), -1)
    for claim in range(n_labels):
        item = pool.item(int(rows[claim % len(CLASSES), claim // len(CLASSES)]))
        name = CLASSES[item.predicted]
        label = CLASSES[item.predicted - 1] if name == wrong else name
        tally[tally_key(claim, item.cell, item.predicted, label)] += 1
    return tally


def up_to(tally: Counter[str], stage: int) -> Counter[str]:
    """The part of the claims that a stage of the schedule is fitted to."""
    return Counter({key: n for key, n in tally.items() if int(key.split(":")[0]) < stage})


def decided(work: Assessment, tally: Counter[str], left: int = LEFT) -> Verdict:
    return work.decide(work.believe(tally), left, work.earlier(tally))


def test_the_first_label_tells_of_every_group(tmp_path):
    work = at_work(tmp_path, "{mrr: {}}", "empirical")
    after = work.believe(tally_of(work, "cat", n_labels=1))
    assert (mean(after) < mean(work.first) - 0.01).all()


def test_two_looks_are_asked_for_by_default_and_one_of_bounds_that_hold_at_any_time(tmp_path):
    work = at_work(tmp_path, "{mrr: {}}")
    belief = work.believe(tally_of(work, "cow"))
    assert work.decide(belief, LEFT).reason == "open"
    assert work.decide(belief, LEFT, [belief]).reason == "answered"
    once = at_work(tmp_path / "once", "{mrr: {}, looks: 1}")
    assert once.decide(belief, LEFT).reason == "answered"
    assert at_work(tmp_path / "bounds", "{guarantee: anytime}").plan.stop.looks == 1


@pytest.mark.parametrize("prior", ["uniform", "empirical"])
def test_a_finding_stays_open_until_two_more_looks_confirm_it(tmp_path, prior):
    once = at_work(tmp_path / "once", "{mrr: {confidence: 0.9}, looks: 1}", prior)
    work = at_work(tmp_path, "{mrr: {confidence: 0.9}, looks: 3}", prior)
    tally = tally_of(work, "cow")
    stages = [k for k, point in enumerate(POINTS, start=1) if point <= N_LABELS]
    alone = [decided(once, up_to(tally, k)).reason for k in stages]
    confirmed = [decided(work, up_to(tally, k)).reason for k in stages]

    first = alone.index("answered")
    assert alone[first:] == ["answered"] * len(alone[first:])
    assert confirmed == ["open"] * (first + 2) + ["answered"] * (len(stages) - first - 2)


def test_another_finding_at_the_look_before_does_not_confirm(tmp_path):
    work = at_work(tmp_path, "{mrr: {}, looks: 2}")
    cows, dogs = (work.believe(tally_of(work, name)) for name in ("cow", "dog"))

    assert work.decide(cows, LEFT, [cows]).reason == "answered"
    assert work.decide(cows, LEFT, [dogs]).reason == "open"
    assert work.decide(cows, LEFT, []).reason == "open"


def test_a_spent_budget_and_an_empty_pool_still_end_it(tmp_path):
    work = at_work(tmp_path, f"{{mrr: {{}}, looks: 50, budget: {N_LABELS}}}")
    tally = tally_of(work, "cow")
    assert decided(work, tally).reason == "budget"
    assert decided(work, tally, left=0).reason == "exhausted"


def test_what_is_certain_needs_no_confirmation(tmp_path):
    """There may be no item left whose label could confirm it."""
    plan = write_plan(
        tmp_path, question="{task: compare, compare: [cat, dog]}", stop="{rope: {}, looks: 50}"
    )
    read = load_plan(plan, for_simulation=True)
    work = assess(read, compile_pool(read, tmp_path / "pools"))
    of_pair = tally_of(work, "cow", 150)
    of_pair = Counter({key: n for key, n in of_pair.items() if key.split(":")[2] != "2"})

    verdict = decided(work, of_pair)
    assert verdict.certain
    assert verdict.reason == "answered"


def test_the_looks_are_a_matter_of_the_tally_alone(tmp_path):
    work = at_work(tmp_path, "{mrr: {}, looks: 3}", "empirical")
    tally = tally_of(work, "cow")
    turned = Counter(dict(reversed(tally.items())))

    for one, other in zip(work.earlier(tally), work.earlier(turned), strict=True):
        assert (one.right == other.right).all()
        assert (one.alpha == other.alpha).all()


def test_a_look_back_sees_the_first_claims_only(tmp_path):
    work = at_work(tmp_path, "{mrr: {}, looks: 3}")
    seen = [int((b.right + b.wrong).sum()) for b in work.earlier(tally_of(work, "cow"))]
    assert seen == [point for point in POINTS if point < N_LABELS - 3][::-1]

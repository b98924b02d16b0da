"""Two models compared: what strata and groups share, least numbers of labels, made-up truths."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from tests.amount import IS_SHORT
from tests.worker.assessment.models_pool import plan_of, values_of, write_models
from worker.assessment import assess
from worker.assessment.outcomes import Counts
from worker.core.posterior.intervals import interval
from worker.core.posterior.summary import mean
from worker.core.questions.comparison import regions
from worker.findings.evidence import overall
from worker.pool import compile_pool
from worker.pool.truth import read_truth
from worker.simulate.jointly import all_counted, plausible_outcomes
from worker.simulate.measuring import Measures
from worker.simulate.replay import labels, replay, shuffled
from worker.simulate.truths import estimates, outcomes

COMPARE = {"task": "compare"}


def _work(folder, accuracies, where="overall", n=400, seed=1, **parts):
    write_models(folder, accuracies, n=n, seed=seed)
    values = values_of([*accuracies], COMPARE | {"where": where}, **parts)
    values["pool"]["groups"] = "region"
    plan = plan_of(folder, json.loads(json.dumps(values)))
    pool = compile_pool(plan, folder / "pools")
    return assess(plan, pool), outcomes(assess(plan, pool), read_truth(plan, pool, "truth"))


@pytest.mark.parametrize("strata", [1, 8, 30])
@pytest.mark.parametrize("where", ["overall", "both"])
def test_before_any_label_two_models_are_as_likely_equivalent_however_the_pool_is_cut(
    tmp_path, strata, where
):
    work, _ = _work(tmp_path, {"old": 0.7, "new": 0.8}, where, pool={"strata": strata})
    disagreed = work.n_helpful(work.pool.cell_size) / work.pool.n_items
    pair = work.question.pairs[:1]
    below, within, above = regions(work.first, pair, disagreed / 2)[0]
    assert within == pytest.approx(0.5, abs=0.02)
    assert below == pytest.approx(above)


def test_labels_of_one_group_move_the_others(tmp_path):
    work, _ = _work(tmp_path, {"old": 0.7, "new": 0.8}, "groups")
    several, layout = work.several, work.several.models.layout
    counts = np.zeros((layout.size.size, layout.n_outcomes), np.int64)
    view = several.views[0]
    for row in np.flatnonzero((view.group == 0) & (view.cell >= 0)):
        at = int(view.cell[row])
        counts[at, layout.right(1)[at]] = min(3, layout.size[at])
    belief = several.believe_counts(Counts(counts, counts, 1))
    assert mean(belief)[0] < -0.05
    assert mean(belief)[1] < -0.05
    assert mean(belief)[0] < mean(belief)[1]
    assert np.diff(interval(belief)[:2]).ravel().argmax() == 1  # known by another group only


def test_no_finding_before_every_group_has_its_least_number_of_labels(tmp_path):
    work, outcome = _work(
        tmp_path, {"old": 0.5, "new": 0.9}, "groups", n=300,
        stop={"min_per_group": 20, "rope": {"epsilon": 0.05}},
    )  # fmt: skip
    order = shuffled(work, np.random.default_rng(1))
    found = replay(work, outcome, Measures(work.pool.n_items, (), True), 1, 0)
    assert found.stop is not None
    assert found.stop.is_right
    assert found.stop.labels >= 40
    is_enough = []
    for n, revealed in enumerate(labels(work, outcome, order), start=1):
        belief = revealed.belief
        own = work.several.views[0].cell >= 0
        done = np.bincount(belief.group[own], (belief.right + belief.wrong)[own], 2)
        is_enough.append(work.ask(belief, 10, work.rule).reason == "answered")
        assert not is_enough[-1] or done.min() >= 20
        if n > 120 or is_enough[-1]:
            break
    assert is_enough[-1]


def test_what_is_said_overall_of_several_models_is_the_first_difference(tmp_path):
    work, outcome = _work(tmp_path, {"old": 0.5, "new": 0.7, "third": 0.9}, "both")
    belief = all_counted(work.several, outcome)
    told = overall(work, belief)
    assert told == pytest.approx((estimates(belief)[0],) * 3)
    assert work.several.asked[0].group == "all items"


def test_made_up_truths_have_what_all_strata_share(tmp_path):
    """Cells that were drawn each for itself would nearly all come to no difference."""
    work, _ = _work(tmp_path, {"old": 0.75, "new": 0.75}, n=1000)
    disagreed = work.n_helpful(work.pool.cell_size) / work.pool.n_items
    found = [
        estimates(
            all_counted(work.several, plausible_outcomes(work.several, np.random.default_rng(n)))
        )[0]
        for n in range(60)
    ]
    apart = np.abs(found) / disagreed
    assert 0.1 < np.mean(apart > 0.5) < 0.6
    assert abs(np.mean(np.array(found) > 0) - 0.5) < 0.25


@pytest.mark.slow
@pytest.mark.parametrize("strata", [1, 8])
@pytest.mark.parametrize(
    ("where", "chances"), [("overall", (0.75, 0.05)), ("groups", (0.8, 0.05)), ("both", (0.5, 0.2))]
)
def test_a_rate_that_is_the_same_in_all_strata_and_groups_is_claimed_rightly(
    tmp_path, strata, where, chances
):
    """A tenth of the items apart and a rope of .05, where such claims once were right in 5%."""
    work, _ = _work(
        tmp_path, {"old": 0.93, "new": 0.95}, where, n=3000,
        stop={"rope": {"epsilon": 0.05}}, pool={"strata": strata},
    )  # fmt: skip
    layout = work.several.models.layout
    cell = np.repeat(np.arange(layout.size.size), layout.size)
    differs = (layout.block[:, 0] != layout.block[:, 1])[cell]
    n_runs, rights = 12 if IS_SHORT else 60, []
    for number in range(n_runs):
        u = np.random.default_rng(number).random(cell.size)
        first, second = (layout.right(m)[cell] for m in (0, 1))
        of = np.where(u < chances[0], first, np.where(u < sum(chances), second, 1))
        outcome = np.where(differs, of, first)
        found = replay(work, outcome, Measures(work.pool.n_items, (), True), 1, number)
        if found.stop is not None and found.stop.is_conclusive:
            rights.append(found.stop.is_right)
    assert len(rights) >= n_runs / 2
    assert sum(rights) >= stats.binom.ppf(0.001, len(rights), 0.95)

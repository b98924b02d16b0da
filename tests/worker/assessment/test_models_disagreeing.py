"""What is believed of several models' own groups where the models disagree."""

from __future__ import annotations

import numpy as np
import pytest

from tests.worker.assessment.models_pool import CLASSES, plan_of, values_of, write_model
from worker.assessment import assess
from worker.assessment.outcomes import Counts
from worker.core.posterior.intervals import interval
from worker.core.posterior.joint import joint_loadings
from worker.core.posterior.moments import moments
from worker.core.posterior.summary import mean, variance
from worker.pool import compile_pool
from worker.pool.truth import read_truth
from worker.simulate.jointly import all_counted
from worker.simulate.truths import outcomes

N, N_LABELS = 600, 60


def _disagreeing(folder, groups):
    """Two models whose scores tell nothing; where they disagree the second is always right.

    Returns the assessment, the outcomes of all items, and a tally of some drawn at random.
    """
    rng = np.random.default_rng(3)
    old = rng.integers(3, size=N)
    new = np.where(rng.random(N) < 0.2, (old + 1) % 3, old)
    none_right = (old == new) & (rng.random(N) < 0.1)
    truth = [CLASSES[k] for k in np.where(none_right, (old + 1) % 3, new)]
    for name, said in (("old", old), ("new", new)):
        names = [CLASSES[k] for k in said]
        score = np.clip(rng.beta(8.0, 1.5, N), 0.3, 0.999)
        write_model(folder / f"{name}.csv", names, score, truth, np.arange(N) % 2)
    values = values_of(["old", "new"], {"task": "identify"})
    values["pool"]["groups"] = groups
    plan = plan_of(folder, values)
    pool = compile_pool(plan, folder / "pools")
    work = assess(plan, pool)
    outcome = outcomes(work, read_truth(plan, pool, "truth"))
    layout = work.several.models.layout
    cell = np.repeat(np.arange(pool.n_cells), pool.cell_size)
    at = (cell * layout.n_outcomes + outcome)[rng.permutation(N)[:N_LABELS]]
    tally = np.bincount(at, minlength=layout.size.size * layout.n_outcomes)
    return work, outcome, tally.reshape(-1, layout.n_outcomes)


@pytest.mark.parametrize("groups", ["predicted_class", "region"])
def test_who_is_right_where_models_disagree_is_learnt_though_no_score_tells(tmp_path, groups):
    work, outcome, tally = _disagreeing(tmp_path, groups)
    belief = work.several.believe_counts(Counts(tally, tally, 1))
    differs = (work.several.models.layout.block[:, 1] != 0).astype(float)
    for part, view, is_right in zip(belief.parts, work.several.views, (0, 1), strict=True):
        is_apart = view.of_cells(differs) == 1
        rate = moments(part).rate
        assert rate[is_apart] == pytest.approx(is_right, abs=0.25)
        right, wrong = view.counts(tally)[~is_apart].sum(axis=0)
        believed = np.average(rate[~is_apart], weights=part.size[~is_apart])
        assert believed == pytest.approx(right / (right + wrong), abs=0.05)
    low, high = interval(belief).T
    known = mean(all_counted(work.several, outcome))
    assert ((low <= known) & (known <= high)).all()


def test_of_all_models_the_same_is_said_as_of_each(tmp_path):
    work, _, tally = _disagreeing(tmp_path, "predicted_class")
    belief = work.several.believe_counts(Counts(tally, tally, 1))
    for numbers in (mean, variance, interval):
        each = np.concatenate([numbers(part) for part in belief.parts])
        assert numbers(belief).tolist() == each.tolist()
    load = joint_loadings(belief)
    each = [joint_loadings(part) for part in belief.parts]
    together = load @ load.T
    assert together[:3, :3] == pytest.approx(each[0] @ each[0].T)
    assert together[3:, 3:] == pytest.approx(each[1] @ each[1].T)
    assert (together[:3, 3:] == 0).all()

"""A plain run that is measured once it is over is the run that was measured label by label."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.worker.simulate.simulated_pool import N_ITEMS, write_plan
from worker.assessment import Assessment, assess
from worker.core.posterior.belief import Belief
from worker.core.questions.question import Question
from worker.core.questions.ranking import ranking, set_confidence
from worker.plan import load_plan
from worker.pool import compile_pool
from worker.pool.truth import read_truth
from worker.simulate import afterwards
from worker.simulate.measuring import Measures, Run
from worker.simulate.replay import replay
from worker.simulate.truths import outcomes


def at_work(folder: Path, **parts: str) -> tuple[Assessment, np.ndarray]:
    read = load_plan(write_plan(folder, strata=1, **parts), for_simulation=True)  # type: ignore[arg-type]
    assessment = assess(read, compile_pool(read, folder / "pools"))
    return assessment, outcomes(assessment, read_truth(read, assessment.pool, "truth"))


def both_ways(
    monkeypatch: pytest.MonkeyPatch, assessment: Assessment, outcome: np.ndarray, measures: Measures
) -> tuple[list[Run], list[Run]]:
    """Some runs measured once they are over, and label by label; without their times."""
    assert afterwards.is_measured_afterwards(assessment, measures)
    ways = []
    for _ in range(2):
        runs = [replay(assessment, outcome, measures, seed=3, number=n) for n in range(3)]
        ways.append([replace(run, cpu_s=0.0) for run in runs])
        monkeypatch.setattr("worker.simulate.replay.is_measured_afterwards", lambda *_: False)
    return ways[0], ways[1]


@pytest.mark.parametrize("groups", ["predicted_class", "equal_mass_bin(10)"])
@pytest.mark.parametrize("prior", ["{kind: uniform}", "{kind: informative, strength: 1}"])
@pytest.mark.parametrize(
    ("question", "stop"),
    [
        ("", "{mrr: {}}"),
        ("top: 2", "{mrr: {confidence: 0.6}}"),
        ("top: 2, which: highest", "{mrr: {confidence: 0.6}, looks: 1}"),
        ("top: 2, tolerance: 0.1", "{mrr: {confidence: 0.7}, looks: 2}"),
        ("which: highest, tolerance: 0.1", "{mrr: {}, budget: 77}"),
        ("top: 2", "{mrr: {threshold: 0.7, confidence: 0.99}, budget: 12}"),
        ("", "{mrr: {confidence: 0.7}, min_per_group: 9}"),
        ("", "{mrr: {}, guarantee: anytime}"),
    ],
)
def test_a_run_measured_afterwards_is_the_same_run(
    tmp_path, monkeypatch, groups, prior, question, stop
):
    asked = f"{{task: identify{', ' if question else ''}{question}}}"
    at = at_work(tmp_path, groups=groups, prior=prior, question=asked, stop=stop)
    after, in_turn = both_ways(monkeypatch, *at, Measures(N_ITEMS, (7, 50, N_ITEMS)))

    assert after == in_turn
    assert all(run.stop is not None for run in after)


@pytest.mark.parametrize("until", [1, 10, 83])
def test_so_is_one_that_ends_early(tmp_path, monkeypatch, until):
    at = at_work(tmp_path, groups="equal_mass_bin(10)", stop="{mrr: {}, budget: 90}")
    after, in_turn = both_ways(monkeypatch, *at, Measures(until))
    assert after == in_turn


def test_so_is_one_whose_tallies_are_counted_a_few_points_at_a_time(tmp_path, monkeypatch):
    at = at_work(tmp_path, groups="equal_mass_bin(10)", question="{task: identify, top: 3}")
    monkeypatch.setattr(afterwards, "_BLOCK", 100)
    after, in_turn = both_ways(monkeypatch, *at, Measures(N_ITEMS, (20,)))
    assert after == in_turn


@given(
    sizes=st.lists(st.integers(1, 30), min_size=2, max_size=9),
    top=st.integers(1, 8),
    which=st.sampled_from(["lowest", "highest"]),
    tolerance=st.sampled_from([0.0, 0.05, 0.2]),
    seed=st.integers(0, 10**6),
)
def test_a_set_is_never_surer_than_its_pairs_say(sizes, top, which, tolerance, seed):
    top = min(top, len(sizes) - 1)
    rng = np.random.default_rng(seed)
    size = np.array(sizes)
    right = rng.integers(size + 1)
    wrong = rng.integers(size - right + 1)
    a, c = rng.uniform(0.3, 3, (2, size.size))
    none = np.zeros_like(size)
    first = Belief(np.arange(size.size), size, none, none, a, c, size.size)
    belief = replace(first, right=right, wrong=wrong, _memo={})
    order = ranking(belief, which)
    asked = Question("identify", which=which, top=top, tolerance=tolerance)

    counts = np.stack([right, wrong], axis=1)[None]
    bound = afterwards.confidence_at_most(first, counts, order[None], asked, enough=0.0)[0]

    assert bound >= set_confidence(belief, order[:top].tolist(), which, tolerance) - 1e-9
    if size.size == 2:
        assert bound == pytest.approx(set_confidence(belief, [order[0]], which, tolerance))

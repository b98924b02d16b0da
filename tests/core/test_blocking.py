"""Which items are labelled under `guarantee: anytime`, and how soon that leads to a finding."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from tests.amount import IS_SHORT
from tests.core.guaranteed import QUESTIONS, belief, ends_of, nothing, sequence
from worker.core.confidence_sequences.forecast import forecast
from worker.core.confidence_sequences.guarantee import (
    ConfidenceSequence,
    alpha_split,
    ends,
    is_identified,
)
from worker.core.posterior.belief import Belief, unlabelled
from worker.core.posterior.hypothetical import labelled
from worker.core.posterior.metrics import Metric
from worker.core.questions.question import Question
from worker.core.questions.ranking import ranking
from worker.core.questions.reciprocal_rank import mrr
from worker.core.strategies import NothingLeft
from worker.core.strategies.blocking import blocking

DATA = Path(
    os.environ.get("ASSAY_PAPER_DATA", Path(__file__).parents[2].parent / "shared" / "data")
)
every_question = pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)


def choose(b, question, left=None, pending=None, lost=None, seed=0, on=None):
    pending, lost = (nothing(b) if n is None else np.array(n) for n in (pending, lost))
    left = unlabelled(b) - pending - lost if left is None else np.array(left)
    rng = np.random.default_rng(seed)
    return blocking(b, question, left, pending, rng, sequence=on or sequence(b))


@st.composite
def situations(draw_one):
    """A belief of four groups (the last one may be empty), left, pending and lost items."""
    group = [0, 0, 1, 2, 2, 2, 3]
    columns = []
    for c in range(len(group)):
        size = draw_one(st.integers(0 if c == 6 else 1, 8))
        right = draw_one(st.integers(0, size))
        wrong = draw_one(st.integers(0, size - right))
        pending = draw_one(st.integers(0, size - right - wrong))
        lost = draw_one(st.integers(0, size - right - wrong - pending))
        left = size - right - wrong - pending - lost
        columns.append((size, right, wrong, pending, lost, left))
    size, right, wrong, *queue = (np.array(c) for c in zip(*columns, strict=True))
    return belief(size, right, wrong, group), *queue


@every_question
@given(situation=situations(), seed=st.integers(0, 2**32))
def test_only_open_cells_are_chosen_and_the_same_state_gives_the_same_choice(
    question, situation, seed
):
    b, pending, lost, left = situation
    asked = [0, 2] if question.pairs else range(4)
    if not left[np.isin(b.group, asked)].any():
        with pytest.raises(NothingLeft):
            choose(b, question, left, pending, lost, seed)
        return
    chosen = choose(b, question, left, pending, lost, seed)
    assert left[chosen.cell] > 0
    assert chosen.group == b.group[chosen.cell]
    assert chosen.group in asked
    assert chosen == choose(b, question, left, pending, lost, seed)


@pytest.mark.parametrize("asked", ["estimate", "all pairs"])
def test_a_choice_does_not_tell_for_how_long_the_process_has_been_running(asked):
    rng = np.random.default_rng(0)
    size, rate = rng.integers(20, 120, 24), rng.random(24)
    b = belief(size, 0 * size, 0 * size, np.repeat(np.arange(8), 3))
    since_the_start, lost = sequence(b), np.arange(24) % 3
    for claim in range(200):
        pending = (np.arange(24) == claim % 24).astype(int)
        left = np.maximum(unlabelled(b) - pending - lost, 0)
        old, new = (
            choose(b, QUESTIONS[asked], left, pending, lost, claim, on)
            for on in (since_the_start, sequence(b))
        )
        assert old == new, f"claim {claim}"
        b = labelled(b, old.cell, int(rng.random() >= rate[old.cell]))


def test_groups_that_are_shown_to_be_out_are_not_labelled_any_more():
    b = belief([100] * 4, [20, 90, 8, 25], [70, 0, 8, 45])
    chosen = {choose(b, QUESTIONS["lowest"], seed=seed).group for seed in range(60)}
    assert chosen == {0, 2, 3}


def test_bins_of_a_pool_without_items_are_no_concern():
    score = np.array([0.2, 0.5, 0.9])
    b = belief([0, 40, 60], [0, 5, 9], [0, 5, 1])
    b = replace(b, metric=Metric("ece", score=score, unit=np.zeros(3, int), pooled=True))
    assert {choose(b, QUESTIONS["estimate"], seed=seed).group for seed in range(20)} <= {1, 2}


def test_a_pair_that_is_decided_is_not_labelled_any_more():
    b = belief([100] * 3, [10, 80, 60], [80, 10, 10])
    pairs = Question("compare", pairs=((0, 1), (1, 2)))
    assert {choose(b, pairs, seed=seed).group for seed in range(60)} == {1, 2}


def test_of_a_group_the_cell_that_moves_the_end_most_is_labelled_but_never_for_certain():
    def seen(right, wrong):
        return belief([90, 90, 60], [*right, 10], [*wrong, 50], group=[0, 0, 1])

    now, first, second = seen([3, 20], [0, 20]), seen([12, 20], [1, 20]), seen([3, 25], [0, 25])
    moves = [ends_of(later).low[0] - ends_of(now).low[0] for later in (first, second)]
    assert moves[0] > 2 * moves[1]
    cells = [choose(now, QUESTIONS["lowest"], seed=seed).cell for seed in range(400)]
    ours = np.array(cells)[np.array(cells) < 2]
    assert 0.9 < np.mean(ours == 0) < 0.995


def run(b, sequence, truth, question, seed, look=1, slow=None):
    """Label by `blocking` until the finding may be claimed; the belief then.

    slow: chance that an item's outcome is still unknown at a look, for wrong and for right ones.
    """
    rng = np.random.default_rng(seed)
    order = [rng.permutation(np.arange(n) >= r) for n, r in zip(b.size, truth, strict=True)]
    claimed, pending = nothing(b), []
    low, high = alpha_split(b, question, sequence.miss)
    while True:
        open_items = np.bincount([c for c, _ in pending], minlength=b.group.size)
        chosen = ranking(b, question.which)[: question.top].tolist()
        n_labels = int((b.right + b.wrong).sum())
        if n_labels % look == 0 or n_labels + len(pending) == b.size.sum():
            found = ends(b, open_items, sequence, low, high)
            if is_identified(b, found, chosen, question):
                return b, chosen
        left = b.size - claimed
        if left.any():
            cell = blocking(b, question, left, open_items, rng, sequence=sequence).cell
            pending.append((cell, int(order[cell][claimed[cell]])))
            claimed[cell] += 1
        still = []
        for cell, outcome in pending:
            if slow is not None and left.any() and rng.random() < slow[1 - outcome]:
                still.append((cell, outcome))
            else:
                b = labelled(b, cell, outcome)
        pending = still


@pytest.mark.slow
@pytest.mark.parametrize("slow", [None, (0.9, 0.1)], ids=["at once", "slow when wrong"])
def test_findings_of_nearly_tied_groups_are_wrong_no_more_often_than_the_plan_allows(slow):
    miss, n_runs = 0.2, 40 if IS_SHORT else 200
    sizes, truth = np.array([12, 12, 12, 12, 12, 12]), np.array([11, 5, 11, 6, 11, 7])
    group, question = np.array([0, 0, 1, 1, 2, 2]), Question("identify")
    accuracy = np.bincount(group, truth) / 24
    b = belief(sizes, [0] * 6, [0] * 6, group)
    n_wrong = 0
    for seed in range(n_runs):
        on = ConfidenceSequence(forecast(np.array([3.0, 0, 3, 0, 3, 0])), miss)
        _, chosen = run(b, on, truth, question, seed, slow=slow)
        n_wrong += accuracy[chosen[0]] > accuracy.min()
    assert n_wrong <= stats.binom.ppf(0.999, n_runs, miss)


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the folder of real predictions is not here")
def test_the_worst_class_of_a_real_pool_is_certain_before_half_of_it_is_labelled():
    with np.load(DATA / "20newsgroups" / "cleanlab.npz") as file:
        predicted, score = file["pred"].astype(int), file["score"].astype(float)
        is_right = predicted == file["label"]
    stratum = np.argsort(np.argsort(score, kind="stable"), kind="stable") * 4 // score.size
    keys, cell = np.unique(predicted * 4 + stratum, return_inverse=True)
    size, truth = np.bincount(cell), np.bincount(cell, is_right).astype(int)
    logit = np.bincount(cell, special.logit(np.clip(score, 0.001, 0.999))) / size
    on = ConfidenceSequence(forecast(logit), 0.05)
    weight = np.exp(on.forecast.log_weight)
    b = Belief(
        keys // 4, size, nothing_of(size), nothing_of(size), on.forecast.alpha, on.forecast.beta,
        20, mixture=weight / weight.sum(),
    )  # fmt: skip
    accuracy = np.bincount(b.group, truth) / np.bincount(b.group, size)
    for seed in range(1 if IS_SHORT else 5):
        b_then, chosen = run(b, on, truth, QUESTIONS["lowest"], seed, look=20)
        assert mrr(np.array(ranking(b_then)), accuracy[None], 1)[0] == 1
        assert chosen == [int(accuracy.argmin())]
        assert (b_then.right + b_then.wrong).sum() < 0.5 * size.sum()


def nothing_of(size):
    return np.zeros(size.size, int)

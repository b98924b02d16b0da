"""What is believed and guaranteed where items were annotated before the assessment began."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.amount import IS_SHORT
from tests.worker.pool.known_pool import CLASSES, assessment_of, labels_of_the_rest, truth_of
from worker.assessment import Assessment
from worker.core.confidence_sequences.guarantee import ends
from worker.core.posterior.belief import group_right, group_size, unlabelled
from worker.core.posterior.intervals import interval
from worker.core.posterior.summary import mean


def test_a_random_sample_counts_as_the_same_labels_of_an_assessment_do(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    said, score, true = truth_of(rng, 120)
    known = [t if rng.random() < 0.3 else None for t in true]
    begun = assessment_of(tmp_path / "a", said, score, known, "random")
    fresh = assessment_of(tmp_path / "b", said, score, [None] * 120, "random")
    assert begun.pool.known is not None
    assert begun.pool.n_known >= 8

    before, labelled = begun.believe({}), fresh.believe(begun.pool.known.tally)

    for name in ("size", "right", "wrong", "alpha", "beta", "mixture"):
        assert np.array_equal(getattr(before, name), getattr(labelled, name)), name
    assert np.array_equal(
        begun.pool.cell_open, fresh.pool.cell_size - labelled.right - labelled.wrong
    )
    assert begun.spent(before) == 0
    assert fresh.spent(labelled) == begun.pool.n_known


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_what_is_known_tells_nothing_of_the_others(seed: int, is_wrong: bool) -> None:
    """Whatever the known outcomes are, the belief about all other items is the same."""
    rng = np.random.default_rng(seed)
    said, score, true = truth_of(rng, 120)
    is_known = rng.random(120) < 0.3
    other = [CLASSES[(CLASSES.index(s) + 1) % 3] if is_wrong else s for s in said]
    with TemporaryDirectory() as folder:
        first, second = (
            assessment_of(
                Path(folder) / name, said, score,
                [label if k else None for label, k in zip(labels, is_known, strict=True)],
            )
            for name, labels in (("a", true), ("b", other))
        )  # fmt: skip
        tally = labels_of_the_rest(first, true, 0.4)

        one, two = first.believe(tally), second.believe(tally)

    unknown = first.pool.cell_open > 0
    assert np.array_equal(one.alpha, two.alpha)
    assert np.array_equal(one.mixture, two.mixture)
    assert np.array_equal(one.right[unknown], two.right[unknown])
    counts = group_size(one) * (mean(one) - mean(two))
    assert counts == pytest.approx(group_right(one) - group_right(two))
    spread = interval(one) - interval(two)
    assert spread[:, 1] == pytest.approx(spread[:, 0])


@pytest.mark.slow
def test_annotations_of_errors_only_do_not_bias_what_is_believed(tmp_path: Path) -> None:
    """Half of the wrong items were annotated, and no right one: truth lies within the intervals."""
    n_runs = 15 if IS_SHORT else 40
    inside, off, naive = [], [], []
    for seed in range(n_runs):
        rng = np.random.default_rng(100 + seed)
        said, score, true = truth_of(rng, 300)
        known = [
            t if t != s and rng.random() < 0.5 else None for s, t in zip(said, true, strict=True)
        ]
        truth = np.array(
            [
                np.mean([t == s for s, t in zip(said, true, strict=True) if s == name])
                for name in CLASSES
            ]
        )
        for use, into in (("known", off), ("random", naive)):
            work = assessment_of(tmp_path / f"{seed}-{use}", said, score, known, use)
            tally = {} if use == "random" else labels_of_the_rest(work, true, 0.25)
            belief = work.believe(tally)
            into.append(mean(belief) - truth)
            if use == "known":
                low, high = interval(belief).T
                inside += ((low <= truth + 1e-9) & (truth <= high + 1e-9)).tolist()

    assert np.mean(inside) >= 0.88  # of 95% intervals; three binomial sigma below it
    assert abs(np.mean(off)) < 0.02
    assert np.mean(naive) < -0.1  # as labels of a sample they would be misleading


def test_the_guarantee_gains_and_loses_nothing_by_what_was_known(tmp_path: Path) -> None:
    """The band is that of the other items, with the known ones added as they are."""
    rng = np.random.default_rng(6)
    said, score, true = truth_of(rng, 240)
    known = [t if rng.random() < 0.3 else None for t in true]
    rest = [i for i, label in enumerate(known) if label is None]
    anytime = {"mrr": {"confidence": 0.9}, "guarantee": "anytime"}
    one = {"strata": 1}
    whole = assessment_of(tmp_path / "w", said, score, known, stop=anytime, pool=one)
    alone = assessment_of(
        tmp_path / "r", [said[i] for i in rest], [score[i] for i in rest], [None] * len(rest),
        stop=anytime, pool=one,
    )  # fmt: skip
    n_labels = {g: 12 for g in range(3)}
    right = {0: 11, 1: 9, 2: 4}

    def bands(work: Assessment) -> tuple[Any, Any]:
        tally = {}
        for cell in np.flatnonzero(work.pool.cell_open):
            g = int(work.pool.cell_group[cell])
            tally[f"0:{cell}:{g}:{CLASSES[g]}"] = right[g]
            tally[f"0:{cell}:{g}:{CLASSES[(g + 1) % 3]}"] = n_labels[g] - right[g]
        belief = work.believe(tally)
        assert work.confidence_sequence is not None
        nothing = np.zeros(work.pool.n_cells, dtype=np.int64)
        return belief, ends(belief, nothing, work.confidence_sequence, 0.02, 0.02)

    (b, band), (_, expected) = bands(whole), bands(alone)

    known_right = [
        sum(label == s for label, s in zip(known, said, strict=True) if s == name)
        for name in CLASSES
    ]
    sizes = np.array([sum(said[i] == name for i in rest) for name in CLASSES])
    assert band.low * group_size(b) == pytest.approx(expected.low * sizes + known_right)
    assert band.high * group_size(b) == pytest.approx(expected.high * sizes + known_right)
    assert (unlabelled(b)[whole.pool.cell_open == 0] == 0).all()

"""How groups of outputs of the same prompts err together, against samples drawn again and again."""

import numpy as np
import pytest
from scipy import special

from worker.core.posterior.belief import Belief
from worker.core.posterior.moments import moments
from worker.core.posterior.paired import PairedOutputs
from worker.core.posterior.summary import correlations

N, LABELLED, FEW, TIMES = 300, 150, 20, 200
ONES = np.ones(2)


def _outcomes(rng: np.random.Generator, spread: float) -> np.ndarray:
    """(2, N) 1 where a model's output is wrong; what is hard for one is hard for the other."""
    hard = rng.normal(0, spread, N)
    return (rng.random((2, N)) > special.expit(0.5 + hard)).astype(np.int8)


def _believed(outcome: np.ndarray, is_known: np.ndarray) -> Belief:
    """Of two groups of one cell each."""
    wrong, n = (outcome * is_known).sum(axis=1), is_known.sum(axis=1)
    b = Belief(np.arange(2), np.full(2, N), n - wrong, wrong, ONES, ONES, 2)
    outputs = PairedOutputs(np.tile(np.arange(N), 2), np.repeat(np.arange(2), N), N)
    return outputs.joined(b, np.where(is_known, outcome, -1).ravel().astype(np.int8))


def _labelled(rng: np.random.Generator, design: str) -> np.ndarray:
    is_known = np.zeros((2, N), dtype=bool)
    first = rng.permutation(N)
    second = {
        "the same": first,
        "half the same": np.roll(first, LABELLED // 2),
        "a few the same": np.roll(first, LABELLED - FEW),
        "any": rng.permutation(N),
    }[design]
    is_known[0, first[:LABELLED]] = is_known[1, second[:LABELLED]] = True
    return is_known


@pytest.mark.parametrize("spread", [0.0, 2.5])
@pytest.mark.parametrize("design", ["the same", "half the same", "a few the same", "any"])
def test_the_difference_errs_as_far_as_is_said_whichever_outputs_are_labelled(design, spread):
    rng = np.random.default_rng(4)
    off, said = [], []
    for _ in range(TIMES):
        outcome = _outcomes(rng, spread)
        b = _believed(outcome, _labelled(rng, design))
        known, rho = moments(b), correlations(b, [(0, 1)])
        joined = 0.0 if rho is None else float(rho[0])
        said.append(known.variance.sum() - 2 * joined * np.sqrt(known.variance.prod()))
        true = 1 - outcome.mean(axis=1)
        off.append(np.diff(known.mean - true)[0])
    assert np.mean(np.square(off)) / np.mean(said) == pytest.approx(1, abs=0.25)


def test_pairs_narrow_the_difference_and_many_outputs_without_their_partners_widen_it():
    rng = np.random.default_rng(4)
    outcome = _outcomes(rng, 2.5)
    same, few = (
        correlations(_believed(outcome, _labelled(rng, design)), [(0, 1)])[0]
        for design in ("the same", "a few the same")
    )
    assert same > 0.3
    assert few < -0.1


def test_without_a_label_nothing_is_joined():
    b = _believed(_outcomes(np.random.default_rng(4), 2.5), np.zeros((2, N), dtype=bool))
    assert correlations(b, [(0, 1)]) is None

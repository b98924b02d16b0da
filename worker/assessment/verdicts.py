"""What is known now: state, belief and verdict that belong together."""

from __future__ import annotations

from worker.assessment.assessment import Assessment
from worker.assessment.queueing import pending_cells, unclaimed_cells
from worker.core.posterior.belief import Belief
from worker.core.stopping.verdict import Verdict
from worker.store import Ledger, State


def assess_now(
    assessment: Assessment, ledger: Ledger, *, bound_suffices: bool = False
) -> tuple[State, Belief, Verdict]:
    """Say what is known now: state, belief and verdict that belong together."""
    state = ledger.state()
    return state, *seen_in(assessment, state, bound_suffices=bound_suffices)


def seen_in(
    assessment: Assessment, state: State, *, bound_suffices: bool = False
) -> tuple[Belief, Verdict]:
    """Say what a state tells: the belief, and what the stop rule finds in it."""
    belief = assessment.believe(state.tally)
    unclaimed = unclaimed_cells(assessment, state)
    open_items = assessment.n_helpful(unclaimed + pending_cells(assessment, state))
    earlier = assessment.earlier(state.tally)
    return belief, assessment.decide(belief, open_items, earlier, unclaimed, bound_suffices)

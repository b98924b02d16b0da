"""From a plan and its compiled pool to an assessment: anew, or as a header describes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from connector.shown import fingerprint
from worker.assessment import believing, continuing
from worker.assessment.assessment import Assessment
from worker.assessment.best_model import best_of
from worker.assessment.crowd import Crowd
from worker.assessment.kind import Kind
from worker.assessment.outcomes import Begun, Outcomes, begun_with, outcomes
from worker.assessment.pairing import pairing
from worker.assessment.several_opening import several
from worker.assessment.single import Single
from worker.assessment.soft_labels import soft_labels
from worker.core.confidence_sequences.forecast import forecast, foreseen
from worker.core.confidence_sequences.guarantee import ConfidenceSequence
from worker.core.questions.question import Question, StopRule
from worker.core.strategies import STRATEGIES
from worker.plan import Plan, stored_plan
from worker.pool import Pool, compared_pairs, fetch_pool, open_pool
from worker.pool.files import as_uploaded
from worker.pool.opinions import signs_of_errors
from worker.store import Header
from worker.store.rules import Rules
from worker.store.settings import read_settings

_BAND_CONFIDENCE = 0.95  # of bands whose width is the rule: it names no confidence itself


def assess(plan: Plan, pool: Pool) -> Assessment:
    """Join a plan with its compiled pool."""
    meaning = outcomes(plan, pool)
    begun = begun_with(pool, meaning)
    rules = replace(plan.annotation.rules, shown=_shown_by(pool))
    kind = _kind(plan, pool, meaning, begun, rules)
    return Assessment(
        plan=plan,
        pool=pool,
        question=kind.question,
        rule=StopRule(
            plan.stop.kind,
            plan.stop.target,
            plan.stop.confidence,
            plan.stop.budget,
            plan.stop.min_per_group,
        ),
        strategy=STRATEGIES[plan.strategy],
        meaning=meaning,
        rules=rules,
        confidence_sequence=_sequence_of(plan, pool, begun),
        kind=kind,
    )


def kind_of(plan: Plan, pool: Pool, meaning: Outcomes) -> Kind:
    """What believes the labels of a plan, whatever they are to mean."""
    rules = replace(plan.annotation.rules, shown=_shown_by(pool))
    return _kind(plan, pool, meaning, begun_with(pool, meaning), rules)


def _kind(plan: Plan, pool: Pool, meaning: Outcomes, begun: Begun, rules: Rules) -> Kind:
    if plan.question.of == "models":
        return best_of(plan, pool)
    if plan.models is not None:
        return several(plan, pool, meaning)
    if plan.evaluate is not None:
        return soft_labels(plan, pool)
    prior = believing if pool.since is None else continuing
    own = plan, pool, _question(plan, pool), prior.first_belief(plan, pool, meaning)
    pairs = pairing(pool, meaning) if pool.n_prompts else None
    single = Single(*own, meaning, begun, prior.fitted, pairs)
    return single if rules.kind == "first" else Crowd(*own, single, rules)


def _shown_by(pool: Pool) -> Callable[[int], str]:
    keys = {key: key for key in pool.data_keys}
    return lambda row: fingerprint(as_uploaded(pool, row), keys)


def reopen(header: Header, pools: Path) -> Assessment:
    """Rebuild the assessment that a ledger's header describes.

    Args:
        pools: where to look for the compiled pool if it is not where the header says (another
            machine with the same files).

    Raises:
        PoolChanged: the compiled pool is gone or was altered.
        StoreFailed: it is not on this machine, and the store that has it cannot be reached.
    """
    plan = stored_plan(header.plan)
    path = pool_of(header, pools)
    return assess(plan, open_pool(path, header.pool_sha256, header.pool_stat))


def pool_of(header: Header, pools: Path) -> Path:
    """Where the compiled pool that a header names is, or is to be.

    Args:
        pools: as of `reopen`.

    Raises:
        StoreFailed, PoolChanged: it is not on this machine, nor to be had from the store.
    """
    path = Path(header.pool_file)
    if not path.exists():
        path = pools / path.name
    store = None if path.exists() else read_settings().pool_store
    if store is not None:
        fetch_pool(store, path, header.pool_sha256, header.pool_stat)
    return path


def _sequence_of(plan: Plan, pool: Pool, begun: Begun) -> ConfidenceSequence | None:
    if plan.stop.guarantee == "posterior":
        return None
    confidence = plan.stop.confidence or _BAND_CONFIDENCE
    expected = forecast(pool.cell_mean_logit, signs_of_errors(pool.opinions))
    if begun.all.any() and not begun.is_sample:
        expected = foreseen(expected, begun.all[:, 0], begun.all[:, 1:].sum(axis=1))
    return ConfidenceSequence(expected, 1 - confidence)


def _question(plan: Plan, pool: Pool) -> Question:
    asked = plan.question
    if asked.task == "compare":
        return Question("compare", pairs=compared_pairs(plan, pool), epsilon=plan.stop.target)
    return Question(
        "identify" if asked.task == "identify" else "estimate",
        which=asked.which,
        top=asked.top,
        tolerance=asked.tolerance,
        shortlist=asked.shortlist,
    )

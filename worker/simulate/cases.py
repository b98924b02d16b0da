"""What is simulated: a plan with one strategy and one prior, its pool, and the truth."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from worker.assessment import Assessment, assess
from worker.core.strategies import numbered
from worker.errors import PlanError
from worker.nearest import listed
from worker.plan import Plan, load_plan
from worker.plan.mistakes import sentences
from worker.plan.source import read_yaml
from worker.pool import Pool, check_question, compile_pool, fetch_beside, open_pool
from worker.pool.truth import read_truth
from worker.setup.since import with_earlier
from worker.simulate.measuring import Measures
from worker.simulate.replay import replay
from worker.simulate.truths import Ints, outcomes
from worker.store.settings import read_settings

_FOR_SIMULATION = {"for_simulation": True}


@dataclass(frozen=True, slots=True)
class Case:
    """A plan with one strategy and one prior; JSON-able, so that RQ can carry it.

    plan: JSON. predictions: their file's name, or those of the sites.
    pool, pool_sha256: the compiled pool, of n_items.
    claimed: how sure of a finding the plan wants to be; None for an estimate.
    per_item: how many people are to judge every item; a run knows an item's class at once.
    number: of the strategy, if it has one and not its own (`strategies.NUMBERED`).
    truth: a file of the true classes in the order of the pool's rows, as `save_truth` writes it;
    None to draw plausible truths from the prior. seed: of the simulation.
    """

    plan: str
    strategy: str
    prior: str
    predictions: str
    n_items: int
    pool: str
    pool_sha256: str
    truth: str | None
    seed: int
    measures: Measures
    claimed: float | None = None
    per_item: int = 1
    number: float | None = None

    @property
    def named(self) -> str:
        """The strategy in a report: with its number, where it is not its own."""
        return self.strategy if self.number is None else f"{self.strategy} {self.number:g}"


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked of a simulation.

    truth: the column of the true classes, or FILE:COLUMN; None to draw plausible truths from the
        prior.
    strategies, priors: every strategy with every prior; none for the plan's own.
    strengths: every prior but the empirical one in so many; none for the plan's own.
    numbers: of strategies that have one, by their names.
    seed: the plan's own if None. until: the whole pool if None. at: ten label counts if none.
    only_stop: end every run at its stop, whatever the budget, and measure nothing else.
    """

    truth: str | None = None
    strategies: tuple[str, ...] = ()
    priors: tuple[str, ...] = ()
    strengths: tuple[float, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)
    seed: int | None = None
    until: int | None = None
    at: tuple[int, ...] = ()
    only_stop: bool = False


def prepare(path: Path, pools: Path, asked: Asked) -> list[Case]:
    """Read a plan, and compile the pool of each of its variants.

    Args:
        path: the plan; keys about annotators may be absent.
        pools: where compiled pools and truths are kept.

    Raises:
        PlanError, PredictionsError: what is wrong, where, and what to do.
    """
    plan = load_plan(path, for_simulation=True)
    if plan.question.task == "evaluate":
        text = "question.task: came evaluate, but `assay simulate` replays one true class an item"
        raise PlanError([f"{text}; it knows identify, estimate and compare"], str(path))
    for opinion in plan.pool.opinions or ():
        if opinion.predictions is None and asked.truth in opinion.columns:
            text = f"pool.opinions: {opinion.name} says what is true (column {asked.truth}), which"
            raise PlanError([f"{text} labels are to tell; leave it out"], str(path))
    cases = []
    for own in _with_priors(plan, path, asked):
        strategies = asked.strategies or (plan.strategy,)
        variants = [_with_strategy(own, path, strategy) for strategy in strategies]
        pool = compile_pool(own, pools)
        check_question(own, pool)
        pool = with_earlier(own, pool, pools, None)
        truth = None
        if asked.truth is not None:
            truth = str(save_truth(read_truth(own, pool, asked.truth), pool, pools))
        for variant in map(_without_budget, variants) if asked.only_stop else variants:
            assess(variant, pool)
            cases.append(
                Case(
                    plan=variant.model_dump_json(),
                    strategy=variant.strategy,
                    prior=_named(own, asked),
                    predictions=_names(plan),
                    n_items=pool.n_items,
                    pool=str(pool.path),
                    pool_sha256=pool.file_sha256,
                    truth=truth,
                    seed=plan.seed if asked.seed is None else asked.seed,
                    measures=_measures(asked, pool.n_items),
                    number=asked.numbers.get(variant.strategy),
                    claimed=variant.stop.confidence,
                    per_item=plan.annotation.per_item,
                )
            )
    return cases


def _names(plan: Plan) -> str:
    sites = plan.pool.sites
    files = [plan.pool.predictions] if sites is None else list(sites.values())
    return listed([file.name for file in files], 3)


def _measures(asked: Asked, n_items: int) -> Measures:
    until = min(asked.until or n_items, n_items)
    spaced = np.rint(np.geomspace(min(10, until), until, 10)).astype(int)
    at = sorted({n for n in asked.at or spaced.tolist() if n <= until})
    return Measures(until, tuple(at), asked.only_stop)


def _with_priors(plan: Plan, path: Path, asked: Asked) -> Iterator[Plan]:
    """The plan with every prior, in every strength; that of an empirical one is fitted."""
    for kind in asked.priors or (plan.prior.kind,):
        has_strength = kind != "empirical" and asked.strengths
        for strength in asked.strengths if has_strength else (None,):
            yield _with_prior(plan, path, kind, strength)


def _named(plan: Plan, asked: Asked) -> str:
    """The prior in a report: with its strength, where there are several."""
    is_one = not asked.strengths or plan.prior.kind == "empirical"
    return plan.prior.kind if is_one else f"{plan.prior.kind} {plan.prior.strength:g}"


def _with_prior(plan: Plan, path: Path, prior: str, strength: float | None) -> Plan:
    """The plan with another prior; what follows from the prior by default follows it.

    Opinions are left out where it is not the empirical one, which alone learns what they tell.
    """
    if strength is None and prior == plan.prior.kind:
        return plan
    written, _ = read_yaml(path)
    values = plan.model_dump() | {"prior": {"kind": prior}}
    if strength is not None:
        values["prior"]["strength"] = strength
    elif prior != "empirical" and "strength" in (written.get("prior") or {}):
        values["prior"]["strength"] = plan.prior.strength
    if prior != "empirical":
        values["pool"]["opinions"] = None
    if "strata" not in written["pool"]:
        del values["pool"]["strata"]
    try:
        return Plan.model_validate(values, context=_FOR_SIMULATION)
    except ValidationError as error:
        raise PlanError(sentences(error, Plan, {}), f"{path} with the {prior} prior") from error


def _with_strategy(plan: Plan, path: Path, strategy: str) -> Plan:
    """The plan with another strategy, checked as if it had been written so."""
    try:
        return Plan.model_validate(plan.model_dump() | {"strategy": strategy})
    except ValidationError as error:
        raise PlanError(sentences(error, Plan, {}), f"{path} with {strategy}") from error


def _without_budget(plan: Plan) -> Plan:
    """The plan whose runs end when the question is answered."""
    unlimited = plan.stop.model_copy(update={"budget": None})
    return plan.model_copy(update={"stop": unlimited})


def save_truth(truth: Ints, pool: Pool, folder: Path) -> Path:
    """Write the true classes beside the compiled pool, for whoever takes runs; return the file."""
    values = np.ascontiguousarray(truth)
    digest = hashlib.sha256(values.tobytes()).hexdigest()
    path = folder / f"{pool.hash}-truth-{digest[:16]}.npy"
    if not path.exists():
        part = folder / f".{path.name}.{os.getpid()}.part"
        with part.open("wb") as file:
            np.save(file, values)
        part.replace(path)
    return path


def replay_run(case: dict[str, Any], number: int) -> dict[str, Any]:
    """Take one run of a case: JSON in, JSON out."""
    measures = Measures(**(case["measures"] | {"at": tuple(case["measures"]["at"])}))
    assessment, outcome = _opened(case["plan"], case["pool"], case["pool_sha256"], case["truth"])
    if case.get("number") is not None:  # an earlier release's case has none
        choose = numbered(case["strategy"], case["number"])
        assessment = replace(assessment, strategy=choose)
    return asdict(replay(assessment, outcome, measures, case["seed"], number))


# A process takes runs of a few cases in turn.
@lru_cache(maxsize=16)
def _opened(
    plan_json: str, pool_file: str, pool_sha256: str, truth_file: str | None
) -> tuple[Assessment, Ints | None]:
    plan = Plan.model_validate_json(plan_json, context=_FOR_SIMULATION)
    pool = open_pool(_found(pool_file), pool_sha256)
    assessment = assess(plan, pool)
    if truth_file is None:
        return assessment, None
    return assessment, outcomes(assessment, np.load(_found(truth_file)))


def _found(file: str) -> Path:
    """The file, or the one of its name among this machine's own pools, or in the store of all."""
    path, settings = Path(file), read_settings()
    if path.exists():
        return path
    own = settings.pools / path.name
    if not own.exists() and settings.pool_store is not None:
        fetch_beside(settings.pool_store, own)
    return own

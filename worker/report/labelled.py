"""A report from a file of labels, at once: no server, no annotators, and no assessment begun."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from worker.assessment import Assessment, assess
from worker.core.drift.sample import drawn_alike
from worker.errors import PlanError
from worker.formats import counted
from worker.nearest import listed
from worker.plan import Plan, load_plan, plan_hash
from worker.plan.project_part import Existing
from worker.pool import Pool, check_question, compile_pool
from worker.pool.groups import equal_mass_thresholds
from worker.pool.known import labels_of_rows
from worker.pool.labels import Labels, read_labels
from worker.report.contents import Report
from worker.report.contents_labels import LabelSource
from worker.report.gathering import gather
from worker.report.other_metrics import labels_alone, with_other_metrics
from worker.store import Header
from worker.store.memory import MemoryLedger

_PARTS = 10  # of equal mass, in which the scores of a sample are held against the pool's
_SURPRISE = 0.001


def report_on(path: Path, given: str, use: Existing, pools: Path) -> Report:
    """Say everything that the labels of a file tell of a plan's question.

    The plan's rule is asked once, so that nothing has to be confirmed at a later look; what the
    plan says of annotators, budget and content is not needed.

    Args:
        given: as of `worker.pool.labels.read_labels`.
        use: what is known of the choice of the labelled items, where not all are.
        pools: where compiled pools are kept.

    Raises:
        PlanError: the plan cannot be used, or asks for what a file of labels cannot answer.
        PredictionsError: the predictions, or the labels, cannot be used.
    """
    plan = load_plan(path, for_simulation=True)
    _refuse(plan, path)
    alone = labels_alone(plan)
    labels = read_labels(alone, pools, given, use)
    pool = compile_pool(alone, pools, labels=labels)
    check_question(alone, pool)
    work, now = assess(alone, pool), datetime.now(UTC)
    header = Header(
        plan.assessment, plan.model_dump_json(), plan_hash(plan), pool.hash, str(pool.path),
        pool.file_sha256, pool.stat, project=0, url="", control="", to_name="",
        labels=pool.classes, started_at=now.isoformat(timespec="seconds"),
    )  # fmt: skip
    ledger = MemoryLedger(plan.assessment)
    ledger.begin(header)
    ledger.move("running", "stopped")
    report = gather(work, header, ledger, now=now)
    command = f"assay assess {path.name} --labels {labels.path.name}:{labels.column}"
    own = {k: v for k, v in report.reproduce.items() if k not in ("project", "url", "strategy")}
    source = _source(work, labels)
    commands = [f"{command} --labels-are {source.use}"]
    report = replace(report, source=source, reproduce=own | {"commands": commands})
    if source.use == "known" or plan.models is not None:
        return report
    return with_other_metrics(report, path, labels, pools)


def _refuse(plan: Plan, path: Path) -> None:
    """Refuse what labels in a file cannot answer."""
    problems = []
    if plan.question.task == "evaluate":
        problems.append(
            "question.task: came evaluate, which asks how often people choose each class; of votes "
            "in a file `assay evaluate PLAN --experiment uncertainty` says it"
        )
    if plan.pool.project is not None:
        problems.append(
            f"pool.project: came {plan.pool.project}, whose annotations `assay start` reads "
            "itself; for a report from a file export its tasks with their predictions to one, and "
            "name that under `pool.predictions`"
        )
    if plan.since is not None:
        problems.append(
            "since: a report from a file of labels stands for itself, and continues no "
            "assessment; leave it out"
        )
    if problems:
        raise PlanError(problems, str(path))


def _unlike_a_sample(pool: Pool) -> list[str]:
    """By what known items differ from the pool, so that they are hardly a random sample of it."""
    assert pool.known is not None, "asked of pools with labels"
    rows, _ = labels_of_rows(pool.known, pool.cell_start, pool.code)
    kinds = {"by predicted class": pool.predicted.astype(np.int64)}
    if pool.group_names != pool.classes:
        kinds["by group"] = np.repeat(pool.cell_group, pool.cell_size)
    if pool.has_scores:
        at = equal_mass_thresholds(pool.score, _PARTS)
        kinds["by score"] = np.searchsorted(at, pool.score, side="right")
    return [
        by
        for by, kind in kinds.items()
        if drawn_alike(*(np.bincount(of, minlength=kind.max() + 1) for of in (kind[rows], kind)))
        < _SURPRISE
    ]


def _source(work: Assessment, labels: Labels) -> LabelSource:
    pool, known = work.pool, work.pool.known
    assert known is not None, "a pool with labels has them"
    n, n_items = pool.n_known, pool.n_items
    file = labels.path.name
    in_file = f"{file} (column {labels.column})"
    elsewhere = len(labels.ids) - n
    if n == n_items:
        text = [f"All {counted(n_items, 'item')} of the pool have a label in {in_file}."]
        if work.plan.population == "finite":
            text.append("So what is said of this pool is exact, as far as the labels are right.")
    elif known.use == "random":
        text = [
            f"{n:,} of {counted(n_items, 'item')} have a label in {in_file}. They are taken for a "
            "random sample of the pool, as was said (random): had they been chosen by their "
            "scores, by disagreement or because they were easy, everything here would be biased."
        ]
        if unlike := _unlike_a_sample(pool):
            text.append(
                f"They do not look like one: {' and '.join(unlike)} they differ from the pool more "
                "than one random sample in a thousand does. Look up how they were chosen, and say "
                "--labels-are known if you cannot."
            )
    else:
        text = [
            f"{n:,} of {counted(n_items, 'item')} have a label in {in_file}, and nobody said how "
            f"these were chosen (known). So each tells of itself only, and nothing of the "
            f"{n_items - n:,} others, of which is said what is believed without labels. If they "
            "were drawn at random, ask again with --labels-are random."
        ]
    left_out = [
        counted(labels.n_empty, "row") + " without a label" if labels.n_empty else "",
        counted(elsewhere, "label") + " of items that are not in the pool" if elsewhere else "",
    ]
    n_strange, strange = labels.never_predicted(work.plan, pool.item_ids, pool.classes)
    if strange and work.plan.annotation.verdict is None:
        text.append(
            f"{counted(n_strange, 'label')} {'name' if n_strange > 1 else 'names'} a class that is "
            f"never predicted ({listed([repr(name) for name in strange], 5)}), so that the "
            "prediction counts as wrong. If it is one of the pool's, write both alike."
        )
    if any(left_out):
        text.append(f"Left out: {' and '.join(filter(None, left_out))}.")
    text.append(
        "It cannot be said who gave the labels and when, how far people agree, nor how often "
        "labels are wrong; nor what the answer would have cost, had Assay chosen the items: "
        + (
            f"`assay simulate PLAN --truth {file}:{labels.column}` tells that."
            if n == n_items
            else "`assay plan-labels PLAN` foresees that."
        )
    )
    return LabelSource(file, labels.column, known.use, n, labels.n_empty, elsewhere, tuple(text))

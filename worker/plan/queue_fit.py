"""Checks whether pool and queue fit each other: what is imported, and what lies there already."""

from collections.abc import Mapping
from typing import Literal

from worker.plan.annotation_part import AnnotationPlan
from worker.plan.pool_part import PoolPlan


def mistakes_of_queue(
    pool: PoolPlan,
    mode: Literal["import", "prioritise"],
    label_studio: Mapping[str, object],
    annotation: AnnotationPlan,
    population: Literal["finite", "infinite"],
) -> list[tuple[str, str]]:
    """Return the key and a sentence for everything in which they contradict each other.

    Args:
        label_studio: what the plan asks for of the project, by its key.
    """
    if pool.project is None:
        if mode == "import":
            return []
        text = "came prioritise, which puts the tasks of a project in order, but the pool is a file"
        return [("queue.mode", f"{text}; write `pool: {{project: 12}}`, or `mode: import`")]
    found = []
    if annotation.rule not in ("first", "majority"):
        text = f"came {annotation.rule}, but annotations that are there already count by one class"
        found.append(("annotation.rule", f"{text} an item; write first or majority"))
    if population == "infinite" and pool.existing == "known":
        text = "came infinite, but known outcomes are those of these very items; write"
        found.append(("population", f"{text} `population: finite`, or `existing: random`"))
    if mode == "import":
        return found + _mistakes_of_copies(pool, label_studio)
    return found + _mistakes_of_order(pool, label_studio, annotation)


def _mistakes_of_copies(
    pool: PoolPlan, label_studio: Mapping[str, object]
) -> list[tuple[str, str]]:
    found = []
    if not pool.data:
        text = "missing; chosen tasks are copied into a project of their own, so name what is shown"
        found.append(("pool.data", f"{text}, as in {{text: text}}; or write `mode: prioritise`"))
    if label_studio.get("project") == pool.project:
        text = f"came {pool.project}, which the tasks come from; with `mode: import` they are"
        cure = "copied into an empty one: write new, or `queue: {mode: prioritise}`"
        found.append(("label_studio.project", f"{text} {cure}"))
    return found


def _mistakes_of_order(
    pool: PoolPlan, label_studio: Mapping[str, object], annotation: AnnotationPlan
) -> list[tuple[str, str]]:
    found = []
    if label_studio.get("project", pool.project) != pool.project:
        text = f"came {label_studio['project']}, but the tasks of project {pool.project} are put in"
        found.append(("label_studio.project", f"{text} order where they are; leave it out"))
    for key in ("title", "config", "instruction"):
        if key in label_studio:
            text = "the project that is put in order has its own; leave it out, or write"
            found.append((f"label_studio.{key}", f"{text} `mode: import`"))
    if annotation.per_item_max > 1:
        text = f"came {annotation.per_item}, but tasks that several people label are served by"
        cure = "Label Studio in an order of its own: write 1, or `queue: {mode: import}`"
        found.append(("annotation.per_item", f"{text} {cure}"))
    if annotation.gold is not None:
        text = "gold items are imported, and nothing is imported into the project; leave them out"
        found.append(("annotation.gold", f"{text}, or write `mode: import`"))
    return found

"""The frames of an assessment, each made of what was read of its ledger at one revision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from worker.assessment import Assessment
from worker.core.posterior.belief import Belief, group_share
from worker.findings.evidence import group_rows
from worker.findings.item_classes import likeliest_classes
from worker.findings.ranks import group_ranks
from worker.pool import Pool
from worker.report.people import annotators, called
from worker.store import State
from worker.store.records import Record

# The group of items that are outside the pool.
GOLD = "gold"

_JUDGEMENTS = (
    "annotation", "task", "item", "label", "author", "at", "seconds", "status", "reason",
    "group", "predicted", "score", "outcome", "is_right",
)  # fmt: skip
_ANNOTATORS = (
    "labels", "skips", "shared", "agreement", "gold", "gold_right", "quality", "quality_low",
    "quality_high", "per_hour", "median_s", "last_at",
)  # fmt: skip
_CHOICES = (
    "claim", "item", "cell", "group", "strategy", "revision", "pending", "numbers",
)  # fmt: skip
_DECISIONS = (
    "kind", "decided_at", "reason", "since", "is_conclusive", "confidence", "value", "labels",
    "revision", "chosen", "text",
)  # fmt: skip


def groups_frame(work: Assessment, belief: Belief, state: State) -> pd.DataFrame:
    """One row a group, by its name; none where several models are compared."""
    if work.several is not None and work.several.asked:
        # differences of models are no groups; the report has them
        return pd.DataFrame(columns=["size", "share"], index=pd.Index([], name="group"))
    # What is None becomes NaN in its column, also in the columns of a table of shares.
    rows = [
        {"group": row["group"], "size": row["size"], "share": share}
        | {key: value for key, value in row.items() if value is not None}
        for row, share in zip(
            group_rows(work, belief, state, group_ranks(belief)),
            group_share(belief).tolist(),
            strict=True,
        )
    ]
    return pd.json_normalize(rows).set_index("group")


def judgements_frame(
    work: Assessment, tally: Mapping[str, int], records: Sequence[Record]
) -> pd.DataFrame:
    """One row an annotation, with what is known of its item."""
    pool, rows = work.pool, list[tuple[object, ...]]()
    classes = likeliest_classes(work, tally, records)
    for record in records:
        outcome = classes.get(record.item)
        of_item: tuple[object, ...] = (GOLD, None, np.nan, outcome, None)
        if record.cell >= 0:
            predicted = predicted_name(pool, record.predicted)
            of_item = (
                pool.group_names[int(pool.cell_group[record.cell])],
                predicted,
                float(pool.score[record.row]),
                outcome,
                None if outcome is None or pool.models else outcome == predicted,
            )
        for task, seen in record.tasks:
            for j in seen.judgements:
                said = (j.label, j.author, j.at_us, j.seconds, j.status, j.reason)
                rows.append((j.annotation, task, record.item, *said, *of_item))
    frame = pd.DataFrame(rows, columns=list(_JUDGEMENTS)).sort_values("annotation")
    return frame.assign(
        at=pd.to_datetime(frame["at"].astype("int64"), unit="us", utc=True),
        author=frame["author"].astype("Int64"),
        seconds=frame["seconds"].astype("float64"),
        score=frame["score"].astype("float64"),
        is_right=frame["is_right"].astype("boolean"),
    ).reset_index(drop=True)


def annotators_frame(work: Assessment, state: State, records: Sequence[Record]) -> pd.DataFrame:
    """One row a person, by their number in Label Studio."""
    people = called(records, map(int, state.authors))
    rows = [asdict(one) for one in annotators(work, state.tally, records, people)]
    authors = pd.Index(list(people), name="author", dtype="int64")
    frame = pd.DataFrame(rows, columns=list(_ANNOTATORS), index=authors)
    whole = dict.fromkeys(("labels", "skips", "shared"), "int64")
    maybe = dict.fromkeys(("gold", "gold_right"), "Int64")
    others = set(_ANNOTATORS) - {*whole, *maybe, "last_at"}
    frame = frame.astype(whole | maybe | dict.fromkeys(others, "float64"))
    return frame.assign(last_at=pd.to_datetime(frame["last_at"], utc=True))


def predicted_name(pool: Pool, code: int) -> str:
    """The predicted class; of several models what each says."""
    if pool.n_prompts:
        return pool.classes[0]
    if pool.models is None:
        return pool.classes[code]
    said = zip(pool.models.names, pool.models.said[code].tolist(), strict=True)
    return "; ".join(f"{name}: {pool.classes[k]}" for name, k in said)


def choices_frame(pool: Pool, log: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """One row a claim, by its number."""

    def name(choice: Mapping[str, Any]) -> str:
        return GOLD if choice["strategy"] == GOLD else pool.group_names[choice["group"]]

    rows = [{**choice, "group": name(choice)} for choice in log]
    return pd.DataFrame(rows, columns=list(_CHOICES)).set_index("claim")


def decisions_frame(published: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """One row a published decision, the oldest first."""
    frame = pd.DataFrame(published, columns=list(_DECISIONS))
    return frame.assign(
        decided_at=pd.to_datetime(frame["decided_at"], utc=True),
        confidence=frame["confidence"].astype("float64"),
        value=frame["value"].astype("float64"),
    )

"""The assessment that another one continues: as it stands on the server, or in its export."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from worker.assessment import Assessment, reopen
from worker.errors import AssayError
from worker.pool.continued import Labelled
from worker.setup.exported import read_export
from worker.store import Header
from worker.store.records import Record, load
from worker.store.rules import tied
from worker.store.snapshots import taken_together

if TYPE_CHECKING:
    from worker.service.context import Context


class NotContinuable(AssayError):
    """The assessment that a plan wants to continue leaves nothing to it."""


@dataclass(frozen=True, slots=True, eq=False)
class Earlier:
    """An assessment as it stands, and what it has found.

    tally: of all its labels; items: those of one class. status: as of the ledger.
    """

    work: Assessment
    tally: Mapping[str, int]
    items: Labelled
    status: str
    text: str


def on_server(context: Context, assessment: str) -> Earlier:
    """An assessment of this server, as it stands now."""
    header, ledger = context.header(assessment), context.ledger(assessment)
    work = reopen(header, context.settings.pools)
    state, records = taken_together(ledger)
    items = labelled_items(work, records)
    return Earlier(work, state.tally, items, state.status, _text(ledger.decisions()))


def exported(file: Path, pools: Path) -> Earlier:
    """An assessment as `assay export` wrote it; its compiled pool lies in `pools` or beside it."""
    try:
        told: Any = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise NotContinuable(
            f"since: {file} cannot be read ({error.strerror}); write it with "
            "`assay export ID --to FILE.json`."
        ) from error
    except (UnicodeDecodeError, ValueError) as error:
        raise NotContinuable(
            f"since: {file} is no JSON ({error}); make it with `assay export ID --to FILE.json`."
        ) from error
    header, _ = read_export(told)
    work = _reopened(header, file, pools)
    try:
        records = [load(json.dumps(record)) for record in told["records"]]
        decisions = [json.dumps(decision) for decision in told["decisions"]]
        items = labelled_items(work, records)
        return Earlier(work, told["tally"], items, told["status"], _text(decisions))
    except (KeyError, TypeError) as error:
        raise NotContinuable(
            f"since: {file} is not whole ({type(error).__name__}: {error}); make a new one with "
            "`assay export ID --to FILE.json`."
        ) from error


def _reopened(header: Header, file: Path, pools: Path) -> Assessment:
    name = Path(header.pool_file).name
    beside = file.parent / name
    if not (Path(header.pool_file).exists() or (pools / name).exists() or beside.exists()):
        raise NotContinuable(
            f"since: the compiled pool of {header.assessment} is not here; copy {name} from the "
            f"folder `pools` of the machine that has it to {file.parent}."
        )
    return reopen(header, pools if (pools / name).exists() else file.parent)


def _text(decisions: Sequence[str]) -> str:
    """What was last published; empty if nothing was."""
    return str(json.loads(decisions[-1])["text"]) if decisions else ""


def labelled_items(work: Assessment, records: Iterable[Record]) -> Labelled:
    """The items of an assessment whose outcome is one class; ties and gold items are left out.

    Raises:
        NotContinuable: its rule leaves votes, of which no single class follows, or it was of
            several models, so that a label has no one predicted class.
    """
    if work.plan.models is not None:
        raise NotContinuable(
            f"since: {work.plan.assessment} assessed several models, of which no one is the "
            "earlier version of this one, so its labels cannot be taken over; leave `since` out."
        )
    if work.rules.kind not in ("first", "majority"):
        raise NotContinuable(
            f"since: {work.plan.assessment} has the rule {work.rules.kind}, which leaves votes and "
            "not one class an item, so its labels cannot be taken over; leave `since` out."
        )
    rows, labels = [], []
    for record in sorted(records, key=lambda r: r.claim):
        if record.outcome is not None and record.cell >= 0 and len(tied(record.outcome)) == 1:
            rows.append(record.row)
            labels.append(record.outcome)
    return items_in_rows(work, rows, labels)


def items_in_rows(work: Assessment, rows: list[int], labels: list[str]) -> Labelled:
    """The items in some rows of a pool, with their labels."""
    pool = work.pool
    at = np.array(rows, dtype=np.int64)
    cell_of = np.repeat(np.arange(pool.n_cells), pool.cell_size)[at]
    return Labelled(
        [pool.group_names[g] for g in pool.cell_group[cell_of]],
        [pool.classes[k] for k in pool.predicted[at]],
        pool.score[at],
        labels,
    )

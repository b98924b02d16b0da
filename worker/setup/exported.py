"""What an export may hold: the one place that knows, before anything of it is written here.

An export is a file that anybody may have written. Every key, number and text of it that turns,
pages and commands read later is looked at once, here, so that they need not doubt it.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from pydantic import (
    ValidationError,
)

from worker.errors import AssayError, NewerPlan
from worker.plan import stored_plan
from worker.pool import Pool
from worker.setup.exported_parts import ADAPTERS
from worker.store import Header, LedgerError
from worker.store.records import NewerRecord, Record, load
from worker.store.tally import tally_key

VERSION = 2

Kept = dict[str, dict[str, Any]]


class NotMovable(AssayError):
    """A file that is no export, or an assessment that is here already."""


def read_export(exported: Any) -> tuple[Header, Kept]:
    """The header, and all keys as they are to be here: one that ran is paused.

    Raises:
        NotMovable: it is no export of this or an older release with keys, or something in it is
            not what a release of ours writes.
        LedgerError, NewerPlan, NewerRecord: a newer release started it, or went on with it.
    """
    version = exported.get("version") if isinstance(exported, dict) else None
    if not isinstance(version, int):
        raise NotMovable(
            "This is no export of an assessment; make one with `assay export ID --to FILE`."
        )
    if version > VERSION:
        raise NotMovable(
            f"This export has version {version}, and this release knows {VERSION}: a newer Assay "
            "wrote it; upgrade Assay here."
        )
    try:
        # First: what a newer release wrote is not damaged.
        header = Header.load(exported["kept"]["meta"]["content"]["header"])
        stored_plan(header.plan)
        kept = _content(exported["kept"])
        _check_sums(kept)
    except (LedgerError, NewerPlan, NewerRecord, NotMovable):
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _not_whole(f"{type(error).__name__}: {error}") from error
    meta = kept["meta"]["content"]
    if meta.get("status") == "running":
        meta = meta | {"status": "paused"}
    return header, kept | {"meta": kept["meta"] | {"content": meta}}


def _content(kept: Any) -> Kept:
    """All keys, each of the type and with the content that it should have."""
    for text in kept.get("items", {"content": {}})["content"].values():
        load(text)  # likewise
    for name, one in kept.items():
        kind, holds = ADAPTERS.get(name, ("", None))
        if holds is None or one["type"] != kind or not one["content"]:
            raise _not_whole(f"the key {name!r} is a {one['type']}")
        try:
            holds.validate_python(one["content"])
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where, came = ".".join(map(str, (name, *first["loc"]))), ascii(first["input"])[:80]
            raise _not_whole(f"{where}: came {came}, {first['msg']}") from None
    checked: Kept = kept
    return checked


def _check_sums(kept: Kept) -> None:
    """The tally is what the records add up to, and every item was claimed once."""
    hashes = {name: one["content"] for name, one in kept.items()}
    records = {item: load(text) for item, text in hashes.get("items", {}).items()}
    counted = Counter(
        tally_key(of.claim, of.cell, of.predicted, of.outcome)
        for of in records.values()
        if of.outcome is not None
    )
    if counted != {key: int(n) for key, n in hashes.get("tally", {}).items()}:
        raise _not_whole("the tally is not what its items add up to")
    claims = sorted(of.claim for of in records.values())
    if claims != list(range(int(hashes["meta"].get("claims", 0)))):
        raise _not_whole("its items are not those of its claims")
    if any(item != of.item for item, of in records.items()):
        raise _not_whole("an item is kept under another one's name")
    unknown = hashes.get("open", {}).keys() - records.keys()
    if unknown:
        raise _not_whole(f"{sorted(unknown)[0]!r} is open and was never claimed")


def check_items(kept: Kept, pool: Pool) -> None:
    """Every item lies where the pool has it.

    Raises:
        NotMovable: it does not: the pool is another one's.
    """
    for text in kept.get("items", {"content": {}})["content"].values():
        if not _is_in(pool, record := load(text)):
            raise _not_whole(f"the item {record.item!r} is not in row {record.row} of the pool")


def _is_in(pool: Pool, record: Record) -> bool:
    if record.row >= pool.n_items + len(pool.gold):
        return False
    item = pool.item(record.row)
    return (item.item_id, item.cell, item.predicted) == (
        record.item, record.cell, record.predicted,
    )  # fmt: skip


def _not_whole(why: str) -> NotMovable:
    return NotMovable(
        f"This export is not whole ({why}); make a new one with `assay export ID --to FILE`."
    )

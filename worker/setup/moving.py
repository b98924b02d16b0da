"""Moving an assessment to another server: everything that is kept of it, in one file and back.

The compiled pool is a file of its own (`pools/HASH.arrow`) and is carried beside it.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from redis import Redis

from worker.assessment import assess, pool_of
from worker.errors import AssayError
from worker.plan import stored_plan
from worker.pool import open_pool
from worker.setup.exported import Kept, NotMovable, check_items, read_export
from worker.store import Header
from worker.store.texts import unsettled_from
from worker.store.valkey import keys_of
from worker.turn.refill import SLOW_MS

if TYPE_CHECKING:
    from worker.service.context import Context

# Bytes of an export.
LARGEST = 10**9

# Of one machine or of a moment: whoever goes on takes them anew.
_LEFT_BEHIND = ("lease", "doubt", "counters")


def pack(db: Redis, assessment: str) -> dict[str, dict[str, Any]]:
    """All keys of an assessment, by their names without the prefix: type and content.

    A change meanwhile leaves a mixture: pause the assessment before.
    """
    prefix = _prefix(assessment)
    kept = {}
    for key in keys_of(db, assessment):
        name, kind = key.removeprefix(prefix), str(db.type(key))
        if name.partition(":")[0] in _LEFT_BEHIND:
            continue
        content: Any
        if kind == "hash":
            content = db.hgetall(key)
        elif kind == "list":
            content = db.lrange(key, 0, -1)
        elif kind == "set":
            content = sorted(cast("set[str]", db.smembers(key)))
        elif kind == "stream":
            content = [[entry, fields] for entry, fields in cast("Any", db.xrange(key))]
        else:
            content = db.get(key)
        kept[name] = {"type": kind, "content": content}
    return kept


def unpack(db: Redis, exported: Any) -> Header:
    """Write what `assay export` packed; all of it, or nothing where something is there already.

    One that ran is paused by the same step, for it may still run elsewhere.

    Raises:
        NotMovable: it is no export of this or an older release with keys, or the assessment is
            here already.
        LedgerError, NewerPlan, NewerRecord: a newer release started it, or went on with it.
    """
    header, kept = read_export(exported)
    prefix = _prefix(header.assessment)
    with db.pipeline(transaction=True) as pipe:
        pipe.watch(f"{prefix}meta")  # type: ignore[no-untyped-call]
        if pipe.exists(f"{prefix}meta"):
            raise NotMovable(
                f"There is an assessment {header.assessment!r} here already; nothing was changed. "
                "Name another server or home, or leave it as it is."
            )
        pipe.multi()
        for name, one in kept.items():
            _write(pipe, prefix + name, one["type"], one["content"])
        # An import of where it came from may still be under way.
        for item, note in kept.get("open", {"content": {}})["content"].items():
            claimed = unsettled_from(item, note)
            if claimed.state == "intended":
                pipe.set(f"{prefix}doubt:{claimed.claim}", 1, px=SLOW_MS)
        pipe.execute()
    return header


def take_over(context: Context, file: Path, pool: Path | None) -> Header:
    """Bring an exported assessment here; one that ran is paused, for it may still run elsewhere.

    If it dies after writing, before the assessment is on the list, the next one with the same file
    ends it: what is here and not on the list has to be what the file holds.

    Args:
        pool: the compiled pool; None if it lies where the header says, or among our pools.

    Raises:
        NotMovable, LedgerError, NewerPlan, NewerRecord: as `unpack`.
        PoolChanged: the pool is not here, or not the one of this assessment; nothing is written.
    """
    exported = _read(file)
    header, kept = read_export(exported)
    _check_pool(header, kept, pool or pool_of(header, context.settings.pools))
    if pool is not None:
        context.settings.pools.mkdir(parents=True, exist_ok=True)
        target = context.settings.pools / Path(header.pool_file).name
        if not target.exists():
            part = target.with_suffix(".part")
            shutil.copyfile(pool, part)
            part.replace(target)
    is_listed = header.assessment in context.ids()
    if is_listed or pack(context.state, header.assessment) != kept:
        unpack(context.state, exported)
    context.enter(header.assessment)
    return header


def _read(file: Path) -> Any:
    """The JSON of an export.

    Raises:
        NotMovable: it is none, or larger than any.
    """
    if (size := file.stat().st_size) > LARGEST:
        raise NotMovable(
            f"{file} has {size / 1e9:.1f} GB, and an export has {LARGEST / 1e9:.0f} GB at most (a "
            "million labels); make it with `assay export ID --to FILE`."
        )
    try:
        exported = json.loads(file.read_text(encoding="utf-8"))
        json.dumps(exported, ensure_ascii=False).encode()  # half a character is none to keep
    except (ValueError, RecursionError) as error:
        raise NotMovable(
            f"{file} is no JSON that can be kept ({error}); make it with `assay export ID --to "
            "FILE`."
        ) from error
    return exported


def _check_pool(header: Header, kept: Kept, path: Path) -> None:
    """Look the pool through, whatever time the header gives it, and join it with plan and items.

    Raises:
        PoolChanged, NotMovable: it is another one, or fits neither.
    """
    pool = open_pool(path, header.pool_sha256)
    check_items(kept, pool)
    try:
        assess(stored_plan(header.plan), pool)
    except AssayError:
        raise
    except Exception as error:  # whatever a pool leads to that is of another plan
        raise NotMovable(
            f"{path} is no pool of the plan in this export ({type(error).__name__}: "
            f"{ascii(str(error))[:200]}); take along the one that `assay export` named."
        ) from error


def _write(pipe: Any, key: str, kind: str, content: Any) -> None:
    if kind == "hash":
        pipe.hset(key, mapping=content)
    elif kind == "list":
        pipe.rpush(key, *content)
    elif kind == "set":
        pipe.sadd(key, *content)
    elif kind == "stream":
        for entry, fields in content:
            pipe.xadd(key, fields, id=entry)
    else:
        pipe.set(key, content)


def _prefix(assessment: str) -> str:
    return f"assay:{{{assessment}}}:"

"""Files on another machine's disk or in an object store, by way of fsspec.

What a plan names is copied here first, into the folder `sources` beside the compiled pools, under
its own SHA-256: everything else reads files. Compiled pools go the other way: to a store that all
machines reach, from which a worker fetches what it lacks.
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from worker.errors import AssayError, PoolChanged
from worker.plan import Plan
from worker.plan.addresses import address, shown, without_scheme
from worker.plan.group_spec import GroupBy
from worker.pool.storing import Stat

_AT_ONCE = 8 << 20
# What tells whether a file is another one, by the names that protocols have for it.
_STAMPS = ("ETag", "etag", "md5Hash", "mtime", "created", "LastModified", "last_modified", "size")


class StoreFailed(AssayError):
    """A file or a store elsewhere cannot be reached, or does not do what is asked of it."""


def localised(plan: Plan, pools: Path) -> Plan:
    """Return the plan with copies of the files that it names by an address.

    Raises:
        StoreFailed: one of them cannot be had.
    """

    def here(path: Path) -> Path:
        return fetched(path, pools / "sources") if address(path) else path

    pool, question, gold = plan.pool, plan.question, plan.annotation.gold
    groups = tuple(
        str(GroupBy("superclass", map_path=str(here(Path(factor.map_path)))))
        if factor.map_path
        else str(factor)
        for factor in pool.factors
    )
    changed: dict[str, Any] = {}
    of_opinions = [one.predictions for one in pool.opinions or () if one.predictions is not None]
    named = (pool.predictions, *(pool.sites or {}).values(), *pool.map_paths, *of_opinions)
    if any(map(address, named)):
        spec = groups[0] if isinstance(pool.groups, str) else groups
        files: dict[str, Any] = {"predictions": here(pool.predictions), "groups": spec}
        if pool.sites is not None:
            files["sites"] = {site: here(path) for site, path in pool.sites.items()}
        if pool.parent_factor is not None and pool.parent_factor.map_path:
            own = here(Path(pool.parent_factor.map_path))
            files["parents"] = str(GroupBy("superclass", map_path=str(own)))
        if of_opinions:
            files["opinions"] = tuple(
                one.model_copy(update={"predictions": here(one.predictions)})
                if one.predictions is not None
                else one
                for one in pool.opinions or ()
            )
        changed["pool"] = pool.model_copy(update=files)
    if any(map(address, question.paths.values())):
        found = {key.partition(".")[2]: here(path) for key, path in question.paths.items()}
        if "costs" in found:
            found |= {"costs": str(found["costs"])}  # type: ignore[dict-item]
        changed["question"] = question.model_copy(update=found)
    if gold is not None and address(gold.items):
        copy = gold.model_copy(update={"items": here(gold.items)})
        changed["annotation"] = plan.annotation.model_copy(update={"gold": copy})
    return plan.model_copy(update=changed) if changed else plan


def fetched(path: Path | str, folder: Path) -> Path:
    """Copy a file from its address into a folder, unless it is there; return the copy.

    It is asked for anew where the protocol does not tell whether it changed (as http may not).

    Raises:
        StoreFailed: there is none, or it cannot be reached.
    """
    uri = address(path)
    assert uri is not None, "asked of addresses only"
    folder.mkdir(parents=True, exist_ok=True)
    with _told(uri, "read"):
        files, place = _opened(uri)
        files.invalidate_cache()
        known = files.info(place)
        if known.get("type") == "directory":
            raise StoreFailed(f"{shown(uri)}: came a folder, expected a file")
        stamps = {key: str(known[key]) for key in _STAMPS if known.get(key) is not None}
        note = folder / f"{_digest(json.dumps([uri, stamps], sort_keys=True))}.json"
        if len(stamps) > 1 and note.exists():
            noted: str = json.loads(note.read_text(encoding="utf-8"))
            copy = folder / noted / Path(path).name
            if copy.exists():
                return copy
        part = folder / f".{uuid.uuid4().hex}.part"
        try:
            with part.open("wb") as target:
                sha256 = _copied(files, place, target)
            copy = folder / sha256 / Path(path).name
            copy.parent.mkdir(exist_ok=True)
            part.replace(copy)
        finally:
            part.unlink(missing_ok=True)
    note.write_text(json.dumps(sha256), encoding="utf-8")
    return copy


def publish(file: Path, store: str) -> bool:
    """Copy a compiled pool, or what goes with it, into a store; whole or not at all.

    Not if it is there.

    Returns:
        Whether it had to be copied.

    Raises:
        StoreFailed: the store cannot be reached or written.
    """
    with _told(store, "written"):
        files, root = _opened(store)
        files.invalidate_cache()
        target = f"{root.rstrip('/')}/{file.name}"
        if files.exists(target) and files.info(target)["size"] == file.stat().st_size:
            return False
        files.makedirs(root, exist_ok=True)
        part = f"{root.rstrip('/')}/.{file.name}.{uuid.uuid4().hex}.part"
        try:
            files.put_file(str(file), part)
            files.mv(part, target)
        finally:
            with suppress(FileNotFoundError):
                if files.exists(part):
                    files.rm_file(part)
    return True


def fetch_pool(store: str, path: Path, sha256: str, stat: Stat) -> None:
    """Copy a compiled pool from a store to where it is to be, and give it its trusted time.

    Args:
        path: `<hash>.arrow` in the folder of pools.
        sha256, stat: `Pool.file_sha256` and `Pool.stat` of when it was compiled.

    Raises:
        StoreFailed: the store cannot be reached.
        PoolChanged: it is not there, or is another one than was compiled.
    """
    with _taken(store, path) as (part, found):
        if found != sha256:
            raise PoolChanged(
                f"{shown(store).rstrip('/')}/{path.name}: the compiled pool in ASSAY_POOL_STORE is "
                f"not the one of this assessment (its SHA-256 begins with {found[:12]}, expected "
                f"{sha256[:12]}). Delete it there, and put the right one back ({path.name}, of the "
                "machine that compiled it)"
            )
        os.utime(part, ns=(stat[1], stat[1]))  # it was read through just now


def fetch_beside(store: str, path: Path) -> None:
    """Copy a file that was published from a store to where it is to be.

    Raises:
        StoreFailed: the store cannot be reached.
        PoolChanged: it is not there.
    """
    with _taken(store, path):
        pass  # who opens it looks whether it is the right one


@contextmanager
def _taken(store: str, path: Path) -> Iterator[tuple[Path, str]]:
    """Copy a file of the store beside `path`; it is put there when the block ends well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        with _told(store, "read"):
            files, root = _opened(store)
            files.invalidate_cache()
            source = f"{root.rstrip('/')}/{path.name}"
            if not files.exists(source):
                raise PoolChanged(
                    f"{shown(store).rstrip('/')}/{path.name}: the compiled pool is neither in "
                    f"ASSAY_POOL_STORE nor at {path}; put it back, or run `assay start` or `assay "
                    "check` again where the predictions are"
                )
            with part.open("wb") as target:
                found = _copied(files, source, target)
        yield part, found
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _opened(uri: str) -> tuple[Any, str]:
    """The file system of an address, and the place in it."""
    import fsspec  # half the commands need none of it

    files, place = fsspec.url_to_fs(without_scheme(uri))
    return files, str(place)


def _copied(files: Any, source: str, target: IO[bytes]) -> str:
    """Copy piece by piece; return the SHA-256 (hex)."""
    digest = hashlib.sha256()
    with files.open(source, "rb") as file:
        while piece := file.read(_AT_ONCE):
            digest.update(piece)
            target.write(piece)
    return digest.hexdigest()


@contextmanager
def _told(uri: str, done: str) -> Iterator[None]:
    """Turn what goes wrong with an address into an error that says what to do."""
    where = shown(uri)
    try:
        yield
    except AssayError:
        raise
    except ImportError as error:
        raise StoreFailed(
            f"{where}: the protocol needs a package that is not installed ({error}); install it "
            "beside Assay, or copy the file here"
        ) from error
    except FileNotFoundError as error:
        raise StoreFailed(f"{where}: there is no such file or folder") from error
    except Exception as error:  # every protocol's package has errors of its own
        kind = type(error).__name__
        # what a package says may repeat the address, with its secrets
        text = str(error).replace(uri, where)
        if "@" in uri or "?" in uri:
            text = "its text is left out, it may hold a secret"
        raise StoreFailed(
            f"{where}: it cannot be {done} ({kind}: {text}). Look at the address, the network and "
            "the rights (credentials come from the environment), and try again; nothing is lost"
        ) from error


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]

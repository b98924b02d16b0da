"""Several sites' files of predictions, joined into one with a column that names the site."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from worker.errors import PredictionsError
from worker.nearest import listed
from worker.plan.pool_part import PoolPlan
from worker.pool.checks import id_hashes
from worker.pool.predictions import read_predictions
from worker.pool.storing import sha256_of
from worker.pool.tables import Wanted, column_names, first_rows, pieces
from worker.pool.texts import Texts


def joined_sites(pool: PoolPlan, folder: Path) -> PoolPlan:
    """Return the pool with one file of predictions, which is in `folder` afterwards.

    A pool without sites is returned as it is. The same files and names give the same joined file,
    which is used again. It has the columns that all files have, as text where they are no numbers.

    Raises:
        PredictionsError: a file cannot be read, lacks a column, has the sites' column already, or
            an id is in two of them; names the files.
    """
    if pool.sites is None:
        return pool
    digest = hashlib.sha256(f"{pool.site}".encode())
    for name, path in pool.sites.items():
        try:
            digest.update(f"\0{name}\0{sha256_of(path)}".encode())
        except OSError as error:
            raise PredictionsError(f"{path}: it cannot be read ({error.strerror})") from error
    digest.update(repr((pool.id, pool.probabilities, pool.score)).encode())
    joined = folder / "sources" / f"sites-{digest.hexdigest()[:32]}.parquet"
    if not joined.exists():
        wanted = _wanted(pool)
        _check_ids(pool)
        _write(pool, wanted, joined)
    return pool.model_copy(update={"predictions": joined})


@contextmanager
def named_by_site(pool: PoolPlan, folder: Path) -> Iterator[None]:
    """Let an error in the joined file name the file that it came from, with its rows there."""
    try:
        yield
    except PredictionsError:
        for path in (pool.sites or {}).values():
            alone = {"sites": None, "site": None, "groups": _without_site(pool), "parents": None}
            with closing(Texts(folder)) as texts:
                read_predictions(pool.model_copy(update={**alone, "predictions": path}), texts)
        raise


def _without_site(pool: PoolPlan) -> tuple[str, ...] | str:
    kept = tuple(str(factor) for factor in pool.factors if factor.column != pool.site)
    return kept or "predicted_class"


def _wanted(pool: PoolPlan) -> Wanted:
    """The columns of all files; those that the plan names must be in each."""
    assert pool.sites is not None, "asked of a pool with sites"
    first, *others = pool.sites.values()
    common = column_names(first)
    for path in (first, *others):
        present = column_names(path)
        if pool.site in present:
            raise PredictionsError(
                f"{path}: it has a column {pool.site}, by which the sites go; call theirs another "
                "in the plan: `pool: {site: ...}`"
            )
        lacking = [name for name in _named(pool) if name not in present]
        if lacking:
            raise PredictionsError(
                f"{path}: no column {listed(lacking)}, which the plan names for all sites; its "
                f"columns are {listed(present)}. Let the files of all sites have the same columns"
            )
        common = [name for name in common if name in present]
    listing = pool.probabilities if isinstance(pool.probabilities, str) else None
    shares = pool.probabilities if isinstance(pool.probabilities, tuple) else ()
    numbers = (*shares, *((pool.score,) if pool.score is not None else ()))
    used = (*numbers, *((listing,) if listing is not None else ()))
    # what else there is may be the true classes, for a simulation
    unnamed = (name for name in common if name not in used and _is_text(first, name))
    texts = dict.fromkeys((*(name for name in _named(pool) if name not in used), *unnamed))
    return Wanted(tuple(texts), numbers, listing)


def _is_text(path: Path, column: str) -> bool:
    kind = first_rows(path, 1).schema.field(column).type
    is_other = pa.types.is_floating(kind) or pa.types.is_nested(kind) or pa.types.is_binary(kind)
    return not is_other


def _named(pool: PoolPlan) -> tuple[str, ...]:
    listed_ = pool.probabilities or ()
    shares = (listed_,) if isinstance(listed_, str) else listed_
    own = (name for name in pool.group_columns if name != pool.site)
    one = (name for name in (pool.predicted, pool.score) if name is not None)
    return tuple(dict.fromkeys((pool.id, *own, *shares, *one, *pool.data.values())))


def _check_ids(pool: PoolPlan) -> None:
    """Refuse an id of two sites; 64-bit hashes tell which are to be looked at."""
    assert pool.sites is not None, "asked of a pool with sites"
    seen: list[tuple[Path, pa.Array]] = []
    for path in pool.sites.values():
        ids = [piece.column(pool.id).cast(pa.large_string()) for piece in _ids(path, pool.id)]
        hashes = pa.chunked_array([pa.array(id_hashes(pc.fill_null(one, ""))) for one in ids])
        for other, theirs in seen:
            common = pc.filter(hashes, pc.is_in(hashes, value_set=theirs))
            if len(common):
                _refuse_common(pool, path, other, common)
        seen.append((path, hashes.combine_chunks()))


def _refuse_common(pool: PoolPlan, path: Path, other: Path, hashes: pa.ChunkedArray) -> None:
    def with_these(file: Path) -> set[str]:
        found: set[str] = set()
        for piece in _ids(file, pool.id):
            ids = pc.fill_null(piece.column(pool.id).cast(pa.large_string()), "")
            is_one = pc.is_in(pa.array(id_hashes(ids)), value_set=hashes.combine_chunks())
            found |= set(ids.filter(is_one).to_pylist())
        return found

    both = sorted(with_these(path) & with_these(other))
    if both:
        raise PredictionsError(
            f"{path}: {len(both):,} ids (column {pool.id}) are those of items in {other} too "
            f"(first: {both[0]!r}); every item of the pool needs an id of its own: put the name of "
            "the site in front of it in both files"
        )


def _ids(path: Path, column: str) -> Iterator[pa.RecordBatch]:
    return pieces(path, Wanted((column,)))


def _write(pool: PoolPlan, wanted: Wanted, joined: Path) -> None:
    """Write the joined file whole or not at all."""
    assert pool.sites is not None, "asked of a pool with sites"
    joined.parent.mkdir(parents=True, exist_ok=True)
    part = joined.with_name(f".{joined.name}.{os.getpid()}.part")
    writer: pq.ParquetWriter | None = None
    try:
        for name, path in pool.sites.items():
            for piece in pieces(path, wanted):
                site = pa.array([name] * piece.num_rows, pa.string())
                whole = piece.append_column(str(pool.site), site)
                if writer is None:
                    writer = pq.ParquetWriter(part, whole.schema)
                writer.write_batch(whole.cast(writer.schema))
        assert writer is not None, "every file has rows"
        writer.close()
        part.replace(joined)
    finally:
        part.unlink(missing_ok=True)

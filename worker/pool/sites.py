"""Several sites' files of predictions: what they must have in common, and whose an error is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from worker.errors import PredictionsError
from worker.nearest import listed
from worker.plan.opinions_part import OpinionPlan
from worker.plan.pool_part import PoolPlan
from worker.pool.checks import id_hashes
from worker.pool.faults import Faults
from worker.pool.media_paths import are_paths
from worker.pool.opinions_columns import numbers_of
from worker.pool.opinions_reading import read_opinion
from worker.pool.predictions import read_predictions
from worker.pool.sources import prediction_files
from worker.pool.tables import ROW_NUMBER, Wanted, column_names, first_rows, pieces
from worker.pool.texts import Texts


@contextmanager
def named_by_site(pool: PoolPlan, folder: Path) -> Iterator[None]:
    """Let an error in the file that was made name the one that it came from, with its rows there.

    Of rows that are left out each file was looked through before.
    """
    try:
        yield
    except PredictionsError:
        is_made = pool.sites is not None or pool.drop is not None
        for path in prediction_files(pool) if is_made else ():
            own = alone(pool, path)
            faults = None if pool.drop is None else Faults(path)
            with closing(Texts(folder)) as texts:
                predictions = read_predictions(own, texts, faults=faults)
            for opinion in _own_opinions(own):
                if pool.site not in opinion.columns:
                    read_opinion(own, opinion, predictions)
        raise


def alone(pool: PoolPlan, path: Path) -> PoolPlan:
    """Return the pool of one of its files; what is told by the site is left out."""
    kept = tuple(str(factor) for factor in pool.factors if factor.column != pool.site)
    own = {"sites": None, "site": None, "parents": None, "groups": kept or "predicted_class"}
    return pool.model_copy(update={"predictions": path, **(own if pool.sites else {})})


def columns_of_all(pool: PoolPlan, files: Sequence[Path]) -> Wanted:
    """Return the columns that all files have, as text where they are no numbers.

    Raises:
        PredictionsError: a file lacks a column that the plan names, or has the sites' own.
    """
    first, *others = files
    common = column_names(first)
    for path in (first, *others):
        present = column_names(path)
        if pool.site in present:
            raise PredictionsError(
                f"{path}: it has a column {pool.site}, by which the sites go; call theirs another "
                "in the plan: `pool: {site: ...}`"
            )
        lacking = [name for name in _named(pool) if name not in (*present, ROW_NUMBER)]
        if lacking:
            raise PredictionsError(
                f"{path}: no column {listed(lacking)}, which the plan names; its columns are "
                f"{listed(present)}. Correct the names under `pool`; the files of all sites must "
                "have the same columns"
            )
        common = [name for name in common if name in present]
    listing = pool.probabilities if isinstance(pool.probabilities, str) else None
    shares = pool.probabilities if isinstance(pool.probabilities, tuple) else ()
    numbers = (
        *shares,
        *((pool.score,) if pool.score is not None else ()),
        *numbers_of(first, _own_opinions(pool)),
    )
    used = (*numbers, *((listing,) if listing is not None else ()))
    # what else there is may be the true classes, for a simulation
    kinds = first_rows(first, 1).schema
    unnamed = (name for name in common if name not in used and _is_text(kinds.field(name).type))
    texts = dict.fromkeys((*(name for name in _named(pool) if name not in used), *unnamed))
    return Wanted(tuple(texts), numbers, listing)


def _is_text(kind: pa.DataType) -> bool:
    is_other = pa.types.is_floating(kind) or pa.types.is_nested(kind) or pa.types.is_binary(kind)
    return not is_other


def _named(pool: PoolPlan) -> tuple[str, ...]:
    listed_ = pool.probabilities or ()
    shares = (listed_,) if isinstance(listed_, str) else listed_
    own = (name for name in pool.coded_columns if name != pool.site)
    one = (name for name in (pool.predicted, pool.score) if name is not None)
    said = (name for one in _own_opinions(pool) for name in one.columns if name != pool.site)
    return tuple(dict.fromkeys((pool.id, *own, *shares, *one, *pool.data.values(), *said)))


def _own_opinions(pool: PoolPlan) -> tuple[OpinionPlan, ...]:
    """The opinions that are columns of the pool's own files."""
    return tuple(one for one in pool.opinions or () if one.predictions is None)


def check_ids_of_sites(pool: PoolPlan) -> None:
    """Refuse an id of two sites; 64-bit hashes tell which are to be looked at.

    Raises:
        PredictionsError: names both files and an id.
    """
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

    both = sorted(with_these(path) & with_these(other) - {""})
    if both:
        raise PredictionsError(
            f"{path}: {len(both):,} ids (column {pool.id}) are those of items in {other} too "
            f"(first: {both[0]!r}); every item of the pool needs an id of its own: put the name of "
            "the site in front of it in both files"
        )


def _ids(path: Path, column: str) -> Iterator[pa.RecordBatch]:
    return pieces(path, Wanted((column,)))


def columns_of_paths(pool: PoolPlan, folders: Sequence[str | None]) -> list[str]:
    """Return the columns whose values are paths that are relative to different folders.

    Args:
        folders: of each site's file, as the plan names it; None if it is elsewhere.
    """
    if len(set(folders)) == 1:
        return []
    files = (pool.sites or {}).values()

    def texts(name: str) -> Iterator[pa.Array]:
        rows = chain.from_iterable(pieces(path, Wanted((name,))) for path in files)
        return (text_column(piece, name) for piece in rows)

    return [name for name in dict.fromkeys(pool.data.values()) if are_paths(texts(name))]


def text_column(piece: pa.RecordBatch, name: str) -> pa.Array:
    """Return a column as long texts, empty where there is none."""
    return pc.fill_null(piece.column(name).cast(pa.large_string()), "")

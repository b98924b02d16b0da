"""Gold items: their class is known, and they tell how good the annotators are."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from worker.errors import PredictionsError
from worker.nearest import did_you_mean, listed
from worker.plan import Plan
from worker.pool.checks import check_filled, check_ids
from worker.pool.faults import Faults, refuse
from worker.pool.tables import Wanted, column_names, pieces

_MOST = 10_000
_STREAM = 4  # of the plan's seed: the order in which they are shown
LABEL = "label"


@dataclass(frozen=True, slots=True)
class GoldItem:
    """One item outside the pool whose class is known."""

    item_id: str
    truth: int  # index of a class
    data: dict[str, str]  # what annotators see, by their keys


def read_gold(
    plan: Plan, classes: tuple[str, ...], ids: Callable[[], Iterable[pa.Array]]
) -> tuple[GoldItem, ...]:
    """Return the gold items of a plan in a seeded order; none if it names no file.

    Args:
        ids: gives the ids of the pool's items, piece by piece.

    Raises:
        PredictionsError: the file cannot be read, a class is unknown, or an item is in the pool:
            it would be shown whatever the strategy says, and the answer would be biased.
    """
    gold = plan.annotation.gold
    if gold is None:
        return ()
    path, pool = gold.items, plan.pool
    texts = tuple(dict.fromkeys((pool.id, LABEL, *pool.data.values())))
    present = column_names(path)
    if missing := [name for name in texts if name not in present]:
        told = ", ".join(f"{name}{did_you_mean(name, present)}" for name in missing)
        raise PredictionsError(
            f"{path}: no column {told}; its columns are {listed(present)}. Gold items need the "
            f"columns by which the pool names and shows its items, {pool.id} and "
            f"{listed(list(pool.data.values()))}, and their class in the column {LABEL}"
        )
    table = pa.Table.from_batches(list(pieces(path, Wanted(texts))))
    columns = {name: table.column(name).cast(pa.large_string()).combine_chunks() for name in texts}
    if not table.num_rows or table.num_rows > _MOST:
        raise PredictionsError(f"{path}: came {table.num_rows} gold items, expected 1 to {_MOST:,}")
    faults = Faults(path)
    check_ids(faults, pool.id, lambda: [columns[pool.id]], table.num_rows)
    faults.refuse()
    for name in (LABEL, *pool.data.values()):
        check_filled(path, "what gold items need", name, columns[name])
    codes = {name: code for code, name in enumerate(classes)}
    codes |= {name: codes[first] for name, first in plan.annotation.counts_as.items()}
    labels = columns[LABEL].to_pylist()
    unknown = np.array([label not in codes for label in labels])
    refuse(path, unknown, f"the label (column {LABEL}) is not among the classes {listed(classes)}")
    found = columns[pool.id].to_pylist()
    wanted = columns[pool.id]
    in_pool = sorted(
        item for piece in ids() for item in piece.filter(pc.is_in(piece, wanted)).to_pylist()
    )
    if in_pool:
        raise PredictionsError(
            f"{path}: {len(in_pool)} gold items are among the predictions ({listed(in_pool)}). "
            "They would be shown whatever the strategy says, which would bias the answer: take "
            "their rows out of the predictions, or out of this file"
        )
    shown = {key: columns[name].to_pylist() for key, name in pool.data.items()}
    items = [
        GoldItem(item_id, codes[label], {key: values[at] for key, values in shown.items()})
        for at, (item_id, label) in enumerate(zip(found, labels, strict=True))
    ]
    order = np.random.default_rng([plan.seed, _STREAM]).permutation(len(items))
    return tuple(items[at] for at in order.tolist())

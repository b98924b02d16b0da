"""Compiles a predictions file into the pool: groups, cells, and a seeded order in each cell."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from worker.errors import PredictionsError
from worker.metrics import METRICS
from worker.plan import Plan
from worker.plan.structure_fit import may_drop
from worker.pool.costs import read_costs
from worker.pool.faults import Faults
from worker.pool.file import Pool
from worker.pool.files_finding import find_files, shows_paths, with_sizes
from worker.pool.gold import read_gold
from worker.pool.groups import (
    cell_codes,
    group_codes,
    half_by_doubt,
    positive_class,
    unit_codes,
)
from worker.pool.judged import of_judge
from worker.pool.known import known_labels, places_after_known, read_known, set_apart
from worker.pool.labels import Labels
from worker.pool.means import (
    mean_logits,
    mean_probabilities,
    scores_of_positive,
)
from worker.pool.models_cutting import Cut, cut
from worker.pool.models_reading import read_models
from worker.pool.opening import open_kept, open_pool
from worker.pool.opinions import all_sure, told_by
from worker.pool.opinions_cutting import cell_codes_by_opinions
from worker.pool.opinions_reading import Opinion, read_opinions
from worker.pool.ordering import counted, moved, places, summed
from worker.pool.pairs import check_pairs, prompt_codes
from worker.pool.parents import levels_of, parents_of
from worker.pool.predictions import Predictions, read_predictions
from worker.pool.prepared import n_dropped, prepared
from worker.pool.progress import Progress
from worker.pool.remote import localised
from worker.pool.shown_by_plan import check_shown
from worker.pool.sites import named_by_site
from worker.pool.sources import hash_of, sources_of, stats_of
from worker.pool.storing import OWN_COLUMNS, Arrays, write_pool
from worker.pool.texts import Texts, in_order, n_blocks, room_told


def compile_pool(
    plan: Plan,
    folder: Path | str,
    say: Callable[[str], None] | None = None,
    labels: Labels | None = None,
) -> Pool:
    """Compile the pool of a plan into `folder`, as `<hash>.arrow`, and open it.

    The same files, plan of the pool and seed give the same bytes. A sound compiled file that is
    there already is used; a damaged one is replaced.

    Of tens of millions of items only numbers are in memory; ids and texts go through temporary
    files in `folder`, of about twice their size.

    Args:
        say: is told now and then how far it is, once it takes more than two seconds.
        labels: that the pool begins with.

    Raises:
        PredictionsError: the predictions, or a superclass map, cannot be used.
        PlanError: the costs cannot be used, or the positive class is not known.
        NoRoom: the disk is full.
        StoreFailed: a file that the plan names by an address cannot be had.
    """
    folder = Path(folder)
    named, plan = plan, localised(plan, folder)
    before = stats_of(plan)
    sources = sources_of(plan)
    pool_hash = hash_of(plan, sources)
    if labels is not None:
        pool_hash = labels.hash_with(pool_hash)
        sources = [*sources, (labels.path.name, labels.sha256)]
    path = folder / f"{pool_hash}.arrow"
    kept = open_kept(path)
    if kept is not None and not (plan.pool.project is None and shows_paths(kept)):
        return kept
    progress = Progress(say)
    file = prepared(plan.pool, folder, named.pool)
    asked, plan = plan, plan.model_copy(update={"pool": file})
    with room_told(folder), named_by_site(asked.pool, folder), closing(Texts(folder)) as texts:
        may = may_drop(plan.pool, plan.question, plan.models is not None)
        faults = Faults(plan.pool.predictions, may_drop=may)
        predictions = read_predictions(
            plan.pool,
            texts,
            keeps_probabilities=plan.question.task == "evaluate",
            tell=lambda n: progress.at(f"Read {n:,} rows of {plan.pool.predictions.name}"),
            faults=faults,
        )
        faults.refuse()
        files = find_files(plan.pool, named.pool.predictions, texts)
        opinions = read_opinions(plan.pool, predictions)
        several = None
        if plan.models is not None:
            said = read_models(plan, predictions)
            several = cut(plan, said)
            check_shown(plan, said.predictions, (), files)
            predictions = replace(predictions, classes=said.classes, predicted=several.code)
        else:
            check_shown(plan, (predictions,), opinions, files)
        if METRICS[plan.question.metric].judge_says is not None:
            predictions, opinions = of_judge(predictions, opinions)
        elif plan.question.positive is not None:
            positive = positive_class(plan.question.positive, predictions.classes)
            score = scores_of_positive(plan.pool, predictions, positive)
            predictions = replace(predictions, score=score)
        if plan.pool.pairs_by is not None:
            prompt = prompt_codes(plan.pool.pairs_by, predictions)
            predictions = replace(predictions, predicted=prompt)
        header, arrays, place = _compiled(plan, predictions, several, opinions, labels)
        if dropped := n_dropped(plan.pool):
            header["dropped"] = dropped
        if stats_of(asked) != before:
            raise PredictionsError(
                f"{asked.pool.predictions}: the file changed while it was read; try again once it "
                "is complete"
            )
        predicted = moved(predictions.predicted, place, np.int32)
        score = moved(predictions.score, place, np.float32)
        if files is not None:
            header, pool_hash = files.added_to(header, pool_hash, named.annotation.gold)
            path = folder / f"{pool_hash}.arrow"
            if (kept := open_kept(path)) is not None:
                return kept
        del (
            predictions,
            opinions,
        )  # of tens of millions of items, their numbers are most of the memory
        n = n_blocks(texts)
        size = np.array(header["cells"]["size"])
        rows = _blocks(
            with_sizes(in_order(texts, place, n, folder), files, place, 1 + len(plan.pool.data)),
            predicted, score, size,
            tell=lambda done: progress.at(f"Wrote {done:,} of {place.size:,} items of the pool"),
        )  # fmt: skip
        values = header | {"pool_hash": pool_hash, "sources": sources}
        sha256, stat = write_pool(path, values, rows, n, arrays)
    return open_pool(path, sha256, stat)


def _compiled(
    plan: Plan,
    predictions: Predictions,
    several: Cut | None,
    opinions: Sequence[Opinion],
    file: Labels | None = None,
) -> tuple[dict[str, Any], Arrays, NDArray[np.integer[Any]]]:
    """Return the compiled file's header (without its hashes), its arrays, and the items' rows."""
    score, within, levels = predictions.score, None, list[list[int]]()
    if several is None:
        group, names = group_codes(plan.pool.factors, predictions)
        is_judged = plan.annotation.verdict is not None
        unit, units = unit_codes(plan.question, predictions, is_judged=is_judged)
        above = plan.pool.parent_factor
        within = None if above is None else parents_of(above, group, names, predictions)
        if within is not None and plan.question.level == "parents":
            group = np.array(within["of"], dtype=np.int32)[group]
            names, within = tuple(within["names"]), None
        elif plan.pool.pairs_by is None:
            levels = levels_of(plan.pool.shared_factors, group, len(names), predictions)
        if plan.pool.pairs_by is not None:
            check_pairs(plan.pool.pairs_by, predictions, group, names)
        cut_by = group, unit, score
        if opinions:
            cut_up = cell_codes_by_opinions(*cut_by, opinions, plan.pool.strata)
        else:
            weight = None if plan.question.positive is None else half_by_doubt(score)
            cut_up = cell_codes(*cut_by, plan.pool.strata, weight)
        cell, cell_group, cell_unit = cut_up
    else:
        cell, cell_group, names = several.cell, several.cell_group, several.group_names
        group, units, cell_unit = cell_group[cell], ("",), np.zeros_like(cell_group)
    use, labels = plan.pool.existing or "known", read_known(plan.pool)
    if file is not None:
        use, labels = file.of_items(predictions.texts.ids(), plan, predictions.classes)
    is_known = None if labels is None else labels.is_valid().to_numpy(zero_copy_only=False)
    if is_known is not None and use == "known":
        cell, cell_group, cell_unit = set_apart(is_known, cell, cell_group, cell_unit)
    n_cells = len(cell_group)
    size = counted(cell, n_cells)
    # the weights are float64, and a mean may not leave [0, 1] by rounding
    sums = summed(cell, lambda part: score[part].astype(np.float64), n_cells)
    arrays: dict[str, NDArray[Any]] = {}
    if METRICS[plan.question.metric].of_true_classes and plan.pool.probabilities is not None:
        arrays["mean_probability"] = mean_probabilities(
            plan.pool, len(predictions.classes), cell, size
        )
    if plan.question.metric == "cost":
        arrays["costs"] = read_costs(plan.question, predictions.classes)
    header: dict[str, Any] = {
        "n_items": predictions.n_items,
        "seed": plan.seed,
        "classes": predictions.classes,
        "group_names": names,
        "group_sizes": counted(group, len(names)).tolist(),
        "group_mean_logit": _or_none(mean_logits(group, score, len(names))),
        "units": units,
        "cells": {
            "group": cell_group.tolist(),
            "unit": cell_unit.tolist(),
            "size": size.tolist(),
            "start": (np.cumsum(size) - size).tolist(),
            "mean_score": _or_none(np.clip(sums / size, 0, 1)),
            "mean_logit": _or_none(mean_logits(cell, score, n_cells)),
        },
        "columns": [*OWN_COLUMNS, *plan.pool.data],
    }
    if plan.question.positive is not None:
        expected = np.where(cell_unit == 1, sums, size - sums).sum() / size.sum()
        header["positive_share"] = None if np.isnan(expected) else float(expected)
    if several is not None:
        header["models"] = several.models.as_json()
        arrays |= several.models.arrays()
    if within is not None:
        header["parents"] = within
    if levels:
        header["levels"] = levels
    prompt = predictions.predicted if plan.pool.pairs_by is not None else None
    if prompt is not None:
        header["n_prompts"] = int(prompt.max()) + 1
    if opinions:
        header["opinions"] = [told.as_json() for told in told_by(opinions, cell, n_cells)]
        if (together := all_sure(opinions, score, cell, n_cells)) is not None:
            header["all_sure"] = together.tolist()
    gold = read_gold(plan, predictions.classes, predictions.texts.ids)
    if gold:
        header["gold"] = [[known.item_id, known.truth, known.data] for known in gold]
    if is_known is None:
        return header, arrays, places(cell, size, plan.seed, prompt)
    name = "" if file is None else file.path.name
    known = known_labels(use, labels, cell, predictions.predicted, n_cells, name)
    header["known"] = known.as_json()
    return header, arrays, places_after_known(labels, cell, n_cells, plan.seed, prompt)


def _blocks(
    texts: Iterator[tuple[slice, pa.RecordBatch]],
    predicted: NDArray[np.int32],
    score: NDArray[np.float32],
    size: NDArray[np.int64],
    tell: Callable[[int], None],
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the compiled file in blocks, as the texts come."""
    end = np.cumsum(size)
    for rows, kept in texts:
        cell = np.searchsorted(end, np.arange(rows.start, rows.stop), side="right")
        item_id, *shown = kept.columns
        own = [
            item_id,
            pa.array(predicted[rows]),
            pa.array(score[rows]),
            pa.array(cell.astype(np.int32)),
        ]
        names = [*OWN_COLUMNS, *kept.schema.names[1:]]
        yield pa.RecordBatch.from_arrays([*own, *shown], names=names)
        tell(rows.stop)


def _or_none(values: NDArray[np.float64]) -> list[float | None]:
    """Return numbers as JSON has them, which knows no NaN."""
    return [None if number != number else number for number in values.tolist()]

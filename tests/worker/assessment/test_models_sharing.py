"""Pools whose models have more products of groups than cells: rare ones share a cell."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from itertools import islice

import numpy as np
import pytest

from tests.worker.assessment.shared_pool import (
    CLASSES,
    IDENTIFY,
    N_CLASSES,
    ROWS,
    assessed,
    at_most,
    plan_of_many,
    truth_of,
    write_many,
)
from worker.core.posterior.summary import mean
from worker.errors import PredictionsError
from worker.pool import compile_pool, open_pool
from worker.pool.models import SHARED, models_from
from worker.pool.truth import read_truth
from worker.simulate.jointly import all_counted
from worker.simulate.replay import labels
from worker.store.tally import tally_key

BY_REGION = {"task": "compare", "where": "groups"}


@pytest.mark.parametrize("rows", [ROWS, 30, N_CLASSES])
def test_no_view_has_more_rows_than_allowed(tmp_path, rows):
    work = assessed(tmp_path, IDENTIFY, rows)
    assert work.pool.models.layout.size.size > rows
    assert work.pool.n_cells <= rows
    assert max(view.cell.size for view in work.several.views) <= rows


@pytest.mark.parametrize("rows", [ROWS, 30, N_CLASSES])
def test_the_counts_of_shared_cells_are_those_of_their_items(tmp_path, rows):
    work, rng = assessed(tmp_path, IDENTIFY, rows), np.random.default_rng(3)
    pool, truth = work.pool, read_truth(work.plan, work.pool, "truth")
    cell = np.repeat(np.arange(pool.n_cells), pool.cell_size)
    labelled = rng.permutation(pool.n_items)[:300]
    tally = Counter(
        tally_key(claim, int(cell[row]), int(pool.predicted[row]), CLASSES[truth[row]])
        for claim, row in enumerate(labelled)
    )
    belief = work.believe(tally)
    said = pool.models.said[pool.predicted]
    for m, (part, view) in enumerate(zip(belief.parts, work.several.views, strict=True)):
        for c in range(view.cell.size):
            own = (cell == view.cell[c]) & (said[:, m] == view.group[c])
            right = (said[:, m] == truth)[labelled][own[labelled]]
            assert part.size[c] == own.sum()
            assert (part.right[c], part.wrong[c]) == (right.sum(), (~right).sum())
        assert part.size.sum() == pool.n_items


def test_once_all_is_labelled_every_model_has_its_true_accuracies(tmp_path):
    work = assessed(tmp_path, IDENTIFY, 30)
    truth, said = read_truth(work.plan, work.pool, "truth"), work.pool.models.said
    said = said[work.pool.predicted]
    for m, part in enumerate(all_counted(work.several, truth_of(work)).parts):
        expected = [(truth == k)[said[:, m] == k].mean() for k in range(N_CLASSES)]
        np.testing.assert_allclose(mean(part), expected)


def test_items_of_one_prediction_count_in_the_groups_that_a_column_puts_them_in(tmp_path):
    groups = {"groups": ["region", "predicted_class"]}
    work = assessed(tmp_path, IDENTIFY, 40, seed=4, regions=3, pool=groups)
    pool, truth = work.pool, read_truth(work.plan, work.pool, "truth")
    with (tmp_path / "old.csv").open() as file:
        region_of = {row["item_id"]: row["region"] for row in csv.DictReader(file)}
    said = pool.models.said[pool.predicted]
    for m, part in enumerate(all_counted(work.several, truth_of(work)).parts):
        right: dict[str, list[bool]] = defaultdict(list)
        for row, item in enumerate(pool.item_ids.to_pylist()):
            name = f"{region_of[item]} × {CLASSES[said[row, m]]}"
            right[name].append(bool(said[row, m] == truth[row]))
        expected = [np.mean(right[name]) for name in pool.models.own_names[m]]
        np.testing.assert_allclose(mean(part), expected)


def test_a_pool_whose_products_fit_is_cut_as_ever(tmp_path):
    write_many(tmp_path)
    plan = plan_of_many(tmp_path, IDENTIFY)
    many = compile_pool(plan, tmp_path / "many")
    with at_most(many.n_cells):
        few = compile_pool(plan, tmp_path / "few")
    assert few.file_sha256 == many.file_sha256
    assert "portions" not in few.models.as_json()
    assert SHARED not in few.group_names


def test_a_shared_pool_is_read_as_it_was_written(tmp_path):
    pool = assessed(tmp_path, IDENTIFY).pool
    told = json.loads(json.dumps(pool.models.as_json()))
    read = models_from({"models": told, "cells": {"size": pool.cell_size.tolist()}})
    assert read.as_json() == pool.models.as_json()
    again = open_pool(pool.path)
    np.testing.assert_array_equal(again.models.portion, pool.models.portion)
    np.testing.assert_array_equal(
        np.bincount(again.models.layout.cells, again.models.layout.size), pool.cell_size
    )


def test_more_groups_than_rows_are_refused_with_a_cure(tmp_path):
    with pytest.raises(PredictionsError, match=r"told apart in 12 places, and at most 11 .*coarse"):
        assessed(tmp_path, IDENTIFY, N_CLASSES - 1)


def test_to_compare_models_only_items_on_which_they_agree_share_a_cell(tmp_path):
    parts = {"pool": {"groups": "region"}, "stop": {"rope": {"epsilon": 0.2}}}
    work = assessed(tmp_path, BY_REGION, 45, **parts)
    pool, outcome = work.pool, truth_of(work)
    assert pool.group_names[-1] == SHARED
    said, truth = pool.models.said[pool.predicted], read_truth(work.plan, pool, "truth")
    region = pool.models.own[work.several.offered.portions(), 0]
    found = mean(all_counted(work.several, outcome))
    for g in range(len(work.several.asked)):
        right = (said == truth[:, None])[region == g]
        assert found[g] == pytest.approx(right[:, 0].mean() - right[:, 1].mean())
    for revealed in islice(labels(work, outcome), 100):
        assert said[revealed.row, 0] != said[revealed.row, 1]
    with pytest.raises(PredictionsError, match="where models disagree, have to be told apart"):
        assessed(tmp_path / "more", BY_REGION, 39, **parts)

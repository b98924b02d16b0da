"""Several models in one pool: what is counted of each, and what does not fit together."""

import csv
from itertools import pairwise

import numpy as np
import pytest

from tests.worker.assessment.models_pool import (
    CLASSES,
    COMPARE,
    TWO,
    plan_of,
    values_of,
    write_models,
)
from worker.assessment import assess
from worker.core.posterior.summary import mean
from worker.errors import PoolChanged, PredictionsError
from worker.pool import compile_pool, models_cutting
from worker.pool.models import models_from
from worker.pool.truth import read_truth
from worker.simulate.jointly import all_counted
from worker.simulate.truths import outcomes


@pytest.mark.parametrize("models", [("old", "new"), ("old", "new", "third")])
def test_every_label_says_of_every_model_whether_it_is_right(tmp_path, models):
    write_models(tmp_path, {"old": 0.5, "new": 0.7, "third": 0.6}, n=300)
    plan = plan_of(tmp_path, values_of(list(models), {"task": "identify"}))
    pool = compile_pool(plan, tmp_path / "pools")
    truth = read_truth(plan, pool, "truth")
    work = assess(plan, pool)
    outcome = outcomes(work, truth)
    done = all_counted(work.several, outcome)
    said = pool.models.said[pool.predicted]
    for m, part in enumerate(done.parts):
        right = said[:, m] == truth
        for k in range(len(CLASSES)):
            own = said[:, m] == k
            assert mean(part)[k] == pytest.approx(right[own].mean())


def test_items_of_one_prediction_count_in_the_groups_that_a_column_puts_them_in(tmp_path):
    write_models(tmp_path, TWO, n=300)
    values = values_of(["old", "new"], {"task": "identify"})
    values["pool"]["groups"] = ["region", "predicted_class"]
    plan = plan_of(tmp_path, values)
    pool = compile_pool(plan, tmp_path / "pools")
    truth, work = read_truth(plan, pool, "truth"), assess(plan, pool)
    with (tmp_path / "old.csv").open() as file:
        region_of = {row["item_id"]: row["region"] for row in csv.DictReader(file)}
    region = np.array([region_of[item] for item in pool.item_ids.to_pylist()])
    said = pool.models.said[pool.predicted]
    for m, part in enumerate(all_counted(work.several, outcomes(work, truth)).parts):
        for g, name in enumerate(pool.models.own_names[m]):
            of_region, of_class = name.split(" × ")
            own = (region == of_region) & (said[:, m] == CLASSES.index(of_class))
            assert mean(part)[g] == pytest.approx((said[:, m] == truth)[own].mean())


@pytest.mark.parametrize("where", ["overall", "groups", "both"])
def test_a_labelled_pool_has_its_true_differences(tmp_path, where):
    write_models(tmp_path, {"old": 0.5, "new": 0.7, "third": 0.6}, n=300)
    values = values_of(["old", "new", "third"], COMPARE | {"where": where})
    values["pool"]["groups"] = "region"
    plan = plan_of(tmp_path, values)
    pool = compile_pool(plan, tmp_path / "pools")
    truth = read_truth(plan, pool, "truth")
    work = assess(plan, pool)
    found = mean(all_counted(work.several, outcomes(work, truth)))
    said = pool.models.said[pool.predicted]
    right = said == truth[:, None]
    group = np.repeat(pool.cell_group, pool.cell_size)
    for g, asked in enumerate(work.several.asked):
        own = np.ones(300, bool)
        if asked.group != "all items":
            own = group == pool.group_names.index(asked.group)
        expected = right[own, asked.first].mean() - right[own, asked.second].mean()
        assert found[g] == pytest.approx(expected)


def test_a_model_that_misses_items_is_refused_by_name(tmp_path):
    write_models(tmp_path, TWO, n=50)
    lines = (tmp_path / "new.csv").read_text().splitlines()
    (tmp_path / "new.csv").write_text("\n".join(lines[:40]) + "\n")
    plan = plan_of(tmp_path, values_of(["old", "new"], COMPARE))
    with pytest.raises(PredictionsError, match="the model new misses 11 of the 50 items of old"):
        compile_pool(plan, tmp_path / "pools")


def test_a_model_with_more_items_is_refused_by_name(tmp_path):
    write_models(tmp_path, TWO, n=50)
    lines = (tmp_path / "old.csv").read_text().splitlines()
    (tmp_path / "old.csv").write_text("\n".join(lines[:49]) + "\n")
    plan = plan_of(tmp_path, values_of(["old", "new"], COMPARE))
    with pytest.raises(PredictionsError, match="new has 2 items that old has not"):
        compile_pool(plan, tmp_path / "pools")


def test_one_id_for_two_contents_is_refused(tmp_path):
    write_models(tmp_path, TWO, n=50)
    text = (tmp_path / "new.csv").read_text()
    (tmp_path / "new.csv").write_text(text.replace("http://images/7.png", "http://images/x.png"))
    plan = plan_of(tmp_path, values_of(["old", "new"], COMPARE))
    with pytest.raises(PredictionsError, match="1 items of the model new have another image"):
        compile_pool(plan, tmp_path / "pools")


def test_the_order_of_the_files_does_not_matter(tmp_path):
    write_models(tmp_path, TWO, n=80)
    plan = plan_of(tmp_path, values_of(["old", "new"], {"task": "identify"}))
    before = compile_pool(plan, tmp_path / "pools")
    head, *rows = (tmp_path / "new.csv").read_text().splitlines()
    (tmp_path / "new.csv").write_text("\n".join([head, *rows[::-1]]) + "\n")
    after = compile_pool(plan, tmp_path / "pools")
    assert (after.predicted == before.predicted).all()
    assert after.item_ids.equals(before.item_ids)


def test_cells_are_in_one_group_of_every_model_and_in_one_pattern(tmp_path):
    write_models(tmp_path, {"old": 0.5, "new": 0.7, "third": 0.6}, n=300)
    plan = plan_of(tmp_path, values_of(["old", "new", "third"], {"task": "identify"}))
    pool = compile_pool(plan, tmp_path / "pools")
    said = pool.models.said[pool.predicted]
    own = np.repeat(pool.models.own, pool.cell_size, axis=0)
    assert (own == said).all()
    assert (np.diff(pool.cell_group) >= 0).all()
    assert all(
        a + n == b for (a, b), n in zip(pairwise(pool.cell_start), pool.cell_size, strict=False)
    )


def test_where_cells_are_scarce_there_are_fewer_strata_and_too_many_products_are_refused(
    tmp_path, monkeypatch
):
    write_models(tmp_path, TWO, n=300)
    plan = plan_of(tmp_path, values_of(["old", "new"], {"task": "identify"}))
    usual = compile_pool(plan, tmp_path / "usual")
    n_products = len(usual.group_names)  # two models agree or not by their classes alone
    assert usual.n_cells > 2 * n_products
    monkeypatch.setattr(models_cutting, "MOST_CELLS", 2 * n_products)
    assert n_products <= compile_pool(plan, tmp_path / "scarce").n_cells <= 2 * n_products
    monkeypatch.setattr(models_cutting, "MOST_CELLS", n_products - 1)
    with pytest.raises(PredictionsError, match=f"make {n_products} products.* something coarser"):
        compile_pool(plan, tmp_path / "none")


def test_a_pool_whose_products_share_cells_is_left_to_the_release_that_made_it():
    with pytest.raises(PoolChanged, match="finish it with that one"):
        models_from({"models": {"portions": {}}}, {})

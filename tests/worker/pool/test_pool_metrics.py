"""What the compiled pool keeps for each metric: units, logits, probabilities, costs, the truth."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.assessment.believing import first_belief
from worker.assessment.outcomes import outcomes
from worker.errors import PlanError, PoolChanged, PredictionsError
from worker.plan import Plan
from worker.pool import (
    Pool,
    check_question,
    check_source,
    compile_pool,
    cost_matrix,
    open_pool,
    read_truth,
)
from worker.pool.known import KnownLabels

CLASSES = ("cat", "dog", "cow")
N = 240


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    probabilities = rng.dirichlet([0.6] * 3, N).astype(np.float32)
    table: dict[str, Any] = {f"p_{name}": probabilities[:, k] for k, name in enumerate(CLASSES)}
    table |= {
        "item_id": [f"i{n}" for n in range(N)],
        "region": [("north", "south")[n % 2] for n in range(N)],
        "animal": [CLASSES[int(k)] for k in rng.integers(0, 3, N)],
        "said": [CLASSES[int(k)] for k in probabilities.argmax(axis=1)],
        "sure": probabilities.max(axis=1),
        "text": [f"text {n}" for n in range(N)],
    }
    pq.write_table(pa.table(table), tmp_path / "p.parquet")
    return tmp_path


def plan_of(folder: Path, question: dict[str, Any], **parts: Any) -> Plan:
    pool = {
        "predictions": folder / "p.parquet",
        "probabilities": [f"p_{name}" for name in CLASSES],
        "data": {"text": "text"},
    }
    more = {key: parts.pop(key) for key in ("stop", "prior", "population") if key in parts}
    question = {"task": "estimate"} | question
    return Plan.model_validate(
        {"assessment": "a", "pool": pool | parts, "question": question} | more
    )


def pool_of(folder: Path, question: dict[str, Any], **parts: Any) -> Pool:
    return compile_pool(plan_of(folder, question, **parts), folder / "pools")


def scores_of(folder: Path) -> dict[str, float]:
    """The score of every item by its id, read without our own code."""
    rows = pq.read_table(folder / "p.parquet").to_pylist()
    return {row["item_id"]: max(row[f"p_{name}"] for name in CLASSES) for row in rows}


def without_scores(folder: Path, **parts: Any) -> Pool:
    columns = {"probabilities": None, "predicted": "said"}
    return pool_of(folder, {}, **columns, **parts)


# --- units and logits --------------------------------------------------------------------------


def test_the_cells_of_a_calibration_error_are_class_by_bin(folder):
    pool = pool_of(folder, {"metric": "ece", "bins": 5}, strata=1)

    assert pool.unit_names == tuple(f"score {k / 5:.2f}-{(k + 1) / 5:.2f}" for k in range(5))
    pairs = list(zip(pool.cell_group.tolist(), pool.cell_unit.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    for row in range(pool.n_items):
        cell = pool.item(row).cell
        assert int(pool.cell_unit[cell]) == min(int(pool.score[row] * 5), 4)
        assert int(pool.cell_group[cell]) == int(pool.predicted[row])


def test_bins_of_equal_mass_are_cut_at_scores_that_all_groups_share(folder):
    pool = pool_of(folder, {"metric": "ece", "bins": "equal_mass(4)"})
    sizes = np.bincount(pool.cell_unit, weights=pool.cell_size)
    assert sizes.tolist() == [N / 4] * 4


def test_strata_may_lie_inside_bins(folder):
    one = pool_of(folder, {"metric": "ece", "bins": 2}, strata=1)
    two = pool_of(folder, {"metric": "ece", "bins": 2})
    assert two.n_cells > one.n_cells
    order = np.lexsort((two.cell_mean_score, two.cell_unit, two.cell_group))
    assert order.tolist() == list(range(two.n_cells))


def test_where_the_groups_are_score_bins_the_bins_of_the_metric_are_the_groups(folder):
    pool = pool_of(folder, {"metric": "ece"}, groups="score_bin(10)", strata=1)
    assert pool.unit_names == ("",)
    assert pool.n_cells == int((pool.group_size > 0).sum())


def test_the_units_of_a_true_positive_rate_are_what_was_predicted(folder):
    pool = pool_of(folder, {"metric": "tpr", "positive": "dog"}, groups="region", strata=1)
    assert pool.unit_names == ("predicted another class", "predicted dog")
    assert pool.cell_group.tolist() == [0, 0, 1, 1]
    assert pool.cell_unit.tolist() == [0, 1, 0, 1]
    for cell in range(pool.n_cells):
        said = {pool.classes[int(pool.predicted[row])] == "dog" for row in pool.rows_of(cell)}
        assert said == {bool(pool.cell_unit[cell])}


def test_a_positive_class_that_is_not_known_is_refused_with_the_nearest(folder):
    with pytest.raises(PlanError, match=r"question\.positive: the class 'dgo' is not known"):
        pool_of(folder, {"metric": "tpr", "positive": "dgo"}, groups="region")


def test_mean_logits_are_those_of_the_clipped_scores(folder):
    pool = pool_of(folder, {}, classes=[*CLASSES])
    score = scores_of(folder)
    clipped = np.clip([score[item] for item in pool.item_ids.to_pylist()], 1e-4, 1 - 1e-4)
    logits = np.log(clipped / (1 - clipped))
    for cell in range(pool.n_cells):
        rows = pool.rows_of(cell)
        assert pool.cell_mean_logit[cell] == pytest.approx(logits[rows.start : rows.stop].mean())
    for group in range(3):
        assert pool.group_mean_logit[group] == pytest.approx(logits[pool.predicted == group].mean())


def test_a_group_without_items_has_no_mean_logit(folder):
    pool = pool_of(folder, {}, probabilities=None, predicted="said", score="sure",
                   classes=["ant", *CLASSES])  # fmt: skip
    assert np.isnan(pool.group_mean_logit).tolist() == [True, False, False, False]


def test_scores_of_exactly_one_have_a_finite_logit(folder):
    table = {"item_id": ["a", "b"], "said": ["cat", "dog"], "sure": [1.0, 0.0]}
    pq.write_table(pa.table(table), folder / "p.parquet")
    pool = pool_of(folder, {}, probabilities=None, predicted="said", score="sure",
                   data={"text": "item_id"})  # fmt: skip
    assert np.abs(pool.cell_mean_logit) == pytest.approx([np.log(9999)] * 2)


def test_a_pool_without_scores_has_one_cell_a_group_and_no_means(folder):
    pool = without_scores(folder)
    assert not pool.has_scores
    assert pool.n_cells == 3
    assert np.isnan(pool.cell_mean_score).all()
    assert np.isnan(pool.cell_mean_logit).all()
    assert np.isnan(pool.score).all()
    assert pool_of(folder, {}).has_scores


# --- probabilities -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "groups"),
    [
        ({"metric": "confusion"}, "predicted_class"),
        ({"metric": "tpr", "positive": "cow"}, "region"),
    ],
)
def test_a_metric_of_true_classes_keeps_the_mean_probabilities_of_each_cell(
    folder, question, groups
):
    pool = pool_of(folder, question, groups=groups, strata=3)
    rows = {row["item_id"]: row for row in pq.read_table(folder / "p.parquet").to_pylist()}
    ids = pool.item_ids.to_pylist()

    assert pool.cell_mean_probability is not None
    assert pool.cell_mean_probability.shape == (pool.n_cells, 3)
    assert pool.cell_mean_probability.dtype == np.float32
    for cell in range(pool.n_cells):
        of_items = [[rows[ids[row]][f"p_{c}"] for c in CLASSES] for row in pool.rows_of(cell)]
        mean = np.mean(of_items, axis=0)
        assert pool.cell_mean_probability[cell] == pytest.approx(mean, abs=1e-6)
    again = open_pool(pool.path, pool.file_sha256)
    assert np.array_equal(again.cell_mean_probability, pool.cell_mean_probability)


@pytest.mark.parametrize("strata", [1, 3])
def test_the_shares_of_a_true_positive_rates_errors_leave_out_what_was_predicted(folder, strata):
    plan = plan_of(
        folder, {"metric": "tpr", "positive": "dog"}, groups="region", strata=strata,
        prior={"kind": "informative"},
    )  # fmt: skip
    pool = compile_pool(plan, folder / "pools")
    found = outcomes(plan, pool)
    rows = {row["item_id"]: row for row in pq.read_table(folder / "p.parquet").to_pylist()}
    expected = np.zeros((pool.n_cells, 2))
    for row in range(pool.n_items):
        item = pool.item(row)
        for name in set(CLASSES) - {CLASSES[int(pool.predicted[row])]}:
            expected[item.cell, int(name != "dog")] += rows[item.item_id][f"p_{name}"]
    assert found.share == pytest.approx(expected / pool.cell_size[:, None], abs=1e-5)
    prior = first_belief(plan, pool, found).errors.prior
    kinds = prior / prior.sum(axis=1, keepdims=True)
    assert kinds == pytest.approx(expected / expected.sum(axis=1, keepdims=True), abs=1e-4)


def test_other_metrics_and_pools_with_scores_only_keep_no_probabilities(folder):
    only_scores = {"probabilities": None, "predicted": "said", "score": "sure"}
    for pool in (
        pool_of(folder, {}),
        pool_of(folder, {"metric": "ece"}),
        pool_of(folder, {"metric": "confusion"}, prior={"kind": "uniform"}, **only_scores),
    ):
        assert pool.cell_mean_probability is None
        assert pool.costs is None


@given(n_classes=st.integers(2, 5), n=st.integers(1, 40), strata=st.integers(1, 3))
def test_mean_probabilities_are_the_same_from_a_list_column(tmp_path_factory, n_classes, n, strata):
    folder = tmp_path_factory.mktemp("lists")
    rows = np.random.default_rng(n).dirichlet([1.0] * n_classes, n)
    names = [f"c{k}" for k in range(n_classes)]
    table = {"item_id": [str(i) for i in range(n)], "probs": rows.tolist()}
    table |= {f"p_c{k}": rows[:, k].tolist() for k in range(n_classes)}
    pq.write_table(pa.table(table), folder / "p.parquet")
    parts = {"data": {"text": "item_id"}, "classes": names, "strata": strata}

    listed = pool_of(folder, {"metric": "confusion"}, probabilities="probs", **parts)
    apart = pool_of(
        folder, {"metric": "confusion"}, probabilities=[f"p_{name}" for name in names], **parts
    )

    assert listed.cell_mean_probability == pytest.approx(apart.cell_mean_probability)


def test_an_altered_table_of_probabilities_is_found_out(folder):
    pool = pool_of(folder, {"metric": "confusion"})
    assert pool.cell_mean_probability is not None
    first = pool.cell_mean_probability[0].tobytes()
    pool.path.write_bytes(pool.path.read_bytes().replace(first, bytes(12)))
    with pytest.raises(PoolChanged, match="damaged"):
        open_pool(pool.path)


def test_the_hash_follows_what_the_metric_keeps_and_not_what_the_task_is(folder):
    tpr = {"metric": "tpr", "positive": "dog"}
    pools = [
        pool_of(folder, {}, strata=1),
        pool_of(folder, {"metric": "ece"}),
        pool_of(folder, {"metric": "ece", "bins": 5}),
        pool_of(folder, {"metric": "confusion"}, strata=1),
        pool_of(folder, tpr, groups="region"),
        pool_of(folder, tpr | {"positive": "cat"}, groups="region"),
    ]
    assert len({pool.hash for pool in pools}) == len(pools)
    same = pool_of(folder, {"metric": "bias", "task": "identify"}, strata=1)
    assert same.hash == pools[0].hash


# --- costs -------------------------------------------------------------------------------------

NAMED = "true,cow,cat,dog\ndog,1,2,0\ncat,3,0,4\ncow,0,5,6\n"
IN_ORDER = np.array([[0, 4, 3], [2, 0, 1], [5, 6, 0]], dtype=float)


def costs_of(folder: Path, text: str, **question: Any) -> np.ndarray:
    (folder / "c.csv").write_text(text, encoding="utf-8")
    asked = {"metric": "cost", "costs": str(folder / "c.csv")} | question
    plan = plan_of(folder, asked)
    return cost_matrix(plan, compile_pool(plan, folder / "pools"))


@pytest.mark.parametrize("text", [NAMED, "0,4,3\n2,0,1\n5,6,0\n", "0, 4, 3\n\n2,0,1\n5,6,0"])
def test_costs_are_read_by_their_names_or_in_the_order_of_the_classes(folder, text):
    assert np.array_equal(costs_of(folder, text), IN_ORDER)


def test_classes_that_are_numbers_may_name_rows_and_columns(folder):
    table = pq.read_table(folder / "p.parquet").rename_columns(
        {f"p_{name}": f"p_{k}" for k, name in enumerate(CLASSES)}
    )
    pq.write_table(table, folder / "p.parquet")
    parts = {"probabilities": ["p_0", "p_1", "p_2"], "classes": ["0", "1", "2"]}
    found = []
    for text in (",2,1,0\n0,7,8,9\n1,4,5,6\n2,1,2,3\n", "9,8,7\n6,5,4\n3,2,1\n"):
        (folder / "c.csv").write_text(text)
        plan = plan_of(folder, {"metric": "cost", "costs": str(folder / "c.csv")}, **parts)
        found.append(cost_matrix(plan, compile_pool(plan, folder / "pools")).tolist())
    assert found[0] == found[1] == [[9, 8, 7], [6, 5, 4], [3, 2, 1]]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0,1\n1,0\n", "has 2 rows of 2 costs, expected 3 rows of 3"),
        ("0,1,1\n1,0,1\n", "has 2 rows of 3 costs, expected 3 rows of 3"),
        ("0,1,1\n1,0\n1,1,0\n", "has 3 rows of 2 or 3 costs"),
        ("0,1,1\n1,0,1\n1,1,0\n1,1,1\n", "has 4 rows of 3 costs"),
        ("", "has 0 rows of no costs"),
        ("0,1,1\n1,nan,1\n1,1,0\n", "'nan' for the true class dog predicted as dog"),
        ("0,1,1\n1,0,inf\n1,1,0\n", "'inf' for the true class dog predicted as cow"),
        ("0,1,1\n1,0,\n1,1,0\n", "'' for the true class dog predicted as cow"),
        ("0,1,1\n1,x,y\n1,1,0\n", r"\(2 such in all\), expected a finite number"),
        (NAMED.replace("dog,1,2,0", "dog,1,NaN,0"), "'NaN' for the true class dog .* as cat"),
        (NAMED.replace("\ncow", "\ncrow"), "'crow' in its first column.*did you mean cow"),
        (NAMED.replace(",dog", ",emu"), "'emu' in its first row, which is no class"),
        (NAMED.replace(",dog", ",cat"), "the class cat 2 times in its first row"),
        (NAMED.replace("cow,0,5,6\n", ""), "the class cow 0 times in its first column"),
        (NAMED.replace("3,0,4", "3,0"), "has 3 rows of 2 or 3 costs"),
    ],
)
def test_costs_that_cannot_be_used_are_refused_with_key_and_cure(folder, text, reason):
    with pytest.raises(PlanError, match=reason) as caught:
        costs_of(folder, text)
    assert "question.costs" in str(caught.value)


def test_a_file_of_costs_that_is_not_there_is_told_with_what_may_be_meant(folder):
    plan = plan_of(folder, {"metric": "cost", "costs": str(folder / "superclas")})
    with pytest.raises(PredictionsError, match=r"`question\.costs`; did you mean superclass\?"):
        compile_pool(plan, folder / "pools")


def test_changed_costs_under_a_running_assessment_are_refused(folder):
    (folder / "c.csv").write_text(NAMED)
    plan = plan_of(folder, {"metric": "cost", "costs": str(folder / "c.csv")})
    pool = compile_pool(plan, folder / "pools")
    check_source(pool, plan)
    (folder / "c.csv").write_text(NAMED.replace("6", "7"))
    with pytest.raises(PoolChanged, match="the file with the costs changed"):
        check_source(pool, plan)
    assert np.array_equal(cost_matrix(plan, open_pool(pool.path, pool.file_sha256)), IN_ORDER)


def test_the_costs_human_make_mistaking_a_person_dear(folder):
    asked = {"metric": "cost", "costs": "human", "people": ["dog"]}
    assert cost_matrix(plan_of(folder, asked), pool_of(folder, asked)).tolist() == [
        [0, 1, 1],
        [10, 0, 10],
        [1, 1, 0],
    ]


def test_the_costs_superclass_make_mistakes_across_superclasses_dear(folder):
    (folder / "map.csv").write_text("class,superclass\ncat,people\ndog,people\ncow,farm\n")
    asked = {"metric": "cost", "superclasses": str(folder / "map.csv"), "cost_ratio": 5}
    above = pool_of(folder, asked | {"costs": "superclass"}).costs
    human = pool_of(folder, asked | {"costs": "human"}).costs
    assert above is not None
    assert human is not None
    assert above.tolist() == [[0, 1, 5], [1, 0, 5], [5, 5, 0]]
    assert human.tolist() == [[0, 5, 5], [5, 0, 5], [1, 1, 0]]


def test_who_is_a_person_must_be_known(folder):
    with pytest.raises(PlanError, match=r"question\.people: missing"):
        pool_of(folder, {"metric": "cost", "costs": "human"})
    with pytest.raises(PlanError, match=r"question\.people: the class 'dgo' .*did you mean dog"):
        pool_of(folder, {"metric": "cost", "costs": "human", "people": ["dgo"]})
    (folder / "map.csv").write_text("class,superclass\ncat,home\n")
    asked = {"metric": "cost", "costs": "superclass", "superclasses": str(folder / "map.csv")}
    with pytest.raises(PredictionsError, match="no superclass for the class dog, cow"):
        pool_of(folder, asked)


def test_a_pool_without_costs_says_so(folder):
    with pytest.raises(PlanError, match="the metric is accuracy"):
        cost_matrix(plan_of(folder, {}), pool_of(folder, {}))


# --- the truth ---------------------------------------------------------------------------------


@pytest.mark.parametrize("strata", [1, 4])
def test_the_truth_stands_in_the_order_of_the_pools_rows(folder, strata):
    plan = plan_of(folder, {}, strata=strata)
    pool = compile_pool(plan, folder / "pools")
    rows = pq.read_table(folder / "p.parquet").to_pylist()
    animal = {row["item_id"]: row["animal"] for row in rows}

    truth = read_truth(plan, pool, "animal")

    assert truth.shape == (N,)
    said = [pool.classes[code] for code in truth]
    assert said == [animal[item] for item in pool.item_ids.to_pylist()]


def test_a_column_that_is_not_there_is_told_with_the_nearest(folder):
    plan = plan_of(folder, {})
    with pytest.raises(PredictionsError, match=r"no column anmal .*did you mean animal.*--truth"):
        read_truth(plan, compile_pool(plan, folder / "pools"), "anmal")


def truth_of(folder: Path, animals: list[str | None], **parts: Any) -> np.ndarray:
    said = ["cat", "dog", "cat", "dog"]
    table = {"item_id": list("wxyz"), "said": said, "sure": [0.9] * 4, "animal": animals}
    pq.write_table(pa.table(table), folder / "p.parquet")
    columns = {"probabilities": None, "predicted": "said", "score": "sure", "strata": 1}
    plan = plan_of(folder, {}, **columns, data={"text": "item_id"}, **parts)
    pool = compile_pool(plan, folder / "pools")
    order = np.argsort(pool.item_ids.to_pylist())
    return read_truth(plan, pool, "animal")[order]


def test_a_truth_that_lacks_items_is_refused_with_their_number_and_ids(folder):
    with pytest.raises(PredictionsError) as caught:
        truth_of(folder, ["cat", None, "", "dog"])
    assert "missing for 2 of 4 items (first: x, y); fill it in" in str(caught.value)


@pytest.mark.parametrize(
    ("ids", "rows"), [(["w", None, "y", "z"], "row 2"), (["w", None, "", None], "rows 2, 3, 4")]
)
@pytest.mark.parametrize("name", ["t.parquet", "t.jsonl"])
def test_a_truth_without_the_ids_of_its_items_is_refused_with_the_rows(folder, ids, rows, name):
    truth = folder / name
    if truth.suffix == ".parquet":
        pq.write_table(pa.table({"item_id": ids, "animal": ["cat"] * 4}), truth)
    else:
        lines = (json.dumps({"item_id": i, "animal": "cat"}) for i in ids)
        truth.write_text("\n".join(lines), encoding="utf-8")
    plan = plan_of(folder, {})
    pool = compile_pool(plan, folder / "pools")
    with pytest.raises(PredictionsError, match=rf"id \(column item_id\) is missing .* in {rows}$"):
        read_truth(plan, pool, f"{truth}:animal")


def test_a_class_that_is_never_predicted_is_a_further_class_unless_the_plan_lists_them(folder):
    animals: list[str | None] = ["cat", "cow", "dog", "emu"]
    assert truth_of(folder, animals).tolist() == [0, 2, 1, 3]
    with pytest.raises(PredictionsError, match=r"holds 2 classes .*'cow', 'emu'.*`pool\.classes`"):
        truth_of(folder, animals, classes=["cat", "dog"])


def test_a_truth_in_other_words_than_the_predictions_is_refused(folder):
    with pytest.raises(PredictionsError, match="did you mean cat"):
        truth_of(folder, ["Cat", "Dog", "Cat", "Dog"])


# --- the question and the pool -----------------------------------------------------------------


def test_a_budget_that_is_spent_before_the_rule_may_fire_is_refused(folder):
    stop = {"min_per_group": 20, "budget": 59}
    plan = plan_of(folder, {}, stop=stop)
    pool = compile_pool(plan, folder / "pools")
    with pytest.raises(PlanError, match=r"stop\.budget: came 59.*are 60, so the rule could never"):
        check_question(plan, pool)
    check_question(plan_of(folder, {}, stop=stop | {"budget": 60}), pool)


def test_a_budget_need_not_pay_for_groups_that_are_not_compared(folder):
    compare = {"task": "compare", "compare": ["cat", "dog"]}
    stop = {"min_per_group": 20, "budget": 40}
    plan = plan_of(folder, compare, stop=stop)
    pool = compile_pool(plan, folder / "pools")
    check_question(plan, pool)
    with pytest.raises(PlanError, match=r"came 39.*in question.*are 40"):
        check_question(plan_of(folder, compare, stop=stop | {"budget": 39}), pool)


def test_a_budget_need_not_pay_for_items_that_are_known_already(folder):
    plan = plan_of(folder, {}, strata=1, stop={"min_per_group": 20, "budget": 45})
    pool = compile_pool(plan, folder / "pools")
    known = KnownLabels("known", pool.cell_size - 15, {})
    check_question(plan, replace(pool, known=known))
    with pytest.raises(PlanError, match="are 60"):
        check_question(plan, pool)


def test_a_pool_of_the_format_before_is_refused(folder):
    pool = pool_of(folder, {})
    with pa.ipc.open_file(pool.path) as reader:
        metadata, batch = dict(reader.schema.metadata), reader.get_batch(0)
    header = json.loads(metadata[b"assay_pool"]) | {"version": 1}
    batch = batch.replace_schema_metadata(metadata | {b"assay_pool": json.dumps(header).encode()})
    with pa.ipc.new_file(folder / "old.arrow", batch.schema) as writer:
        writer.write_batch(batch)
    with pytest.raises(PoolChanged, match=r"format 1, but this release reads 2 and 3; finish"):
        open_pool(folder / "old.arrow")


def test_a_simulations_pool_shows_nothing_to_anybody(folder):
    pool = pool_of(folder, {}, data={})
    assert pool.item(0).data == {}

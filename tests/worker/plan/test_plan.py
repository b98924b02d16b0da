"""What a plan comes to: defaults, paths, hash and warnings; and files that are no plan."""

import pytest

from tests.worker.plan.plans import SMALLEST, load, mistakes, plan_with
from worker.errors import PlanError
from worker.plan import Plan, load_plan, plan_hash


def test_the_smallest_plan_gets_the_documented_defaults(tmp_path):
    plan = load(tmp_path, SMALLEST)

    assert (plan.seed, plan.population, plan.strategy) == (1, "finite", "assay")
    assert (plan.prior.kind, plan.prior.strength) == ("empirical", 2)
    assert (plan.pool.id, plan.pool.strata, plan.pool.groups) == ("item_id", 16, "predicted_class")
    assert (plan.stop.kind, plan.stop.target, plan.stop.confidence) == ("mrr", 0.99, 0.95)
    assert (plan.stop.guarantee, plan.stop.budget) == ("posterior", None)
    assert (plan.stop.min_per_group, plan.stop.looks) == (0, 2)
    assert (plan.question.metric, plan.question.which) == ("accuracy", "lowest")
    assert (plan.annotation.per_item, plan.annotation.rule, plan.annotation.skips) == (
        1,
        "first",
        2,
    )
    assert (plan.queue.look_ahead, plan.label_studio.project) == (3, "new")


@pytest.mark.parametrize(
    ("question", "kind", "target", "confidence", "looks"),
    [
        ({"task": "identify"}, "mrr", 0.99, 0.95, 2),
        ({"task": "compare", "compare": "all"}, "rope", 0.05, 0.95, 2),
        ({"task": "estimate"}, "rmse", 0.02, None, 3),
    ],
)
def test_each_task_has_its_own_stop_rule_by_default(
    tmp_path, question, kind, target, confidence, looks
):
    stop = load(tmp_path, plan_with(question=question, stop={"budget": 7})).stop

    assert (stop.kind, stop.target, stop.confidence) == (kind, target, confidence)
    assert stop.looks == looks
    assert stop.budget == 7


def test_paths_are_taken_relative_to_the_plan(tmp_path):
    groups = ["superclass(maps/map.csv)", "score_bin(4)"]
    plan = load(tmp_path, plan_with(pool__groups=groups, label_studio__config="labels.xml"))

    assert plan.pool.predictions == tmp_path / "digits.csv"
    assert plan.pool.map_paths == (tmp_path / "maps" / "map.csv",)
    assert plan.label_studio.config == tmp_path / "labels.xml"


def test_a_plan_survives_the_way_through_json(tmp_path):
    for parts in (
        {},
        {"pool__groups": ["superclass(m.csv)", "colour"], "label_studio__config": "a.xml"},
        {"question": {"task": "compare", "compare": [["a", "b"], ["b", "c"]]}},
        {"pool__probabilities": "probs", "pool__classes": ["a", "b"]},
    ):
        plan = load(tmp_path, plan_with(**parts))
        assert Plan.model_validate_json(plan.model_dump_json()) == plan


def test_the_hash_of_a_plan_is_the_same_in_every_folder(tmp_path):
    values = plan_with(pool__groups="superclass(m.csv)", label_studio__config="a.xml")
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()

    one, two = load(tmp_path / "one", values), load(tmp_path / "two", values)

    assert one != two
    assert plan_hash(one) == plan_hash(two)
    assert plan_hash(one) != plan_hash(load(tmp_path, values | {"seed": 2}))


def test_a_pair_of_groups_may_be_written_without_the_outer_list(tmp_path):
    plan = load(tmp_path, plan_with(question={"task": "compare", "compare": ["a", "b"]}))
    assert plan.question.compare == (("a", "b"),)


def test_numbers_with_an_exponent_need_no_dot(tmp_path):
    plan = load(tmp_path, SMALLEST.replace("identify}", "identify, tolerance: 1e-3}"))
    assert plan.question.tolerance == 0.001


def test_strata_need_the_finite_population(tmp_path):
    (found,) = mistakes(tmp_path, plan_with(population="infinite", pool__strata=4))
    assert "pool.strata: came 4" in found
    assert load(tmp_path, plan_with(population="infinite")).pool.strata == 1


def test_a_uniform_prior_with_strata_is_allowed_with_a_warning(tmp_path):
    warned = load(tmp_path, plan_with(pool__strata=4, prior__kind="uniform")).warnings()

    assert len(warned) == 1
    assert "too certain" in warned[0]
    (warning,) = load(tmp_path, plan_with(pool__strata=4, prior__kind="informative")).warnings()
    assert "as right as the scores are calibrated" in warning
    held = plan_with(prior__kind="informative", stop__guarantee="anytime")
    assert not load(tmp_path, held).warnings()
    assert not load(tmp_path, SMALLEST).warnings()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the file is empty"),
        ("# nothing\n", "the file is empty"),
        ("- a\n- b\n", "came a list"),
        ("just words\n", "came the single value"),
        ("a: 1\nb: [1, 2\n", "line 3: not readable as YAML"),
        ("a: {b: 1\n", "not readable as YAML"),
        ("a: 2024-13-45\n", "not readable as YAML"),
        ("a: !!python/object:os.system 1\n", "line 1: not readable as YAML"),
        ("a: 1\n---\nb: 2\n", "line 2: not readable as YAML"),
        ("a: 1\nb: 2\na: 3\n", "line 3: a: the key stands here and on line 1"),
        ("a:\n  b: 1\n  b: 2\n", "line 3: a.b: the key stands here and on line 2"),
    ],
)
def test_what_is_no_plan_is_refused_with_its_line(tmp_path, text, problem):
    assert problem in mistakes(tmp_path, text)[0]


def test_a_plan_that_contains_itself_is_refused(tmp_path):
    assert any("pool" in problem for problem in mistakes(tmp_path, "pool: &a\n  data: *a\n"))


def test_a_missing_or_unreadable_plan_is_refused(tmp_path):
    (tmp_path / "latin.yaml").write_bytes(b"assessment: caf\xe9\n")
    for name, reason in (("none.yaml", "no such file"), ("latin.yaml", "UTF-8"), ("", "read")):
        with pytest.raises(PlanError, match=reason):
            load_plan(tmp_path / name)

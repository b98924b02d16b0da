"""Several sites' files as one pool, and what groups lie within."""

from pathlib import Path

import numpy as np
import pytest

from worker.assessment.believing import first_belief
from worker.assessment.outcomes import outcomes
from worker.errors import PlanError, PredictionsError
from worker.plan import load_plan, plan_hash, stored_plan
from worker.pool import Pool, compile_pool
from worker.pool.sources import check_source
from worker.pool.truth import read_truth
from worker.simulate.cases import Asked, prepare

HEAD = "item_id,predicted,score,text,truth\n"


def write(folder: Path, name: str, ids: range, extra: str = "", head: str = HEAD) -> None:
    rows = "".join(
        f"{name[0]}{n},{'cat' if n % 2 else 'dog'},0.{5 + n % 5},text {n},cat{extra}\n" for n in ids
    )
    (folder / f"{name}.csv").write_text(head + rows, encoding="utf-8")


def plan_of(folder: Path, groups: str = "[site, predicted_class]", more: str = "") -> Path:
    path = folder / "plan.yaml"
    path.write_text(
        "assessment: two-sites\n"
        "pool:\n  predictions: {north: north.csv, south: south.csv}\n"
        "  predicted: predicted\n  score: score\n  data: {text: text}\n"
        f"  groups: {groups}\n{more}"
        "question: {task: identify}\n",
        encoding="utf-8",
    )
    return path


def compiled(folder: Path, **parts: str) -> Pool:
    return compile_pool(load_plan(plan_of(folder, **parts)), folder / "pools")


@pytest.fixture
def two(tmp_path: Path) -> Path:
    write(tmp_path, "north", range(30))
    write(tmp_path, "south", range(20))
    return tmp_path


def test_all_items_of_all_sites_are_the_pool_and_grouped_by_site(two: Path) -> None:
    pool = compiled(two)
    assert pool.n_items == 50
    assert set(pool.group_names) == {
        "north × cat", "north × dog", "south × cat", "south × dog"
    }  # fmt: skip
    for row in range(50):
        item = pool.item(row)
        site = pool.group_names[item.group].split(" × ")[0]
        assert item.item_id.startswith(site[0])
        assert item.data == {"text": f"text {item.item_id[1:]}"}


def test_the_true_classes_are_found_in_all_files(two: Path) -> None:
    plan = load_plan(plan_of(two))
    pool = compile_pool(plan, two / "pools")
    assert (np.array(pool.classes)[read_truth(plan, pool, "truth")] == "cat").all()


def test_the_plan_is_stored_and_read_again_as_it_is_and_folders_do_not_count(two: Path) -> None:
    plan = load_plan(plan_of(two, more="  parents: site\n"))
    assert stored_plan(plan.model_dump_json()) == plan
    other = two / "other"
    other.mkdir()
    write(other, "north", range(30))
    write(other, "south", range(20))
    assert plan_hash(load_plan(plan_of(other, more="  parents: site\n"))) == plan_hash(plan)
    assert compiled(two).hash == compiled(other).hash
    check_source(compile_pool(plan, two / "pools"), plan)


def test_the_same_id_in_two_sites_is_refused_by_both_files(two: Path) -> None:
    text = (two / "south.csv").read_text()
    (two / "south.csv").write_text(text + "n7,cat,0.5,text,cat\n", encoding="utf-8")
    with pytest.raises(PredictionsError) as caught:
        compiled(two)
    for word in ("south.csv", "north.csv", "'n7'", "put the name of the site in front"):
        assert word in str(caught.value)


def test_the_same_id_twice_in_one_site_is_refused_by_its_file_and_rows(two: Path) -> None:
    text = (two / "south.csv").read_text()
    (two / "south.csv").write_text(text + "s7,cat,0.5,text,cat\n", encoding="utf-8")
    with pytest.raises(PredictionsError, match=r"south\.csv: the id .* as in row 8\) in row 21"):
        compiled(two)


def test_a_bad_value_is_told_with_its_file_and_its_row_there(two: Path) -> None:
    text = (two / "south.csv").read_text()
    (two / "south.csv").write_text(text + "s99,cat,1.5,text,cat\n", encoding="utf-8")
    with pytest.raises(PredictionsError, match=r"south\.csv: the score .* in row 21"):
        compiled(two)


def test_a_class_that_the_plan_does_not_list_is_told_with_its_file(two: Path) -> None:
    text = (two / "south.csv").read_text()
    (two / "south.csv").write_text(text + "s99,cow,0.5,text,cat\n", encoding="utf-8")
    with pytest.raises(PredictionsError, match=r"south\.csv: the prediction .*'cow'"):
        compiled(two, more="  classes: [cat, dog]\n")


def test_a_file_without_a_column_that_the_plan_names_is_named(two: Path) -> None:
    write(two, "south", range(5), head=HEAD.replace("score", "confidence"))
    with pytest.raises(PredictionsError, match=r"south\.csv: no column score, which the plan"):
        compiled(two)


def test_a_file_that_has_a_column_of_the_sites_name_is_refused(two: Path) -> None:
    write(two, "north", range(5), extra=",x", head=HEAD.replace("truth", "truth,site"))
    with pytest.raises(PredictionsError, match=r"north\.csv: it has a column site"):
        compiled(two)
    assert compiled(two, groups="[clinic, predicted_class]", more="  site: clinic\n").n_items == 25


def test_a_simulation_names_the_files_of_all_sites(two: Path) -> None:
    (case,) = prepare(plan_of(two), two / "pools", Asked())
    assert case.predictions == "north.csv, south.csv"


def test_a_missing_file_is_named(two: Path) -> None:
    (two / "south.csv").unlink()
    with pytest.raises(PredictionsError, match=r"south\.csv: there is no such file"):
        compiled(two)


@pytest.mark.parametrize(
    ("pool", "said"),
    [
        ("{predictions: {north: a.csv}", "expected at least two"),
        ("{predictions: {north: a.csv, south: a.csv}", "are the same file"),
        ("{predictions: a.csv, site: clinic", "only predictions of several sites"),
        ("{predictions: {a: a.csv, b: b.csv}, site: score", "that column holds the score"),
        ("{predictions: a.csv, parents: predicted_class", "expected superclass"),
        ("{predictions: a.csv, groups: region, parents: region", "which the groups are already"),
    ],
)
def test_what_cannot_be_is_refused_in_the_plan(tmp_path: Path, pool: str, said: str) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(
        f"assessment: x\npool: {pool}, predicted: p, score: score, data: {{text: t}}}}\n"
        "question: {task: identify}\n",
        encoding="utf-8",
    )
    with pytest.raises(PlanError, match=said):
        load_plan(path)


def test_sites_are_parents_of_their_groups(two: Path) -> None:
    pool = compiled(two, more="  parents: site\n")
    assert pool.parents is not None
    assert pool.parents.names == ("north", "south")
    for name, parent in zip(pool.group_names, pool.parents.of_group, strict=True):
        assert name.startswith(pool.parents.names[parent])


@pytest.mark.parametrize("more", ["", "  parents: site\n"])
def test_groups_that_are_products_have_their_factors_levels_in_common(two: Path, more: str) -> None:
    pool = compiled(two, more=more)
    assert pool.group_levels is not None
    assert pool.group_levels.shape == (2, len(pool.group_names))
    sites = ("north", "south")
    levels = zip(*pool.group_levels.tolist(), strict=True)
    names = [f"{sites[site]} × {pool.classes[k]}" for site, k in levels]
    assert names == list(pool.group_names)
    assert compiled(two, groups="site").group_levels is None
    listed = compiled(two, more=more + "  classes: [cow, eel, cat, dog]\n")
    assert listed.group_levels is not None
    assert listed.group_levels.tolist() == pool.group_levels.tolist()


@pytest.mark.parametrize(
    ("prior", "level", "says"),
    [
        ("", "", None),
        ("prior: {kind: informative}\n", "", "write `prior: {kind: empirical}`"),
        ("prior: {kind: uniform}\n", "", "write `prior: {kind: empirical}`"),
        ("prior: {kind: uniform}\n", ", level: parents", None),
        ("without scores", "", None),
    ],
)
def test_parents_whose_groups_tell_nothing_of_each_other_get_a_warning(
    two: Path, prior: str, level: str, says: str | None
) -> None:
    path = plan_of(two, more="  parents: site\n")
    text = path.read_text().replace("identify}", f"identify{level}}}")
    if prior == "without scores":
        prior, text = "", text.replace("  score: score\n", "")
    path.write_text(text + prior)
    found = [said for said in load_plan(path).warnings() if "siblings" in said]
    assert len(found) == (says is not None)
    assert says is None or says in found[0]


def test_a_group_in_two_parents_is_refused_with_a_cure(two: Path) -> None:
    with pytest.raises(PredictionsError, match=r"'(cat|dog)' has items in 'north' and in 'south'"):
        compiled(two, groups="predicted_class", more="  parents: site\n")


def test_superclasses_are_parents_of_classes(two: Path) -> None:
    (two / "map.csv").write_text("class,superclass\ncat,pet\ndog,pet\n", encoding="utf-8")
    pool = compiled(two, groups="predicted_class", more="  parents: superclass(map.csv)\n")
    assert pool.parents is not None
    assert pool.parents.names == ("pet",)
    assert pool.parents.of_group.tolist() == [0, 0]


def test_without_parents_nothing_is_said_of_them(two: Path) -> None:
    pool = compiled(two)
    assert pool.parents is None
    plan = load_plan(plan_of(two))
    assert "parents" not in plan.pool.model_dump(mode="json")


def test_the_question_may_be_of_the_parents_which_are_then_the_groups(two: Path):
    path = plan_of(two, more="  parents: site\n  strata: 2\n")
    path.write_text(path.read_text().replace("identify}", "identify, level: parents}"))
    plan = load_plan(path)
    pool = compile_pool(plan, two / "pools")
    assert pool.group_names == ("north", "south")
    assert pool.group_size.tolist() == [30, 20]
    assert pool.parents is None
    # a class that is mostly wrong at a site is seen in any of its strata, and in no other cell
    assert pool.n_cells == 4
    begun = first_belief(plan, pool, outcomes(plan, pool))
    assert begun.n_groups == 2
    assert pool.hash != compiled(two, more="  parents: site\n  strata: 2\n").hash


@pytest.mark.parametrize(
    ("more", "question", "said"),
    [
        ("", "{task: identify, level: parents}", "the groups have none"),
        ("  parents: site\n", "{task: evaluate, level: parents}", "the task evaluate has none"),
    ],
)
def test_a_level_that_cannot_be_asked_about_is_refused(
    two: Path, more: str, question: str, said: str
) -> None:
    path = plan_of(two, more=more)
    path.write_text(path.read_text().replace("{task: identify}", question))
    with pytest.raises(PlanError, match=said):
        load_plan(path)


def test_level_groups_is_what_goes_without_saying(two: Path) -> None:
    path = plan_of(two)
    before = plan_hash(load_plan(path))
    path.write_text(path.read_text().replace("identify}", "identify, level: groups}"))
    assert plan_hash(load_plan(path)) == before

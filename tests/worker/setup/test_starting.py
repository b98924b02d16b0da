"""What is checked before an assessment begins, and what annotators will then see."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector.errors import BadConfig, MissingSetting, UnknownClasses
from connector.schema import read_schema, write_config
from worker.cli.printing import pool_text
from worker.errors import PlanError, PoolChanged
from worker.plan import plan_hash
from worker.service.context import Context
from worker.setup.checking import Checked, check_plan
from worker.setup.starting import start, start_or_go_on
from worker.store import AlreadyStarted, Header
from worker.store.settings import Settings

CSV = "item_id,said,sure,picture,caption,region\n" + "".join(
    f"i{n},{'cat' if n % 2 else 'dog'},0.{5 + n % 5},http://host/p{n}.png,about {n},{'ns'[n % 2]}\n"
    for n in range(12)
)
CONFIG = """\
<View>
  <Image name="image" value="$image"/>
  <Choices name="animal" toName="image"><Choice value="cat"/><Choice value="dog"/></Choices>
  <Choices name="mood" toName="image"><Choice value="good"/><Choice value="bad"/></Choices>
</View>
"""


def write_plan(
    folder: Path, *, assessment: str = "mine", pool: str = "", more: str = "", csv: str = CSV
) -> Path:
    (folder / "p.csv").write_text(csv, encoding="utf-8")
    (folder / "config.xml").write_text(CONFIG, encoding="utf-8")
    plan = folder / "plan.yaml"
    plan.write_text(
        f"assessment: {assessment}\n"
        "pool: {predictions: p.csv, predicted: said, score: sure,"
        f" data: {{image: picture, text: caption}}{pool}}}\n"
        f"question: {{task: identify}}\n{more}",
        encoding="utf-8",
    )
    return plan


def checked(folder: Path, **given: str) -> Checked:
    return check_plan(write_plan(folder, **given), folder / "pools")


# --- warnings ------------------------------------------------------------------------------------


def test_a_plan_without_anything_odd_has_no_warnings(tmp_path):
    assert checked(tmp_path).warnings == ()


def test_groups_without_items_are_counted_and_named(tmp_path):
    (warning,) = checked(tmp_path, pool=", classes: [cat, cow, dog, emu]").warnings
    assert warning.startswith("2 groups have no items (cow, emu): they are never chosen")


def test_of_many_groups_without_items_eight_are_named(tmp_path):
    classes = ", ".join(["cat", "dog", *(f"other {n}" for n in range(20))])
    (warning,) = checked(tmp_path, pool=f", classes: [{classes}]").warnings
    assert warning.startswith("20 groups have no items (other 0,")
    assert warning.count("other ") == 8
    assert "other 7 and 12 more): they" in warning


def test_one_group_without_items_is_one(tmp_path):
    (warning,) = checked(tmp_path, pool=", classes: [cat, dog, emu]").warnings
    assert warning.startswith("1 group has no items (emu): it is never chosen and takes no part")


def test_strata_with_a_uniform_prior_are_warned_of_and_with_an_informative_one_are_not(tmp_path):
    (warning,) = checked(tmp_path, pool=", strata: 3", more="prior: {kind: uniform}\n").warnings
    assert "strata: 1" in warning
    informative = "prior: {kind: informative}\n"
    (warning,) = checked(tmp_path, pool=", strata: 3", more=informative).warnings
    assert "strata" not in warning


# --- what annotators see -------------------------------------------------------------------------


def test_the_generated_configuration_shows_all_data_and_nothing_of_the_prediction(tmp_path):
    found = checked(tmp_path, pool=", groups: [predicted_class, region]")
    assert found.config is not None
    tree = ElementTree.fromstring(found.config)

    assert {tag.get("value") for tag in tree} - {None} == {"$image", "$text"}
    assert [choice.get("value") for choice in tree.iter("Choice")] == list(found.pool.classes)
    for hidden in ("said", "sure", "region", "predicted", "score", "item_id"):
        assert hidden not in found.config


def test_the_control_of_the_plan_names_the_generated_one(tmp_path):
    found = checked(tmp_path, more="annotation: {control: animal}\n")
    assert found.schema is not None
    assert found.schema.control == "animal"


def test_a_project_that_is_there_brings_its_own_configuration(tmp_path):
    found = checked(tmp_path, more="label_studio: {project: 12}\n")
    assert (found.config, found.schema) == (None, None)


@pytest.mark.parametrize("key", ["config", "instruction"])
def test_what_a_project_that_is_there_has_of_its_own_is_refused(tmp_path, key):
    (tmp_path / "x").write_text("<View/>")
    with pytest.raises(PlanError, match=rf"label_studio\.{key}: project 12 has its own"):
        checked(tmp_path, more=f"label_studio: {{project: 12, {key}: x}}\n")


# XML 1.0 has no way to write control characters, and Label Studio trims blanks.
xml_names = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=12
)


@given(st.lists(xml_names, min_size=2, max_size=15, unique=True))
def test_classes_of_any_name_survive_the_generated_configuration(classes):
    config = write_config(classes, ["image", "text"], "answer")
    assert set(read_schema(config, None, classes).labels) == set(classes)


# --- a configuration that does not fit -----------------------------------------------------------


def with_config(annotation: str) -> str:
    return f"annotation: {annotation}\nlabel_studio: {{config: config.xml}}\n"


def test_a_given_configuration_is_used_as_it_is(tmp_path):
    found = checked(tmp_path, more=with_config("{control: animal}"))
    assert found.config == CONFIG
    assert found.schema is not None
    assert found.schema.labels == ("cat", "dog")


def test_of_two_controls_the_plan_must_name_one(tmp_path):
    with pytest.raises(BadConfig, match=r"2 Choices controls \(animal, mood\); say which one"):
        checked(tmp_path, more=with_config("{}"))


def test_a_control_that_the_configuration_lacks_is_refused_with_those_it_has(tmp_path):
    with pytest.raises(BadConfig, match=r"named 'animla'; it has animal \(Choices\), mood"):
        checked(tmp_path, more=with_config("{control: animla}"))


def test_labels_that_are_not_the_classes_are_refused_from_both_sides(tmp_path):
    with pytest.raises(UnknownClasses, match="lacks cat, dog and offers good, bad, which the pool"):
        checked(tmp_path, more=with_config("{control: mood}"))


@pytest.mark.parametrize("question", ["metric: accuracy", "metric: confusion"])
def test_a_label_that_is_no_class_of_the_pool_is_refused_with_its_cure(tmp_path, question):
    """A confusion matrix has no column for it."""
    plan = write_plan(
        tmp_path,
        more="prior: {kind: uniform}\n" + with_config("{control: animal}"),
        csv=CSV.replace("cat", "cow"),
    )
    text = plan.read_text(encoding="utf-8")
    plan.write_text(text.replace("task: identify", f"task: estimate, {question}"), encoding="utf-8")
    with pytest.raises(UnknownClasses, match=r"offers cat, which .* as `pool\.classes`"):
        check_plan(plan, tmp_path / "pools")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "{task: identify, metric: ece}",
            ["has the highest calibration error (bins 10)", "empirical prior, 4 strata"],
        ),
        (
            "{task: identify, metric: accuracy, tolerance: 0.02}",
            ["the lowest accuracy (tolerance 0.02)", "empirical prior, 16 strata", "mrr 0.99"],
        ),
        ("{task: estimate, metric: bias}", ["the overconfidence of each", "rmse 0.02"]),
    ],
)
def test_a_check_says_what_the_defaults_come_to(tmp_path, question, said):
    plan = write_plan(tmp_path, more="stop: {min_per_group: 2, looks: 3, budget: 9}\n")
    text = plan.read_text(encoding="utf-8").replace("{task: identify}", question)
    plan.write_text(text, encoding="utf-8")
    found = check_plan(plan, tmp_path / "pools")
    shown = pool_text(found.plan, found.pool)

    limits = ["at least 2 labels a group, confirmed at 3 looks, budget 9", "guarantee posterior"]
    for words in [*said, *limits, "Strategy assay", "finite population, seed 1"]:
        assert words in shown


def test_a_configuration_that_cannot_be_read_is_told_with_its_path(tmp_path):
    with pytest.raises(BadConfig, match=r"label_studio\.config: .*none\.xml cannot be read"):
        checked(tmp_path, more="label_studio: {config: none.xml}\n")


# --- beginning and going on ----------------------------------------------------------------------


@pytest.fixture
def context(tmp_path: Path, valkey_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Context]:
    """A context with a token; nothing listens at the address of its Label Studio."""
    monkeypatch.setenv("LABEL_STUDIO_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "no-token")
    context = Context(Settings(tmp_path, None, None), valkey_url)
    yield context
    context.close()


def begin(context: Context, plan: Path) -> Header:
    """Put into the ledger what a start of this plan would have put there."""
    found = check_plan(plan, context.settings.pools)
    assert found.schema is not None
    header = Header(
        assessment=found.plan.assessment,
        plan=found.plan.model_dump_json(),
        plan_hash=plan_hash(found.plan),
        pool_hash=found.pool.hash,
        pool_file=str(found.pool.path),
        pool_sha256=found.pool.file_sha256,
        pool_stat=(found.pool.stat[0], found.pool.stat[1]),
        project=31,
        url="http://127.0.0.1:9",
        control=found.schema.control,
        to_name=found.schema.to_name,
        labels=found.schema.labels,
        started_at="2026-01-01T00:00:00+00:00",
    )
    context.ledger(header.assessment).begin(header)
    return header


def silent(_: str) -> None:
    """Nobody listens."""


def test_up_goes_on_with_the_same_plan_wherever_its_folder_is_now(context, tmp_path, assessment_id):
    header = begin(context, write_plan(tmp_path, assessment=assessment_id))
    moved = tmp_path / "moved"
    moved.mkdir()

    said = start_or_go_on(write_plan(moved, assessment=assessment_id), context, silent)

    assert said.startswith(f"Going on with {assessment_id}. ")
    assert f"{header.url}/projects/31/data" in said


def test_up_with_another_plan_under_the_same_id_is_refused(context, tmp_path, assessment_id):
    begin(context, write_plan(tmp_path, assessment=assessment_id))
    other = write_plan(tmp_path, assessment=assessment_id, more="stop: {budget: 9}\n")
    with pytest.raises(AlreadyStarted, match="for a new one give the plan another `assessment` id"):
        start_or_go_on(other, context, silent)


def test_up_with_another_seed_says_that_the_pool_is_not_the_same(context, tmp_path, assessment_id):
    begin(context, write_plan(tmp_path, assessment=assessment_id))
    other = write_plan(tmp_path, assessment=assessment_id, more="seed: 2\n")
    with pytest.raises(PoolChanged, match="`pool` or `seed` changed since the assessment began"):
        start_or_go_on(other, context, silent)


@pytest.mark.parametrize("begin_again", [start, start_or_go_on])
def test_a_predictions_file_that_changed_since_the_start_is_refused(
    context, tmp_path, assessment_id, begin_again
):
    plan = write_plan(tmp_path, assessment=assessment_id)
    begin(context, plan)
    write_plan(tmp_path, assessment=assessment_id, csv=CSV.replace("0.7", "0.3"))
    with pytest.raises(PoolChanged, match=r"p\.csv"):
        begin_again(plan, context, silent)


@pytest.mark.parametrize("name", ["LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY"])
@pytest.mark.parametrize("begin_now", [start, start_or_go_on])
def test_a_missing_setting_is_told_before_the_predictions_are_read(
    context, tmp_path, assessment_id, monkeypatch, name, begin_now
):
    monkeypatch.delenv(name)
    plan = write_plan(tmp_path, assessment=assessment_id)
    with pytest.raises(MissingSetting, match=f"{name} is not set"):
        begin_now(plan, context, silent)
    assert not context.settings.pools.exists()
    assert context.ledger(assessment_id).header() is None

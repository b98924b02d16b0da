"""The documents name every command and every setting."""

import re
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner

from worker.cli.main import cli
from worker.plan import load_plan

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DEPLOYING = (ROOT / "deploy" / "README.md").read_text(encoding="utf-8")
DOCUMENTS = [ROOT / "README.md", *ROOT.glob("worker/**/README.md"), *ROOT.glob("tests/*/README.md")]
DOCUMENTS += [*sorted(ROOT.glob("deploy/*.md")), ROOT / "samples" / "README.md"]
# Of the recipes: a file's name, what kind it is, and what is in it.
RECIPES = re.findall(
    r"`([\w-]+\.(?:csv|yaml|jsonl))`:\n\n```(csv|yaml|jsonl)\n(.*?)```",
    (ROOT / "samples" / "README.md").read_text(encoding="utf-8"),
    re.DOTALL,
)


def test_it_begins_with_the_two_commands():
    commands = [line.split("#")[0].strip() for line in README.splitlines() if "make " in line]
    assert commands[:2] == ["make demo", "make test"]


@pytest.mark.parametrize("command", sorted(cli.commands))
def test_every_command_is_in_the_readme(command):
    assert f"assay {command}" in README


@pytest.mark.parametrize(
    "name",
    [
        "LABEL_STUDIO_URL",
        "LABEL_STUDIO_PUBLIC_URL",
        "LABEL_STUDIO_API_KEY",
        "LABEL_STUDIO_SERVERS_FILE",
        "ASSAY_WEBHOOK_SECRET",
        "ASSAY_HOME",
        "REDIS_URL",
        "ASSAY_STATE_URL",
        "ASSAY_DASHBOARD_TOKEN",
        "ASSAY_NOTIFY_SECRET",
        "ASSAY_LOG",
    ],
)
def test_every_setting_is_documented_and_in_the_example(name):
    example = ROOT / "deploy" / "assay.env.example"
    assert f"`{name}`" in DEPLOYING
    assert f"{name}=" in example.read_text(encoding="utf-8")


def test_no_setting_is_read_that_is_not_documented():
    read = set()
    for package in ("connector", "worker"):
        for path in ROOT.joinpath(package).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            read |= set(re.findall(r'(?:env\.get|secret)\("([A-Z_]+)"', text))
    undocumented = {name for name in read if f"`{name}`" not in DEPLOYING}
    assert undocumented <= {"XDG_CACHE_HOME"}


def commands_named() -> list[tuple[str, str]]:
    """File and text of every `assay ...` that stands in backquotes or begins a line of a block."""
    found = set()
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        said = re.findall(r"(?:`|^(?:as_)?)assay ([a-z][^`\n#|]*)", text, flags=re.MULTILINE)
        found |= {(str(path.relative_to(ROOT)), one.strip()) for one in said}
    return sorted(found)


@pytest.mark.parametrize(("document", "said"), commands_named())
def test_every_command_that_a_document_names_can_be_given_so(document, said):
    name, *words = said.split()
    assert name in cli.commands, f"{document} names `assay {said}`"
    file = str(ROOT / "README.md")  # one that is there
    stands_for = {"PLAN": file, "FILE": file, "URL": "https://a.org", "assay,NAME": "assay,random"}
    given = [stands_for.get(word, word) for word in (word.strip("[]") for word in words)]
    args = [file if word.endswith((".yaml", ".json")) else word for word in given]
    try:
        cli.commands[name].make_context(name, args)
    except click.MissingParameter:
        pass  # what is meant is the command, whatever it is given
    except click.UsageError as error:
        pytest.fail(f"{document} names `assay {said}`: {error.format_message()}")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_target_that_a_document_names_is_there(path):
    named = set(
        re.findall(r"(?:`|^)make ([a-z-]+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    )
    targets = re.findall(
        r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert named <= {*targets}


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 200


def test_what_the_documents_point_to_is_there():
    for path in DOCUMENTS:
        for link in re.findall(r"\]\(([^)#]+)", path.read_text(encoding="utf-8")):
            assert "://" in link or (path.parent / link).exists(), f"{path}: {link}"


def test_the_files_that_the_documents_name_are_there():
    for path in DOCUMENTS:
        for name in re.findall(
            r"`(\w[\w-]*/[\w/-]+\.(?:py|lua))`", path.read_text(encoding="utf-8")
        ):
            assert (ROOT / name).exists() or (path.parent / name).exists(), f"{path}: {name}"


@pytest.fixture
def kitchen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with all files of the recipes, and no server."""
    for name, _, text in RECIPES:
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    for name in ("LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY", "REDIS_URL", "ASSAY_STATE_URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_every_block_of_the_recipes_is_a_file_with_a_name():
    text = (ROOT / "samples" / "README.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^```\w", text, re.MULTILINE)) == len(RECIPES)


@pytest.mark.parametrize("name", [name for name, kind, _ in RECIPES if kind == "yaml"])
def test_the_plan_of_every_recipe_is_taken_with_its_predictions_as_they_stand(kitchen, name):
    plan = load_plan(kitchen / name)
    if plan.pool.project is None:
        values = yaml.safe_load((kitchen / name).read_text(encoding="utf-8"))
        values.pop("since", None)  # there was no November here
        (kitchen / name).write_text(yaml.safe_dump(values), encoding="utf-8")
        said = CliRunner().invoke(cli, ["check", str(kitchen / name)])
        assert said.exit_code == 0, said.output


def test_every_picture_of_the_readme_is_a_small_one_that_the_script_takes():
    script = (ROOT / "tests" / "screenshots.py").read_text(encoding="utf-8")
    named = set(re.findall(r"\]\(([^)]+\.png)\)", README))
    assert {Path(name).stem for name in named} == set(re.findall(r'_take\(driver, "(\w+)"', script))
    for name in named:
        picture = (ROOT / name).read_bytes()
        assert picture.startswith(b"\x89PNG")
        assert len(picture) <= 150_000

"""Every key of the plan is explained, and the README says the same."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from worker.cli.main import cli
from worker.errors import AssayError
from worker.plan.explaining import README, explain, keys, table


def test_every_key_says_what_it_means():
    assert len(keys()) > 80
    assert all(key.meaning.strip() and "|" not in key.meaning + key.default for key in keys())
    assert len({key.name for key in keys()}) == len(keys())


def test_the_readme_holds_what_is_generated():
    """After a change: python -c "from worker.plan.explaining import table; print(table())"."""
    assert table() in Path(README).read_text(encoding="utf-8")


def test_a_key_is_explained_with_its_default():
    (key,) = explain("stop.mrr.confidence")
    assert (key.name, key.default) == ("stop.mrr.confidence", "0.95")
    (key,) = explain("stop.looks")
    assert "looks running" in key.meaning
    assert key.default.startswith("2;")


def test_a_part_is_all_of_its_keys():
    assert [key.name for key in explain("queue")] == ["queue.look_ahead", "queue.mode"]
    assert explain() == list(keys())


def test_an_unknown_key_names_the_nearest():
    with pytest.raises(AssayError, match=r"question\.tops is no key .* mean question\.top\?"):
        explain("question.tops")


def test_the_command_prints_paragraphs_and_json():
    said = CliRunner().invoke(cli, ["explain", "question.task"])
    assert said.exit_code == 0
    assert said.output.startswith("question.task\n    `identify` the extreme groups")
    assert "worker/plan/README.md" in said.output
    assert '"key": "stop.budget"' in CliRunner().invoke(cli, ["explain", "stop", "--json"]).output
    wrong = CliRunner().invoke(cli, ["explain", "sotp"])
    assert (wrong.exit_code, "did you mean" in wrong.output) == (1, True)

"""`assay report`: a page now, among the others or where one says, and two assessments compared."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.promises.small import small_assessment
from worker.cli.main import cli
from worker.service.context import Context
from worker.service.embedded import server
from worker.store.settings import Settings


@pytest.fixture
def assay(tmp_path, monkeypatch):
    """The command on a server of its own that knows two assessments, `one` and `two`."""
    home = tmp_path / "home"
    monkeypatch.setenv("ASSAY_HOME", str(home))
    for name in ("REDIS_URL", "ASSAY_STATE_URL"):
        monkeypatch.delenv(name, raising=False)
    header = small_assessment(tmp_path, "{mrr: {threshold: 1, confidence: 0.999}}")[1]
    with server(home, None) as url:
        context = Context(Settings(home, None, None), url)
        for name in ("one", "two"):
            plan = json.dumps(json.loads(header.plan) | {"assessment": name})
            context.ledger(name).begin(replace(header, assessment=name, plan=plan))
            context.enter(name)
        context.close()
        yield lambda *arguments: CliRunner().invoke(cli, ["report", *arguments])


def test_a_report_is_made_now_and_listed_among_the_others(assay, tmp_path):
    result = assay("one", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    page = Path(told["page"])
    folder = tmp_path / "home" / "assessments" / "one" / "reports"
    assert page.parent == folder
    assert json.loads(Path(told["json"]).read_text())["assessment"] == "one"
    assert page.name in (folder / "index.html").read_text()


def test_it_is_written_where_one_says_and_only_that(assay, tmp_path):
    result = assay("one", "--to", str(tmp_path / "here"))
    assert result.exit_code == 0, result.output
    assert str(tmp_path / "here") in result.output
    suffixes = sorted(path.suffix for path in (tmp_path / "here").iterdir())
    assert suffixes == [".csv", ".html", ".json"]


def test_two_are_set_side_by_side(assay, tmp_path):
    result = assay("--compare", "one", "two", "--to", str(tmp_path / "here"), "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(Path(json.loads(result.stdout)["json"]).read_text())
    assert (told["a"]["assessment"], told["b"]["assessment"]) == ("one", "two")


def test_a_comparison_among_the_reports_is_none_of_them(assay, tmp_path):
    folder = tmp_path / "home" / "assessments" / "one" / "reports"
    result = assay("--compare", "one", "two", "--to", str(folder))
    assert result.exit_code == 0, result.output
    result = assay("one")
    assert result.exit_code == 0, result.output
    (listed,) = json.loads((folder / "index.json").read_text())["reports"]
    assert listed["assessment"] == "one"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "Name one assessment"),
        (["one", "--compare", "one", "two"], 2, "Name one assessment"),
        (["three"], 1, "there is: one, two"),
        (["--compare", "one", "three"], 1, "there is: one, two"),
    ],
)
def test_wrong_use_and_unknown_names_are_one_message(assay, arguments, code, said):
    result = assay(*arguments)
    assert result.exit_code == code
    assert said in result.output
    assert "Traceback" not in result.output


def test_a_report_begins_without_what_it_seldom_needs() -> None:
    """Half a second of imports, of the two seconds that a report may take."""
    heavy = "('scipy.stats', 'pandas', 'jax', 'numpyro', 'label_studio_sdk', 'httpx')"
    loads = "import sys, worker.report.making, worker.report.page, worker.service.context"
    said = subprocess.run(
        [sys.executable, "-c", f"{loads}; print([m for m in {heavy} if m in sys.modules])"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == "[]"


def test_a_report_on_a_file_of_labels_begins_without_what_it_does_not_need(tmp_path) -> None:
    """pyarrow would load pandas by itself, redis its asyncio: a second of the three it may take."""
    rows = "\n".join(f"i{n},{'ab'[n % 2]},0.{n + 50},text,a" for n in range(40))
    (tmp_path / "p.csv").write_text(f"id,predicted,score,text,label\n{rows}\n")
    heavy = "('pandas', 'redis', 'rq', 'scipy.stats', 'scipy.optimize', 'scipy.sparse', 'httpx')"
    ends = f"atexit.register(lambda: print([m for m in {heavy} if m in sys.modules]))"
    given = ("assess", "p.csv", "--labels", "label", "--to", "out")
    runs = "from worker.cli.__main__ import main; main()"
    said = subprocess.run(
        [sys.executable, "-c", f"import atexit, sys; {ends}; {runs}", *given],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path.cwd())},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.rstrip().endswith("[]")

"""A plan is plain values: YAML that names objects, or that grows when it is read, is refused."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from worker.errors import PlanError
from worker.plan import load_plan

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "worker").rglob("*.py")) + sorted((ROOT / "connector").rglob("*.py"))


@pytest.mark.parametrize(
    "text",
    [
        "!!python/object/apply:os.system ['touch {planted}']",
        "assessment: !!python/object/apply:os.system ['touch {planted}']",
        "pool: !!python/object/new:subprocess.Popen [['touch', '{planted}']]",
        "pool: !!python/name:os.system",
    ],
)
def test_a_plan_that_names_an_object_is_refused_and_nothing_is_made(
    tmp_path: Path, text: str
) -> None:
    planted = tmp_path / "planted"
    (tmp_path / "plan.yaml").write_text(text.replace("{planted}", str(planted)))

    with pytest.raises(PlanError, match="not readable as YAML"):
        load_plan(tmp_path / "plan.yaml")

    assert not planted.exists()


def test_only_the_safe_loader_is_used_and_nothing_is_unpickled_or_evaluated() -> None:
    forbidden = {"yaml.load", "yaml.unsafe_load", "yaml.full_load", "eval", "exec", "os.system"}
    forbidden |= {"pickle.load", "pickle.loads", "marshal.loads", "os.popen"}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                assert ast.unparse(node.func) not in forbidden, path
                assert not any(
                    word.arg in ("shell", "allow_pickle")
                    and not (isinstance(word.value, ast.Constant) and word.value.value is False)
                    for word in node.keywords
                ), path
            if isinstance(node, ast.ImportFrom | ast.Import):
                names = {alias.name for alias in node.names} | {getattr(node, "module", None)}
                assert not names & {"pickle", "marshal", "shelve", "dill", "cloudpickle"}, path


def test_a_plan_that_grows_a_billionfold_when_read_is_refused_at_once(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    for n in range(1, 12):
        lines.append(f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 9) + "]")
    (tmp_path / "plan.yaml").write_text("\n".join(lines))

    with pytest.raises(PlanError) as caught:
        load_plan(tmp_path / "plan.yaml")

    assert len(str(caught.value)) < 20_000


def test_a_plan_names_no_file_outside_of_the_folders_that_it_is_confined_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans, outside = tmp_path / "plans", tmp_path / "outside"
    plans.mkdir()
    outside.mkdir()
    for folder in (plans, outside):
        (folder / "p.csv").write_text("item_id,predicted\na,cat\n", encoding="utf-8")
    (plans / "link.csv").symlink_to(outside / "p.csv")
    monkeypatch.setenv("ASSAY_PLAN_FOLDERS", f"{tmp_path / 'other'}:{plans}")

    def plan(named: str, more: str = "") -> Path:
        path = plans / "plan.yaml"
        path.write_text(
            "assessment: confined\n"
            f"pool: {{predictions: {named}, predicted: predicted, data: {{text: item_id}}}}\n"
            f"question: {{task: identify}}\nstop: {{mrr: {{}}}}\n{more}",
            encoding="utf-8",
        )
        return path

    load_plan(plan("p.csv"))
    load_plan(plan(str(plans / "p.csv")))
    for named in ("../outside/p.csv", str(outside / "p.csv"), "link.csv", "/etc/passwd"):
        with pytest.raises(PlanError, match="outside of ASSAY_PLAN_FOLDERS"):
            load_plan(plan(named))
    with pytest.raises(PlanError, match="outside of ASSAY_PLAN_FOLDERS"):
        load_plan(plan("p.csv", "report: {every: 1d, to: /etc}\n"))


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.0.0.1:9870", "127.1", "2130706433", "0x7f000001", "0.0.0.0", "localhost",
        "LOCALHOST.", "a.localhost:1", "[::1]:9870", "[::ffff:7f00:1]", "169.254.169.254",
    ],
)  # fmt: skip
def test_a_plan_reaches_no_service_of_this_machine_also_where_it_is_not_confined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.delenv("ASSAY_PLAN_FOLDERS", raising=False)

    def plan(host: str) -> Path:
        (tmp_path / "plan.yaml").write_text(
            "assessment: reaching\n"
            f"pool: {{predictions: 'webhdfs://{host}/p.csv', predicted: predicted,"
            " data: {text: text}}\nquestion: {task: identify}\nstop: {mrr: {}}\n",
            encoding="utf-8",
        )
        return tmp_path / "plan.yaml"

    with pytest.raises(PlanError, match=r"on this machine|one protocol"):
        load_plan(plan(host))
    load_plan(plan("hdfs.example.org:9870"))
    monkeypatch.setenv("ASSAY_PLAN_FOLDERS", "webhdfs://127.0.0.1")
    load_plan(plan("127.0.0.1"))

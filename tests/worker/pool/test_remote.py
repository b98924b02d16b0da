"""Files elsewhere: what plans may name, copies by content, and a store of compiled pools."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from worker.assessment import assess, reopen
from worker.errors import PlanError, PoolChanged
from worker.plan import Plan, load_plan, plan_hash
from worker.plan.addresses import address, shown
from worker.pool import check_source, compile_pool, fetch_pool, publish, read_truth
from worker.pool.remote import StoreFailed, fetched
from worker.store import Header
from worker.store.settings import read_settings

ROWS = "item_id,said,sure,text,truth\n" + "".join(
    f"i{i},{'cat' if i % 2 else 'dog'},0.{i % 9 + 1},t{i},cat\n" for i in range(40)
)
MAP = "class,superclass\ncat,pet\ndog,other\n"


class Silent(MemoryFileSystem):
    """A store that does not answer, and says its address in what it raises."""

    protocol = "silent"

    def _open(self, path: str, *_: Any, **__: Any) -> Any:
        raise ConnectionError(f"no route to silent://me:hunter2@{path}")

    def info(self, path: str, **_: Any) -> Any:
        return self._open(path)

    exists = info


class Full(MemoryFileSystem):
    """A store that takes no more."""

    protocol = "full"

    def put_file(self, *_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")


fsspec.register_implementation("silent", Silent, clobber=True)
fsspec.register_implementation("full", Full, clobber=True)
fsspec.register_implementation(
    "faraway", "no_such_package.FarAway", errtxt="Install no_such_package to access far away"
)


@pytest.fixture(autouse=True)
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryFileSystem]:
    """A store in memory with predictions, empty again afterwards."""
    monkeypatch.delenv("ASSAY_PLAN_FOLDERS", raising=False)
    files = fsspec.filesystem("memory")
    files.pipe({"/bucket/p.csv": ROWS.encode(), "/bucket/map.csv": MAP.encode()})
    yield files
    files.store.clear()
    files.pseudo_dirs[:] = [""]


def plan_file(folder: Path, predictions: str = "memory://bucket/p.csv", more: str = "") -> Path:
    path = folder / "plan.yaml"
    path.write_text(
        "assessment: away\n"
        f"pool: {{predictions: '{predictions}', predicted: said, score: sure,"
        f" data: {{text: text}}{more}}}\n"
        "question: {task: identify}\n",
        encoding="utf-8",
    )
    return path


def plan_of(folder: Path, *parts: str) -> Plan:
    return load_plan(plan_file(folder, *parts))


def header_of(plan: Plan, pools: Path) -> Header:
    pool = compile_pool(plan, pools)
    return Header(
        plan.assessment, plan.model_dump_json(), plan_hash(plan), pool.hash, str(pool.path),
        pool.file_sha256, pool.stat, 1, "http://localhost", "answer", "text", pool.classes, "",
    )  # fmt: skip


# What a plan may name


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("s3://bucket/a/p.csv", "s3://bucket/a/p.csv"),
        (Path("S3://bucket/p.csv"), "s3://bucket/p.csv"),
        ("memory:///p.csv", "memory://p.csv"),
        ("p.csv", None),
        ("/data/p.csv", None),
        ("a:b.csv", None),
        ("C:/p.csv", None),
    ],
)
def test_an_address_is_told_from_a_path(path, uri):
    assert address(path) == uri


def test_a_plan_and_its_hash_keep_the_address(tmp_path):
    plan = plan_of(tmp_path)
    stored = Plan.model_validate_json(plan.model_dump_json())
    assert address(stored.pool.predictions) == "memory://bucket/p.csv"
    assert plan_hash(stored) == plan_hash(plan)


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("s3://key:hunter2@bucket/p.csv", "without user and password"),
        ("https://host/p.csv?signature=hunter2", "which may hold a secret"),
        ("simplecache::file:///etc/passwd", "without `::`"),
        ("simplecache::s3://bucket/p.csv", "without `::`"),
        ("s3://bucket/../other/p.csv", r"without `\.\.`"),
        ("s3://bucket/%252e%252e/other/p.csv", r"without `\.\.`"),
    ],
)
def test_a_plan_may_name_no_address_that_holds_a_secret_or_leads_elsewhere(tmp_path, uri, reason):
    with pytest.raises(PlanError, match=reason) as caught:
        compile_pool(plan_of(tmp_path, uri), tmp_path / "pools")
    assert "hunter2" not in str(caught.value)


def test_plans_are_confined_to_addresses_as_to_folders(tmp_path, monkeypatch):
    allowed = tmp_path / "plans"
    allowed.mkdir()
    monkeypatch.setenv("ASSAY_PLAN_FOLDERS", f"{allowed}:s3://bucket/plans/:memory://bucket")

    for uri in ("memory://bucket/p.csv", "s3://bucket/plans/p.csv"):
        assert address(plan_of(allowed, uri).pool.predictions) == uri
    for uri in (
        "s3://bucket/p.csv", "s3://bucket/plans-2/p.csv", "s3://other/plans/p.csv",
        "https://169.254.169.254/latest", "memory://bucket2/p.csv", "file:///etc/passwd",
        "local:///etc/passwd", "file:/etc/passwd", "FILE://localhost/etc/passwd",
    ):  # fmt: skip
        with pytest.raises(PlanError, match="outside of ASSAY_PLAN_FOLDERS"):
            plan_of(allowed, uri)
    with pytest.raises(PlanError, match="outside of ASSAY_PLAN_FOLDERS"):
        plan_of(allowed, "memory://bucket/p.csv", ", groups: 'superclass(s3://other/map.csv)'")
    monkeypatch.setenv("ASSAY_PLAN_FOLDERS", str(allowed))
    with pytest.raises(PlanError, match="outside of ASSAY_PLAN_FOLDERS"):
        plan_of(allowed)


def test_files_of_the_machine_may_be_named_by_an_address_too(tmp_path):
    (tmp_path / "p.csv").write_text(ROWS)
    plan = plan_of(tmp_path, f"file://{tmp_path}/p.csv")
    assert plan.pool.predictions == tmp_path / "p.csv"


def test_what_is_written_or_read_at_once_is_no_address(tmp_path):
    path = plan_file(tmp_path)
    path.write_text(path.read_text() + "report: {every: 1d, to: 's3://bucket/reports'}\n")
    with pytest.raises(PlanError, match=r"report.to.*came the address"):
        load_plan(path)


def test_secrets_are_left_out_of_an_address_that_is_shown():
    assert shown("sftp://me:hunter2@host/pools") == "sftp://...@host/pools"
    assert shown("https://host/p?token=hunter2") == "https://host/p?..."
    assert shown("s3://bucket/a@b") == "s3://bucket/a@b"


# Predictions


def test_a_pool_is_the_same_wherever_its_files_are(tmp_path, memory):
    (tmp_path / "p.csv").write_text(ROWS)
    (tmp_path / "map.csv").write_text(MAP)
    away = plan_of(
        tmp_path, "memory://bucket/p.csv", ", groups: 'superclass(memory://bucket/map.csv)'"
    )
    one = compile_pool(away, tmp_path / "away")
    two = compile_pool(
        plan_of(tmp_path, "p.csv", ", groups: 'superclass(map.csv)'"), tmp_path / "here"
    )

    assert one.path.read_bytes() == two.path.read_bytes()
    assert one.group_names == ("pet", "other")
    check_source(one, away)
    assert set(read_truth(away, one, "truth").tolist()) == {one.classes.index("cat")}
    memory.pipe("/bucket/t.csv", ROWS.encode())
    assert len(read_truth(away, one, "memory://bucket/t.csv:truth")) == 40


def test_a_file_is_copied_once_and_again_when_it_changed(tmp_path, memory):
    plan, folder = plan_of(tmp_path), tmp_path / "sources"
    first = fetched(plan.pool.predictions, folder)
    first.write_text("our own copy")
    assert fetched(plan.pool.predictions, folder).read_text() == "our own copy"

    pool = compile_pool(plan_of(tmp_path), tmp_path / "pools")
    memory.pipe("/bucket/p.csv", ROWS.replace("dog", "cow").encode())
    assert fetched(plan.pool.predictions, folder).read_text() == ROWS.replace("dog", "cow")
    with pytest.raises(PoolChanged, match="predictions file changed"):
        check_source(pool, plan)


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("memory://bucket/none.csv", "there is no such file"),
        ("memory://bucket", "came a folder"),
        ("silent://bucket/p.csv", "cannot be read.*nothing is lost"),
        ("faraway://bucket/p.csv", "not installed.*no_such_package"),
        ("nonsense://bucket/p.csv", "cannot be read.*nonsense"),
    ],
)
def test_a_file_that_cannot_be_had_is_told(tmp_path, uri, reason):
    with pytest.raises(StoreFailed, match=f"^{uri}: .*{reason}"):
        compile_pool(plan_of(tmp_path, uri), tmp_path / "pools")
    assert not list(tmp_path.glob("pools/*.arrow"))


# The store of compiled pools


@pytest.mark.parametrize("kind", ["memory", "folder"])
def test_a_worker_without_the_pool_fetches_it_from_the_store(tmp_path, monkeypatch, kind):
    store = "memory://pools/of/us" if kind == "memory" else str(tmp_path / "shared")
    header = header_of(plan_of(tmp_path), tmp_path / "one" / "pools")
    path = Path(header.pool_file)

    assert publish(path, store)
    assert not publish(path, store)  # it is there
    elsewhere = replace(header, pool_file=f"/of/another/machine/{path.name}")
    monkeypatch.setenv("ASSAY_POOL_STORE", store)
    work = reopen(elsewhere, tmp_path / "two" / "pools")

    assert work.pool.path == tmp_path / "two" / "pools" / path.name
    assert work.pool.path.read_bytes() == path.read_bytes()
    assert work.pool.stat == header.pool_stat  # so that it is not read through at every opening
    assert [file.name for file in work.pool.path.parent.iterdir()] == [path.name]
    assert work.pool.item(3) == assess(work.plan, compile_pool(work.plan, path.parent)).pool.item(3)


def test_a_file_in_the_store_that_is_damaged_is_refused_and_not_kept(tmp_path, memory):
    header = header_of(plan_of(tmp_path), tmp_path / "pools")
    path = Path(header.pool_file)
    publish(path, "memory://pools")
    content = memory.cat_file(f"/pools/{path.name}")
    memory.pipe(f"/pools/{path.name}", content.replace(b"t7", b"t8"))

    target = tmp_path / "other" / path.name
    with pytest.raises(PoolChanged, match=r"ASSAY_POOL_STORE is not the one.*Delete it there"):
        fetch_pool("memory://pools", target, header.pool_sha256, header.pool_stat)
    assert not list(target.parent.iterdir())


def test_a_pool_that_is_nowhere_is_told(tmp_path, monkeypatch):
    header = header_of(plan_of(tmp_path), tmp_path / "pools")
    Path(header.pool_file).unlink()
    monkeypatch.setenv("ASSAY_POOL_STORE", "memory://pools")
    with pytest.raises(PoolChanged, match="neither in ASSAY_POOL_STORE nor at"):
        reopen(header, tmp_path / "pools")
    monkeypatch.delenv("ASSAY_POOL_STORE")
    with pytest.raises(PoolChanged, match="is gone"):
        reopen(header, tmp_path / "pools")


def test_a_store_that_does_not_answer_is_told_without_its_secrets(tmp_path, monkeypatch):
    header = header_of(plan_of(tmp_path), tmp_path / "pools")
    store = "silent://me:hunter2@bucket/pools"
    with pytest.raises(StoreFailed, match=r"cannot be written.*nothing is lost") as caught:
        publish(Path(header.pool_file), store)
    assert "hunter2" not in str(caught.value)
    Path(header.pool_file).rename(tmp_path / "kept.arrow")
    monkeypatch.setenv("ASSAY_POOL_STORE", store)
    with pytest.raises(StoreFailed, match=r"cannot be read.*nothing is lost") as caught:
        reopen(header, tmp_path / "pools")
    assert "hunter2" not in str(caught.value)

    (tmp_path / "kept.arrow").rename(header.pool_file)
    assert reopen(header, tmp_path / "pools").pool.n_items == 40


def test_a_store_that_is_full_keeps_no_half_of_a_pool(tmp_path):
    header = header_of(plan_of(tmp_path), tmp_path / "pools")
    with pytest.raises(StoreFailed, match="No space left"):
        publish(Path(header.pool_file), "full://pools")
    assert not [path for path in Full.store if path.endswith((".arrow", ".part"))]


def test_the_address_of_the_store_may_stand_in_a_file(tmp_path):
    (tmp_path / "store").write_text("sftp://me:hunter2@host/pools\n")
    settings = read_settings({"ASSAY_POOL_STORE_FILE": str(tmp_path / "store")})
    assert settings.pool_store == "sftp://me:hunter2@host/pools"
    assert read_settings({}).pool_store is None

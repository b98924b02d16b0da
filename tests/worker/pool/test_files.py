"""Values that are paths of files: which columns hold such, and what is refused before anybody
labels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.worker.pool.media_pool import N, compiled, path, plan_of, refused, said, write
from worker.pool import check_source, compile_pool, compiling, open_pool
from worker.pool.continued import continued
from worker.pool.files import (
    LARGEST,
    FileLost,
    as_uploaded,
    content_of,
    notes_on_files,
    tags_of,
)
from worker.pool.since import Inputs, Since

# --- which columns -------------------------------------------------------------------------------


@pytest.mark.parametrize("opened_again", [False, True])
def test_a_column_of_paths_is_one_of_files_whatever_it_is_called(
    tmp_path: Path, opened_again: bool
) -> None:
    write(tmp_path)
    pool = compiled(tmp_path)
    pool = open_pool(pool.path, pool.file_sha256) if opened_again else pool
    assert pool.file_keys == ("scan",)
    assert pool.files is not None
    assert pool.files.folder == str(tmp_path)
    for row in range(N):
        item = pool.item(row)
        number = int(item.item_id[1:])
        assert (item.data, item.files) == ({"scan": path(number)}, {"scan": number + 1})


@pytest.mark.parametrize(
    "values",
    [
        lambda n: f"https://host/{n}.png",
        lambda n: f"s3://bucket/{n}.png",
        lambda n: f"/data/local-files/?d={n}.png",
        lambda n: f"data:image/png;base64,{n}.png",
        lambda n: f"please look at no. {n}.png" if n < 30 else f"a question, no. {n}",
        lambda n: f"message {n}",
    ],
    ids=["https", "s3", "label studio's", "data", "texts with some names", "texts"],
)
def test_addresses_and_texts_are_shown_as_they_are(
    tmp_path: Path, values: Callable[[int], str]
) -> None:
    pool = compiled(tmp_path, values)
    assert pool.files is None
    assert as_uploaded(pool, 0) == pool.item(0).data


def test_addresses_and_missing_values_may_stand_among_paths(tmp_path: Path) -> None:
    write(tmp_path)
    values = {0: "https://host/0.png", 1: "/data/upload/1/x.png"}
    pool = compiled(tmp_path, lambda n: values.get(n, path(n)))
    of = {item.item_id: item.files for item in map(pool.item, range(N))}
    assert of["i0"] == of["i1"] == {}
    assert of["i2"] == {"scan": 3}


def test_whole_paths_and_paths_that_step_up_are_files_too(tmp_path: Path) -> None:
    write(tmp_path)
    own = tmp_path / "own"
    own.mkdir()
    pool = compiled(own, lambda n: f"../{path(n)}" if n < 20 else str(tmp_path / path(n)))
    assert pool.files is not None
    for row in range(N):
        (value,), (size,) = pool.item(row).data.values(), pool.item(row).files.values()
        assert len(content_of(pool.files.folder, value, size)) == size


# --- what annotators are told --------------------------------------------------------------------


def test_folders_may_be_called_by_the_classes_as_nobody_sees_them(tmp_path: Path) -> None:
    write(tmp_path)
    pool = compiled(tmp_path)
    shown = " ".join(as_uploaded(pool, row)["scan"] for row in range(N))
    assert "cat" not in shown
    assert "dog" not in shown
    assert len(set(shown.split())) == N + 1  # the word `uploaded` stands before each


def test_suffixes_that_stand_for_the_predicted_class_are_refused(tmp_path: Path) -> None:
    def values(n: int) -> str:
        return f"{n}.{'jpg' if said(n) == 'cat' else 'png'}"

    write(tmp_path, values)
    assert "stands for the predicted class, one to one" in refused(tmp_path, values)


def test_addresses_among_the_paths_may_not_tell_the_class(tmp_path: Path) -> None:
    def values(n: int) -> str:
        return path(n) if n < 10 else f"https://host/{said(n)}/{n}.png"

    write(tmp_path)
    text = refused(tmp_path, values)
    assert "is an address or a name in which the predicted class stands" in text


def test_ids_that_are_the_paths_are_still_refused(tmp_path: Path) -> None:
    write(tmp_path)
    assert "the id (column seen)" in refused(tmp_path, pool={"id": "seen"})


# --- the compiled pool ---------------------------------------------------------------------------


def test_the_same_files_give_the_same_pool_and_others_another(tmp_path: Path) -> None:
    write(tmp_path)
    plan = plan_of(tmp_path)
    first, again = (compile_pool(plan, tmp_path / name) for name in ("a", "b"))
    assert first.path.read_bytes() == again.path.read_bytes()
    before = first.path.stat()
    assert compile_pool(plan, tmp_path / "a").hash == first.hash
    assert first.path.stat() == before  # a running assessment's file is left alone

    (tmp_path / path(1)).write_bytes(b"another picture")
    later = compile_pool(plan, tmp_path / "a")
    assert later.hash != first.hash
    assert first.path.stat() == before
    for pool in (first, later):
        check_source(pool, plan)


def test_a_pool_that_an_older_release_compiled_is_compiled_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path)
    with monkeypatch.context() as older:
        older.setattr(compiling, "find_files", lambda *_: None)
        older.setattr(compiling, "check_shown", lambda *_: None)
        old = compiled(tmp_path)
    assert old.files is None
    new = compiled(tmp_path)
    assert new.file_keys == ("scan",)
    assert new.files is not None
    assert (new.files.base, new.path) == (old.hash, new.path)
    assert open_pool(old.path, old.file_sha256).files is None


def test_paths_of_sites_and_gold_items_are_relative_to_their_own_files(tmp_path: Path) -> None:
    for site in ("north", "south"):
        (tmp_path / site).mkdir()
        write(tmp_path / site)
        rows = (f"{site}-{n},{said(n)},0.{60 + n},{path(n)}\n" for n in range(N))
        text = "item_id,said,score,seen\n" + "".join(rows)
        (tmp_path / site / "p.csv").write_text(text, encoding="utf-8")
        (tmp_path / site / path(0)).write_bytes(site.encode())
    (tmp_path / "gold" / "images").mkdir(parents=True)
    (tmp_path / "gold" / "images" / "g.png").write_bytes(b"golden")
    gold = tmp_path / "gold" / "gold.csv"
    gold.write_text("item_id,label,seen\ng,cat,images/g.png\n", encoding="utf-8")
    own = {
        "predictions": tmp_path / "north" / "p.csv",
        "sites": {site: tmp_path / site / "p.csv" for site in ("north", "south")},
        "site": "site",
        "groups": "site",
    }
    pool = compiled(tmp_path, pool=own, annotation={"gold": {"items": gold}})
    assert pool.files is not None
    found = {}
    for item in map(pool.item, range(2 * N + 1)):
        content = content_of(pool.files.folder, item.data["scan"], item.files["scan"])
        found[item.item_id] = content
    assert (found["north-0"], found["south-0"], found["g"]) == (b"north", b"south", b"golden")
    assert len(found["south-3"]) == 4


def test_gold_items_whose_files_are_not_there_are_refused(tmp_path: Path) -> None:
    write(tmp_path)
    gold = tmp_path / "gold.csv"
    gold.write_text("item_id,label,seen\ng,cat,images/g.png\n", encoding="utf-8")
    text = refused(tmp_path, annotation={"gold": {"items": gold}})
    assert "gold.csv: what `pool.data.scan` shows" in text
    assert "1 of 1 are not there" in text


def test_a_pool_that_continues_another_shows_the_same_files(tmp_path: Path) -> None:
    write(tmp_path)
    plan = plan_of(tmp_path)
    base = compile_pool(plan, tmp_path / "pools")
    inputs = Inputs(None, None, None, None, (), ())
    since = Since(
        base=base.hash, assessment="b", status="stopped", text="", metric="accuracy", labels=0,
        tally={}, left_out={}, then=(None, None), overall=None, inputs=inputs,
    )  # fmt: skip
    later = continued(base, since)
    assert later.files == base.files
    assert [later.item(row).files for row in range(N)] == [base.item(row).files for row in range(N)]
    check_source(later, plan)


# --- how they are shown --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "tag"),
    [
        ("{}.JPG", "Image"),
        ("{}.wav", "Audio"),
        ("{}.webm", "Video"),
        ("https://host/{0}.png?size={0}", "Image"),
        ("s3://bucket/{}.mp3", "Audio"),
        ("https://host/{}", None),
        ("message {}", None),
    ],
)
def test_what_a_column_holds_says_how_it_is_shown(
    tmp_path: Path, value: str, tag: str | None
) -> None:
    write(tmp_path, lambda n: value.format(n).rpartition("/")[2])
    assert tags_of(compiled(tmp_path, value.format)) == ({"scan": tag} if tag else {})


def test_before_it_begins_it_is_said_what_is_uploaded_and_what_needs_a_storage(
    tmp_path: Path,
) -> None:
    write(tmp_path)
    (note,) = notes_on_files(compiled(tmp_path))
    assert note.startswith("scan: 40 files are uploaded to Label Studio, each when its item is cho")
    (note,) = notes_on_files(compiled(tmp_path, lambda n: f"s3://bucket/{n}.png"))
    assert "browsers do not open 's3://bucket/" in note
    assert notes_on_files(compiled(tmp_path, lambda n: f"https://host/{n}.png")) == []


# --- reading one ---------------------------------------------------------------------------------


def test_a_file_is_read_only_if_it_is_the_one_that_the_pool_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, file = str(tmp_path), tmp_path / "1.png"
    file.write_bytes(b"12345")
    (tmp_path / "link.png").symlink_to(file)
    assert content_of(folder, "1.png", 5) == content_of(folder, "link.png", 5) == b"12345"
    with pytest.raises(FileLost, match=r"1\.png was changed: it has 5 bytes, and had 4 when"):
        content_of(folder, "1.png", 4)
    with pytest.raises(FileLost, match=r"2\.png cannot be read \(No such file"):
        content_of(folder, "2.png", 5)
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(FileLost, match="cannot be read"):
        content_of(folder, "folder.png", 5)
    with pytest.raises(FileLost, match="null byte"):
        content_of(folder, "\0.png", 5)
    monkeypatch.setenv("ASSAY_PLAN_FOLDERS", str(tmp_path / "plans"))
    with pytest.raises(FileLost, match="outside of ASSAY_PLAN_FOLDERS"):
        content_of(folder, "link.png", 5)


def test_a_pool_of_somebody_else_has_nothing_but_media_read(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_bytes(b"12345")
    with (tmp_path / "large.png").open("wb") as file:
        file.truncate(LARGEST + 1)
    for name, size in (("secret.txt", 5), ("large.png", LARGEST + 1)):
        with pytest.raises(FileLost, match="no image, sound or video of at most 50 MB"):
            content_of(str(tmp_path), name, size)

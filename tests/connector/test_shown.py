"""Which tasks show the same."""

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector.media import uploaded_name
from connector.shown import fingerprint, uploaded

KEYS = {"text": "text"}
FILE = "s3://pictures/1.png"


def handed_out(file: str, task: int = 7, host: str = "") -> str:
    named = base64.urlsafe_b64encode(file.encode()).decode()
    return f"{host}/tasks/{task}/resolve/?fileuri={named}"


def of(value: Any) -> str:
    return fingerprint({"text": value}, KEYS)


@given(st.text(), st.text())
def test_another_text_has_another_fingerprint(one: str, other: str) -> None:
    assert (of(one) == of(other)) == (one == other)


@given(st.dictionaries(st.text(min_size=1), st.text(), max_size=3), st.text())
def test_only_the_shown_keys_are_part_of_it(more: dict[str, str], text: str) -> None:
    assert fingerprint(more | {"text": text}, KEYS) == of(text)


def test_values_do_not_change_places() -> None:
    keys = {"a": "a", "b": "b"}
    one, other = fingerprint({"a": "x", "b": "y"}, keys), fingerprint({"a": "y", "b": "x"}, keys)
    assert one != other


@pytest.mark.parametrize(
    ("came", "kept"),
    [(None, ""), (1.5, "1.5"), (True, "true"), ({"b": [1], "a": "ä"}, '{"a": "ä", "b": [1]}')],
)
def test_what_is_no_text_is_as_a_pool_keeps_it(came: Any, kept: str) -> None:
    assert of(came) == of(kept)


def test_a_key_that_was_taken_out_is_a_change() -> None:
    assert fingerprint({}, KEYS) != of("a text")


@pytest.mark.parametrize("host", ["", "https://labels.example.org"])
def test_a_file_is_the_same_however_label_studio_hands_it_out(host: str) -> None:
    assert of(handed_out(FILE, host=host)) == of(FILE)
    assert of(f'<img src="{handed_out(FILE, host=host)}">') == of(f'<img src="{FILE}">')
    assert of(handed_out("s3://pictures/2.png", host=host)) != of(FILE)


@pytest.mark.parametrize("path", ["", "/labels"])
def test_an_uploaded_file_is_the_same_however_often_it_was_uploaded(path: str) -> None:
    name = uploaded_name("a pool", "cats/1.PNG")
    assert name.endswith(".png")
    assert of(f"{path}/data/upload/3/0123abcd-{name}") == of(uploaded(name))
    assert of(f"{path}/data/upload/12/ffffffff-{name}") == of(uploaded(name))
    another = uploaded_name("a pool", "cats/2.PNG")
    assert of(f"{path}/data/upload/3/0123abcd-{another}") != of(uploaded(name))


@pytest.mark.parametrize(
    "address",
    [
        "{name}",
        "https://elsewhere.org/data/upload/3/0123abcd-{name}",
        "//elsewhere.org/data/upload/3/0123abcd-{name}",
        "/data/upload/3/0123abcd-{name}?x=1",
        "see /data/upload/3/0123abcd-{name}",
    ],
)
def test_what_label_studio_does_not_hand_out_is_no_uploaded_file(address: str) -> None:
    name = uploaded_name("a pool", "cats/1.png")
    assert of(address.format(name=name)) != of(uploaded(name))


def test_files_of_other_peoples_uploads_are_known_by_their_addresses() -> None:
    one, other = "/data/upload/3/0123abcd-photo.png", "/data/upload/3/ffffffff-photo.png"
    assert of(one) != of(other)


@given(st.text(), st.text())
def test_the_name_of_an_upload_tells_nothing_but_its_suffix(pool: str, path: str) -> None:
    digest, _, suffix = uploaded_name(pool, f"{path}/cat.jpg").partition(".")
    assert suffix == "jpg"
    assert len(digest) == 40
    assert int(digest, 16) >= 0


def test_an_address_that_names_no_file_is_a_text() -> None:
    assert of("/tasks/1/resolve/?fileuri=a") != of("/tasks/1/resolve/?fileuri=b")


@given(st.text(st.characters(categories=["Cs"]), min_size=1))
def test_half_of_a_pair_of_surrogates_is_a_text_like_any(text: str) -> None:
    assert of(text) != of("")

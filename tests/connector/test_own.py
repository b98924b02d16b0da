"""The Label Studio of our own: who finds it, and to whom its token goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from connector.errors import ConnectorError
from connector.own import OwnServer, keep, kept_at, own_server
from connector.settings import label_studio_settings, people_url

THERE, BEFORE = "http://127.0.0.1:40002", "http://127.0.0.1:40001"
OWN = OwnServer((BEFORE, THERE), "admin@example.com", "s3cret-password", "s3cret-token")
ELSEWHERE = {"LABEL_STUDIO_URL": "http://ls:8080", "LABEL_STUDIO_API_KEY": "theirs"}


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    keep(tmp_path, OWN)
    return {"ASSAY_HOME": str(tmp_path)}


def test_where_none_is_named_our_own_is_used_with_its_token(env: dict[str, str]) -> None:
    found = label_studio_settings(None, env)

    assert (found.url, found.token) == (THERE, OWN.token)
    assert label_studio_settings(None, env | ELSEWHERE).token == "theirs"


def test_what_was_begun_there_goes_on_where_it_is_now(env: dict[str, str]) -> None:
    for more in ({}, ELSEWHERE):
        found = label_studio_settings(BEFORE, env | more)
        assert (found.url, found.token) == (THERE, OWN.token)
        assert people_url(BEFORE, env | more) == THERE


def test_its_token_goes_nowhere_else(env: dict[str, str]) -> None:
    with pytest.raises(ConnectorError) as caught:
        label_studio_settings("http://127.0.0.1:40003", env)
    assert "s3cret" not in str(caught.value)
    more = env | {"LABEL_STUDIO_API_KEY": "theirs"}
    assert label_studio_settings("http://127.0.0.1:40003", more).token == "theirs"


def test_nobody_else_may_read_its_secrets_and_they_never_show(tmp_path: Path) -> None:
    for _ in range(2):
        keep(tmp_path, OWN)
        assert kept_at(tmp_path).stat().st_mode & 0o777 == 0o600
    assert own_server(tmp_path) == OWN
    assert "s3cret" not in repr(OWN)
    assert [path.name for path in tmp_path.iterdir()] == [kept_at(tmp_path).name]


@pytest.mark.parametrize("text", ["", "s3cret", "[]", '{"urls": []}', '{"token": "s3cret"}'])
def test_a_damaged_file_is_named_without_what_is_in_it(tmp_path: Path, text: str) -> None:
    kept_at(tmp_path).write_text(text, encoding="utf-8")

    with pytest.raises(ConnectorError, match=r"label-studio\.json is not as Assay wrote it") as e:
        label_studio_settings(None, {"ASSAY_HOME": str(tmp_path)})
    assert "s3cret" not in str(e.value)

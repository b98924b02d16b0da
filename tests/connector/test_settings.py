"""Where Label Studio is, and the secrets: from the environment only."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from connector.errors import ConnectorError, MissingSetting, UnusableSecret
from connector.settings import (
    LARGEST_SECRET,
    label_studio_settings,
    people_url,
    secret,
    webhook_secret,
)

TOKEN = {"LABEL_STUDIO_API_KEY": "s3cret-token"}


@pytest.fixture(autouse=True)
def _nothing_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder that is worked in has no Label Studio of its own."""
    monkeypatch.chdir(tmp_path)


def test_the_token_goes_to_one_server_whatever_a_plan_says() -> None:
    env = {**TOKEN, "LABEL_STUDIO_URL": "http://ours:8080/"}

    assert label_studio_settings(None, env).url == "http://ours:8080"
    assert label_studio_settings("http://ours:8080", env).url == "http://ours:8080"
    for planted in ("https://elsewhere", "http://ours:8081", "http://ours:8080@elsewhere"):
        with pytest.raises(ConnectorError, match="is a token of one of them") as caught:
            label_studio_settings(planted, env)
        assert "s3cret" not in str(caught.value)
    assert label_studio_settings("https://from-plan/", TOKEN).url == "https://from-plan"


def test_white_space_around_a_token_is_dropped() -> None:
    env = {"LABEL_STUDIO_API_KEY": " abc\n"}

    assert label_studio_settings("http://ls", env).token == "abc"


def test_a_token_never_shows() -> None:
    assert "s3cret" not in repr(label_studio_settings("http://ls", TOKEN))


def test_a_missing_address_is_named_with_an_example() -> None:
    with pytest.raises(MissingSetting, match=r"LABEL_STUDIO_URL is not set(?s:.*)http://localhost"):
        label_studio_settings(None, TOKEN)


@pytest.mark.parametrize("env", [{}, {"LABEL_STUDIO_API_KEY": " "}])
def test_a_missing_token_is_named_with_its_place(env: dict[str, str]) -> None:
    with pytest.raises(MissingSetting, match=r"LABEL_STUDIO_API_KEY(?s:.*)personal access token"):
        label_studio_settings("http://ls", env)


@pytest.mark.parametrize("address", ["localhost:8080", "ftp://ls", "http://", "ls", "/api"])
def test_what_is_no_address_is_refused_with_a_form_that_is(address: str) -> None:
    with pytest.raises(ConnectorError, match=r"expected http://host:port"):
        label_studio_settings(address, TOKEN)


@pytest.mark.parametrize("address", ["http://ls:eighty", "http://[::1", "http://ls:99999"])
def test_a_port_or_host_that_cannot_be_is_refused(address: str) -> None:
    with pytest.raises(ConnectorError, match=r"expected http://host:port"):
        label_studio_settings(address, TOKEN)


def test_people_have_an_address_of_their_own_for_the_server_of_label_studio_url_only() -> None:
    env = {
        "LABEL_STUDIO_URL": "http://inside:8080/",
        "LABEL_STUDIO_PUBLIC_URL": "https://labels.example/",
    }
    assert people_url("http://inside:8080", env) == "https://labels.example"
    assert people_url("https://another.example", env) == "https://another.example"
    assert people_url("http://inside:8080", env | {"LABEL_STUDIO_PUBLIC_URL": ""}) == (
        "http://inside:8080"
    )


def test_the_webhook_secret_must_be_set() -> None:
    assert webhook_secret({"ASSAY_WEBHOOK_SECRET": "x"}) == "x"
    with pytest.raises(MissingSetting, match=r"ASSAY_WEBHOOK_SECRET(?s:.*)openssl rand"):
        webhook_secret({})


class TestSecretsByFile:
    """`<NAME>_FILE` names a file that holds the secret."""

    @pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n"])
    def test_what_the_file_holds_is_the_secret_without_the_line_end(
        self, tmp_path: Path, end: str
    ) -> None:
        (tmp_path / "token").write_text(f"s3cret {end}", newline="")

        assert secret("NAME", {"NAME_FILE": str(tmp_path / "token")}) == "s3cret "

    def test_it_serves_where_the_variable_does(self, tmp_path: Path) -> None:
        (tmp_path / "token").write_text("s3cret\n")
        env = {
            "LABEL_STUDIO_API_KEY_FILE": str(tmp_path / "token"),
            "ASSAY_WEBHOOK_SECRET_FILE": str(tmp_path / "token"),
        }

        assert label_studio_settings("http://ls", env).token == "s3cret"
        assert webhook_secret(env) == "s3cret"

    def test_neither_is_none_and_an_empty_variable_is_not_set(self, tmp_path: Path) -> None:
        (tmp_path / "token").write_text("s3cret")

        assert secret("NAME", {}) is None
        assert secret("NAME", {"NAME": "", "NAME_FILE": ""}) is None
        assert secret("NAME", {"NAME": "", "NAME_FILE": str(tmp_path / "token")}) == "s3cret"

    def test_both_are_refused_without_showing_either(self, tmp_path: Path) -> None:
        (tmp_path / "token").write_text("s3cret")
        env = {"NAME": "0ther", "NAME_FILE": str(tmp_path / "token")}

        with pytest.raises(UnusableSecret, match=r"^NAME_FILE and NAME are both set") as caught:
            secret("NAME", env)

        assert "s3cret" not in str(caught.value)
        assert "0ther" not in str(caught.value)

    @pytest.mark.parametrize(
        ("held", "why"),
        [
            (b"", "empty"),
            (b"\n", "empty"),
            (b"s3cret\nmore", "more than one line"),
            (b"s3cret\xff", "not UTF-8"),
            (b"s3cret" * LARGEST_SECRET, "larger than any secret"),
        ],
        ids=range(5),
    )
    def test_a_file_that_holds_no_secret_is_named_with_the_variable(
        self, tmp_path: Path, held: bytes, why: str
    ) -> None:
        path = tmp_path / "token"
        path.write_bytes(held)

        with pytest.raises(
            UnusableSecret, match=rf"NAME_FILE names (?s:.*)token, (?s:.*){why}"
        ) as caught:
            secret("NAME", {"NAME_FILE": str(path)})

        assert "s3cret" not in "".join(map(str, (caught.value, caught.value.__cause__)))

    @pytest.mark.parametrize("name", ["missing", ".", "a\0b"])
    def test_a_file_that_cannot_be_read_is_named_with_the_reason(
        self, tmp_path: Path, name: str
    ) -> None:
        with pytest.raises(UnusableSecret, match=r"NAME_FILE names (?s:.*)cannot be read \("):
            secret("NAME", {"NAME_FILE": f"{tmp_path}/{name}"})

    def test_a_missing_secret_says_that_a_file_will_do(self) -> None:
        with pytest.raises(MissingSetting, match="LABEL_STUDIO_API_KEY_FILE names a file"):
            label_studio_settings("http://ls", {})
        with pytest.raises(MissingSetting, match="ASSAY_WEBHOOK_SECRET_FILE names a file"):
            webhook_secret({})


class TestSeveralServers:
    """`LABEL_STUDIO_SERVERS_FILE` names a file with the tokens of further servers."""

    OWN: ClassVar = {**TOKEN, "LABEL_STUDIO_URL": "http://ours:8080"}

    def env(self, folder: Path, *lines: str, own: dict[str, str] | None = None) -> dict[str, str]:
        path = folder / "servers"
        path.write_text("\n".join(lines), encoding="utf-8")
        return (self.OWN if own is None else own) | {"LABEL_STUDIO_SERVERS_FILE": str(path)}

    def test_every_server_gets_its_own_token_and_no_other(self, tmp_path: Path) -> None:
        env = self.env(
            tmp_path, "# clinics", "", "https://north  n0rth", "https://South:9090/ s0uth"
        )

        assert label_studio_settings(None, env).token == "s3cret-token"
        assert label_studio_settings("http://ours:8080/", env).token == "s3cret-token"
        assert label_studio_settings("https://north/", env).token == "n0rth"
        assert label_studio_settings("https://south:9090", env).token == "s0uth"

    @pytest.mark.parametrize("own", [None, TOKEN, {}], ids=["both", "a token only", "none"])
    @pytest.mark.parametrize(
        "planted",
        ["https://north.evil", "https://north:8443", "http://north", "https://north@evil"],
    )
    def test_an_address_that_is_not_there_gets_no_token(
        self, tmp_path: Path, planted: str, own: dict[str, str] | None
    ) -> None:
        env = self.env(tmp_path, "https://north n0rth", own=own)

        with pytest.raises(ConnectorError, match="https://north only") as caught:
            label_studio_settings(planted, env)

        assert "n0rth" not in str(caught.value)
        assert "s3cret" not in str(caught.value)

    def test_the_only_server_is_the_one_that_is_meant(self, tmp_path: Path) -> None:
        env = self.env(tmp_path, "https://north n0rth", own={})

        assert label_studio_settings(None, env).url == "https://north"
        two = self.env(tmp_path, "https://north n0rth", "https://south s0uth", own={})
        with pytest.raises(MissingSetting, match="LABEL_STUDIO_URL is not set"):
            label_studio_settings(None, two)

    @pytest.mark.parametrize(
        ("lines", "why"),
        [
            (["https://north"], "line 1 is not an address and a token"),
            (["", "north n0rth"], "line 2 is not an address"),
            (["https://north n0rth extra"], "line 1 is not"),
            (
                ["https://north n0rth", "HTTPS://North/ 0ther"],
                "line 2 has an address that an earlier",
            ),
            (["http://ours:8080/ n0rth"], "line 1 has an address that LABEL_STUDIO_URL is too"),
            (["# nothing"], "names no server"),
        ],
        ids=range(6),
    )
    def test_a_file_with_anything_else_is_refused_without_showing_it(
        self, tmp_path: Path, lines: list[str], why: str
    ) -> None:
        with pytest.raises(UnusableSecret, match=why) as caught:
            label_studio_settings("https://north", self.env(tmp_path, *lines))

        assert "n0rth" not in str(caught.value)

    def test_a_missing_file_is_named(self) -> None:
        env = self.OWN | {"LABEL_STUDIO_SERVERS_FILE": "/nowhere/servers"}

        with pytest.raises(UnusableSecret, match="LABEL_STUDIO_SERVERS_FILE names '/nowhere"):
            label_studio_settings(None, env)

"""Where Label Studio is, and the secrets: from the environment only."""

from __future__ import annotations

import pytest

from connector.errors import ConnectorError, MissingSetting
from connector.settings import label_studio_settings, webhook_secret

TOKEN = {"LABEL_STUDIO_API_KEY": "s3cret-token"}


def test_the_plans_address_wins_over_the_environments() -> None:
    env = {**TOKEN, "LABEL_STUDIO_URL": "http://from-environment:8080"}

    assert label_studio_settings("https://from-plan/", env).url == "https://from-plan"
    assert label_studio_settings(None, env).url == "http://from-environment:8080"


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


def test_the_webhook_secret_must_be_set() -> None:
    assert webhook_secret({"ASSAY_WEBHOOK_SECRET": "x"}) == "x"
    with pytest.raises(MissingSetting, match=r"ASSAY_WEBHOOK_SECRET(?s:.*)openssl rand"):
        webhook_secret({})

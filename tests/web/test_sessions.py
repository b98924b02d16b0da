"""Signing in and out, asked over real HTTP: whose session steers, and for how long."""

from __future__ import annotations

import logging

import httpx
import pytest

from tests.web.site import HTML, TOKEN, Begun, csrf_of, dashboard, signed_in, status
from worker.service.context import Context
from worker.web import guesses


@pytest.fixture
def url(guarded: str) -> str:
    """A dashboard with a token: it is of signing in that these tests are."""
    return guarded


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], TOKEN.upper(), "é"])
def test_a_wrong_token_opens_no_session(url: str, token: str) -> None:
    answer = httpx.post(f"{url}/login", data={"token": token}, headers=HTML)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    assert TOKEN not in answer.text


def test_the_cookie_is_of_no_use_to_scripts_and_other_sites(url: str) -> None:
    answer = httpx.post(f"{url}/login", data={"token": TOKEN})
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert TOKEN not in cookie


@pytest.mark.parametrize(
    "cookie", ["", "x", "1.2", "99999999999.abc.def", "99999999999..", ".", "é.é.é"]
)
def test_a_made_up_cookie_is_no_session(context: Context, begun: Begun, cookie: str) -> None:
    with dashboard(context, host="0.0.0.0") as url:
        answer = httpx.get(f"{url}/", headers={"cookie": f"assay_session={cookie}".encode()})
    assert answer.status_code == 401


def test_signing_out_ends_the_session(url: str, begun: Begun) -> None:
    with signed_in(url) as client:
        client.post("/logout", data={"csrf": csrf_of(client, begun.id)})
        assert httpx.get(f"{url}/", headers=HTML).headers["location"] == "/login"
        assert client.post(f"/a/{begun.id}/stop").headers["location"] == "/login"
    assert status(begun) == "running"


def test_a_cookie_that_was_copied_before_signing_out_is_of_no_use(
    context: Context, url: str, begun: Begun
) -> None:
    with signed_in(url) as client, signed_in(url) as other:
        copied = {"cookie": f"assay_session={client.cookies['assay_session']}"}
        csrf = csrf_of(client, begun.id)
        assert client.post("/logout", data={"csrf": csrf}).status_code == 303
        with dashboard(context, host="0.0.0.0") as elsewhere:  # another receiver knows, too
            for base in (url, elsewhere):
                pause = f"{base}/a/{begun.id}/pause"
                answer = httpx.post(pause, data={"csrf": csrf}, headers=copied)
                assert answer.status_code in (401, 403)
            assert httpx.get(f"{elsewhere}/", headers=copied).status_code == 401
        assert other.post(f"/a/{begun.id}/pause", data={"csrf": csrf_of(other, begun.id)})
    assert status(begun) == "paused"


@pytest.mark.parametrize(
    "target", ["//evil.example", "https://evil.example", "/\\evil.example", "/a/x\r\nSet-Cookie: a"]
)
def test_signing_in_leads_to_no_other_site(url: str, target: str) -> None:
    answer = httpx.post(f"{url}/login", data={"token": TOKEN, "next": target})
    assert answer.headers["location"] == "/"


# --- by a link --------------------------------------------------------------------------------


def test_a_link_with_the_token_opens_a_session_and_leaves_the_address(
    url: str, begun: Begun
) -> None:
    with httpx.Client(base_url=url, headers=HTML) as client:
        answer = client.get("/login", params={"token": TOKEN, "next": f"/a/{begun.id}"})
        assert (answer.status_code, answer.headers["location"]) == (303, f"/a/{begun.id}")
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert TOKEN not in str(answer.headers) + answer.text
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        pause = {"csrf": csrf_of(client, begun.id)}
        assert client.post(f"/a/{begun.id}/pause", data=pause).status_code == 303
    assert status(begun) == "paused"


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], TOKEN.upper(), "é", "<b>"])
def test_a_link_with_a_wrong_token_shows_the_form_and_opens_nothing(
    context: Context, begun: Begun, token: str
) -> None:
    with dashboard(context, host="0.0.0.0") as url, httpx.Client(base_url=url) as client:
        answer = client.get("/login", params={"token": token}, headers=HTML)
        assert answer.status_code == 403
        assert "This is not the token." in answer.text
        assert '<input id="token"' in answer.text
        assert "set-cookie" not in answer.headers
        assert TOKEN not in answer.text
        assert "<b>" not in answer.text
        assert answer.headers["referrer-policy"] == "strict-origin"  # no path goes along
        assert client.get(f"/a/{begun.id}").status_code == 401


def test_no_link_is_looked_at_while_too_many_wrong_tokens_wait(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guesses, "AT_ONCE", 0)
    answer = httpx.get(f"{url}/login", params={"token": TOKEN}, headers=HTML)
    assert answer.status_code == 429
    assert "set-cookie" not in answer.headers


def test_where_there_is_no_token_no_link_opens_anything(context: Context, begun: Begun) -> None:
    with dashboard(context, token=None) as url:
        for token in ("", "None", "x"):
            answer = httpx.get(f"{url}/login", params={"token": token})
            assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)


@pytest.mark.parametrize("target", ["//evil.example", "https://evil.example", "/a/x/../../b", "/x"])
def test_a_link_leads_to_pages_of_ours_only(url: str, target: str) -> None:
    answer = httpx.get(f"{url}/login", params={"token": TOKEN, "next": target})
    assert answer.headers["location"] == "/"


def test_no_log_has_the_token_of_a_link(
    context: Context, begun: Begun, caplog: pytest.LogCaptureFixture
) -> None:
    asked = [f"/login?token={TOKEN}", f"/login?token={TOKEN}x&next=/", f"/nothing?token={TOKEN}"]
    with caplog.at_level(logging.DEBUG), dashboard(context) as url:
        for path in asked:
            answer = httpx.get(url + path)
            assert TOKEN not in answer.text
    # httpx logs what this test itself asks for
    said = [r.getMessage() for r in caplog.records if not r.name.startswith("http")]
    assert not [line for line in said if TOKEN in line]

"""Signing in and out, asked over real HTTP: whose session steers, and for how long."""

from __future__ import annotations

import httpx
import pytest

from tests.web.site import HTML, TOKEN, Begun, csrf_of, dashboard, signed_in, status
from worker.service.context import Context


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
        assert "Sign in" in client.get("/").text
        assert client.post(f"/a/{begun.id}/stop").status_code == 403


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

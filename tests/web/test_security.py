"""Who may read and who may steer, asked over real HTTP."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from connector.errors import MissingSetting
from tests.web.site import (
    HTML,
    SECRET,
    TOKEN,
    Begun,
    begin,
    csrf_of,
    dashboard,
    forget,
    signed_in,
    status,
)
from worker.service.context import Context
from worker.web.security import gate

BEARER = {"authorization": f"Bearer {TOKEN}"}


def test_on_loopback_without_a_token_everybody_reads_and_nobody_steers(
    url: str, begun: Begun
) -> None:
    for path in ("/", "/part", f"/a/{begun.id}", f"/a/{begun.id}/part", "/metrics"):
        assert httpx.get(url + path).status_code == 200
    for action in ("pause", "resume", "stop"):
        assert httpx.post(f"{url}/a/{begun.id}/{action}").status_code == 403
    assert status(begun) == "running"


def test_who_signed_in_steers_with_the_token_of_the_form(guarded: str, begun: Begun) -> None:
    with signed_in(guarded) as client:
        csrf = csrf_of(client, begun.id)
        answer = client.post(f"/a/{begun.id}/pause", data={"csrf": csrf})
    assert (answer.status_code, answer.headers["location"]) == (303, f"/a/{begun.id}")
    assert status(begun) == "paused"


@pytest.mark.parametrize("csrf", [None, "", "0" * 64, "é"])
def test_a_session_without_the_forms_token_changes_nothing(
    guarded: str, begun: Begun, csrf: str | None
) -> None:
    with signed_in(guarded) as client:
        data = {} if csrf is None else {"csrf": csrf}
        assert client.post(f"/a/{begun.id}/stop", data=data).status_code == 403
    assert status(begun) == "running"


def test_the_forms_token_of_another_session_changes_nothing(guarded: str, begun: Begun) -> None:
    with signed_in(guarded) as mine, signed_in(guarded) as other:
        csrf = csrf_of(other, begun.id)
        assert mine.post(f"/a/{begun.id}/stop", data={"csrf": csrf}).status_code == 403
    assert status(begun) == "running"


@pytest.mark.parametrize("headers", [{"origin": "http://evil.example"}, {"origin": "null"},
                                     {"sec-fetch-site": "cross-site"},
                                     {"sec-fetch-site": "same-site"}])  # fmt: skip
def test_a_request_from_another_site_changes_nothing(
    guarded: str, begun: Begun, headers: dict[str, str]
) -> None:
    with signed_in(guarded) as client:
        csrf = csrf_of(client, begun.id)
        answer = client.post(f"/a/{begun.id}/stop", data={"csrf": csrf}, headers=headers)
    assert answer.status_code == 403
    assert status(begun) == "running"


def test_a_script_steers_with_the_token_itself(guarded: str, begun: Begun) -> None:
    assert httpx.post(f"{guarded}/a/{begun.id}/pause", headers=BEARER).status_code == 303
    assert httpx.post(f"{guarded}/a/{begun.id}/resume", headers=BEARER).status_code == 303
    assert httpx.post(f"{guarded}/a/{begun.id}/resume", headers=BEARER).status_code == 409
    wrong = {"authorization": f"Bearer {TOKEN}x"}
    assert httpx.post(f"{guarded}/a/{begun.id}/stop", headers=wrong).status_code == 401
    assert status(begun) == "running"


def test_a_get_changes_nothing_and_unknown_actions_are_not_found(
    guarded: str, begun: Begun
) -> None:
    assert httpx.get(f"{guarded}/a/{begun.id}/stop", headers=BEARER).status_code == 404
    assert httpx.post(f"{guarded}/a/{begun.id}/erase", headers=BEARER).status_code == 404
    assert httpx.post(f"{guarded}/a/nobody/stop", headers=BEARER).status_code == 404
    assert status(begun) == "running"


@pytest.mark.parametrize(
    "more", ["0", "-1", "x", "1e3", "²", "1000001", "0000000199999999999", "9" * 30, "9" * 5000, ""]
)
def test_labels_to_add_must_be_a_number(guarded: str, begun: Begun, more: str) -> None:
    answer = httpx.post(f"{guarded}/a/{begun.id}/resume", headers=BEARER, data={"more": more})
    assert answer.status_code == 400


# --- bound to another address than loopback -----------------------------------------------------


@pytest.mark.parametrize("host", ["0.0.0.0", "127.0.0.1"])
def test_where_there_is_a_token_nothing_is_read_without_it(
    context: Context, begun: Begun, host: str
) -> None:
    with dashboard(context, host=host) as url:
        for path in ("/", "/part", "/live", f"/a/{begun.id}", f"/a/{begun.id}/part", "/metrics",
                     f"/a/{begun.id}/live", f"/a/{begun.id}/status.json",
                     f"/a/{begun.id}/reports/x.html", "/nothing"):  # fmt: skip
            answer = httpx.get(url + path)
            assert answer.status_code == 401, path
            assert begun.id not in answer.text
        assert httpx.get(f"{url}/", headers=HTML).headers["location"] == "/login"
        assert httpx.get(f"{url}/metrics", headers=BEARER).status_code == 200
        with signed_in(url) as client:
            assert begun.id in client.get("/").text


def test_health_and_webhooks_need_no_token(context: Context, begun: Begun) -> None:
    with dashboard(context, host="0.0.0.0") as url:
        assert httpx.get(f"{url}/healthz").status_code == 200
        assert httpx.get(f"{url}/readyz").status_code in (200, 503)
        sent = {"X-Assay-Secret": SECRET}
        body = {"action": "ANNOTATION_CREATED"}
        assert httpx.post(f"{url}/hook/{begun.id}", headers=sent, json=body).status_code == 200
        assert httpx.post(f"{url}/hook/{begun.id}", json=body).status_code == 401


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "assay.example.com"])
def test_without_a_token_it_is_not_bound_where_others_reach_it(host: str) -> None:
    with pytest.raises(MissingSetting, match=r"ASSAY_DASHBOARD_TOKEN.*127\.0\.0\.1"):
        gate(host, None, {})
    assert TOKEN not in repr(gate(host, None, {"ASSAY_DASHBOARD_TOKEN": TOKEN}))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_loopback_needs_no_token(host: str) -> None:
    assert gate(host, None, {}).is_local


@pytest.mark.parametrize("asked", ["assay.example.org", "localhost", "127.0.0.1:8765", "other"])
def test_behind_a_proxy_everybody_needs_the_token_whatever_name_the_proxy_asks_for(
    context: Context, begun: Begun, asked: str
) -> None:
    host = {"host": asked}
    with dashboard(context, public_url="https://assay.example.org") as url:
        for path in ("/", "/metrics", f"/a/{begun.id}"):
            assert httpx.get(url + path, headers=host).status_code == 401
            assert httpx.get(url + path, headers=host | BEARER).status_code == 200
        sent = host | {"X-Assay-Secret": SECRET}
        body = {"action": "ANNOTATION_CREATED"}
        assert httpx.post(f"{url}/hook/{begun.id}", headers=sent, json=body).status_code == 200
        page = host | BEARER | {"origin": "https://assay.example.org"}
        assert httpx.post(f"{url}/a/{begun.id}/pause", headers=page).status_code == 303
    with pytest.raises(MissingSetting, match=r"others can reach at assay\.example\.org"):
        gate("127.0.0.1", "https://assay.example.org", {})


@pytest.mark.parametrize("public", ["http://localhost:9", "http://127.0.0.2", "http://[::1]:9"])
def test_a_public_address_on_loopback_needs_no_token(public: str) -> None:
    assert gate("127.0.0.1", public, {}).is_local


def test_without_a_token_it_says_how_to_steer(context: Context, begun: Begun) -> None:
    with dashboard(context, token=None) as url:
        assert "Set ASSAY_DASHBOARD_TOKEN to steer" in httpx.get(f"{url}/a/{begun.id}").text
        for token in ("x", "None"):
            assert httpx.post(f"{url}/login", data={"token": token}).status_code == 403
            bearer = {"authorization": f"Bearer {token}"}
            assert httpx.post(f"{url}/a/{begun.id}/stop", headers=bearer).status_code == 403
    assert status(begun) == "running"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "[::2]"]
)
def test_a_name_that_was_rebound_to_this_machine_reads_nothing(
    url: str, begun: Begun, host: str
) -> None:
    answer = httpx.get(f"{url}/", headers={"host": host})
    assert answer.status_code == 421
    assert begun.id not in answer.text


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:9", "[::1]:80"])
def test_this_machine_is_known_by_its_names(url: str, host: str) -> None:
    assert httpx.get(f"{url}/", headers={"host": host}).status_code == 200


# --- what is sent ---------------------------------------------------------------------------------


def test_every_answer_forbids_frames_sniffing_foreign_code_and_keeping(
    url: str, begun: Begun
) -> None:
    for path in ("/", f"/a/{begun.id}", "/login", "/metrics", "/static/live.js", "/nothing"):
        headers = httpx.get(url + path).headers
        assert headers["content-security-policy"].startswith("default-src 'self';")
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
    assert "<script>" not in httpx.get(f"{url}/a/{begun.id}").text.replace("<script src", "")


def test_names_are_text_and_nothing_else(
    context: Context, tmp_path: Path, assessment_id: str
) -> None:
    names = ("<script>alert(1)</script>", "שלום ‮abc", "🙂" * 20, "x" * 300, "=cmd|' /C calc'!A0")
    begin(context, tmp_path / "odd", assessment_id, groups=names)
    try:
        with dashboard(context, token=None) as url:
            text = httpx.get(f"{url}/a/{assessment_id}").text
    finally:
        forget(context, assessment_id)
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "שלום" in text
    assert "x" * 300 in text


def test_only_reports_are_served_from_the_folder_of_reports(
    context: Context, url: str, begun: Begun, tmp_path: Path
) -> None:
    folder = context.folder(begun.id) / "reports"
    folder.mkdir(parents=True)
    page = f"{begun.id}-20260101T100000Z.html"
    others = page.replace("100000Z", "110000Z")  # named like a report, and not one of ours
    for name in (page, others, "index.html", "a.json", "a.csv", ".hidden.html", "a.txt"):
        (folder / name).write_text("a report")
    (folder / others).with_suffix(".csv").write_text("a secret")
    facts = dict.fromkeys(("title", "made_at", "status", "labels", "text"), "")
    told = {"version": 1, "assessment": begun.id} | facts
    (folder / page).with_suffix(".json").write_text(json.dumps(told))
    (folder / page).with_suffix(".csv").write_text("a report")
    (folder / "index.json").write_text('{"version": 1, "reports": []}')
    (tmp_path / "outside.html").write_text("a secret")
    (folder / "link.html").symlink_to(tmp_path / "outside.html")
    (folder / "folder.html").mkdir()
    base = f"{url}/a/{begun.id}/reports"
    for name in (page, page.replace(".html", ".csv"), "index.html"):
        answer = httpx.get(f"{base}/{name}")
        assert (answer.status_code, answer.text) == (200, "a report")
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    for name in (others, others.replace(".html", ".csv"), "a.json", "a.csv",
                 ".hidden.html", "a.txt", "link.html", "folder.html", "missing.html",
                 "..%2fplan.html", "%2e%2e%2foutside.html", "..%5coutside.html", "a.html%00.json",
                 "%2fetc%2fpasswd", "../../outside.html", "index.html%0a"):  # fmt: skip
        answer = httpx.get(f"{base}/{name}")
        assert answer.status_code in (404, 405), name
        assert "secret" not in answer.text
    listed = httpx.get(f"{url}/a/{begun.id}").text
    assert page in listed
    assert "a.txt" not in listed

"""Every secret may come from a file, everywhere that it is used."""

from __future__ import annotations

from pathlib import Path

import pytest

from connector.errors import MissingSetting, UnusableSecret
from worker.cli.doctor import Finding, _secrets
from worker.notices.outbox import NotSent
from worker.notices.sending import _filled, _secret
from worker.service.supervisor import environment
from worker.store.settings import SECRETS, Settings, read_settings
from worker.web.security import gate

ROOT = Path(__file__).parents[2]


@pytest.fixture
def held(tmp_path: Path) -> str:
    path = tmp_path / "secret"
    path.write_text("planted-secret\n")
    return str(path)


def test_the_addresses_of_both_servers(held: str) -> None:
    settings = read_settings({"REDIS_URL_FILE": held, "ASSAY_STATE_URL_FILE": held})

    assert (settings.redis_url, settings.state_url) == ("planted-secret", "planted-secret")


def test_the_token_of_the_dashboard(held: str) -> None:
    env = {"ASSAY_DASHBOARD_TOKEN_FILE": held}
    Path(held).write_text("planted-secret-of-some-length\n", encoding="utf-8")

    assert gate("0.0.0.0", None, env).is_token("planted-secret-of-some-length")
    with pytest.raises(MissingSetting, match="ASSAY_DASHBOARD_TOKEN_FILE names a file"):
        gate("0.0.0.0", None, {})


def test_the_secrets_of_notices(held: str) -> None:
    env = {"ASSAY_NOTIFY_SECRET_FILE": held}
    assert _secret(env) == "planted-secret"

    Path(held).write_text("https://planted-secret/x\n", encoding="utf-8")
    assert str(_filled("${ASSAY_NOTIFY_URL}", {"ASSAY_NOTIFY_URL_FILE": held})) == (
        "https://planted-secret/x"
    )


def test_a_notice_whose_secret_cannot_be_read_is_tried_again_and_says_why() -> None:
    with pytest.raises(NotSent, match="ASSAY_NOTIFY_SECRET_FILE names '/missing'"):
        _secret({"ASSAY_NOTIFY_SECRET_FILE": "/missing"})


def test_up_makes_no_second_webhook_secret(
    held: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(tmp_path, None, None)
    monkeypatch.delenv("ASSAY_WEBHOOK_SECRET", raising=False)
    monkeypatch.delenv("ASSAY_WEBHOOK_SECRET_FILE", raising=False)
    assert len(environment(settings)["ASSAY_WEBHOOK_SECRET"]) == 48

    monkeypatch.setenv("ASSAY_WEBHOOK_SECRET_FILE", held)
    assert "ASSAY_WEBHOOK_SECRET" not in environment(settings)

    monkeypatch.delenv("ASSAY_WEBHOOK_SECRET_FILE")
    monkeypatch.setenv("ASSAY_WEBHOOK_SECRET", "")  # as in an example that was not filled in
    assert len(environment(settings)["ASSAY_WEBHOOK_SECRET"]) == 48


def test_doctor_says_where_each_secret_comes_from_and_never_what_it_is(
    held: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in SECRETS:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(f"{name}_FILE", raising=False)
    monkeypatch.setenv("REDIS_URL_FILE", held)
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "planted-secret")

    assert _secrets() == Finding(
        "Secrets", "LABEL_STUDIO_API_KEY from a variable, REDIS_URL from a file"
    )

    monkeypatch.setenv("LABEL_STUDIO_API_KEY_FILE", held)
    monkeypatch.setenv("REDIS_URL_FILE", "/missing")
    found = _secrets()
    assert found.kind == "problem"
    assert "LABEL_STUDIO_API_KEY_FILE and LABEL_STUDIO_API_KEY are both set" in found.cure
    assert "REDIS_URL_FILE names '/missing', which cannot be read (No such file" in found.cure
    assert "planted" not in found.seen + found.cure


@pytest.mark.parametrize("name", SECRETS)
def test_the_example_marks_what_a_file_may_hold(name: str) -> None:
    lines = (ROOT / "deploy" / "assay.env.example").read_text(encoding="utf-8").splitlines()
    before = [line for line in lines[: lines.index(f"{name}=")] if not line.startswith("# ")]
    comment = lines[lines.index(before[-1]) + 1] if before else lines[0]
    assert comment.startswith("# * ")


def test_the_settings_of_the_gate_name_the_variable(tmp_path: Path) -> None:
    with pytest.raises(UnusableSecret, match="ASSAY_DASHBOARD_TOKEN_FILE"):
        gate("127.0.0.1", None, {"ASSAY_DASHBOARD_TOKEN_FILE": str(tmp_path / "none")})

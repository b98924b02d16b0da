"""How the receiver and the dashboard compare secrets, by their code: time cannot be tested."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from connector.project import SECRET_HEADER
from connector.webhook import LARGEST_BODY, LARGEST_DEPTH

ROOT = Path(__file__).parents[2]
# Names of what is secret, in the files where it is compared.
COMPARED = {
    "connector/webhook.py": {"given", "secret"},
    "worker/web/security.py": {"given", "token", "sign", "csrf", "expected"},
}


@pytest.mark.parametrize("file", COMPARED)
def test_secrets_are_compared_in_constant_time_only(file: str) -> None:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq | ast.In):
            sides = {ast.unparse(side) for side in (node.left, *node.comparators)}
            names = {side.removeprefix("self.").partition(".")[0] for side in sides}
            assert not names & COMPARED[file], ast.unparse(node)
    calls = [ast.unparse(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)]
    assert "hmac.compare_digest" in calls


def test_the_secret_travels_in_a_header_and_never_in_an_address() -> None:
    assert SECRET_HEADER.lower().startswith("x-")
    for path in (ROOT / "worker" / "web" / "serving.py", ROOT / "connector" / "project.py"):
        assert "?secret" not in path.read_text(encoding="utf-8")


def test_the_limits_are_what_the_threat_model_says() -> None:
    text = (ROOT / "deploy" / "threat-model.md").read_text(encoding="utf-8")
    assert f"more than {LARGEST_BODY // 1000} KB" in text
    assert f"deeper than {LARGEST_DEPTH} levels" in text

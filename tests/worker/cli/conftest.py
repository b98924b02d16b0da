"""The command in an empty folder."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.worker.cli.commands import CSV, PLAN
from worker.cli.main import cli


@pytest.fixture
def assay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Run the command in an empty folder, on a server of its own, without Label Studio."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    for name in ("REDIS_URL", "LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY", "ASSAY_STATE_URL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "p.csv").write_text(CSV)
    (tmp_path / "plan.yaml").write_text(PLAN)

    def run(*arguments: object) -> Result:
        return CliRunner().invoke(cli, [str(one) for one in arguments])

    return run

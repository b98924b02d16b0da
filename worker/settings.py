"""Where our own state lives: read once from the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Settings:
    """`home` holds pools, decisions, and the embedded server's data and socket.

    redis_url: RQ's server; None means the embedded one.
    state_url: the ledgers' server, when it is another (a Cluster, say).
    """

    home: Path
    redis_url: str | None
    state_url: str | None

    def folder(self, assessment: str) -> Path:
        """Where an assessment's files are kept."""
        return self.home / "assessments" / assessment

    @property
    def pools(self) -> Path:
        """Where compiled pools are kept."""
        return self.home / "pools"


def read_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Return the settings from ASSAY_HOME, REDIS_URL and ASSAY_STATE_URL."""
    env = os.environ if environ is None else environ
    return Settings(
        home=Path(env.get("ASSAY_HOME") or ".assay").absolute(),
        redis_url=env.get("REDIS_URL") or None,
        state_url=env.get("ASSAY_STATE_URL") or None,
    )

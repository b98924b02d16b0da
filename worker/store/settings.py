"""Where our own state lives: read once from the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from connector.own import home_folder
from connector.settings import people_url, secret

# All that a file may hold instead of a variable; besides them ASSAY_NOTIFY_... of the plan.
SECRETS = (
    "LABEL_STUDIO_API_KEY",
    "ASSAY_WEBHOOK_SECRET",
    "ASSAY_DASHBOARD_TOKEN",
    "ASSAY_NOTIFY_SECRET",
    "REDIS_URL",
    "ASSAY_STATE_URL",
    "ASSAY_POOL_STORE",
)
# numpy's linear algebra reads them when it is imported. Where several of our processes run, its
# threads would only wait for those of the others.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass(frozen=True, slots=True)
class Settings:
    """`home` holds pools, decisions, and the embedded server's data and socket.

    redis_url: RQ's server; None means the embedded one.
    state_url: the ledgers' server, when it is another (a Cluster, say).
    pool_store: where compiled pools are published and fetched from (`s3://...`), if anywhere.
    """

    home: Path
    redis_url: str | None
    state_url: str | None
    pool_store: str | None = None

    def folder(self, assessment: str) -> Path:
        """Where an assessment's files are kept."""
        return self.home / "assessments" / assessment

    @property
    def pools(self) -> Path:
        """Where compiled pools are kept."""
        return self.home / "pools"


def read_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Return the settings from ASSAY_HOME, REDIS_URL, ASSAY_STATE_URL, ASSAY_POOL_STORE.

    The addresses may hold a password, so they may come from files (`connector.settings.secret`).

    Raises:
        UnusableSecret: the file of an address cannot be used.
        ConnectorError: LABEL_STUDIO_PUBLIC_URL is not an http(s) URL.
    """
    env = os.environ if environ is None else environ
    people_url("", env)  # one that is wrong is found here, and not on a page
    return Settings(
        home=home_folder(env),
        redis_url=secret("REDIS_URL", env),
        state_url=secret("ASSAY_STATE_URL", env),
        pool_store=secret("ASSAY_POOL_STORE", env),
    )

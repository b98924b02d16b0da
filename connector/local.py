"""A real Label Studio of a pinned release on loopback, for the demo and for tests.

Its first start migrates a database for minutes, so that is done once per machine and kind of
database; every server then starts from a copy of the migrated data directory, in seconds.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import httpx

from connector.errors import Refused, Rejected
from connector.local_database import (
    KEPT_IN,
    POSTGRESQL,
    SQLITE,
    chosen_database,
    create,
    folder_name,
    run,
    unprivileged,
)
from connector.local_install import (
    LABEL_STUDIO_VERSION,
    LocalServerError,
    Say,
    cache_folder,
    ensure_installed,
    is_installed,
    locked,
    quiet,
    release_folder,
)
from connector.local_server import (
    ADMIN_EMAIL,
    ADMIN_PASSWORD,
    ADMIN_TOKEN,
    HTTP_TIMEOUT_S,
    LOG,
    LabelStudioServer,
    free_port,
    launch,
)

__all__ = [
    "ADMIN_EMAIL",
    "ADMIN_PASSWORD",
    "ADMIN_TOKEN",
    "LABEL_STUDIO_VERSION",
    "LabelStudioServer",
    "LocalServerError",
    "cache_folder",
    "ensure_installed",
    "ensure_migrated",
    "free_port",
    "is_prepared",
    "personal_access_token",
    "start",
]

MIGRATION_TIMEOUT_S = 900.0


def ensure_migrated(say: Say = quiet, database: str = SQLITE) -> Path:
    """Make the data directory that every server starts from, unless it is there; return it.

    Raises:
        LocalServerError: the server could not be installed, or did not come up to migrate.
    """
    command = ensure_installed(say)
    data = release_folder() / folder_name(database)
    if data.exists():
        return data
    with locked():
        if data.exists():
            return data
        say("Preparing Label Studio's database (once, up to three minutes) ...")
        unfinished = data.with_name(f"{data.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        if database == POSTGRESQL:
            create(unfinished)
        launch(command, unfinished, free_port(), MIGRATION_TIMEOUT_S).stop()
        (unfinished / LOG).unlink()
        unfinished.rename(data)
    return data


def is_prepared(database: str = SQLITE) -> bool:
    """Whether a server starts in seconds, as it was installed and migrated before."""
    return is_installed() and (release_folder() / folder_name(database)).exists()


def start(data_dir: Path, port: int | None = None, say: Say = quiet) -> LabelStudioServer:
    """Start a Label Studio on loopback and wait until it answers to our token.

    Its database is the one that `ASSAY_TEST_DATABASE` names, else SQLite.

    Args:
        data_dir: its database, media and log; filled from the migrated copy if it has no database.
        port: the port that it must have; a free one if None.
        say: told in a sentence about everything that takes long.

    Raises:
        LocalServerError: it cannot be installed or does not come up, or the port is taken.
    """
    database = chosen_database()
    command, migrated = ensure_installed(say), ensure_migrated(say, database)
    data_dir = data_dir.resolve()
    if not (data_dir / KEPT_IN[database]).exists():
        copy_migrated(migrated, data_dir, KEPT_IN[database])
    say("Starting Label Studio (a few seconds) ...")
    return launch(command, data_dir, free_port() if port is None else port)


def personal_access_token(url: str, legacy_token: str) -> str:
    """Return a new personal access token of the legacy token's owner; earlier ones are revoked.

    Label Studio shows a token once and allows one at a time, so an old one cannot be had back.

    Raises:
        Refused: the legacy token is not accepted.
        Rejected: any other answer than the expected one.
    """
    headers = {"Authorization": f"Token {legacy_token}"}
    with httpx.Client(base_url=url, headers=headers, timeout=HTTP_TIMEOUT_S) as client:
        answer = client.post("/api/token/")
        if answer.status_code == httpx.codes.CONFLICT:
            for old in client.get("/api/token/").raise_for_status().json():
                client.post("/api/token/blacklist/", json={"refresh": old["token"]})
            answer = client.post("/api/token/")
    if answer.status_code == httpx.codes.UNAUTHORIZED:
        raise Refused(url, answer.status_code, answer.text[:200])
    if answer.status_code != httpx.codes.CREATED:
        raise Rejected(url, answer.status_code, answer.text[:200])
    return str(answer.json()["token"])


def copy_migrated(
    migrated: Path, data_dir: Path, kept_in: str, prepare: Callable[[Path], None] = lambda _: None
) -> None:
    """Copy the migrated data; the database comes last and at once, so half a copy shows.

    Args:
        prepare: what is to be done to the copy of the database before anybody sees it.
    """
    shutil.copytree(migrated, data_dir, ignore=shutil.ignore_patterns(kept_in), dirs_exist_ok=True)
    unfinished = data_dir / f"{kept_in}.unfinished"
    if (migrated / kept_in).is_dir():
        shutil.rmtree(unfinished, ignore_errors=True)
        run(unprivileged(["cp", "-a", str(migrated / kept_in), str(unfinished)]))
    else:
        shutil.copy2(migrated / kept_in, unfinished)
    prepare(unfinished)
    unfinished.rename(data_dir / kept_in)

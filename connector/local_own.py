"""Starts the Label Studio of our own: on loopback, its data and secrets stay from run to run.

Its data begin as a copy of the migrated ones, whose administrator is the same for everybody. So
that this one never opens it, the copy gets new secrets before a server sees it.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import socket
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from connector.local import copy_migrated, ensure_installed, ensure_migrated
from connector.local_database import KEPT_IN, SQLITE
from connector.local_install import Say, quiet
from connector.local_server import ADMIN_EMAIL, LabelStudioServer, free_port, launch
from connector.own import OwnServer, keep, own_server

# Of a password with 144 random bits no number of rounds makes it any harder to guess.
_ROUNDS = 1000


def data_folder(home: Path) -> Path:
    """Return where its database, media and log are."""
    return home / "label-studio"


def start_own(home: Path, say: Say = quiet) -> LabelStudioServer:
    """Start the Label Studio of a home folder, and make it first if it has none.

    It listens where it did last time, or, if that port is taken, at another one that is then kept.

    Raises:
        LocalServerError: it cannot be installed, does not come up or refuses our token.
        ConnectorError: what is kept of it is damaged.
    """
    command, migrated = ensure_installed(say), ensure_migrated(say, SQLITE)
    kept = own_server(home)
    own = kept or _new_secrets()
    if not own.urls or not _is_free(_port(own.url)):
        own = replace(own, urls=(*own.urls, f"http://127.0.0.1:{free_port()}"))
    data = data_folder(home)
    database = data / KEPT_IN[SQLITE]
    if not database.exists():
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
        copy_migrated(migrated, data, KEPT_IN[SQLITE], lambda copy: _give_secrets(copy, own))
        data.chmod(0o700)  # what is copied brings its own mode
        (data / ".env").unlink(missing_ok=True)  # the key of all copies; the start makes another
    elif kept is None:
        _give_secrets(database, own)
    if own != kept:  # only now: until the database has them, they would open nothing
        keep(home, own)
    say("Starting Label Studio (a few seconds) ...")
    return launch(command, data, _port(own.url), token=own.token)


def _new_secrets() -> OwnServer:
    return OwnServer((), ADMIN_EMAIL, secrets.token_urlsafe(18), secrets.token_hex(20))


def _give_secrets(database: Path, own: OwnServer) -> None:
    """Let the administrator, the first user that there was, have our password and token.

    Written as Django writes them: asking Django takes as long as a start of Label Studio. The
    link for annotators becomes another one, too.
    """
    salt = secrets.token_hex(11)
    digest = hashlib.pbkdf2_hmac("sha256", own.password.encode(), salt.encode(), _ROUNDS)
    password = f"pbkdf2_sha256${_ROUNDS}${salt}${base64.b64encode(digest).decode('ascii')}"
    with closing(sqlite3.connect(database)) as db, db:
        (admin,) = db.execute("SELECT MIN(id) FROM htx_user").fetchone()
        db.execute(
            "UPDATE htx_user SET password = ?, email = ? WHERE id = ?", (password, own.email, admin)
        )
        db.execute("UPDATE authtoken_token SET key = ? WHERE user_id = ?", (own.token, admin))
        db.execute("UPDATE organization SET token = ?", (secrets.token_urlsafe(30),))
        db.execute("DELETE FROM django_session")


def _port(url: str) -> int:
    return int(url.rpartition(":")[2])


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True

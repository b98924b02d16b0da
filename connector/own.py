"""The Label Studio of our own, which `assay up` runs where none is named: where it is, its secrets.

They stay in a file under ASSAY_HOME that only its user may read, so that later commands find it.
`connector.local_own` starts it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from connector.errors import ConnectorError


@dataclass(frozen=True, slots=True)
class OwnServer:
    """What is kept of it; the secrets never show in a repr.

    urls: every address that it had, all on loopback; the last one is where it is.
    """

    urls: tuple[str, ...]
    email: str
    password: str = field(repr=False)
    token: str = field(repr=False)

    @property
    def url(self) -> str:
        return self.urls[-1]


def home_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return ASSAY_HOME, where everything of ours is kept; by default `.assay`."""
    env = os.environ if environ is None else environ
    return Path(env.get("ASSAY_HOME") or ".assay").absolute()


def kept_at(home: Path) -> Path:
    """Return the file of its secrets."""
    return home / "label-studio.json"


def own_server(home: Path) -> OwnServer | None:
    """Return what is kept of the Label Studio of a home folder; None if it has none.

    Raises:
        ConnectorError: the file is damaged.
    """
    path = kept_at(home)
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        texts = [str(kept[name]) for name in ("email", "password", "token")]
        urls = tuple(map(str, kept["urls"]))
        if not urls or not all(texts):
            raise ValueError
        return OwnServer(urls, *texts)
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError):  # never what is in it
        raise ConnectorError(
            f"{path} is not as Assay wrote it; expected urls, email, password and token of its "
            "Label Studio. Put it back from a copy; or remove it and run `assay up "
            "--with-label-studio`, which gives the administrator new ones."
        ) from None


def keep(home: Path, server: OwnServer) -> None:
    """Write the file of its secrets."""
    write_private(kept_at(home), json.dumps(asdict(server), indent=1) + "\n")


def write_private(path: Path, text: str) -> None:
    """Write a file that nobody but our user may read, ever; readers see the old one or the new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)

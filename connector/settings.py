"""Where Label Studio is and how we prove who we are: read once from the environment.

A secret may stand in a file that the environment names, as container and service managers hand
them out: the environment is seen by every child, a file only by who may read it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from connector.errors import ConnectorError, MissingSetting, UnusableSecret
from connector.own import home_folder, own_server

# The longest secret is an address or a token; who names a larger file names the wrong one.
LARGEST_SECRET = 16_384
SERVERS = "LABEL_STUDIO_SERVERS"


@dataclass(frozen=True, slots=True)
class LabelStudioSettings:
    """Address and token; the token never shows in a repr, a log or an error."""

    url: str
    token: str = field(repr=False)


def label_studio_settings(
    url: str | None = None, environ: Mapping[str, str] | None = None
) -> LabelStudioSettings:
    """Return the settings: the address is `url` (of a plan, or kept of one), or LABEL_STUDIO_URL.

    The token is one server's: where LABEL_STUDIO_URL is set, it goes nowhere else, whatever a plan
    or a planted header says. The tokens of more servers stand in the file that
    LABEL_STUDIO_SERVERS_FILE names (`other_servers`), each beside the one address that it goes to;
    where it is set, LABEL_STUDIO_API_KEY goes to LABEL_STUDIO_URL only, also if that is not set.
    The Label Studio of our own under ASSAY_HOME, if there is one, has its own token; it is the one
    where nobody names another.

    Raises:
        MissingSetting: no address, or no token in LABEL_STUDIO_API_KEY (nor in a file).
        UnusableSecret: the file of a token, or of the servers, cannot be used.
        ConnectorError: the address is not an http(s) URL, or one that no token is for.
    """
    env = os.environ if environ is None else environ
    beside = own_server(home_folder(env))
    if beside is not None and (url in beside.urls or not (url or is_named(env))):
        return LabelStudioSettings(beside.url, beside.token)
    own, others = env.get("LABEL_STUDIO_URL", ""), other_servers(env)
    only = next(iter(others)) if len(others) == 1 else ""
    address = url or own or only
    if not address:
        raise MissingSetting(
            "LABEL_STUDIO_URL",
            "the address of Label Studio (or `label_studio.url` in the plan; or let `assay up "
            "--with-label-studio` run one)",
            "http://localhost:8080",
        )
    if not is_address(address):
        raise ConnectorError(
            f"{address!r} is not an address of Label Studio; expected http://host:port or https://host"
        )
    if (place := _normal(address)) in others and place != _normal(own):
        return LabelStudioSettings(address.rstrip("/"), others[place])
    if others and place != _normal(own):
        known = ", ".join(filter(None, (own.rstrip("/"), *others)))
        raise ConnectorError(
            f"The plan names the Label Studio at {address}, and there are tokens for {known} only. "
            f"Add a line with its address and its token to the file that {SERVERS}_FILE names, or "
            "correct `label_studio.url` in the plan."
        )
    if own and address.rstrip("/") != own.rstrip("/"):
        raise ConnectorError(
            f"The plan names the Label Studio at {address}, LABEL_STUDIO_URL the one at {own}, and "
            "LABEL_STUDIO_API_KEY is a token of one of them. Set both variables for the plan's "
            "server, leave `label_studio.url` out of the plan, or give the tokens of several "
            f"servers in the file that {SERVERS}_FILE names."
        )
    token = (secret("LABEL_STUDIO_API_KEY", env) or "").strip()
    if not token:
        raise MissingSetting(
            "LABEL_STUDIO_API_KEY",
            "a personal access token of Label Studio (Account & Settings); or "
            "LABEL_STUDIO_API_KEY_FILE names a file that holds it",
            "<token>",
        )
    return LabelStudioSettings(address.rstrip("/"), token)


def is_named(environ: Mapping[str, str] | None = None) -> bool:
    """Whether the environment names a Label Studio, or several."""
    env = os.environ if environ is None else environ
    return bool(env.get("LABEL_STUDIO_URL") or env.get(f"{SERVERS}_FILE"))


def other_servers(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return address -> token of the servers in the file that LABEL_STUDIO_SERVERS_FILE names.

    A line of it is an address, white space, and the token of the user there; empty lines and those
    that begin with # say nothing. None if the variable is not set.

    Raises:
        UnusableSecret: the file cannot be read, names no server, or has a line that is something
            else, an address twice, or the one of LABEL_STUDIO_URL.
    """
    env = os.environ if environ is None else environ
    path = env.get(f"{SERVERS}_FILE", "")
    if not path:
        return {}
    tokens: dict[str, str] = {}
    for number, line in enumerate(_held(SERVERS, path).splitlines(), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        # never the line itself: it holds a token
        where = f"names {path}, whose line {number}"
        if len(words) != 2 or not is_address(words[0]):
            text = "is not an address and a token, as in `https://labels.example.org <token>`"
            raise UnusableSecret(SERVERS, f"{where} {text}")
        place = _normal(words[0])
        if place in tokens or place == _normal(env.get("LABEL_STUDIO_URL", "")):
            other = "an earlier line has" if place in tokens else "LABEL_STUDIO_URL is"
            raise UnusableSecret(SERVERS, f"{where} has an address that {other} too")
        tokens[place] = words[1]
    if not tokens:
        raise UnusableSecret(SERVERS, f"names {path}, which names no server")
    return tokens


def people_url(url: str, environ: Mapping[str, str] | None = None) -> str:
    """Return where people open the Label Studio that we reach at `url`.

    LABEL_STUDIO_PUBLIC_URL says it of the one at LABEL_STUDIO_URL; another one has one address, and
    our own one (`own_server`) the latest of those that it had.

    Raises:
        ConnectorError: LABEL_STUDIO_PUBLIC_URL is not an http(s) URL.
    """
    env = os.environ if environ is None else environ
    public = env.get("LABEL_STUDIO_PUBLIC_URL", "")
    if public and not is_address(public):
        raise ConnectorError(
            f"LABEL_STUDIO_PUBLIC_URL is {public!r}, which is not an address of Label Studio; "
            "expected http://host:port or https://host; leave it empty if people use "
            "LABEL_STUDIO_URL"
        )
    if url and (beside := own_server(home_folder(env))) is not None and url in beside.urls:
        return beside.url
    is_theirs = _normal(url) == _normal(env.get("LABEL_STUDIO_URL", ""))
    return public.rstrip("/") if public and is_theirs else url


def project_page(url: str, project: int) -> str:
    """Return the page of a project, of the Label Studio that we reach at `url`, for people."""
    return f"{people_url(url)}/projects/{project}/data"


def _normal(address: str) -> str:
    """An address as it is compared: case and the last slashes do not matter, all else does."""
    parts = urlsplit(address.rstrip("/")) if is_address(address) else None
    if parts is None:
        return address
    return parts._replace(scheme=parts.scheme.lower(), netloc=parts.netloc.lower()).geturl()


def is_address(text: str) -> bool:
    """Whether `text` is an http(s) address with a host."""
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # half an IPv6 address, or a port that is no number up to 65535
        return False


def webhook_secret(environ: Mapping[str, str] | None = None) -> str:
    """Return the secret that Label Studio must send with every webhook.

    Raises:
        MissingSetting: neither ASSAY_WEBHOOK_SECRET nor ASSAY_WEBHOOK_SECRET_FILE is set.
        UnusableSecret: the file cannot be used.
    """
    found = secret("ASSAY_WEBHOOK_SECRET", environ)
    if not found:
        raise MissingSetting(
            "ASSAY_WEBHOOK_SECRET",
            "the secret that Label Studio sends with every webhook; or ASSAY_WEBHOOK_SECRET_FILE "
            "names a file that holds it",
            "$(openssl rand -hex 24)",
        )
    return found


def secret(name: str, environ: Mapping[str, str] | None = None) -> str | None:
    """Return a secret: the value of the variable `name`, or what the file of `<name>_FILE` holds.

    The line end after it does not belong to it. A variable that is empty counts as not set.

    Returns:
        None if neither is set.

    Raises:
        UnusableSecret: both are set; or the file cannot be read, is empty, or holds more than one
            line, or more than LARGEST_SECRET bytes, or something that is not UTF-8 text.
    """
    env = os.environ if environ is None else environ
    value, path = env.get(name, ""), env.get(f"{name}_FILE", "")
    if not path:
        return value or None
    if value:
        raise UnusableSecret(name, f"and {name} are both set, and one of them must be wrong")
    held = _held(name, path)
    if not held:
        raise UnusableSecret(name, f"names {path}, which is empty")
    if len(held.splitlines()) > 1:
        raise UnusableSecret(name, f"names {path}, which holds more than one line")
    return held


def _held(name: str, path: str) -> str:
    """What the file of a secret holds, without the line end after it."""
    try:
        with Path(path).open("rb") as file:
            held = file.read(LARGEST_SECRET + 1)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
        why = getattr(error, "strerror", None) or "that is no path"
        raise UnusableSecret(name, f"names {path!r}, which cannot be read ({why})") from None
    if len(held) > LARGEST_SECRET:
        raise UnusableSecret(name, f"names {path}, which is larger than any secret")
    try:
        return held.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:  # its text would show what was read
        raise UnusableSecret(name, f"names {path}, which is not UTF-8 text") from None

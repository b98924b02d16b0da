"""Files that are elsewhere: a plan may name `s3://bucket/predictions.parquet` in place of a path.

A path keeps one of the two slashes, so `address` reads them with one, too: what a plan names is a
`Path` wherever it is, and only who opens it asks which.
"""

import ipaddress
import os
import re
import socket
from pathlib import Path
from urllib.parse import unquote

# The variable that confines what plans may name.
FOLDERS = "ASSAY_PLAN_FOLDERS"

_ADDRESS = re.compile(  # protocols may be chained by `::`, which is refused below
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+(?:::[A-Za-z0-9+.-]+)*):/(?P<rest>[^/].*)", re.DOTALL
)
_FILE = re.compile(r"^(?:file|local):(?://(?:localhost)?)?(?=/)", re.IGNORECASE)
_BETWEEN = re.compile(rf"{re.escape(os.pathsep)}(?!//)")  # but not the colon of an address
_PASSWORD = re.compile(r"(?<=://)[^/@]*@")


def address(path: Path | str) -> str | None:
    """Return the address that a path of a plan stands for; None if it is a path.

    >>> address(Path("s3://bucket/p.csv")), address("predictions.csv")
    ('s3://bucket/p.csv', None)
    """
    found = _ADDRESS.fullmatch(str(Path(path)))
    return None if found is None else f"{found['scheme'].lower()}://{found['rest']}"


def without_scheme(path: Path | str) -> str:
    """Return `file:///data/p.csv` as the path that it is; anything else as it came."""
    return _FILE.sub("", str(path), count=1)


def shown(uri: str) -> str:
    """Return an address without what may be secret in it: user, password, query.

    >>> shown("https://me:secret@host/p.csv?signature=1")
    'https://...@host/p.csv?...'
    """
    bare, mark, _ = uri.partition("?")
    return _PASSWORD.sub("...@", bare) + ("?..." if mark else "")


def allowed(uri: str) -> None:
    """Refuse an address that a plan may not name.

    A plan is kept in Redis and printed, so it may hold no secret. Where ASSAY_PLAN_FOLDERS is set
    (folders and addresses, with a colon between them), the address must lie under one of those.

    Raises:
        ValueError: it carries a password or a query, chains protocols, steps up (`..`), or lies
            outside; where that is not set, it is on this machine or link-local.
    """
    bare, came = uri, f"came {shown(uri)!r}"
    if "::" in bare:
        raise ValueError(f"{came}, expected one protocol, without `::`")
    if "?" in bare or "#" in bare:
        raise ValueError(f"{came}, expected an address without `?` or `#`, which may hold a secret")
    host = bare.partition("://")[2].partition("/")[0]
    if "@" in host:
        text = "expected an address without user and password; give them to the protocol's package"
        raise ValueError(f"{came}, {text} through the environment")
    steps = re.split(r"[/\\]", unquote(unquote(bare)))
    if ".." in steps:
        raise ValueError(f"{came}, expected an address without `..`")
    roots = folders()
    if not roots and _is_this_machine(host):
        raise ValueError(
            f"{came}, which is on this machine, or is what a cloud tells of it: a plan's author is "
            "not to reach what others cannot. Name the file by its path, or put its folder into "
            f"{FOLDERS}"
        )
    if roots and not any(bare.startswith(f"{address(root)}/") for root in roots if address(root)):
        raise ValueError(
            f"{came}, which lies outside of {FOLDERS} ({', '.join(map(shown, roots))}); put the "
            "file there"
        )


def _is_this_machine(host: str) -> bool:
    """Whether the host of an address is written as loopback or link-local, in any form."""
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    name = name.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        ip = ipaddress.ip_address(name)
    except ValueError:
        try:
            ip = ipaddress.IPv4Address(socket.inet_aton(name))  # 127.1, 0x7f000001
        except OSError:
            return False
    ip = getattr(ip, "ipv4_mapped", None) or ip
    return ip.is_loopback or ip.is_link_local or ip.is_unspecified


def folders() -> list[str]:
    """The folders and addresses that plans are confined to; none if they are not confined."""
    roots = _BETWEEN.split(os.environ.get(FOLDERS, ""))
    return [root.rstrip("/") or root for root in roots if root]

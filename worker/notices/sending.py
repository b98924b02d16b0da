"""Sending one notice: to the very address that was checked, signed, without following anywhere."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import os
import socket
import time
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import httpx

from connector.errors import UnusableSecret
from connector.settings import secret
from worker.notices.messages import Event, slack_body, webhook_body
from worker.notices.outbox import NotSent
from worker.plan.notify_part import SECRET, VARIABLE, NotifyPlan, is_partly_a_variable

# 10 s in all for a server that answers in one piece; one that drips is ended with its job.
TIMEOUT = httpx.Timeout(3.0, connect=3.0, write=3.0, read=4.0)
MOST_ADDRESSES = 3

# Public by their numbers, but a cloud's own machines find their secrets there (Azure, Oracle).
_OF_CLOUDS = (
    ipaddress.IPv4Network("168.63.129.16/32"),
    ipaddress.IPv4Network("192.0.0.0/24"),
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def send(
    target: NotifyPlan,
    assessment: str,
    event: Event,
    decision: dict[str, Any] | None,
    environ: Mapping[str, str] | None = None,
) -> None:
    """Deliver an event to one address of the plan.

    Raises:
        NotSent: says why, without the address's secret parts.
    """
    env = os.environ if environ is None else environ
    url = _filled(target.url, env)
    if url.scheme == "http" and not target.allow_private:
        raise NotSent(
            "the address is http://, which anybody on the way can read; use https://, or say "
            "`allow_private: true`"
        )
    headers = {"Content-Type": "application/json", "User-Agent": f"assay/{version('assay')}"}
    if target.kind == "slack":
        body = json.dumps(slack_body(assessment, event)).encode()
    else:
        body = json.dumps(webhook_body(assessment, event, decision)).encode()
        headers |= signature(body, _secret(env), int(time.time()))
    _post(url, body, headers, target.allow_private)


def signature(body: bytes, secret: str, timestamp: int) -> dict[str, str]:
    """The headers by which a receiver knows that a body is ours, and not an old one sent again.

    v1 is the HMAC-SHA256, in hex, of the timestamp, a full stop and the body, with the secret.
    """
    signed = hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256)
    return {
        "X-Assay-Timestamp": str(timestamp),
        "X-Assay-Signature": f"v1={signed.hexdigest()}",
    }


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public internet, and nobody's inside.

    Addresses that carry another one (mapped, 6to4, Teredo, NAT64) are what they carry.
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        carried = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if carried is None and ip in _NAT64:
            carried = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if carried is not None:
            return is_public(str(carried))
        if ip.is_site_local:
            return False
    elif any(ip in network for network in _OF_CLOUDS):
        return False
    return ip.is_global and not (ip.is_multicast or ip.is_reserved)


def _post(url: httpx.URL, body: bytes, headers: dict[str, str], allow_private: bool) -> None:
    host = url.raw_host.decode("ascii")
    port = url.port or {"https": 443, "http": 80}[url.scheme]
    found = _resolved(host, port)
    if not allow_private and not all(is_public(address) for address in found):
        raise NotSent(
            f"{host} is a private address, or one inside this network; if that is meant, say "
            "`allow_private: true`"
        )
    headers = headers | {"Host": url.netloc.decode("ascii")}
    # No proxy from the environment: it would look the name up again, and may find another address.
    context = httpx.create_ssl_context()
    with httpx.Client(
        verify=context, trust_env=False, follow_redirects=False, timeout=TIMEOUT
    ) as client:
        for n, address in enumerate(found, start=1):
            # The checked address itself is connected to; the certificate is still the name's.
            pinned = url.copy_with(host=address)
            request = client.build_request(
                "POST", pinned, content=body, headers=headers, extensions={"sni_hostname": host}
            )
            try:
                answer = client.send(request, stream=True)  # what it says is not read
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                if n < len(found):
                    continue
                raise NotSent(f"{host} cannot be reached ({type(error).__name__})") from None
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise NotSent(f"{host} did not answer ({type(error).__name__})") from None
            answer.close()
            break
    if answer.is_redirect:
        raise NotSent(f"{host} answered {answer.status_code}, a redirect; give the final address")
    if not answer.is_success:
        raise NotSent(f"{host} answered {answer.status_code}, expected 200")


def _resolved(host: str, port: int) -> list[str]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        raise NotSent(f"there is no address of {host}; check its name, or this network") from None
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))[:MOST_ADDRESSES]


def _filled(text: str, env: Mapping[str, str]) -> httpx.URL:
    """The address with its variables filled in; no error shows them."""
    if is_partly_a_variable(text):
        raise NotSent(
            "`notify.url` has a variable in a part of it; whoever writes the rest would get its "
            "value. Put the whole address into the variable, and start with the new plan"
        )
    for name in VARIABLE.findall(text):
        held = _held(name, env)
        if held is None:
            raise NotSent(f"{name} is not set where this worker runs, but `notify.url` names it")
        text = text.replace(f"${{{name}}}", held)
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL:
        raise NotSent("the address is none; check `notify.url` and what it names") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise NotSent("the address does not begin with https://; check `notify.url`")
    return url


def _held(name: str, env: Mapping[str, str]) -> str | None:
    """A secret of the environment, or of a file that it names."""
    try:
        return secret(name, env)
    except UnusableSecret as error:
        raise NotSent(str(error)) from None


def _secret(env: Mapping[str, str]) -> str:
    held = _held(SECRET, env)
    if held is None:
        raise NotSent(
            f"{SECRET} is not set where this worker runs; webhooks are signed with it. Set it "
            "here and where they are received"
        )
    return held

"""Where Label Studio is and how we prove who we are: read once from the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from connector.errors import ConnectorError, MissingSetting


@dataclass(frozen=True, slots=True)
class LabelStudioSettings:
    """Address and token; the token never shows in a repr, a log or an error."""

    url: str
    token: str = field(repr=False)


def label_studio_settings(
    url: str | None = None, environ: Mapping[str, str] | None = None
) -> LabelStudioSettings:
    """Return the settings; `url` (from the plan) wins over LABEL_STUDIO_URL.

    Raises:
        MissingSetting: no address, or no token in LABEL_STUDIO_API_KEY.
        ConnectorError: the address is not an http(s) URL.
    """
    env = os.environ if environ is None else environ
    address = url or env.get("LABEL_STUDIO_URL", "")
    if not address:
        raise MissingSetting(
            "LABEL_STUDIO_URL",
            "the address of Label Studio (or `label_studio.url` in the plan)",
            "http://localhost:8080",
        )
    if not _is_address(address):
        raise ConnectorError(
            f"{address!r} is not an address of Label Studio; expected http://host:port or https://host"
        )
    token = env.get("LABEL_STUDIO_API_KEY", "").strip()
    if not token:
        raise MissingSetting(
            "LABEL_STUDIO_API_KEY",
            "a personal access token of Label Studio (Account & Settings)",
            "<token>",
        )
    return LabelStudioSettings(address.rstrip("/"), token)


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # half an IPv6 address, or a port that is no number up to 65535
        return False


def webhook_secret(environ: Mapping[str, str] | None = None) -> str:
    """Return the secret that Label Studio must send with every webhook.

    Raises:
        MissingSetting: ASSAY_WEBHOOK_SECRET is not set.
    """
    env = os.environ if environ is None else environ
    secret = env.get("ASSAY_WEBHOOK_SECRET", "")
    if not secret:
        raise MissingSetting(
            "ASSAY_WEBHOOK_SECRET",
            "the secret that Label Studio sends with every webhook",
            "$(openssl rand -hex 24)",
        )
    return secret

"""Who may read and who may steer: the token, the session, where a request may come from.

Where there is a token everything needs it, also on loopback, where others of this machine are. Only
there may there be none: then reading is free, and nobody steers. The name that is asked for on
loopback must be a local one, or any web page could read us by rebinding its own name to 127.0.0.1.
A public address that is not loopback says that a proxy lets others in, and needs a token.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from connector.errors import MissingSetting
from connector.settings import secret
from worker.errors import AssayError
from worker.web.guesses import TOO_MANY, Guesses

SESSION = "assay_session"
SESSION_S = 12 * 3600
SHORTEST_TOKEN = 16
# What tells nothing and changes nothing; a webhook has a secret of its own.
OPEN = ("/hook/", "/static/", "/healthz", "/readyz")
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; object-src 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class ShortToken(AssayError):
    """The dashboard's token could be guessed."""

    def __init__(self, length: int) -> None:
        super().__init__(
            f"ASSAY_DASHBOARD_TOKEN has {length} characters, which can be guessed; expected "
            f"{SHORTEST_TOKEN} or more. Make one with: openssl rand -hex 24"
        )


@dataclass(frozen=True, slots=True)
class Gate:
    """Decides about requests; the token never shows in a repr.

    names: the host names that may be asked for; None if any may.
    public: host and port of the address that people and Label Studio use, if it is another.
    """

    token: str | None = field(repr=False)
    names: frozenset[str] | None
    public: str | None = None
    is_secure: bool = False
    guesses: Guesses = field(default_factory=Guesses, repr=False, compare=False)

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches us, where there need be no token."""
        return self.names is not None

    def is_named(self, headers: Headers) -> bool:
        """Whether the request asks for a name that we go by."""
        return self.names is None or _name(headers.get("host", "")) in self.names

    def is_ours(self, headers: Headers) -> bool:
        """Whether a request that changes something comes from a page of ours, or from no page."""
        origin = headers.get("origin")
        if origin is not None:
            return urlsplit(origin).netloc in {headers.get("host", ""), self.public or ""} - {""}
        return headers.get("sec-fetch-site", "none") in ("none", "same-origin")

    def may_read(self, request: HTTPConnection) -> bool:
        return (self.is_local and self.token is None) or self.is_signed_in(request)

    def is_signed_in(self, request: HTTPConnection) -> bool:
        return self.has_token(request) or self.session(request) is not None

    def brings_token(self, request: HTTPConnection) -> bool:
        """Whether the request carries some token, right or wrong, where there is one to guess."""
        kind = request.headers.get("authorization", "").partition(" ")[0]
        return self.token is not None and kind.lower() == "bearer"

    def has_token(self, request: HTTPConnection) -> bool:
        """Whether the request carries the token itself, which no other page can make it do."""
        given = request.headers.get("authorization", "").partition(" ")[2]
        return self.brings_token(request) and self.is_token(given.strip())

    def is_token(self, given: str) -> bool:
        return self.token is not None and hmac.compare_digest(given.encode(), self.token.encode())

    def new_session(self) -> str:
        """What the cookie of somebody who knows the token holds."""
        text = f"{int(time.time()) + SESSION_S}.{secrets.token_hex(16)}"
        return f"{text}.{self._sign(f'session:{text}')}"

    def csrf(self, request: HTTPConnection) -> str:
        """What a form of this session must send; empty without a session."""
        session = self.session(request)
        return "" if session is None else self._sign(f"csrf:{session}")

    def may_steer(self, request: HTTPConnection, csrf: str) -> bool:
        """Whether a request, with the `csrf` that its form sent, may change something."""
        if self.has_token(request):
            return True
        expected = self.csrf(request)
        return bool(expected) and hmac.compare_digest(expected.encode(), csrf.encode())

    def session(self, request: HTTPConnection) -> str | None:
        """What names the session of a request: until when it lasts, and chance; None without."""
        if self.token is None:
            return None
        text, _, sign = request.cookies.get(SESSION, "").rpartition(".")
        if not hmac.compare_digest(sign.encode(), self._sign(f"session:{text}").encode()):
            return None
        return text if int(text.partition(".")[0]) > time.time() else None

    def _sign(self, text: str) -> str:
        key = hashlib.sha256(f"assay dashboard:{self.token}".encode()).digest()
        return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def gate(host: str, public_url: str | None, environ: Mapping[str, str] | None = None) -> Gate:
    """Return the gate of a dashboard that is bound to `host`, and that others know by `public_url`.

    Raises:
        MissingSetting: others than this machine can reach it, and there is no token.
        ShortToken: it could be guessed.
        UnusableSecret: the token's file cannot be used.
    """
    token = (secret("ASSAY_DASHBOARD_TOKEN", environ) or "").strip() or None
    public = urlsplit(public_url or "")
    if token is not None and len(token) < SHORTEST_TOKEN:
        raise ShortToken(len(token))
    is_secure = public.scheme == "https"
    # What a proxy sends comes from this machine, and may ask for one of its names.
    is_behind_proxy = public.hostname is not None and not is_loopback(public.hostname)
    if is_loopback(host) and not is_behind_proxy:
        return Gate(token, _LOCAL | {host}, public.netloc or None, is_secure)
    if token is None:
        place = public.hostname if is_loopback(host) else host
        raise MissingSetting(
            "ASSAY_DASHBOARD_TOKEN",
            f"the token that opens the dashboard, which others can reach at {place} (or bind it to "
            "127.0.0.1, and give it no --public-url but a loopback one); or "
            "ASSAY_DASHBOARD_TOKEN_FILE names a file that holds it",
            "$(openssl rand -hex 24)",
        )
    return Gate(token, None, public.netloc or None, is_secure)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what is bound to `host`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Guarded:
    """Lets through what the gate lets through, and puts the security headers on every answer."""

    def __init__(self, app: ASGIApp, gate: Gate, signed_out: Callable[[str], bool]) -> None:
        """
        Args:
            signed_out: blocking; whether a session was ended before its time.
        """
        self._app, self._gate, self._signed_out = app, gate, signed_out

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if scope["path"].startswith(OPEN):
            await self._app(scope, receive, send_safely)
            return
        scope = await self._without_ended(scope)
        refusal = await self._refusal(HTTPConnection(scope))
        await (refusal or self._app)(scope, receive, send_safely)

    async def _without_ended(self, scope: Scope) -> Scope:
        """The request without the cookie of a session that was ended."""
        session = self._gate.session(HTTPConnection(scope))
        if session is None or not await run_in_threadpool(self._signed_out, session):
            return scope
        return {**scope, "headers": [h for h in scope["headers"] if h[0] != b"cookie"]}

    async def _refusal(self, request: HTTPConnection) -> Response | None:
        gate, path, headers = self._gate, request.scope["path"], request.headers
        if not gate.is_named(headers):
            names = ", ".join(sorted(gate.names or ()))
            return PlainTextResponse(
                f"This dashboard is for this machine only: {names}. For others behind a proxy, "
                "start it with their address as --public-url.",
                421,
            )
        if request.scope["method"] not in ("GET", "HEAD") and not gate.is_ours(headers):
            return PlainTextResponse("This request comes from another site; nothing was done.", 403)
        if gate.brings_token(request):
            if gate.guesses.are_too_many:
                return PlainTextResponse(TOO_MANY, 429)
            if not gate.has_token(request):
                await gate.guesses.wait()
        if path == "/login" or gate.may_read(request):
            return None
        if "text/html" in headers.get("accept", ""):
            return RedirectResponse("/login", 303)
        return PlainTextResponse(
            "Sign in, or send the header `Authorization: Bearer` with ASSAY_DASHBOARD_TOKEN.", 401
        )


def _name(host: str) -> str:
    """A Host header without its port; never fails, whatever was sent."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()

"""Signing in with the token, in a form or by a link, and out again."""

from __future__ import annotations

import re

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from worker.web.frame import Frame, form_of
from worker.web.guesses import TOO_MANY
from worker.web.security import SESSION, SESSION_S, Gate
from worker.web.signed_out import SignedOut

# Where one may go on to after signing in: pages of ours, nothing else.
_NEXT = re.compile(r"/((?:a/|new/)[A-Za-z0-9_-]+|new)?")


class Sessions:
    """The login form and what it leads to."""

    def __init__(self, frame: Frame, gate: Gate, signed_out: SignedOut) -> None:
        self._frame, self._gate, self._signed_out = frame, gate, signed_out

    async def form(self, request: Request) -> Response:
        """The form; or what a link with the token in it opens (`/login?token=...`)."""
        target, token = request.query_params.get("next", "/"), request.query_params.get("token")
        if token is None:
            return self._shown(request, target, "", 200)
        answer = await self._entered(request, target, token)
        # The address has a token: nobody is told where one came from. A page with the form says
        # its origin all the same, or the browser would send the form without (`Gate.is_ours`).
        is_in = answer.status_code == 303
        answer.headers["Referrer-Policy"] = "no-referrer" if is_in else "strict-origin"
        return answer

    async def login(self, request: Request) -> Response:
        form = await form_of(request)
        return await self._entered(request, form.get("next", "/"), form.get("token", ""))

    async def _entered(self, request: Request, target: str, token: str) -> Response:
        """Open a session for whoever has the token; the form again for others, a second later."""
        if self._gate.guesses.are_too_many:
            return self._shown(request, target, TOO_MANY, 429)
        if not self._gate.is_token(token.strip()):
            await self._gate.guesses.wait()
            return self._shown(request, target, "This is not the token.", 403)
        answer = RedirectResponse(target if _NEXT.fullmatch(target) else "/", 303)
        answer.set_cookie(
            SESSION,
            self._gate.new_session(),
            max_age=SESSION_S,
            httponly=True,
            samesite="strict",
            secure=self._gate.is_secure or request.url.scheme == "https",
        )
        return answer

    async def logout(self, request: Request) -> Response:
        form = await form_of(request)
        if not self._gate.may_steer(request, form.get("csrf", "")):
            raise HTTPException(403, "This session has ended already.")
        if (session := self._gate.session(request)) is not None:
            await run_in_threadpool(self._signed_out.add, session)
        answer = RedirectResponse("/", 303)
        answer.delete_cookie(SESSION, httponly=True, samesite="strict")
        return answer

    def _shown(self, request: Request, target: str, text: str, code: int) -> Response:
        has_token = self._gate.token is not None
        target = target if _NEXT.fullmatch(target) else "/"
        return self._frame.page(
            request, "login.j2", "Sign in", code, text=text, next=target, has_token=has_token
        )

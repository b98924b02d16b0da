"""Signing in with the token, and out again."""

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
_NEXT = re.compile(r"/(a/[A-Za-z0-9_-]+)?")


class Sessions:
    """The login form and what it leads to."""

    def __init__(self, frame: Frame, gate: Gate, signed_out: SignedOut) -> None:
        self._frame, self._gate, self._signed_out = frame, gate, signed_out

    async def form(self, request: Request) -> Response:
        return self._shown(request, request.query_params.get("next", "/"), "", 200)

    async def login(self, request: Request) -> Response:
        form = await form_of(request)
        target = form.get("next", "/")
        if self._gate.guesses.are_too_many:
            return self._shown(request, target, TOO_MANY, 429)
        if not self._gate.is_token(form.get("token", "").strip()):
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

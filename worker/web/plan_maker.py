"""From a file of predictions to an assessment: drop it, see the guesses, choose, start."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from connector.errors import ConnectorError
from worker.errors import AssayError
from worker.files import write_whole
from worker.plan.model import as_id
from worker.pool.tables import column_names, kind_of
from worker.service.context import Context
from worker.setup.checking import check_plan
from worker.setup.drafting import Drafted, draft_plan
from worker.setup.opinions_told import told_of
from worker.setup.starting import start
from worker.simulate.texts import planned_text
from worker.web.frame import Frame, form_of
from worker.web.security import Gate

DATA = "data"  # whatever the file is called, it is none of ours
LARGEST_FILE = 4 << 30
_CHOICES = ("predicted", "score", "shown", "groups", "task", "drop")
_N_SHOWN = 3
_MOST_COLUMNS = 200
# Enough to say about how many labels; `assay plan-labels` takes 200 runs.
_RUNS = 20


@dataclass(frozen=True, slots=True)
class Draft:
    """A plan in the making: its folder holds the file, the plan and what was chosen."""

    folder: Path

    @property
    def plan(self) -> Path:
        return self.folder / "plan.yaml"

    @property
    def predictions(self) -> Path:
        return self.folder / DATA / str(self.chosen()["file"])

    def chosen(self) -> dict[str, Any]:
        """The file's name, what was chosen, and what was said of the guesses."""
        kept: dict[str, Any] = json.loads((self.folder / "chosen.json").read_text("utf-8"))
        return kept

    def choose(self, **values: Any) -> None:
        """Draft the plan anew with these choices; a column that is not given is guessed.

        Raises:
            AssayError: nothing can be made of the file; the choices are kept.
        """
        said: list[str] = []
        leaves_out = bool(values.get("drop"))

        def answer(_question: str, choices: Sequence[str]) -> str | None:
            return "yes" if leaves_out and "yes" in choices else None

        kept = {**values, "said": said, "error": ""}
        try:
            text = draft_plan(
                self.folder / DATA / str(values["file"]),
                self.plan,
                assessment=self.folder.name,
                predicted=values.get("predicted") or None,
                score=values.get("score") or None,
                data=[values["shown"]] if values.get("shown") else None,
                task=values.get("task", "identify"),
                groups=values.get("groups") or "predicted_class",
                say=said.append,
                ask=answer,
            )
            write_whole(self.plan, text)
        except AssayError as error:
            kept["error"] = str(error)
        write_whole(self.folder / "chosen.json", json.dumps(kept))


class PlanMaker:
    """The pages under /new; for those only who are signed in."""

    def __init__(self, context: Context, frame: Frame, gate: Gate) -> None:
        self._context, self._frame, self._gate = context, frame, gate

    def routes(self) -> list[Route]:
        return [
            Route("/new", self.begin),
            Route("/new/file/{name}", self.take, methods=["PUT"]),
            Route("/new/{plan}", self.look),
            Route("/new/{plan}", self.choose, methods=["POST"]),
            Route("/new/{plan}/foreseen", self.foresee, methods=["POST"]),
            Route("/new/{plan}/start", self.start, methods=["POST"]),
        ]

    async def begin(self, request: Request) -> Response:
        self._signed_in(request)
        return self._frame.page(request, "new.j2", "New assessment - Assay", next="/new")

    async def take(self, request: Request) -> Response:
        """Keep a file that is sent as it is; say which plan is made of it."""
        self._check(request, request.headers.get("x-csrf", ""))
        name = Path(request.path_params["name"]).name
        draft = await run_in_threadpool(self._new, name)
        await _received(request, draft.folder / DATA / name)
        try:
            await run_in_threadpool(draft.choose, file=name)
        except (AssayError, OSError) as error:
            raise HTTPException(400, str(error)) from error
        return JSONResponse({"page": f"/new/{draft.folder.name}"}, 201)

    async def look(self, request: Request) -> Response:
        self._signed_in(request)
        draft = self._draft(request)
        shown = await run_in_threadpool(self._shown, draft)
        title = f"{draft.folder.name} - new assessment - Assay"
        return self._frame.page(request, "plan.j2", title, plan=draft.folder.name, **shown)

    async def choose(self, request: Request) -> Response:
        form = await form_of(request)
        self._check(request, form.get("csrf", ""))
        draft = self._draft(request)
        given = {key: value for key, value in form.items() if key in _CHOICES}
        if given.get("task", "identify") not in get_args(Drafted):
            raise HTTPException(400, f"The question: came {given['task']!r}.")
        await run_in_threadpool(draft.choose, file=draft.chosen()["file"], **given)
        return RedirectResponse(f"/new/{draft.folder.name}", 303)

    async def foresee(self, request: Request) -> Response:
        """Say how many labels it will take; simulated in a process of its own."""
        form = await form_of(request)
        self._check(request, form.get("csrf", ""))
        command = [
            sys.executable,
            "-m",
            "worker.cli",
            "plan-labels",
            str(self._draft(request).plan),
        ]
        process = await asyncio.create_subprocess_exec(
            *command, "--runs", str(_RUNS), "--json",
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, err = await process.communicate()
        if process.returncode:
            return PlainTextResponse(err.decode("utf-8", "replace").strip(), 409)
        return PlainTextResponse(planned_text(json.loads(out)))

    async def start(self, request: Request) -> Response:
        form = await form_of(request)
        self._check(request, form.get("csrf", ""))
        plan = self._draft(request).plan
        try:
            header = await run_in_threadpool(start, plan, self._context, lambda _: None)
        except ConnectorError as error:
            raise HTTPException(409, str(error)) from error
        return RedirectResponse(f"/a/{header.assessment}", 303)

    def _shown(self, draft: Draft) -> dict[str, Any]:
        chosen = dict.fromkeys(_CHOICES, "") | {"task": "identify"} | draft.chosen()
        values: dict[str, Any] = {"chosen": chosen, "columns": [], "error": chosen["error"]}
        values |= {"pool": None, "warnings": ()}
        try:
            values["columns"] = column_names(draft.predictions)[:_MOST_COLUMNS]
            if not values["error"]:
                checked = check_plan(draft.plan, self._context.settings.pools)
                pool = checked.pool
                values |= {
                    "pool": pool,
                    "n_groups": len(pool.group_names) - len(pool.empty_groups()),
                    "warnings": checked.warnings,
                    "opinions": [told.text for told in told_of(checked.plan, pool)],
                    "items": [pool.item(row).data for row in range(min(_N_SHOWN, pool.n_items))],
                    "text": draft.plan.read_text(encoding="utf-8"),
                }
        except (AssayError, ConnectorError) as error:
            values["error"] = str(error)
        return values

    def _new(self, name: str) -> Draft:
        """A folder for a file of this name; its name is that of the assessment."""
        try:
            kind_of(Path(name))
        except AssayError as error:
            raise HTTPException(400, str(error)) from error
        plans = self._context.settings.home / "plans"
        base = as_id(Path(name))
        for number in range(1, 1000):
            one = base if number == 1 else f"{base[:58]}-{number}"
            taken = self._context.ledger(one).header() is not None
            if not taken and not (plans / one).exists():
                (plans / one).mkdir(parents=True, mode=0o700)
                (plans / one / DATA).mkdir()
                return Draft(plans / one)
        raise HTTPException(409, f"There are 999 plans of {base}; give the file another name.")

    def _draft(self, request: Request) -> Draft:
        name = request.path_params["plan"]
        folder = self._context.settings.home / "plans" / name
        if as_id(Path(name)) != name or not (folder / "chosen.json").is_file():
            raise HTTPException(404, "There is no such plan in the making.")
        return Draft(folder)

    def _signed_in(self, request: Request) -> None:
        if not self._gate.is_signed_in(request):
            raise HTTPException(403, "Sign in first: `assay up` prints a link.")

    def _check(self, request: Request, csrf: str) -> None:
        if not self._gate.may_steer(request, csrf):
            raise HTTPException(403, "Sign in first: `assay up` prints a link. Nothing was done.")


async def _received(request: Request, path: Path) -> None:
    """Write what is sent; a file that was cut off is not kept."""
    n_bytes = 0
    try:
        with path.open("xb") as file:
            async for part in request.stream():
                n_bytes += len(part)
                if n_bytes > LARGEST_FILE:
                    text = (
                        f"The file has more than {LARGEST_FILE >> 30} GB; use `assay init` for it."
                    )
                    raise HTTPException(413, text)
                await run_in_threadpool(file.write, part)
    except ClientDisconnect:
        path.unlink()
        raise HTTPException(400, "The file was cut off.") from None
    except HTTPException:
        path.unlink()
        raise

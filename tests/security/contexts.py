"""A context on a server of its own, and an assessment in it that nothing may disturb."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.web.site import Begun, begin
from worker.service.context import Context
from worker.service.embedded import server
from worker.store.settings import Settings


@contextmanager
def own_context(folder: Path) -> Iterator[Context]:
    with server(folder / "home", None) as url:
        opened = Context(Settings(folder / "home", url, None), url)
        yield opened
        opened.close()


def begin_well(context: Context, folder: Path) -> Begun:
    """An assessment that must not notice; its name comes after that of the damaged one."""
    return begin(context, folder / "well", "well")

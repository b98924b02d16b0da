"""A worker as `assay worker`, but for its desk, which lies in a server of its own or in RQ's."""

import os

from tests.scale.desk import ToldDesk
from worker.cli.main import cli
from worker.service import context
from worker.service.server import connect
from worker.store import Header


def _desk_of(header: Header, known: object) -> ToldDesk:
    url = os.environ.get("SCALE_DESK_URL") or os.environ["REDIS_URL"]
    return ToldDesk(connect(url), header.project)


if __name__ == "__main__":
    context.desk_of = _desk_of  # type: ignore[assignment]
    cli(["worker"])

"""A worker as `assay worker`, but for its desk: `tests.bench.stored_desk`."""

from tests.bench.stored_desk import StoredDesk
from worker.cli.main import cli
from worker.service import context
from worker.service.server import connect
from worker.store import Header
from worker.store.settings import read_settings


def _desk_of(header: Header, known: object) -> StoredDesk:
    url = read_settings().redis_url
    assert url is not None, "the bench names its server"
    return StoredDesk(connect(url), header.project)


if __name__ == "__main__":
    context.desk_of = _desk_of  # type: ignore[assignment]
    cli(["worker"])

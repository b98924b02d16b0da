"""A server without memory left: the turn fails aloud, and nothing is lost once there is room."""

from pathlib import Path

import pytest
from redis.exceptions import OutOfMemoryError

from connector.labels import Judgement, Look
from worker.judgements.reading import record
from worker.judgements.rules import Rules
from worker.ledger import Claim, Header, ValkeyLedger
from worker.service.embedded import server
from worker.service.server import connect


@pytest.fixture
def connection(tmp_path: Path):
    with server(tmp_path, None) as url, connect(url) as connection:
        yield connection
        connection.config_set("maxmemory", 0)


def test_judgements_that_found_no_room_are_recorded_by_the_next_turn(connection):
    ledger = ValkeyLedger(connection, "full")
    ledger.begin(
        Header("full", "{}", "", "", "", "", (0, 0), 1, "http://localhost", "c", "t", ("A",), "")
    )
    assert ledger.claim(0, [Claim(0, "item-1", 0, 0, 0, {"revision": 0})])
    look = Look(1, "item-1", 10, True, (Judgement(1, 1, "valid", "A", "", 10),))

    connection.config_set("maxmemory", 1)
    with pytest.raises(OutOfMemoryError):
        record(ledger, [look], 1, Rules())
    assert ledger.standing().tally == {}

    connection.config_set("maxmemory", 0)
    record(ledger, [look], 2, Rules())
    assert ledger.standing().tally == {"0:0:0:A": 1}

"""A server in Label Studio's place, and a desk that talks to it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from connector.client import connect
from connector.desk import LabelStudioDesk
from connector.settings import LabelStudioSettings
from tests.connector.impostor import TOKEN, Impostor
from tests.fakes import SCHEMA


@pytest.fixture
def impostor() -> Iterator[Impostor]:
    made = Impostor()
    with made.server:
        thread = threading.Thread(target=made.server.serve_forever, args=(0.02,))
        thread.start()
        yield made
        made.server.shutdown()
        thread.join()


@pytest.fixture
def desk(impostor: Impostor) -> Iterator[LabelStudioDesk]:
    client = connect(LabelStudioSettings(impostor.url, TOKEN))
    yield LabelStudioDesk(client, impostor.url, 12, SCHEMA, {})
    client._client_wrapper.httpx_client.httpx_client.close()

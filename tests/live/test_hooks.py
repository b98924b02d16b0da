"""A webhook that somebody deleted is noticed by the doctor and set again by the next start."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from label_studio_sdk.client import LabelStudio

from connector.local import LabelStudioServer, free_port
from connector.project import SECRET_HEADER
from tests.live.pools import insects
from tests.live.service import eventually, service

pytestmark = pytest.mark.live


def test_a_deleted_webhook_is_missed_and_set_again_at_the_next_start(
    label_studio: LabelStudioServer, sdk: Callable[..., LabelStudio], tmp_path: Path
) -> None:
    trial, client = insects(tmp_path), sdk()
    with service(tmp_path / "home", label_studio) as at_work:
        at_work.spawn("watch")
        eventually((at_work.home / "valkey" / "socket").exists)
        project = at_work.begin(trial.plan)
        port = str(free_port())  # the same at each start, as an address that people gave it
        ledger = at_work.context.ledger(trial.assessment)
        for start in range(3):
            receiver = at_work.spawn("serve", "--port", port)
            found = eventually(lambda: client.webhooks.list(project=str(project)))
            assert len(found) == 1
            assert found[0].headers == {SECRET_HEADER: "only-for-tests"}
            eventually(lambda: "hooked" in ledger.metadata())
            at_work.end(receiver)
            assert "Webhook of" not in at_work.run("doctor").out
            if start < 2:
                client.webhooks.delete(id=found[0].id)
                said = at_work.run("doctor").out
                assert f"Webhook of {trial.assessment}" in said
                assert "it is gone from Label Studio" in said
        assert client.webhooks.list(project=str(project))[0].id == found[0].id

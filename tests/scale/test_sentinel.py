"""Sentinels say who is the master: workers follow, and nothing is lost or doubled by a failover."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest
import trustme

from tests.machine import needs
from tests.scale.crew import assert_each_counted_once, begin_all, carry_pools, label_all, worker
from tests.scale.desk import ToldDesk
from tests.scale.servers import node, until
from tests.scale.watched import watched
from worker.service.context import Context
from worker.service.server import NoServer, check, connect
from worker.store.settings import Settings


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    folder, authority = tmp_path / "certificates", trustme.CA()
    folder.mkdir()
    authority.cert_pem.write_to_path(folder / "ca.pem")
    own = authority.issue_cert("127.0.0.1")
    own.private_key_pem.write_to_path(folder / "key.pem")
    own.cert_chain_pems[0].write_to_path(folder / "cert.pem")
    return folder


@pytest.mark.long
@pytest.mark.parametrize("over", ["TCP", pytest.param("TLS", marks=needs("TLS"))])
def test_people_label_on_while_the_master_changes(
    tmp_path: Path, certificates: Path, over: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First their roles are changed, then the master is killed while it is being written to.

    For a moment both are masters, and a request to either of them may be on its way.
    """
    is_secured = over == "TLS"
    if is_secured:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificates / "ca.pem"))
    with ExitStack() as stack:
        servers = stack.enter_context(
            watched(tmp_path / "servers", certificates if is_secured else None)
        )
        tool = stack.enter_context(node(tmp_path / "tool"))
        context = Context(Settings(tmp_path / "home", servers.url, None), servers.url)
        stack.callback(context.close)
        assert check(context.state, servers.url)["policy"] == "noeviction"
        names = begin_all(context, tmp_path, 2)
        desks = [ToldDesk(stack.enter_context(tool.connect()), project) for project in range(2)]
        for k in range(2):
            home = tmp_path / f"home-{k}"
            carry_pools(tmp_path, home)
            settings = {"REDIS_URL": servers.url, "SCALE_DESK_URL": tool.url}
            stack.enter_context(worker(home, settings))
        label_all(context, desks, names, 6)

        servers.switch()
        label_all(context, desks, names, 6)
        servers.replica_follows()

        lost = servers.master()
        lost.kill()
        for desk in desks:  # whatever still lies before people is answered meanwhile
            while (task := desk.take()) is not None:
                desk.answer(*task, "class-0000")
        until(lambda: servers.master() is not lost)
        label_all(context, desks, names, 6)
        assert_each_counted_once(context, desks, names)


@pytest.mark.parametrize(
    "url",
    [
        "redis+sentinel://127.0.0.1:1",
        "redis+sentinel://:planted@127.0.0.1:1/",
        "redis+sentinel://:planted@/kept",
        "redis+sentinel://:planted@127.0.0.1:port/kept",
        "redis+sentinel://127.0.0.1:1/kept/first",
        "rediss+sentinel://127.0.0.1:1/kept?password=planted",
    ],
)
def test_an_address_that_names_no_master_is_refused_with_the_right_shape(url: str) -> None:
    with pytest.raises(NoServer, match=r"redis\+sentinel://.*/mymaster") as caught:
        connect(url)
    assert "planted" not in str(caught.value)


def test_sentinels_that_are_away_are_named_without_the_password() -> None:
    url = "redis+sentinel://assay:planted@127.0.0.1:1/kept?sentinel_password=planted"
    with (
        connect(url, is_patient=False) as connection,
        pytest.raises(NoServer, match=r"No master found.*Check REDIS_URL") as caught,
    ):
        check(connection, url)
    assert "planted" not in str(caught.value)

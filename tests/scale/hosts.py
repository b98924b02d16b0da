"""Hosts of a test's own: network namespaces of this machine, joined by a bridge to one server."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

# A private network that machines rarely have; the last number is the host's.
_NETWORK = "10.231.77"
_BRIDGE = f"assay{os.getpid() % 100_000}"


@dataclass(frozen=True, slots=True)
class Host:
    """A namespace with an address of its own and no way but the bridge."""

    namespace: str
    address: str

    def command(self, *words: str) -> list[str]:
        """The command that runs `words` there."""
        return ["ip", "netns", "exec", self.namespace, *words]


def can_make_hosts() -> bool:
    """Whether this process may make network namespaces and enter them.

    Root on Linux may; not in a root folder that is no mount point, of which `ip` says so late.
    """
    name = f"{_BRIDGE}-try"
    tries = ("add", name), ("exec", name, "true"), ("del", name)
    with suppress(FileNotFoundError):
        done = [
            subprocess.run(["ip", "netns", *words], capture_output=True, check=False)
            for words in tries
        ]
        return not any(one.returncode for one in done)
    return False


@contextmanager
def hosts(n: int) -> Iterator[tuple[str, list[Host]]]:
    """The bridge's address, where a server may listen, and n hosts that can reach it."""
    made = [Host(f"{_BRIDGE}-{k}", f"{_NETWORK}.{k + 2}") for k in range(n)]
    try:
        _ip("link", "add", _BRIDGE, "type", "bridge")
        _ip("address", "add", f"{_NETWORK}.1/24", "dev", _BRIDGE)
        _ip("link", "set", _BRIDGE, "up")
        for k, host in enumerate(made):
            here, there = f"{_BRIDGE}h{k}", f"{_BRIDGE}n{k}"
            _ip("netns", "add", host.namespace)
            _ip("link", "add", here, "type", "veth", "peer", "name", there)
            _ip("link", "set", there, "netns", host.namespace)
            _ip("link", "set", here, "master", _BRIDGE, "up")
            _ip("-n", host.namespace, "address", "add", f"{host.address}/24", "dev", there)
            _ip("-n", host.namespace, "link", "set", there, "up")
            _ip("-n", host.namespace, "link", "set", "lo", "up")
        yield f"{_NETWORK}.1", made
    finally:
        for host in made:
            subprocess.run(["ip", "netns", "del", host.namespace], capture_output=True, check=False)
        subprocess.run(["ip", "link", "del", _BRIDGE], capture_output=True, check=False)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)

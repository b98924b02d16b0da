"""The Lua scripts of the ledger in Valkey, as a connection calls them, and what two are sent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from redis import Redis

from worker.store.changes import Change, open_note
from worker.store.contract import Claim
from worker.store.records import Record, dump
from worker.store.texts import choice_text


@cache  # every ledger asks for all of them
def _script(name: str) -> str:
    return files("worker.store").joinpath(f"{name}.lua").read_text(encoding="utf-8")


class Scripts:
    """One script each, by the name of its file; keys and arguments stand at its head."""

    def __init__(self, connection: Redis) -> None:
        self.commit = connection.register_script(_script("commit"))
        self.claim = connection.register_script(_script("claim"))
        self.publish = connection.register_script(_script("publish"))
        self.take_lease = connection.register_script(_script("take_lease"))
        self.keep_lease = connection.register_script(_script("keep_lease"))
        self.begin_import = connection.register_script(_script("begin_import"))
        self.drop_lease = connection.register_script(_script("drop_lease"))
        self.release_lease = connection.register_script(_script("release_lease"))
        self.begin = connection.register_script(_script("begin"))
        self.move = connection.register_script(_script("move"))
        self.cursor = connection.register_script(_script("cursor"))
        self.compare_and_set = connection.register_script(_script("compare_and_set"))
        self.put_notice = connection.register_script(_script("put_notice"))
        self.replace_notice = connection.register_script(_script("replace_notice"))


def changes_sent(changes: Sequence[Change]) -> str:
    """The changes as `commit.lua` takes them."""
    sent = [
        [c.item, c.before, c.after, [[e.verb, e.hash, e.key, e.value] for e in c.edits], c.note]
        for c in changes
    ]
    return json.dumps(sent)


def claims_sent(claims: Sequence[Claim]) -> str:
    """The claims as `claim.lua` takes them."""
    sent = []
    for claim in claims:
        record = Record(claim.item, claim.number, claim.row, claim.cell, claim.predicted)
        note = open_note(record, "intended")
        sent.append([claim.item, str(claim.cell), dump(record), note, choice_text(claim)])
    return json.dumps(sent)

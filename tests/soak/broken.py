"""Assay with blind increments, to show that the fault run finds what is wrong.

The commit no longer asks whether the record is still what its writer saw, and an outcome that is
taken back stays in the tally.
"""

from worker.store import scripts

_whole = scripts._script


def _blind(name: str) -> str:
    text = _whole(name)
    if name != "commit":
        return text
    compare = "if redis.call('HGET', KEYS[1], item) ~= before then"
    add = "if redis.call('HINCRBY', key, field, value) == 0 then"
    assert compare in text
    assert add in text
    text = text.replace(compare, "if false then")
    return text.replace(add, "if value > 0 and redis.call('HINCRBY', key, field, value) == 0 then")


if __name__ == "__main__":  # an import must not break anything: the tests are looked through, too
    from worker.cli.main import cli

    scripts._script = _blind
    cli()

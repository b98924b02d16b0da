"""The data of the tasks to be imported; files that they show are uploaded before.

An upload puts nothing in doubt: until its task is imported nobody is shown the file, and one that
is there twice does no harm.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from connector.errors import Rejected
from connector.media import uploaded_name
from connector.port import Desk
from worker.errors import AssayError
from worker.pool import Pool
from worker.pool.chats import as_shown, chat_keys
from worker.pool.files import FileLost, content_of
from worker.turn.leasing import Lease

# One file may take that long on a slow line, as nothing is lost if another worker is at it, too.
UPLOAD_S = 120.0
# So many bytes are uploaded before their tasks are imported: a turn that must end has got on.
_AT_ONCE = 25 * 10**6

Claimed = tuple[int, str, int]  # number of the claim, item and row
Task = tuple[int, dict[str, Any]]  # number of the claim, and the data of its task


class FilesLost(AssayError):
    """Chosen items cannot be shown, because their files cannot be uploaded from here."""

    def __init__(self, lost: Sequence[Lost]) -> None:
        more = f", nor can those of {len(lost) - 1} more chosen items" if len(lost) > 1 else ""
        super().__init__(
            f"the file of item {lost[0].item} cannot be uploaded from {platform.node()}{more}: "
            f"{lost[0].why}. Let every machine with a worker have the files as they were when the "
            "assessment began, under the same paths; nothing is lost: the next turn tries again, "
            "and other items go on"
        )


@dataclass(frozen=True, slots=True)
class Lost:
    """A claimed item whose file cannot be uploaded, and why not."""

    item: str
    why: str


def portions(pool: Pool, claimed: Sequence[Claimed]) -> Iterator[list[Claimed]]:
    """Yield claimed items in portions that are imported at once; one if they need no files."""
    portion: list[Claimed] = []
    n_bytes = 0
    for one in claimed:
        size = sum(pool.item(one[2]).files.values())
        if portion and n_bytes + size > _AT_ONCE:
            yield portion
            portion, n_bytes = [], 0
        portion.append(one)
        n_bytes += size
    if portion:
        yield portion


def with_files(
    pool: Pool, claimed: Sequence[Claimed], desk: Desk, lease: Lease
) -> tuple[list[Task], list[Lost]]:
    """Return the tasks of claimed items, whose files are uploaded, and the items without theirs.

    Raises:
        LeaseLost: another worker may import now.
        ConnectorError: Label Studio cannot be had.
    """
    tasks: list[Task] = []
    lost: list[Lost] = []
    for claim, item, row in claimed:
        try:
            tasks.append((claim, {**_shown(pool, row, desk, lease), "item_id": item}))
        except FileLost as error:
            lost.append(Lost(item, str(error)))
    return tasks, lost


def _shown(pool: Pool, row: int, desk: Desk, lease: Lease) -> dict[str, Any]:
    """What annotators see of the item in a row, with the addresses of its files."""
    item = pool.item(row)
    data: dict[str, Any] = dict(item.data)
    for key, size in item.files.items():
        assert pool.files is not None, "an item with files is of a pool with files"
        path = item.data[key]
        content = content_of(pool.files.folder, path, size)
        lease.hold(UPLOAD_S)
        try:
            data[key] = desk.upload(uploaded_name(pool.hash, path), content)
        except Rejected as error:
            raise FileLost(f"{path}: {error}") from error
    return data | {key: as_shown(item.data[key]) for key in chat_keys(pool)}
